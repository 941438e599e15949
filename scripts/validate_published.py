"""The five published DeepEST tables against the numbers known of them; exit code 1 if one is off.

    python scripts/validate_published.py FOLDER

FOLDER holds CN5_MNIST.csv and the others, from the material of Guerriero, Pietrantuono and Russo (ICSE 2021). The tests
check the same numbers on generated tables with the same traits.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from app.estimation import Adaptive, DeepEST, Estimator
from app.estimation.evaluation import KnownPopulation, evaluate
from app.estimation.tables import read_population

FAILURES = {
    "CN5_MNIST": 95,
    "LN5_MNIST": 132,
    "VGG16_CIFAR10": 641,
    "CN12_CIFAR10": 1934,
    "VGG16_CIFAR100": 2952,
}
KNOWN: tuple[tuple[str, Callable[[], Estimator], float, float], ...] = (
    ("CN5_MNIST", lambda: DeepEST("combined"), 0.39, 12),
    ("CN12_CIFAR10", lambda: DeepEST("lsa"), 1.00, 38),
    ("VGG16_CIFAR100", DeepEST, 1.93, 131),
    ("VGG16_CIFAR10", Adaptive, 0.66, 47),
)
"""Of 200 labels: the RMSE over that of simple random sampling, and the failures found."""


def main() -> int:
    """Print both tables; 1 if a number is off."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=120)
    arguments = parser.parse_args()
    tables = {name: read_population(arguments.folder / f"{name}.csv") for name in FAILURES}
    good = True
    print(f"{'table':16} {'cases':>7} {'failures':>9} {'leaks'}")
    for name, table in tables.items():
        leaks = [leak.column for leak in table.leaks]
        failures = 0 if table.failures is None else int(table.failures.sum())
        fits = (table.population.size, failures, leaks) == (
            10_000,
            FAILURES[name],
            ["lsa"] if name == "CN12_CIFAR10" else [],
        )
        good &= fits
        print(
            f"{name:16} {table.population.size:7} {failures:9} {', '.join(leaks):6} {'' if fits else 'OFF'}"
        )
    print(f"\n{'table':16} {'estimator':14} {'RMSE/SRS':>9} {'known':>6} {'failures':>9} {'known':>6}")
    for name, estimator, ratio, found in KNOWN:
        table = tables[name]
        if table.failures is None:
            raise SystemExit(f"{name}.csv has no outcomes")
        known = KnownPopulation(table.population, table.failures)
        (row,) = evaluate([known], [estimator()], [200], repetitions=arguments.repetitions).results
        fits = abs(row.rmse_ratio_srs / ratio - 1) <= 0.30 and abs(row.failures_mean / found - 1) <= 0.08
        good &= fits
        print(
            f"{name:16} {row.estimator:14} {row.rmse_ratio_srs:9.2f} {ratio:6.2f} "
            f"{row.failures_mean:9.1f} {found:6} {'' if fits else 'OFF'}"
        )
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
