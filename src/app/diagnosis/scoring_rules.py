"""Proper scoring rules and ranks of single test cases: what each row of probabilities is worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SMALLEST = 1e-15
"""A smaller probability counts as this much in the log loss, so that one case cannot make it infinite."""


def log_losses(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """(N,): minus the logarithm of the probability of each label, in nats (Good, JRSS B 14, 1952)."""
    losses: NDArray[np.float64] = -np.log(np.maximum(own(rows, labels), SMALLEST))
    return losses


def brier_scores(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """(N,): squared distance of each row from its label's unit vector, 0 to 2 (Brier, MWR 78, 1950)."""
    scores: NDArray[np.float64] = (rows**2).sum(axis=1) - 2 * own(rows, labels) + 1
    return scores


def ranks(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """(N,): the place of each label in its row, 0 for the most probable class.

    Of equal probabilities the lower class comes first, as `argmax` has it.
    """
    of_label = own(rows, labels)[:, None]
    before = np.arange(rows.shape[1]) < labels[:, None]
    places: NDArray[np.int64] = ((rows > of_label) | ((rows == of_label) & before)).sum(axis=1)
    return places


def own(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """(N,): the probability of each label."""
    probabilities: NDArray[np.float64] = rows[np.arange(len(rows)), labels]
    return probabilities
