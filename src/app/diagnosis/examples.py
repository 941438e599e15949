"""Hard examples: test cases worth looking at, a dozen a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.calibration import CONFIDENT

UNSURE = 0.40
"""Up to this confidence a prediction is unsure."""
NARROW = 0.10
"""Up to this margin between the two most probable classes a case is near the boundary."""
SHOWN = 12
"""Examples of each kind."""


@dataclass(frozen=True)
class HardExample:
    """One test case worth looking at."""

    kind: str
    """`confident_error`, `unsure_error`, `unsure_right` or `near_boundary`."""
    severity: str
    """`high` or `medium`."""
    case: int
    """The test case."""
    label: int
    """Its class."""
    predicted: int
    """The predicted class."""
    confidence: float
    """The probability of the predicted class."""
    margin: float
    """How far the second most probable class is behind."""
    runner_up: int
    """The second most probable class."""

    @property
    def right(self) -> bool:
        """Whether the prediction is the label."""
        return self.label == self.predicted


@dataclass(frozen=True)
class HardExamples:
    """The hard examples that are shown, and how many there are."""

    shown: tuple[HardExample, ...]
    """At most a dozen of each kind, hardest first."""
    counts: Mapping[str, int]
    """All test cases of each kind."""


def hard_examples(
    rows: NDArray[np.float64], labels: NDArray[np.int64], *, shown: int = SHOWN
) -> HardExamples:
    """Hard examples by kind. A case can be of several kinds.

    Args:
        rows: (N, K) probabilities, K of at least 2.
        labels: (N,) true classes.
        shown: how many of each kind.
    """
    top1, confidence = rows.argmax(axis=1), rows.max(axis=1)
    every = np.arange(len(rows))
    others = rows.copy()
    others[every, top1] = -1.0
    runner_up = others.argmax(axis=1)
    margin, right = confidence - others[every, runner_up], top1 == labels
    # Each kind: which cases, and what is sorted by, hardest first.
    kinds = {
        "confident_error": (~right & (confidence >= CONFIDENT), -confidence),
        "unsure_error": (~right & (confidence <= UNSURE), confidence),
        "unsure_right": (right & (confidence <= UNSURE), confidence),
        "near_boundary": (margin <= NARROW, np.where(right, 1.0, 0.0) + margin),
    }
    found = []
    for kind, (of_kind, hardness) in kinds.items():
        cases = np.flatnonzero(of_kind)
        for case in cases[np.argsort(hardness[cases], kind="stable")[:shown]].tolist():
            high = kind == "confident_error" or (kind == "near_boundary" and not right[case])
            found.append(
                HardExample(
                    kind=kind,
                    severity="high" if high else "medium",
                    case=case,
                    label=int(labels[case]),
                    predicted=int(top1[case]),
                    confidence=float(confidence[case]),
                    margin=float(margin[case]),
                    runner_up=int(runner_up[case]),
                )
            )
    return HardExamples(tuple(found), {kind: int(of_kind.sum()) for kind, (of_kind, _) in kinds.items()})
