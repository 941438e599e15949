"""Error, failures found, coverage and speed of all estimators.

    python scripts/bench_estimators.py --tables FOLDER --repetitions 1000 --budgets 200 --workers 2
    python scripts/bench_estimators.py --synthetic
    python scripts/bench_estimators.py --speed

`--tables` reads every CSV of a folder as a population with known outcomes. `--synthetic` makes populations unlike
those: calibrated and miscalibrated confidence, rare failures, failures at high confidence, no signal, few cases.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from app.estimation import (
    CES,
    CSS,
    LURE,
    SRSWOR,
    SRSWR,
    Adaptive,
    ArrayOracle,
    DeepEST,
    Estimator,
    ModelAssistedSRS,
    Population,
    StratifiedNeyman,
)
from app.estimation.cross_entropy import interval_codes
from app.estimation.evaluation import Evaluation, KnownPopulation, evaluate
from app.estimation.tables import read_population

PUBLISHED_LSA = {
    "CN5_MNIST": 30243.43,
    "LN5_MNIST": 1034.12,
    "CN12_CIFAR10": 460.2,
    "VGG16_CIFAR10": 3052.397,
    "VGG16_CIFAR100": 111.898,
}


def estimators(names: list[str]) -> list[Estimator]:
    """All estimators, or those named."""
    everything: list[Estimator] = [
        SRSWR(),
        SRSWOR(),
        CSS(),
        DeepEST(),
        DeepEST("dsa"),
        DeepEST("lsa", tau=PUBLISHED_LSA),
        DeepEST("combined"),
        StratifiedNeyman(),
        LURE(),
        ModelAssistedSRS(),
        Adaptive("accuracy"),
        Adaptive(),
        Adaptive("hunt"),
    ]
    return [estimator for estimator in everything if not names or estimator.name in names]


def synthetic(size: int = 10_000, seed: int = 0) -> list[KnownPopulation]:
    """Populations with a confidence and a distance, whose failures follow them in different ways."""
    rng = np.random.default_rng(seed)
    doubt = expit(rng.normal(-4, 2.5, size))
    kinds: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {
        "calibrated": (doubt, doubt),
        "overconfident": (doubt, expit(0.5 * logit(doubt))),
        "underconfident": (doubt, expit(1.7 * logit(doubt) - 1)),
        "rare": (doubt / 20, doubt / 20),
        "confidently_wrong": (doubt, np.where(rng.random(size) < 0.06, 0.9, 0.3 * doubt)),
        "no_signal": (doubt, np.full(size, 0.15)),
        "reversed": (doubt, 0.3 * (1 - doubt) ** 4),
        "mostly_wrong": (doubt, expit(logit(doubt) + 4.5)),
    }
    made = []
    for name, (claimed, true) in kinds.items():
        failures = rng.random(size) < true
        distance = rng.gamma(4, 1, size) * (1 + 2 * true)
        columns = {"confidence": 1 - claimed, "dsa": distance, "lsa": rng.gamma(9, 1, size)}
        made.append(KnownPopulation(Population(name, np.arange(size).astype(str), columns), failures))
    few = np.sort(rng.permutation(size)[:300])
    base = made[1]
    columns = {key: values[few] for key, values in base.population.columns.items()}
    made.append(KnownPopulation(Population("few_cases", few.astype(str), columns), base.failures[few]))
    return made


def show(evaluation: Evaluation) -> None:
    """One line a result."""
    print(
        f"{'population':18s} {'estimator':18s} {'n':>4s} {'ratio':>6s} {'found':>6s} {'cover':>6s} {'bias/se':>7s}"
    )
    for row in evaluation.results:
        bias = row.bias / row.bias_se if row.bias_se else 0.0
        print(
            f"{row.subject:18s} {row.estimator:18s} {row.budget:4d} {row.rmse_ratio_srs:6.3f} "
            f"{row.failures_mean:6.1f} {row.coverage:6.3f} {bias:+7.1f}"
            + (
                f" sequence misses {row.sequence_misses:.3f}"
                if row.sequence_misses == row.sequence_misses
                else ""
            )
        )
    for pair in evaluation.skipped:
        print(f"skipped {pair.subject} {pair.estimator}: {pair.reason}")


def recounting_ces(neurons: NDArray[np.float64], budget: int, groups: int, rng: np.random.Generator) -> None:
    """The plain way: every neuron's histogram of every candidate sample counted from nothing."""
    codes = interval_codes(neurons, 20)
    shares = [np.bincount(column, minlength=20) / len(codes) for column in codes.T]
    chosen = rng.permutation(len(codes))[:30].tolist()
    while len(chosen) < budget:
        trials = [rng.permutation(len(codes))[:5].tolist() for _ in range(groups)]
        values = []
        for trial in trials:
            sample = codes[[*chosen, *trial]]
            total = 0.0
            for neuron, share in enumerate(shares):
                mine = np.bincount(sample[:, neuron], minlength=20) / len(sample)
                there = mine > 0
                total += float((mine[there] * np.log(mine[there] / share[there])).sum())
            values.append(total / len(shares))
        chosen += trials[int(np.argmin(values))]


def cpu(estimator: Estimator, known: KnownPopulation, budget: int, runs: int) -> float:
    """CPU seconds of one run."""
    oracle = ArrayOracle(known.failures)
    estimator.run(known.population, oracle, budget, np.random.default_rng(0))
    start = time.process_time()
    for run in range(runs):
        estimator.run(known.population, oracle, budget, np.random.default_rng(run))
    return (time.process_time() - start) / runs


def memory(estimator: Estimator, known: KnownPopulation, budget: int) -> float:
    """Bytes a case that a run holds at most beside the population."""
    tracemalloc.start()
    estimator.run(known.population, ArrayOracle(known.failures), budget, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / known.population.size


def line(what: str, measured: str, target: str, reached: bool) -> None:
    """One figure beside its target."""
    print(f"{what:44s} {measured:>34s}   target {target:9s} {'reached' if reached else 'MISSED'}", flush=True)


def speed() -> None:
    """Time and memory of one run at 10,000 and 1,000,000 cases, and of CES against recounting, with their targets."""
    known = synthetic()[1]
    for estimator in estimators([]):
        took = cpu(estimator, known, 200, 10)
        line(f"{estimator.name}, N = 10,000, n = 200", f"{took * 1e3:.1f} ms CPU", "25 ms", took <= 0.025)
    for variable in ("confidence", "dsa"):
        deepest = DeepEST(variable)
        took = 30 * cpu(deepest, known, 200, 30)
        line(f"30 runs of {deepest.name}, N = 10,000, n = 200", f"{took:.3f} s CPU", "0.5 s", took < 0.5)
    medium, large = synthetic(100_000)[1], synthetic(1_000_000)[1]
    for estimator in estimators([]):
        took = cpu(estimator, large, 800, 1)
        line(f"{estimator.name}, N = 1,000,000, n = 800", f"{took:.2f} s CPU", "10 s", took <= 10)
        less, more = memory(estimator, medium, 800), memory(estimator, large, 800)
        words = f"{less:.0f} and {more:.0f} bytes a case"
        line(f"{estimator.name}, N = 100,000 and 1,000,000", words, "O(N)", more <= 1.2 * less + 16)
    rng = np.random.default_rng(0)
    neurons = np.maximum(rng.normal(size=(10_000, 128)), 0)
    population = Population("neurons", np.arange(10_000).astype(str), neurons=neurons)
    ours = cpu(CES(), KnownPopulation(population, rng.random(10_000) < 0.1), 200, 2)
    start = time.process_time()
    recounting_ces(neurons, 200, 10, rng)
    plain = (time.process_time() - start) * 30
    words = f"{ours:.2f} s against {plain:.0f} s: {plain / ours:.0f} x"
    line("CES against recounting, m = 128, n = 200", words, "50 x", plain >= 50 * ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--synthetic", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--estimators", nargs="*", default=[])
    parser.add_argument("--budgets", type=int, nargs="+", default=[200])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sequences", action="store_true", help="check the always-valid sequences too")
    options = parser.parse_args()
    populations: list[KnownPopulation] = []
    if options.tables is not None:
        for path in sorted(options.tables.glob("*.csv")):
            table = read_population(path)
            for leak in table.leaks:
                print(f"{path.name}: column {leak.column!r} should not be used: {leak.reason}")
            if table.failures is not None:
                populations.append(KnownPopulation(table.population, table.failures))
    if options.synthetic:
        populations += synthetic()
    if populations:
        start = time.perf_counter()
        evaluation = evaluate(
            populations,
            estimators(options.estimators),
            options.budgets,
            repetitions=options.repetitions,
            seed=options.seed,
            sequences=options.sequences,
            workers=options.workers,
        )
        show(evaluation)
        print(f"{time.perf_counter() - start:.0f} s")
    if options.speed:
        speed()


if __name__ == "__main__":
    main()
