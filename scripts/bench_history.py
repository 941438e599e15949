"""What a history of 500 runs costs: in a store and in a folder, with reports as large as those of real campaigns.

A scratch store is filled with runs of mutate (240 kB a report), and with some of other tasks and some that failed;
then `task=history` runs in a process of its own, as a user would start it::

    python scripts/bench_history.py --runs 500
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from app.report.schema import dumps
from app.tracking import Store

TARGET = 10.0
"""Seconds for 500 runs."""
OPERATORS, CLASSES, MUTANTS = 16, 10, 208
SUBJECT = {
    "name": "net@photos",
    "model": "net",
    "dataset": "photos",
    "data_digest": "4577f6a38712e5c6",
    "n": 2000,
    "classes": [f"class {i}" for i in range(CLASSES)],
    "excluded": [],
    "notes": [],
}
FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)


def share(rng: np.random.Generator, mean: float, n: int = 2000) -> float:
    """A rate as n cases would show it."""
    return float(rng.binomial(n, mean)) / n


def body(artifact: str, index: int, run_id: str, rng: np.random.Generator) -> dict[str, Any]:
    """What every report begins with; every tenth run has another model."""
    return {
        "schema": {"artifact": artifact, "version": 1, "generator": {"tool": "assay", "version": "0.1.0"}},
        "run": {"id": run_id, "parent": None, "started": (FIRST + timedelta(hours=7 * index)).isoformat()},
        "subject": {**SUBJECT, "model_digest": f"{index // 10:040x}"},
        "settings": {"seed": int(rng.integers(100))},
    }


def mutate(index: int, run_id: str, rng: np.random.Generator) -> dict[str, Any]:
    """A classifier's mutation report; its accuracy steps down at run 300, and its sub-scores have gaps."""
    accuracy = share(rng, 0.91 if index < 300 else 0.88)
    score = share(rng, 0.6, MUTANTS)
    classes = [
        {"name": name, "support": 200, "recall": share(rng, 0.9, 200), "precision": share(rng, 0.9, 200)}
        for name in SUBJECT["classes"]
    ]
    operators = [
        {
            "operator": f"operator_{i}",
            "kind": "weight",
            "mutants": 13,
            "mutation_score": share(rng, 0.6, 13),
            "mutation_score_ci": [0.4, 0.8],
        }
        for i in range(OPERATORS)
    ]
    signals = {
        name: {"value": 0.0123456789, "threshold": 0.02, "fired": False}
        for name in ("accuracy_drop", "recall_drop", "ece_rise", "autopsy_score_drop")
    }
    mutants = [
        {
            "key": f"operator_{i % OPERATORS}-rate0.05-layer{i}-s8ab22216",
            "operator": f"operator_{i % OPERATORS}",
            "params": {"rate": 0.05},
            "verdict": "killed",
            "p_value": 0.01020735689981745,
            "effect": 0.0095,
            "effect_ci": [0.001, 0.018],
            "signals": signals,
            "difficulty": {"score": 0.5, "label": "medium"},
            "beside": {"class_recall": {"p_adjusted": 0.3, "name": "class 1"}, "ece_rise_ci": [0.0, 0.1]},
            "reason": None,
        }
        for i in range(MUTANTS)
    ]
    return {
        **body("assay.mutate", index, run_id, rng),
        "original": {
            "accuracy": accuracy,
            "accuracy_ci": [accuracy - 0.013, accuracy + 0.012],
            "ece": share(rng, 0.02),
            "autopsy_score": round(100 * share(rng, 0.92), 1),
            "sub_scores": {
                "performance": round(100 * accuracy, 1),
                "class_balance": 100.0,
                "generalization": None if index % 50 < 5 else 93.7,
                "confusion": round(100 * share(rng, 0.9), 1),
            },
            "per_class": classes,
        },
        "summary": {
            "mutants": MUTANTS,
            "killed": round(score * MUTANTS),
            "killed_weak": 25,
            "survived": MUTANTS - 25 - round(score * MUTANTS),
            "inconclusive": 0,
            "mutation_score": score,
            "mutation_score_ci": [score - 0.07, score + 0.07],
        },
        "summary_thresholds": {"killed": 104, "survived": 104, "mutation_score": 0.5},
        "by_operator": operators,
        "mutants": mutants,
        "kill_matrix": {"minimal_mutation_score": share(rng, 0.3, 100)},
    }


def autopsy(index: int, run_id: str, rng: np.random.Generator) -> dict[str, Any]:
    """A short autopsy."""
    value = share(rng, 0.9)
    metrics = {
        name: {"value": value, "ci": [value - 0.01, value + 0.01]} for name in ("accuracy", "macro_f1")
    }
    return {
        **body("assay.autopsy", index, run_id, rng),
        "summary": {"n": 2000, "autopsy_score": round(100 * value, 1)},
        "metrics": metrics,
        "sub_scores": {"performance": round(100 * value, 1)},
        "findings": [],
        "per_class": [],
    }


def fill(store: Store, folder: Path, runs: int) -> int:
    """Runs of mutate, a tenth as many autopsies, and a few failures; returns the bytes of a mutate report."""
    rng = np.random.default_rng(0)
    size = 0
    for index in range(runs + runs // 10):
        task = "mutate" if index < runs else "autopsy"
        start = FIRST + timedelta(hours=7 * index if index < runs else index - runs)
        tags = {"task": task, "kind": "parent", "subject": SUBJECT["name"]}
        info = store.create(f"{task} {SUBJECT['name']}", tags, start=start)
        made = (mutate if task == "mutate" else autopsy)(index, info.id, rng)
        store.write(info.id, {f"{task}/metric_{i}": [(0, i / 40)] for i in range(40)}, {"seed": index})
        assert info.folder is not None
        info.folder.mkdir(parents=True, exist_ok=True)
        text = dumps(made)
        (info.folder / "report.json").write_text(text)
        store.end(info.id, "FAILED" if index % 100 == 99 else "FINISHED", start + timedelta(minutes=3))
        if task == "mutate":
            size = len(text)
            place = folder / f"{index // 50}" / f"{index}"
            place.mkdir(parents=True)
            (place / "report.json").write_text(text)
    return size


def measured(place: Path, *arguments: str) -> tuple[float, float, str]:
    """Wall and CPU seconds of Python with these arguments, and what it said."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=place, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--keep", type=Path, help="a folder to work in, that stays")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as scratch:
        place = given.keep or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        begin = time.perf_counter()
        size = fill(Store(folder=place / "mlruns"), place / "reports", given.runs)
        print(
            f"filled with {given.runs} reports of {size / 1000:.0f} kB in {time.perf_counter() - begin:.0f} s"
        )
        print(f"{'from':10} {'wall':>7} {'CPU':>7}   report.json  report.html   (target {TARGET:.0f} s)")
        wall, cpu, _ = measured(place, "-c", "import mlflow")
        print(f"{'yardstick':10} {wall:6.1f}s {cpu:6.1f}s   import mlflow alone: 2 to 3 s on a quiet machine")
        for name, arguments in {
            "store": ["task.of=mutate", "task.subject=net@photos"],
            "folder": ["task.folder=reports"],
        }.items():
            wall, cpu, said = measured(place, "-m", "app", "task=history", *arguments, f"output=out/{name}")
            sizes = [(place / "out" / name / each).stat().st_size for each in ("report.json", "report.html")]
            print(f"{name:10} {wall:6.1f}s {cpu:6.1f}s {sizes[0] / 1e6:9.1f} MB {sizes[1] / 1e3:8.0f} kB")
            print("   ", said.splitlines()[1][:150])


if __name__ == "__main__":
    main()
