"""Where differences stand on the page and in the picture: one axis in points of 100, what is better at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.comparison.results import Delta
from app.report.words import defined

SHOWN = ("share", "score")
"""Units that go on the axis: a point of a share is a hundredth, one of a score a hundredth of 100."""


@dataclass(frozen=True)
class Mark:
    """A difference with its interval, as fractions of the axis."""

    at: float
    low: float | None
    """None where nothing is known about chance."""
    high: float | None
    cut: bool
    """Whether the interval goes on beyond the axis."""


@dataclass(frozen=True)
class Axis:
    """An axis that is symmetric about no difference."""

    reach: float
    """Points from its middle to either end."""

    def mark(self, delta: Delta) -> Mark | None:
        """Where a difference stands; None for one that is not on the axis."""
        if delta.unit not in SHOWN or not defined(delta.difference):
            return None
        middle, ends = points_of(delta, delta.difference or 0.0), None
        if delta.ci is not None:
            ends = sorted(points_of(delta, each) for each in delta.ci)
        if ends is None:
            return Mark(self._place(middle), None, None, cut=False)
        cut = ends[0] < -self.reach or ends[1] > self.reach
        return Mark(self._place(middle), self._place(ends[0]), self._place(ends[1]), cut)

    def _place(self, points: float) -> float:
        return min(max(0.5 + points / (2 * self.reach), 0.0), 1.0)


def axis(deltas: Sequence[Delta]) -> Axis:
    """An axis on which all differences stand, and their intervals as far as that leaves room for them."""
    on = [each for each in deltas if each.unit in SHOWN and defined(each.difference)]
    middles = [abs(points_of(each, each.difference or 0.0)) for each in on]
    ends = [abs(points_of(each, end)) for each in on for end in each.ci or ()]
    reach = max([*middles, min(max(ends, default=0.0), 4 * max(middles, default=0.0)), 0.5])
    return Axis(1.08 * reach)


def points_of(delta: Delta, amount: float) -> float:
    """A difference in points, positive for the better."""
    return amount * (100 if delta.unit == "share" else 1) * (-1 if delta.better == "lower" else 1)
