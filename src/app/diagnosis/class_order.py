"""Class order: whether the columns of the predictions belong to other classes than the labels say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from app.diagnosis import metrics
from app.diagnosis.causes import Finding

LARGE = 0.20
"""Renaming the columns must gain this much accuracy."""
LARGE_WITHIN = 0.50
"""Or this much accuracy within the classes that are renamed: two swapped classes of ten cost only 20 points."""
HELD_OUT = 0.10
"""And this much on test cases that had no part in finding the renaming."""


@dataclass(frozen=True)
class ClassOrder:
    """The best renaming of the columns."""

    columns: NDArray[np.int64]
    """(K,): the column that is class k's by the confusion matrix; 0..K-1 if the order is right."""
    accuracy: float
    """Accuracy as it is."""
    reordered_accuracy: float
    """Accuracy with the columns renamed."""
    held_out_gain: float
    """Accuracy gained on cases that the renaming was not found on."""
    gain_within: float
    """Accuracy gained within the classes that are renamed."""

    @property
    def gain(self) -> float:
        """Accuracy gained by renaming the columns."""
        return self.reordered_accuracy - self.accuracy

    @property
    def moved(self) -> tuple[int, ...]:
        """The classes whose column is another one."""
        return tuple(np.flatnonzero(self.columns != np.arange(self.columns.size)).tolist())

    @property
    def mismatch(self) -> bool:
        """Whether the columns are in another order than the class names."""
        large = self.gain >= LARGE or (len(self.moved) > 1 and self.gain_within >= LARGE_WITHIN)
        return large and self.held_out_gain >= min(HELD_OUT, self.gain / 2)


def class_order(
    top1: NDArray[np.int64], labels: NDArray[np.int64], classes: int, rng: np.random.Generator
) -> ClassOrder:
    """The renaming of the columns with the best accuracy (linear assignment on the confusion matrix).

    Args:
        top1: (N,) predicted classes, N of at least 1.
        labels: (N,) true classes.
        classes: K.
        rng: draws the halves on which the gain is checked.
    """
    matrix = metrics.confusion(top1, labels, classes)
    columns = _assign(matrix)
    right, moved = top1 == labels, columns != np.arange(classes)
    renamed = columns[labels] == top1
    within = moved[labels]
    half = rng.permutation(labels.size) % 2
    held = np.zeros(labels.size, dtype=np.bool_)
    for side in (0, 1):
        found = _assign(metrics.confusion(top1[half != side], labels[half != side], classes))
        held |= (half == side) & (found[labels] == top1)
    return ClassOrder(
        columns=columns,
        accuracy=float(right.mean()),
        reordered_accuracy=float(renamed.mean()),
        held_out_gain=float(held.mean() - right.mean()),
        gain_within=float((renamed[within].mean() - right[within].mean()) if within.any() else 0.0),
    )


def find(order: ClassOrder, class_names: tuple[str, ...]) -> Iterator[Finding]:
    """A finding if the columns are in another order; `affected` are pairs `name -> name of its column`."""
    if order.mismatch:
        evidence = {
            "accuracy": order.accuracy,
            "reordered_accuracy": order.reordered_accuracy,
            "gain": order.gain,
            "held_out_gain": order.held_out_gain,
            "moved": float(len(order.moved)),
        }
        affected = tuple(f"{class_names[k]} -> {class_names[order.columns[k]]}" for k in order.moved)
        yield Finding("class_order_mismatch", 0.95, evidence, affected, order.gain)


def _assign(matrix: metrics.Matrix) -> NDArray[np.int64]:
    """(K,): the column of each class; the given order wins a tie."""
    classes = len(matrix)
    _, columns = optimize.linear_sum_assignment(matrix + np.eye(classes) / (2 * classes), maximize=True)
    return np.asarray(columns, dtype=np.int64)
