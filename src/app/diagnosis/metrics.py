"""Counts and rates of a classifier's predictions: the confusion matrix and what follows from it.

Every rate takes confusion matrices of shape (..., K, K), rows the label and columns the prediction, so that
one call serves one model or hundreds of mutants:

    >>> import numpy as np
    >>> matrix = confusion(np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1]), classes=2)
    >>> matrix.tolist()
    [[1, 1], [0, 2]]
    >>> float(accuracy(matrix)), recall(matrix).tolist()
    (0.75, [0.5, 1.0])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.int64]
Rates = NDArray[np.float64]


def confusion(top1: ArrayLike, labels: ArrayLike, classes: int) -> Matrix:
    """Confusion matrices, (..., K, K): how often each label (row) was predicted as each class (column).

    Args:
        top1: (..., N) predicted classes, each in 0..K-1.
        labels: (N,) true classes, each in 0..K-1.
        classes: K.

    Raises:
        ValueError: if a label or a prediction is not one of the K classes, or the shapes do not fit.
    """
    predicted, true = np.asarray(top1), np.asarray(labels)
    if true.ndim != 1 or predicted.ndim < 1 or predicted.shape[-1] != true.size:
        raise ValueError(f"top1 must be (..., N) and labels (N,), not {predicted.shape} and {true.shape}")
    for name, values in (("label", true), ("prediction", predicted)):
        if values.size and not 0 <= int(values.min()) <= int(values.max()) < classes:
            raise ValueError(
                f"each {name} must be a class in 0..{classes - 1}, not {values.min()}..{values.max()}"
            )
    batch = predicted.shape[:-1]
    cells = classes * classes
    flat = predicted.reshape(int(np.prod(batch)), true.size).astype(np.int64)
    flat += true.astype(np.int64) * classes + np.arange(len(flat))[:, None] * cells
    counts = np.bincount(flat.ravel(), minlength=len(flat) * cells)
    return counts.astype(np.int64).reshape(*batch, classes, classes)


def support(matrix: Matrix) -> Matrix:
    """Test cases of each class, (..., K)."""
    total: Matrix = matrix.sum(axis=-1)
    return total


def accuracy(matrix: Matrix) -> Rates:
    """Share of test cases predicted right, (...); NaN without test cases."""
    return _ratio(_hits(matrix).sum(axis=-1), matrix.sum(axis=(-2, -1)))


def recall(matrix: Matrix) -> Rates:
    """Share of each class's test cases predicted right, (..., K); NaN for a class without test cases."""
    return _ratio(_hits(matrix), support(matrix))


def precision(matrix: Matrix) -> Rates:
    """Share of each class's predictions that are right, (..., K); NaN for a class that is never predicted."""
    return _ratio(_hits(matrix), matrix.sum(axis=-2))


def f1(matrix: Matrix) -> Rates:
    """2 TP / (2 TP + FP + FN) of each class, (..., K); NaN for a class neither labelled nor predicted."""
    return _ratio(2 * _hits(matrix), support(matrix) + matrix.sum(axis=-2))


def macro(rates: Rates, matrix: Matrix) -> Rates:
    """Plain mean of a rate per class over the classes that have test cases, (...).

    Args:
        rates: (..., K), from `recall`, `precision` or `f1`. A class that has test cases and is never
            predicted has no precision; it counts as 0 here, so that ignoring a class never pays.
        matrix: (..., K, K), the confusion matrices the rates came from.
    """
    present = support(matrix) > 0
    return _ratio(np.where(present, np.nan_to_num(rates), 0.0).sum(axis=-1), present.sum(axis=-1))


def weighted(rates: Rates, matrix: Matrix) -> Rates:
    """Mean of a rate per class weighted by the test cases of the class, (...); undefined rates count as 0."""
    cases = support(matrix)
    return _ratio((np.nan_to_num(rates) * cases).sum(axis=-1), cases.sum(axis=-1))


def balanced_accuracy(matrix: Matrix) -> Rates:
    """Mean recall over the classes that have test cases, (...)."""
    return macro(recall(matrix), matrix)


def macro_f1(matrix: Matrix) -> Rates:
    """Mean F1 over the classes that have test cases, (...)."""
    return macro(f1(matrix), matrix)


def weighted_f1(matrix: Matrix) -> Rates:
    """Mean F1 weighted by the test cases of each class, (...)."""
    return weighted(f1(matrix), matrix)


def confusion_rates(matrix: Matrix) -> Rates:
    """Share of each class's test cases that went to each wrong class, (..., K, K); zero diagonal.

    A class without test cases has a row of zeros: nothing of it was confused.
    """
    rates = np.nan_to_num(_ratio(matrix, support(matrix)[..., None]))
    diagonal = np.arange(matrix.shape[-1])
    rates[..., diagonal, diagonal] = 0.0
    return rates


def _hits(matrix: Matrix) -> Matrix:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _ratio(part: ArrayLike, whole: ArrayLike) -> Rates:
    """Quotient that is NaN where the whole is 0."""
    above, below = np.broadcast_arrays(
        np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    )
    ratio: Rates = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return ratio
