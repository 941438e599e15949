"""Paired tests: of outcomes of the same cases by counts, of differences by their signs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from app.stats.interval import Floats

_TIE = 1e-12
"""Sums that differ by no more of the whole are equal but for rounding."""


def mcnemar(lost: ArrayLike, gained: ArrayLike) -> Floats:
    """One-sided exact p that no more was lost than gained; 1 where no pair differs.

    McNemar (Psychometrika 12, 1947) with the exact binomial tail P(Bin(lost + gained, 1/2) >= lost).

    Args:
        lost: (...) pairs that are right before and wrong after.
        gained: (...) pairs the other way round; broadcast against the first.
    """
    b, c = np.broadcast_arrays(np.asarray(lost, dtype=np.float64), np.asarray(gained, dtype=np.float64))
    # P(X >= b) is the incomplete beta function at b, n - b + 1 = c + 1; b = 0 is certain.
    tail = special.betainc(np.maximum(b, 1.0), c + 1.0, 0.5)
    return np.where(b > 0, tail, 1.0)


def mcnemar_two_sided(lost: ArrayLike, gained: ArrayLike) -> Floats:
    """Two-sided exact p that as much was lost as gained, twice the smaller tail; 1 where no pair differs.

    Args:
        lost: (...) pairs that are right before and wrong after.
        gained: (...) pairs the other way round; broadcast against the first.
    """
    doubled: Floats = 2 * np.minimum(mcnemar(lost, gained), mcnemar(gained, lost))
    return np.minimum(doubled, 1.0)


def sign_flips(
    differences: Floats, rng: np.random.Generator, resamples: int, *, two_sided: bool = True
) -> float:
    """P of a paired permutation test on differences (K,), NaN left out; NaN if none is left.

    Under the null every difference may as well have the other sign (Fisher, The Design of Experiments, 1935,
    section 21). All 2^K sign patterns are tried where that is no more than `resamples`; otherwise so many random
    ones, counted with the one observed. The one-sided test asks whether differences are positive.
    """
    told = differences[~np.isnan(differences)]
    size = len(told)
    if not size:
        return float("nan")
    exact = 2.0**size <= resamples
    if exact:
        signs = 1.0 - 2.0 * ((np.arange(2**size)[:, None] >> np.arange(size)) & 1)
    else:
        signs = rng.choice(np.array([-1.0, 1.0]), size=(resamples, size))
    sums, observed = signs @ told, float(told.sum())
    if two_sided:
        sums, observed = np.abs(sums), abs(observed)
    as_large = int((sums >= observed - _TIE * max(1.0, float(np.abs(told).sum()))).sum())
    return as_large / len(signs) if exact else (as_large + 1) / (len(signs) + 1)
