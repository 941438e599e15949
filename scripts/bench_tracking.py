"""What a child run costs, ours against MLflow's usual calls, and how much of it hides behind the work.

A child has 40 metrics, 5 params and 1 artifact; both stores are SQLite in a temporary folder::

    python scripts/bench_tracking.py --children 60
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.tracking import Child, Run, Store

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "ERROR")

TARGET_MS, TARGET_RATIO = 60.0, 6.0
"""At most so much CPU a child; at least so many times less than the usual calls."""

METRICS = {f"metric {i}": i / 40 for i in range(40)}
PARAMS = {f"param {i}": i for i in range(5)}
ARTIFACT = "case,top1\n" * 50


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """(CPU, wall) seconds of this process, all threads together."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def ours(run: Run, first: int, count: int) -> None:
    """Children by the writer thread."""
    run.children(
        Child(f"mutant {i}", PARAMS, METRICS, {"verdict": "killed"}, {"outcomes.csv": ARTIFACT})
        for i in range(first, first + count)
    )


def usual(count: int) -> None:
    """Children by MLflow's fluent calls, one value at a time."""
    import mlflow  # noqa: PLC0415  (slow)

    for i in range(count):
        with mlflow.start_run(run_name=f"mutant {i}", nested=True):
            for name, param in PARAMS.items():
                mlflow.log_param(name, param)
            for name, metric in METRICS.items():
                mlflow.log_metric(name, metric)
            mlflow.set_tag("assay.verdict", "killed")
            mlflow.log_text(ARTIFACT, "outcomes.csv")


def work(products: int) -> None:
    """Matrix products, which leave the interpreter to other threads as inference does."""
    matrix = np.random.default_rng(0).normal(size=(600, 600))
    for _ in range(products):
        matrix = matrix @ matrix
        matrix /= np.abs(matrix).max()


def measure_ours(folder: Path, count: int) -> tuple[float, float, float, float]:
    """(CPU, wall) seconds a child; then, written behind work 1.5 times as long, two fractions.

    The first is the share of the writing's wall time left to wait for once the work is done, the second the CPU of
    both together over the sum of each alone: 0 and 1 if the writer neither lags nor hinders. (Wall time on a busy
    machine says little.)
    """
    with Store(folder=folder).start("bench", task="mutate") as run:

        def write(first: int) -> None:
            ours(run, first, count)
            run.drain()

        write(0)  # warm
        cpu, wall = timed(lambda: write(count))
        products = round(1.5 * wall / (timed(lambda: work(20))[1] / 20))
        alone, _ = timed(lambda: work(products))
        ours(run, 2 * count, count)
        behind, _ = timed(lambda: work(products))
        rest, waited = timed(run.drain)
    return cpu / count, wall / count, waited / wall, (behind + rest) / (alone + cpu)


def measure_usual(folder: Path, count: int) -> tuple[float, float]:
    """(CPU, wall) seconds a child."""
    import mlflow  # noqa: PLC0415  (slow)

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.create_experiment("usual", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment("usual")
    with mlflow.start_run(run_name="bench"):
        usual(1)  # warm
        cpu, wall = timed(lambda: usual(count))
    return cpu / count, wall / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--children", type=int, default=60)
    count = parser.parse_args().children
    with tempfile.TemporaryDirectory() as place:
        cpu, wall, waited, both = measure_ours(Path(place, "ours"), count)
        Path(place, "usual").mkdir()
        usual_cpu, usual_wall = measure_usual(Path(place, "usual"), max(count // 4, 5))
    print(f"ours   {cpu * 1e3:6.1f} ms CPU {wall * 1e3:7.1f} ms wall a child (target {TARGET_MS:.0f} ms CPU)")
    print(f"usual  {usual_cpu * 1e3:6.1f} ms CPU {usual_wall * 1e3:7.1f} ms wall a child")
    print(f"ratio  {usual_cpu / cpu:6.1f} CPU {usual_wall / wall:7.1f} wall (target {TARGET_RATIO:.0f} CPU)")
    print(f"behind work: {waited:.0%} of the wall time left to wait for, {both:.2f} of the sum of CPU")


if __name__ == "__main__":
    main()
