"""From a classifier's output to what scoring needs of it: top-1, confidence, and how far the output moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from app.errors import UserError

OutputType = Literal["auto", "logits", "probs", "binary"]
ResolvedOutput = Literal["logits", "probs"]


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of B rows, on the model's device."""

    top1: Tensor
    """(B,) int32; -1 where the output is not finite."""
    confidence: Tensor
    """(B,) float32, the largest softmax probability; NaN where the output is not finite."""
    shift: Tensor
    """(B,) float32: largest |output - original's| over the original's largest |output|; infinite where not finite."""


def resolve_output(scores: Tensor, output: OutputType) -> ResolvedOutput:
    """Whether the scores of two or more classes are logits or probabilities, where the user left it open.

    Args:
        scores: (B, K) of the original model.
        output: what the user said.

    Raises:
        UserError: rows that lie in [0, 1] without summing to 1 (independent sigmoids), or said to be probabilities
            and are none.
    """
    inside = bool(((scores >= 0) & (scores <= 1)).all())
    sums = bool(((scores.sum(dim=1) - 1).abs() <= 1e-3).all())
    if output == "probs" and not (inside and sums):
        raise UserError(
            "model.output=probs, but its rows are not probabilities that sum to 1; allowed: auto, logits, probs"
        )
    if output != "auto":
        return "probs" if output == "probs" else "logits"
    if inside and not sums:
        raise UserError(
            "the model's outputs lie in [0, 1] but do not sum to 1, as independent sigmoids do: "
            "single-label classes are needed; if they are logits after all, say model.output=logits"
        )
    return "probs" if inside and sums else "logits"


def outcomes(scores: Tensor, original: Tensor, output: ResolvedOutput) -> Outcomes:
    """Outcomes of a mutant (or of the original itself).

    Args:
        scores: (T · B, K), copy-major.
        original: (B, K), the original's scores of the same batch.
        output: what the scores are.
    """
    finite = torch.isfinite(scores).all(dim=1)
    safe = torch.where(finite[:, None], scores, 0.0)
    probs = safe if output == "probs" else safe.softmax(dim=1)
    confidence, top1 = probs.max(dim=1)
    if output == "logits":
        top1 = safe.argmax(dim=1)  # softmax in float32 can tie what logits tell apart
    tiles = scores.shape[0] // original.shape[0] if original.shape[0] else 1
    reference = original.repeat(tiles, 1)
    scale = reference.abs().amax(dim=1).clamp_min(1e-12)
    shift = (safe - reference).abs().amax(dim=1) / scale
    return Outcomes(
        torch.where(finite, top1, -1).to(torch.int32),
        torch.where(finite, confidence, float("nan")),
        torch.where(finite, shift, float("inf")),
    )
