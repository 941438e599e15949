"""Which mutants can be scored at all: the invalid, the equivalent and the duplicate ones are set aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from app.records import Predictions
from app.scoring.discordance import Discordance, compare
from app.scoring.verdict import Verdict

Value = TypeVar("Value")

EQUIVALENT_SHIFT = 1e-5
"""A mutant whose outputs move by no more than this, relative to the largest output, changes nothing."""


@dataclass(frozen=True)
class Screened:
    """What one mutant shows before any test."""

    excluded: Verdict | None = None
    """Invalid, equivalent or duplicate; None if it is scored."""
    reason: str | None = None
    """Why it is excluded."""
    twin: int | None = None
    """Index of the earlier mutant with the same outputs."""
    accuracy: float = float("nan")
    """Mean over its repetitions; NaN if invalid."""


@dataclass(frozen=True)
class Screening:
    """The mutants of a campaign, screened in one pass over their outcomes."""

    mutants: tuple[Screened, ...]
    """One for each mutant, in order."""
    discordance: Discordance
    """Lost and gained test cases; an invalid mutant has none."""

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(M,): the mutants in the denominator of the mutation score."""
        return np.array([mutant.excluded is None for mutant in self.mutants], dtype=np.bool_)

    @property
    def valid(self) -> NDArray[np.bool_]:
        """(M,): the mutants that have outcomes."""
        return np.array([mutant.excluded is not Verdict.INVALID for mutant in self.mutants], dtype=np.bool_)


def screen(
    original: Predictions,
    mutants: Iterable[Predictions | None],
    labels: NDArray[np.integer],
    *,
    reasons: Sequence[str | None] | None = None,
    probe_shifts: Sequence[float | None] | None = None,
) -> Screening:
    """Screen every mutant; each one's outcomes are read once and not kept, so they may come from a generator.

    Args:
        original: one repetition over N test cases.
        mutants: outcomes of each mutant, or None if it could not be run.
        labels: (N,) true classes.
        reasons: why each mutant is invalid, or None; not given is None for all.
        probe_shifts: largest relative output shift of each mutant on the noise probe; None or NaN without a
            probe, and then the suite alone decides.

    Raises:
        ValueError: if shapes do not fit, or there are more or fewer reasons or probe shifts than mutants.
    """
    screened: list[Screened] = []
    first_with: dict[bytes, int] = {}

    def usable() -> Iterator[Predictions | None]:
        for index, mutant in enumerate(mutants):
            reason = _at(reasons, index)
            if mutant is None or reason is not None or not mutant.finite:
                screened.append(Screened(Verdict.INVALID, reason or _unusable(mutant)))
                yield None
                continue
            probe = _at(probe_shifts, index)
            screened.append(_look(mutant, labels, probe=probe, first_with=first_with, index=index))
            yield mutant

    discordance = compare(original, usable(), labels)
    for name, values in (("reasons", reasons), ("probe_shifts", probe_shifts)):
        if values is not None and len(values) != len(screened):
            raise ValueError(
                f"there are {len(values)} {name} for {len(screened)} mutants; one each is needed"
            )
    return Screening(tuple(screened), discordance)


def _at(values: Sequence[Value | None] | None, index: int) -> Value | None:
    return values[index] if values is not None and index < len(values) else None


def _look(
    mutant: Predictions,
    labels: NDArray[np.integer],
    *,
    probe: float | None,
    first_with: dict[bytes, int],
    index: int,
) -> Screened:
    hits = mutant.right(labels)
    accuracy = float(hits.mean()) if hits.size else float("nan")
    largest = max(float(mutant.shift.max(initial=0.0)), 0.0 if probe is None or np.isnan(probe) else probe)
    if largest <= EQUIVALENT_SHIFT:
        reason = f"no output moves by more than {EQUIVALENT_SHIFT:g} of the largest"
        return Screened(Verdict.EQUIVALENT, reason, None, accuracy)
    twin = first_with.setdefault(_digest(mutant), index)
    if twin != index:
        return Screened(Verdict.DUPLICATE, "same outputs as an earlier mutant", twin, accuracy)
    return Screened(None, None, None, accuracy)


def _unusable(mutant: Predictions | None) -> str:
    if mutant is None:
        return "it gave no outcomes"
    return f"{int((mutant.top1 < 0).sum())} of {mutant.top1.size} outputs are not finite"


def _digest(mutant: Predictions) -> bytes:
    """Equal for equal outputs: same predicted classes and same confidences, hence the same kill set."""
    content = blake2b(repr(mutant.top1.shape).encode(), digest_size=16)
    content.update(mutant.top1.astype(np.int32).tobytes())
    content.update(mutant.confidence.astype(np.float32).tobytes())
    return content.digest()
