"""Which findings are more than chance: a rule that fires on three errors of a sound model is held back.

The original rules compare a rate with a threshold whatever the number of cases. Profile `assay` also asks whether
a sound model would show the same by luck, at the 1 % level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from app.diagnosis import calibration, metrics
from app.diagnosis.causes import Finding
from app.stats.proportions import wilson

LEVEL = 0.01
"""A rule fires on a sound model at most this often by chance."""
FEWEST = 5
"""Fewer cases than this carry no finding."""


@dataclass(frozen=True)
class Support:
    """What the findings of one model are checked against."""

    matrix: metrics.Matrix
    """(K, K): confusion matrix."""
    confidence: NDArray[np.float64]
    """(N,): confidence of each prediction."""
    right: NDArray[np.bool_]
    """(N,): whether it is right."""
    class_names: tuple[str, ...]
    """K names."""
    train_accuracy: float | None = None
    """Accuracy on training data, if known."""

    def keep(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings that are more than chance; a cause without a check here is kept."""
        checks: Mapping[str, Callable[[Finding], bool]] = {
            "class_imbalance": self._imbalance,
            "overfitting": self._overfitting,
            "class_overlap": self._overlap,
            "representation_problem": self._representation,
        }
        return tuple(
            each for each in findings if each.cause_type not in checks or checks[each.cause_type](each)
        )

    def _imbalance(self, finding: Finding) -> bool:
        """A class without any test case is a fact; else so few are unlikely with equal classes."""
        cases = metrics.support(self.matrix)
        few = int(finding.evidence["cases"])
        chance = stats.poisson.cdf(few, float(np.median(cases[cases > 0]))) * len(cases)
        return few == 0 or bool(chance <= LEVEL)

    def _overfitting(self, finding: Finding) -> bool:  # noqa: ARG002 -- one signature for all checks
        """Even the upper end of the accuracy here is below the accuracy on training data."""
        ends = wilson(int(self.right.sum()), self.right.size, 1 - LEVEL)
        return self.train_accuracy is not None and ends.high < self.train_accuracy

    def _overlap(self, finding: Finding) -> bool:
        """At least five confusions, and more than a tenth of both classes' cases (5 % if centroids agree)."""
        a, b = (self.class_names.index(name) for name in finding.affected)
        confused = int(self.matrix[a, b] + self.matrix[b, a])
        ends = wilson(confused, int(metrics.support(self.matrix)[[a, b]].sum()), 1 - LEVEL)
        both_ways = min(finding.evidence["rate_there"], finding.evidence["rate_back"]) >= 0.20
        return confused >= FEWEST and ends.low >= (0.10 if both_ways else 0.05)

    def _representation(self, finding: Finding) -> bool:  # noqa: ARG002 -- one signature for all checks
        """More confident errors than the confidences themselves announce (Poisson tail)."""
        sure = self.confidence >= calibration.CONFIDENT
        errors = int((sure & ~self.right).sum())
        announced = float((1 - self.confidence[sure]).sum())
        return errors >= FEWEST and bool(stats.poisson.sf(errors - 1, announced) <= LEVEL)
