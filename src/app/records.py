"""What a model said about test cases, as plain arrays: the seam between devices and statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Predictions:
    """Outcomes of one classifier, original or mutant: T repetitions (1 if deterministic) over N test cases."""

    top1: Ints
    """(T, N): the predicted class; -1 where the output held NaN or infinity."""
    confidence: Floats
    """(T, N): the largest softmax probability; NaN where the output was not finite."""
    shift: Floats
    """(T, N): largest |output - original's output| of a case, divided by the original's largest |output| of that
    case (at least 1e-12). Zeros for the original itself."""

    def __post_init__(self) -> None:
        if self.top1.ndim != 2 or not self.top1.shape == self.confidence.shape == self.shift.shape:
            shapes = self.top1.shape, self.confidence.shape, self.shift.shape
            raise ValueError(f"top1, confidence and shift must be (T, N) arrays of one shape, not {shapes}")

    @property
    def repetitions(self) -> int:
        """T."""
        return int(self.top1.shape[0])

    @property
    def finite(self) -> bool:
        """Whether every output was finite."""
        return bool((self.top1 >= 0).all())

    def right(self, labels: NDArray[np.integer]) -> NDArray[np.bool_]:
        """(T, N): whether each prediction is the label."""
        hits: NDArray[np.bool_] = self.top1 == labels
        return hits

    def take(self, cases: NDArray[np.integer]) -> Predictions:
        """The same outcomes on some test cases only."""
        return Predictions(self.top1[:, cases], self.confidence[:, cases], self.shift[:, cases])
