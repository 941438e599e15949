"""Adjusted p-values of several tests at once: none at all when there is nothing to adjust.

A p-value outside [0, 1], or NaN, is refused: what was not tested has no place in the family.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from app.stats.interval import Floats


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjusted p-values that control the false-discovery rate along the last axis, (..., M).

    Benjamini and Hochberg (JRSS B 57, 1995, p. 293), as SciPy computes it.

    Raises:
        ValueError: a p-value is not in [0, 1].
    """
    p = _checked(p_values)
    return np.asarray(stats.false_discovery_control(p, axis=-1, method="bh")) if p.size else p


def holm(p_values: ArrayLike) -> Floats:
    """Adjusted p-values that control the family-wise error along the last axis, (..., M).

    Holm (Scandinavian Journal of Statistics 6, 1979, p. 67): the smallest times M, the next times M - 1, and
    so on, never falling and never above 1.

    Raises:
        ValueError: a p-value is not in [0, 1].
    """
    p = _checked(p_values)
    order = np.argsort(p, axis=-1, kind="stable")
    stepped = np.take_along_axis(p, order, axis=-1) * np.arange(p.shape[-1], 0, -1)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(np.maximum.accumulate(stepped, axis=-1), 1.0), axis=-1)
    return adjusted


def _checked(p_values: ArrayLike) -> Floats:
    p = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p-values lie between 0 and 1; {p[~((p >= 0) & (p <= 1))][0]} does not")
    return p
