"""Doubt of a classifier, from its class probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError
from app.estimation.population import FloatArray


def _checked(probabilities: NDArray[np.floating]) -> FloatArray:
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] == 0:
        raise UserError(f"class probabilities must be (N, K), not {values.shape}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0) & (values <= 1 + 1e-6)).all(axis=1))
    if len(bad):
        raise UserError(f"class probabilities must lie in [0, 1], those of row {bad[0]} do not")
    return values


def confidence(probabilities: NDArray[np.floating]) -> FloatArray:
    """(N,) the largest of the (N, K) class probabilities."""
    return np.asarray(np.minimum(_checked(probabilities).max(axis=1, initial=0.0), 1.0), dtype=np.float64)


def margin(probabilities: NDArray[np.floating]) -> FloatArray:
    """(N,) largest minus second largest probability, in [0, 1]; the largest itself for a single class."""
    values = _checked(probabilities)
    if values.shape[1] == 1:
        return values[:, 0]
    top = np.partition(values, values.shape[1] - 2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0], dtype=np.float64)


def entropy(probabilities: NDArray[np.floating]) -> FloatArray:
    """(N,) Shannon entropy in nats, 0 to log K; 0 · log 0 is 0."""
    values = _checked(probabilities)
    logs = np.log(values, out=np.zeros_like(values), where=values > 0)
    return np.asarray(-(values * logs).sum(axis=1) + 0.0, dtype=np.float64)
