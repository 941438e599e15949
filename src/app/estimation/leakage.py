"""Auxiliary variables that know the outcome: a label in disguise makes every estimate look better than it can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.estimation.population import BoolArray, FloatArray, IntArray, Population

_MOST_VALUES = 1000
"""A column of more distinct values than this is not a label in disguise."""
_CASES_A_CELL = 10
"""Cells must hold this many cases on average, else pure ones tell nothing."""
_CHANCE = 1e-6
"""How unlikely it must be that a column tells this much by chance."""
_PERFECT_AUC = 0.9995
_AGREEMENT = 0.5


@dataclass(frozen=True)
class Leak:
    """A column that should not be used."""

    column: str
    """Its name."""
    reason: str
    """What gives it away."""


def auc(values: FloatArray, failures: BoolArray) -> float:
    """Probability that a failure has a larger value than a correct case, ties half; NaN if one kind is missing."""
    positive = int(failures.sum())
    negative = len(failures) - positive
    if positive == 0 or negative == 0:
        return float("nan")
    ordered = np.sort(values)
    ranks = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") + 1) / 2
    return float((ranks[failures].sum() - positive * (positive + 1) / 2) / (positive * negative))


def _codes(values: FloatArray) -> tuple[IntArray, int]:
    """Each value as a small integer, values within rounding of each other as one; how many there are."""
    span = max(float(np.abs(values).max()), 1e-300)
    distinct, codes = np.unique(np.round(values / span, 10), return_inverse=True)
    return codes.astype(np.int64), len(distinct)


def _pure_cells(codes: IntArray, distinct: int, predicted: IntArray, failures: BoolArray) -> str | None:
    """Whether value and predicted class together fix the outcome."""
    _, classes = np.unique(predicted, return_inverse=True)
    cells = codes * (int(classes.max()) + 1) + classes
    counts = np.bincount(cells)
    failed = np.bincount(cells, failures)
    used = counts > 0
    if len(failures) < _CASES_A_CELL * used.sum():
        return None
    if (
        not np.isin(failed[used], (0, *np.unique(counts[used]))).all()
        or ((failed > 0) & (failed < counts)).any()
    ):
        return None
    rate = float(failures.mean())
    # A cell of c cases is pure by chance with probability rate^c + (1 - rate)^c.
    log_chance = float(np.log(rate ** counts[used] + (1 - rate) ** counts[used]).sum())
    if log_chance > np.log(_CHANCE):
        return None
    return (
        f"its {distinct} values together with the predicted class fix the outcome of every case:"
        " it holds the true label or the outcome"
    )


def _looks_like_a_label(codes: IntArray, distinct: int, predicted: IntArray) -> str | None:
    """Whether its values stand for classes one to one, as a true label does, but differ from the predicted class."""
    names, classes = np.unique(predicted, return_inverse=True)
    if distinct < 2 or distinct != len(names) or len(codes) < _CASES_A_CELL * distinct:
        return None
    table = np.bincount(codes * distinct + classes, minlength=distinct * distinct).reshape(distinct, distinct)
    favourite = table.argmax(axis=1)
    agreement = float(table.max(axis=1).sum()) / len(codes)
    if len(set(favourite.tolist())) < distinct or not _AGREEMENT < agreement < 1:
        return None
    return (
        f"it has {distinct} values, one for each predicted class, and agrees with that class on {agreement:.1%} of the"
        " cases: it looks like the true label"
    )


def leaks(population: Population, failures: BoolArray | None = None) -> tuple[Leak, ...]:
    """The auxiliary variables that determine the outcome, or look like a label even without knowing outcomes.

    Args:
        population: What to check.
        failures: (N,) outcomes, where known; without them only label look-alikes can be noticed.
    """
    found = []
    known = failures is not None and bool(failures.any()) and not bool(failures.all())
    for name, values in population.columns.items():
        if population.is_constant(name):
            continue
        reason = None
        codes, distinct = _codes(values)
        few = distinct <= _MOST_VALUES
        if known and failures is not None:
            area = auc(values, failures)
            if max(area, 1 - area) >= _PERFECT_AUC:
                reason = f"it tells failures from correct cases without error (AUC {max(area, 1 - area):.4f})"
            elif few:
                classes = population.predicted
                single = np.zeros(population.size, dtype=np.int64)
                reason = _pure_cells(codes, distinct, single if classes is None else classes, failures)
        if reason is None and few and population.predicted is not None:
            reason = _looks_like_a_label(codes, distinct, population.predicted)
        if reason is not None:
            found.append(Leak(name, reason))
    return tuple(found)
