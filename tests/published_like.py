"""Generated populations like the five published DeepEST tables (Guerriero, Pietrantuono and Russo, ICSE 2021).

Failures, quantiles of confidence, DSA and LSA of passed and of failed cases, and their rank correlations are those of
the tables; the cases are drawn. So a plain clone tests what a published table would: `scripts/validate_published.py`
runs the same numbers on the tables themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import ndtr

SIZE = 10_000
LEVELS = (0, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 1)


@dataclass(frozen=True)
class Traits:
    """Of the failed or of the passed cases of one table."""

    confidence: tuple[float, ...]
    """Quantiles at LEVELS."""
    dsa: tuple[float, ...]
    lsa: tuple[float, ...]
    correlations: tuple[float, float, float]
    """Spearman's, of confidence and DSA, confidence and LSA, DSA and LSA."""


@dataclass(frozen=True)
class Table:
    """One table's traits."""

    failures: int
    classes: int
    failed: Traits
    passed: Traits
    heading: str = "\ufeffID,outcome,SUT,confidence,dsa,lsa,conf*(1-norm_dsa)"
    leaked: bool = False
    """Whether LSA is the true class in disguise, as in CN12_CIFAR10."""


TABLES = {
    "CN5_MNIST": Table(
        95,
        10,
        Traits(
            (0.36, 0.433, 0.493, 0.556, 0.749, 0.913, 0.98, 1.0),
            (0.425, 0.539, 0.672, 0.776, 0.888, 1.096, 1.176, 1.468),
            (30158, 30167, 30200, 30266, 30367, 30600, 30869, 60373),
            (-0.43, -0.25, 0.42),
        ),
        Traits(
            (0.411, 0.95, 0.9989, 0.9999, 1.0, 1.0, 1.0, 1.0),
            (0.077, 0.128, 0.2, 0.262, 0.337, 0.438, 0.574, 1.591),
            (30018, 30024, 30072, 30102, 30125, 30153, 30194, 33604),
            (-0.57, -0.24, 0.78),
        ),
        heading="ID,Outcome,SUT,Confidence,dsa,lsa,conf*(1-norm_dsa)",
    ),
    "LN5_MNIST": Table(
        132,
        10,
        Traits(
            (0.264, 0.378, 0.519, 0.598, 0.707, 0.871, 0.953, 0.992),
            (0.449, 0.536, 0.677, 0.782, 0.912, 1.101, 1.262, 2.029),
            (967, 1007, 1022, 1040, 1064, 1104, 1213, 1990),
            (-0.2, -0.2, 0.33),
        ),
        Traits(
            (0.341, 0.858, 0.992, 0.9993, 0.9999, 1.0, 1.0, 1.0),
            (0.07, 0.136, 0.198, 0.26, 0.346, 0.461, 0.606, 1.515),
            (936, 940, 967, 983, 997, 1009, 1024, 1564),
            (-0.62, -0.3, 0.77),
        ),
    ),
    "VGG16_CIFAR10": Table(
        641,
        10,
        Traits(
            (0.277, 0.464, 0.551, 0.697, 0.893, 0.984, 0.9973, 0.9999),
            (0.551, 0.782, 0.986, 1.135, 1.364, 1.636, 1.921, 3.423),
            (1664, 1669, 1674.5, 1678.7, 1684, 1692.6, 1708.9, 3762),
            (-0.04, -0.04, 0.28),
        ),
        Traits(
            (0.297, 0.725, 0.99, 0.9994, 0.9998, 0.9999, 0.9999, 1.0),
            (0.26, 0.708, 0.9, 1.063, 1.276, 1.529, 1.815, 4.763),
            (1661, 1666, 1670, 1675, 1680, 1687, 1699, 2570),
            (-0.09, -0.13, 0.3),
        ),
    ),
    "CN12_CIFAR10": Table(
        1934,
        10,
        Traits(
            (0.188, 0.278, 0.413, 0.547, 0.794, 0.965, 0.997, 1.0),
            (0.373, 0.759, 0.921, 1.043, 1.186, 1.357, 1.515, 2.391),
            (0,) * 8,
            (-0.36, 0, 0),
        ),
        Traits(
            (0.216, 0.494, 0.827, 0.989, 0.9999, 1.0, 1.0, 1.0),
            (0.145, 0.304, 0.481, 0.647, 0.849, 1.071, 1.262, 3.096),
            (0,) * 8,
            (-0.77, 0, 0),
        ),
        heading="\ufeffID,outcome,SUT,Confidence,dsa,lsa,conf*(1-norm_dsa)",
        leaked=True,
    ),
    "VGG16_CIFAR100": Table(
        2952,
        100,
        Traits(
            (0.148, 0.268, 0.403, 0.552, 0.783, 0.952, 0.993, 1.0),
            (0.0, 0.912, 1.166, 1.355, 1.601, 1.911, 2.275, 4.774),
            (100.6, 102.0, 102.8, 103.4, 104.4, 105.7, 107.5, 151.4),
            (-0.11, -0.07, 0.31),
        ),
        Traits(
            (0.16, 0.512, 0.814, 0.982, 0.9992, 0.9999, 1.0, 1.0),
            (0.0, 0.686, 0.988, 1.209, 1.466, 1.75, 2.074, 7.153),
            (100.0, 101.4, 102.4, 103.1, 104.0, 105.1, 106.6, 209.3),
            (-0.18, -0.1, 0.33),
        ),
    ),
}


def write(name: str, folder: Path) -> Path:
    """A table like the published one, in its form: byte-order mark, case of the heading, no newline at the end."""
    table = TABLES[name]
    rng = np.random.default_rng([*name.encode()])
    failed = np.zeros(SIZE, dtype=bool)
    failed[rng.choice(SIZE, table.failures, replace=False)] = True
    columns = np.empty((SIZE, 3))
    for traits, here in ((table.failed, failed), (table.passed, ~failed)):
        columns[here] = _drawn(traits, int(here.sum()), rng)
    predicted = rng.integers(table.classes, size=SIZE)
    if table.leaked:
        columns[:, 2] = 447.45 + np.where(failed, (predicted + 1) % table.classes, predicted)
    confidence, dsa, lsa = columns.T
    combined = confidence * (1 - dsa / dsa.max())
    outcome = np.where(failed, "Fail", "Pass")
    numbers = zip(confidence, dsa, lsa, combined, strict=True)
    rows = [
        f"{i},{outcome[i]},{predicted[i]},{','.join(f'{each:.9g}' for each in row)}"
        for i, row in enumerate(numbers)
    ]
    path = folder / f"{name}.csv"
    path.write_text("\n".join([table.heading, *rows]), encoding="utf-8")
    return path


def _drawn(traits: Traits, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 3): by a normal copula, the quantiles between the given ones by interpolation."""
    a, b, c = (2 * np.sin(np.pi / 6 * each) for each in traits.correlations)
    normal = rng.multivariate_normal(np.zeros(3), [[1, a, b], [a, 1, c], [b, c, 1]], size=n)
    given = traits.confidence, traits.dsa, traits.lsa
    return np.column_stack(
        [np.interp(ndtr(each), LEVELS, levels) for each, levels in zip(normal.T, given, strict=True)]
    )
