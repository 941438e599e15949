"""Classes of two runs, by name: never by their places, which another order of training moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from app.comparison.body import Body, at, count, ends, number, rows
from app.comparison.cases import Shared, confusion
from app.comparison.deltas import SAME
from app.comparison.differences import Difference, independent, paired_shares
from app.comparison.results import ClassChange, ConfusionMove, Judgement
from app.stats.multiplicity import holm

MOST_MOVED = 20
"""Confusions that are shown."""
_NAMES = ("recall", "precision", "f1", "ap", "coco_ap")


def class_rows(body: Body) -> list[Body]:
    """What a report says about each class."""
    for place in (("per_class",), ("original", "per_class"), ("classes",)):
        found = rows(body, *place)
        if found:
            return found
    return []


def class_changes(before: Body, after: Body, shared: Shared | None) -> tuple[ClassChange, ...]:
    """The classes that both runs have, those that lost most recall (or AP) first.

    Args:
        before: report of the first run.
        after: of the second.
        shared: the test cases that both saw: recall is then compared case by case.
    """
    first = {str(each.get("name")): each for each in class_rows(before)}
    common = [(str(each.get("name")), each) for each in class_rows(after) if str(each.get("name")) in first]
    tests = [_recall(name, first[name], each, shared) for name, each in common]
    known = [each.p_value for each in tests if each is not None and each.p_value is not None]
    adjusted = iter(holm(np.array(known)).tolist())
    found = []
    for (name, each), test in zip(common, tests, strict=True):
        p_value = next(adjusted) if test is not None and test.p_value is not None else None
        sides = _numbers(first[name]), _numbers(each)
        found.append(
            ClassChange(
                name=name,
                support_before=_support(first[name]),
                support_after=_support(each),
                before=sides[0],
                after=sides[1],
                recall_ci=None if test is None else test.ci,
                recall_p=p_value,
                judgement=_judged(_moved(*sides, "recall"), p_value),
            )
        )
    return tuple(sorted(found, key=lambda each: _moved(each.before, each.after, *_NAMES[:1], "ap") or 0.0))


def _recall(name: str, before: Body, after: Body, shared: Shared | None) -> Difference | None:
    if shared is not None:
        members = np.array([label == name for label in shared.before.labels], dtype=bool)
        return paired_shares(shared.before.right[members], shared.after.right[members])
    values = [number(_value(each, "recall")) for each in (before, after)]
    intervals = [_interval(each, "recall") for each in (before, after)]
    if values[0] is None or values[1] is None:
        return None
    return independent(values[0], intervals[0], values[1], intervals[1])


def _judged(moved: float | None, p_value: float | None) -> Judgement:
    if moved is None:
        return "unknown"
    if abs(moved) <= SAME:
        return "equal"
    if p_value is None:
        return "untested"
    if p_value > 0.05:
        return "within noise"
    return "better" if moved > 0 else "worse"


def _moved(
    before: Mapping[str, float | None], after: Mapping[str, float | None], *names: str
) -> float | None:
    for name in names:
        first, second = before.get(name), after.get(name)
        if first is not None and second is not None:
            return second - first
    return None


def _numbers(row: Body) -> dict[str, float | None]:
    return {name: number(_value(row, name)) for name in _NAMES if name in row}


def _value(row: Body, name: str) -> object:
    found = row.get(name)
    return at(found, "value") if isinstance(found, Mapping) else found


def _interval(row: Body, name: str) -> tuple[float, float] | None:
    found = row.get(name)
    return ends(at(found, "ci") if isinstance(found, Mapping) else row.get(f"{name}_ci"))


def _support(row: Body) -> int | None:
    return count(row.get("support", row.get("truth")))


def common_macro_f1(before: Body, after: Body, common: Sequence[str]) -> tuple[float, float] | None:
    """Mean F1 over the common classes in both runs; None if a run lacks one of them."""
    means = []
    for body in (before, after):
        found = {str(each.get("name")): number(each.get("f1")) for each in class_rows(body)}
        values = [found.get(name) for name in common]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return None
        means.append(sum(known) / len(known))
    return means[0], means[1]


def confusion_moves(before: Body, after: Body, *, same_cases: bool) -> tuple[ConfusionMove, ...] | None:
    """The pairs of classes whose confusion moved most, from whole matrices; None if a run has no whole matrix.

    A pair that does not occur is 0 only because a whole matrix says so.

    Args:
        before: report of the first run.
        after: of the second.
        same_cases: whether both saw the same cases; then counts say which moved most, else rates.
    """
    first, second = _cells(before), _cells(after)
    if first is None or second is None:
        return None
    names = [name for name in second[1] if name in first[1]]
    moved = []
    for label in names:
        for predicted in names:
            counts = [cells.get((label, predicted), 0) for cells, _ in (first, second)]
            if label == predicted or not any(counts):
                continue
            rates = [
                cell / whole[label] if whole[label] else None
                for cell, (_, whole) in zip(counts, (first, second), strict=True)
            ]
            move = ConfusionMove(label, predicted, counts[0], counts[1], rates[0], rates[1])
            size = abs((rates[1] or 0.0) - (rates[0] or 0.0))
            many = abs(counts[1] - counts[0])
            if size > SAME or (same_cases and many):
                moved.append(((many, size) if same_cases else (size, many), move))
    moved.sort(key=lambda each: (-each[0][0], -each[0][1], each[1].label, each[1].predicted))
    return tuple(move for _, move in moved[:MOST_MOVED])


def _cells(body: Body) -> tuple[dict[tuple[str, str], int], dict[str, int]] | None:
    """Counts by names of label and prediction, and the test cases of each class."""
    found = confusion(body)
    if found is None:
        return None
    names, counts = found[0], found[1].tolist()
    cells = {
        (label, predicted): cell
        for label, line in zip(names, counts, strict=True)
        for predicted, cell in zip(names, line, strict=True)
        if cell
    }
    return cells, {label: sum(line) for label, line in zip(names, counts, strict=True)}


def detector_confusions(before: Body, after: Body) -> tuple[ConfusionMove, ...] | None:
    """The same of a detector, whose reports list every confusion that occurs; None if a report has no list."""
    lists = [at(each, "confusions") for each in (before, after)]
    if not all(isinstance(each, list | tuple) for each in lists):
        return None
    counts = [
        {
            (str(each.get("true")), str(each.get("claimed"))): count(each.get("n")) or 0
            for each in rows(body, "confusions")
        }
        for body in (before, after)
    ]
    pairs = dict.fromkeys((*counts[0], *counts[1]))
    moved = [
        ConfusionMove(*pair, counts[0].get(pair, 0), counts[1].get(pair, 0), None, None)
        for pair in pairs
        if counts[0].get(pair, 0) != counts[1].get(pair, 0)
    ]
    moved.sort(key=lambda each: (-abs(each.count_after - each.count_before), each.label, each.predicted))
    return tuple(moved[:MOST_MOVED])
