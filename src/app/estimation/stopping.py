"""When enough has been labelled: the width of the always-valid interval."""

from __future__ import annotations

from collections.abc import Callable

from app.estimation.betting import SequenceInterval
from app.estimation.intervals import IntervalMethod
from app.stats.confidence_sequences import Bets

STOPPING_LEVEL = 0.95
"""Level of the confidence sequence that stops a run."""


def check_target_width(target_width: float | None, wave: int) -> tuple[float | None, int]:
    """Both themselves, if they make sense.

    Raises:
        ValueError: otherwise.
    """
    if target_width is not None and not 0 < target_width < 1:
        raise ValueError(
            f"target_width is the full width of the interval as a fraction (0.02 is ± 1 point), not {target_width}"
        )
    if wave < 1:
        raise ValueError(f"wave is the number of labels asked for at once, at least 1, not {wave}")
    return target_width, wave


def stops(target_width: float, bets: Bets) -> bool:
    """Whether the always-valid interval is narrow enough; before any draw it is all of [0, 1]."""
    return len(bets.estimates) > 0 and SequenceInterval(bets).at(STOPPING_LEVEL).width <= target_width


def honest_interval(
    target_width: float | None, bets: Callable[[], Bets], fixed: IntervalMethod
) -> IntervalMethod:
    """The fixed-sample interval, or the always-valid one where the run could stop by looking at the labels."""
    return fixed if target_width is None else SequenceInterval(bets())
