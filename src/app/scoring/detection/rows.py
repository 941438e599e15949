"""Class rows without units: what profile `paper` takes for class uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from app.detections import DetectionLog
from app.errors import UserError
from app.scoring.detection.overlap import Floats, Indices, Reals
from app.scoring.detection.stacks import Stacks


def bad_row(probs: Floats, semantics: str) -> tuple[int, str] | None:
    """The first of some class rows (D, C) that is no probability row, and why; None when all are.

    `softmax_background` rows must not be negative and have a positive sum, `sigmoid` rows lie in [0, 1].
    """
    if semantics == "sigmoid":
        bad = ((probs < 0) | (probs > 1)).any(axis=1)
        why = "its class row leaves [0, 1]; a sigmoid row holds probabilities"
    else:
        bad = (probs < 0).any(axis=1) | (probs.sum(axis=1) <= 0)
        why = "its class row is negative somewhere or sums to 0; a softmax row holds non-negative numbers"
    return (int(np.argmax(bad)), why) if bad.any() else None


@dataclass(frozen=True)
class UnitRows:
    """The class rows of a log with their entropies, divided by the largest possible one."""

    probs: Reals
    """(D, C): softmax rows divided by their sum, sigmoid rows as they are."""
    entropy: Reals
    """(D,): in [0, 1]."""
    modes: Indices
    """(D,): index of the largest; the first wins."""
    semantics: str

    @classmethod
    def of(cls, log: DetectionLog, semantics: str) -> UnitRows:
        """The rows of a log.

        Raises:
            UserError: At the first row that is no probability row; it names image, prediction and object.
        """
        fault = bad_row(log.probs, semantics)
        if fault is not None:
            image, repetition, position = log.where(fault[0])
            raise UserError(f"image {image!r}, prediction {repetition}, object {position}: {fault[1]}")
        probs = log.probs.astype(np.float64)
        if not probs.shape[1]:
            probs = np.zeros((len(probs), 1))
        if semantics != "sigmoid":
            probs = probs / probs.sum(axis=1, keepdims=True)
        return cls(probs, unit_entropy(probs, semantics), probs.argmax(axis=1), semantics)

    def uncertainty(self, stacks: Stacks) -> tuple[Reals, Reals, Reals]:
        """(G,) each, in [0, 1]: VR, entropy of the mean row, and mutual information of each stack."""
        entropy = unit_entropy(stacks.means(self.probs), self.semantics)
        information = np.clip(entropy - stacks.means(self.entropy), 0.0, 1.0)
        return stacks.variation_ratio(self.modes), entropy, information


def unit_entropy(probs: Reals, semantics: str) -> Reals:
    """(…,) in [0, 1]: entropy of rows (…, C) over its largest value.

    Softmax rows: H / log C, and 0 with a single class. Sigmoid rows: the mean of the C binary entropies in
    bits.
    """
    if semantics == "sigmoid":
        binary = (entr(probs) + entr(1.0 - probs)).mean(axis=-1) / np.log(2.0)
        return np.asarray(np.clip(binary, 0.0, 1.0))
    classes = probs.shape[-1]
    if classes < 2:
        return np.zeros(probs.shape[:-1])
    return np.asarray(np.clip(entr(probs).sum(axis=-1) / np.log(classes), 0.0, 1.0))
