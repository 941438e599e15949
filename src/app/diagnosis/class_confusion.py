"""Class confusion: one wrong class takes most of a class's errors."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from scipy import stats

from app.diagnosis import metrics
from app.diagnosis.causes import Finding, severity
from app.diagnosis.significance import FEWEST, LEVEL

MOST = 0.50
"""One wrong class takes at least this share of the errors."""
NOTABLE = 0.05
"""And at least this share of the class's test cases: below, the class is fine."""


def find(
    matrix: metrics.Matrix,
    class_names: tuple[str, ...],
    explained: Collection[frozenset[str]] = (),
) -> Iterator[Finding]:
    """A finding for each class whose errors go to one wrong class more often than chance would send them.

    With two classes every error goes to the only other one, which says nothing: none is found.

    Args:
        matrix: (K, K) confusion matrix.
        class_names: K names.
        explained: pairs of classes that another finding already names.
    """
    classes = len(matrix)
    if classes < 3:
        return
    cases, wrong = metrics.support(matrix), matrix.copy()
    np.fill_diagonal(wrong, 0)
    errors, other = wrong.sum(axis=1), wrong.argmax(axis=1)
    taken = wrong.max(axis=1)
    # Bonferroni over the classes and, within each, over the wrong classes one of which is the largest.
    chance = classes * (classes - 1) * stats.binom.sf(taken - 1, errors, 1 / (classes - 1))
    fires = (taken >= FEWEST) & (taken >= MOST * errors) & (taken >= NOTABLE * cases) & (chance <= LEVEL)
    for a in np.flatnonzero(fires).tolist():
        pair = class_names[a], class_names[int(other[a])]
        if frozenset(pair) in explained:
            continue
        share = float(taken[a] / errors[a])
        evidence = {
            "confused": float(taken[a]),
            "errors": float(errors[a]),
            "cases": float(cases[a]),
            "share_of_errors": share,
            "rate": float(taken[a] / cases[a]),
        }
        sure = 0.5 + 0.4 * severity(share, MOST)
        yield Finding("class_confusion", sure, evidence, pair, float(taken[a] / cases.sum()))
