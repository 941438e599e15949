"""The numbers of two reports side by side, each with what chance can do to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.comparison.differences import Difference, Ends, independent
from app.comparison.readings import Readings
from app.comparison.results import Delta, Judgement
from app.measures import Measure, Value

SAME = 1e-12
"""Numbers this close are equal."""
ROUNDING = 1e-9
"""Differences this close are the same one, reckoned in two ways."""


def deltas(
    before: Readings, after: Readings, known: Mapping[str, Difference | None], *, facts: bool = False
) -> list[Delta]:
    """Every number that one of the reports has, in the order of the second.

    Args:
        before: of the first run.
        after: of the second.
        known: by key, differences with what is known about chance; those not named are told from the intervals of both
            numbers, if they have any.
        facts: whether numbers are plain counts, about which there is no chance.
    """
    keys = dict.fromkeys(each.measure.key for each in (*after.items, *before.items))
    found = []
    for key in keys:
        first, second = before.get(key), after.get(key)
        measure = (second or first or _nothing()).measure
        found.append(delta(measure, first, second, known.get(key), told=key in known, fact=facts))
    return sorted(found, key=lambda each: not each.headline)


def _nothing() -> Value:
    raise AssertionError("a key comes from one of the reports")


def delta(
    measure: Measure,
    before: Value | None,
    after: Value | None,
    difference: Difference | None = None,
    *,
    told: bool = False,
    fact: bool = False,
) -> Delta:
    """One number in both runs.

    Args:
        measure: what it is.
        before: in the first run, if it has it.
        after: in the second.
        difference: with what is known about chance.
        told: whether `difference` stands also if it is None, instead of what the intervals say.
        fact: whether it is a plain count.
    """
    first = before.value if before else None
    second = after.value if after else None
    ends = _ends(before), _ends(after)
    moved = None if first is None or second is None else second - first
    if moved is not None and difference is None and not told and abs(moved) > SAME:
        difference = independent(first or 0.0, ends[0], second or 0.0, ends[1])
    if moved is not None and abs(moved) <= SAME:
        moved = 0.0
    if moved is None:
        difference = None
    made = Delta(
        key=measure.key,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        headline=measure.headline,
        before=first,
        before_ci=ends[0],
        after=second,
        after_ci=ends[1],
        difference=moved if difference is None else difference.value,
        ci=None if difference is None else difference.ci,
        p_value=None if difference is None else difference.p_value,
        method=None if difference is None else difference.method,
        n=None if difference is None else difference.n,
        judgement="unknown",
        note=_why(before, after) if moved is None else _shared(measure, moved, difference),
    )
    return replace(made, judgement=judged(made, difference, fact=fact or measure.unit == "count"))


def judged(made: Delta, difference: Difference | None, *, fact: bool) -> Judgement:
    """What a difference is worth."""
    if made.difference is None:
        return "unknown"
    if abs(made.difference) <= SAME:
        return "equal"
    if difference is not None and difference.noise:
        return "within noise"
    if made.better is None:
        return "changed"
    if difference is None and not fact:
        return "untested"
    return "better" if (made.difference > 0) == (made.better == "higher") else "worse"


def _shared(measure: Measure, moved: float, difference: Difference | None) -> str:
    """What a difference is of, where it is not that of the two numbers beside it."""
    if difference is None or difference.n is None or abs(difference.value - moved) <= ROUNDING:
        return ""
    what = "test cases" if measure.key == "accuracy" else "mutants"
    return f"difference of the {difference.n} shared {what}"


def _ends(reading: Value | None) -> Ends:
    return None if reading is None else reading.interval


def _why(before: Value | None, after: Value | None) -> str:
    told = []
    for name, reading in (("before", before), ("after", after)):
        if reading is None:
            told.append(f"{name}: not in the report")
        elif reading.value is None:
            told.append(f"{name}: {reading.reason}")
    return "; ".join(told)
