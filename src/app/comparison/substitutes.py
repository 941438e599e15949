"""Numbers that stand in for those of the reports where these mean another thing in each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.comparison.body import Body, count, rows
from app.comparison.cases import Shared
from app.comparison.classes import common_macro_f1
from app.comparison.deltas import delta
from app.comparison.differences import Difference, copied, paired_shares, shares
from app.comparison.readings import Readings
from app.comparison.results import Delta
from app.measures import Measure, Value


def accuracy_of_common(
    before: Readings, after: Readings, common: Sequence[str], cases: Shared | None
) -> Delta | None:
    """Accuracy on the test cases of the common classes; None if a report does not say.

    Args:
        before: of the first run.
        after: of the second.
        common: the classes that both have.
        cases: the test cases that both saw: they are then compared one by one.
    """
    title = f"Accuracy on the test cases of the {len(common)} common classes"
    what = Measure("accuracy_common", title, "higher", "share", headline=True)
    if cases is not None:
        members = np.array([each in common for each in cases.before.labels], dtype=bool)
        flags = cases.before.right[members], cases.after.right[members]
        if not members.any():
            return None
        sides = [Value(what, float(each.mean()), n=each.size) for each in flags]
        return delta(what, sides[0], sides[1], paired_shares(*flags), told=True)
    counts = [_right(each, common) for each in (before, after)]
    if not counts[0][1] or not counts[1][1]:
        return None
    sides = [Value(what, right / n, n=n) for right, n in counts]
    return delta(what, sides[0], sides[1], shares(counts[0], counts[1]), told=True)


def _right(side: Readings, common: Sequence[str]) -> tuple[int, int]:
    """How many test cases of these classes a run got right, and among how many."""
    found = [each for name in common if (each := side.get(f"recall/{name}")) is not None]
    known = [(each.value, each.n) for each in found if each.value is not None and each.n]
    return sum(round(value * n) for value, n in known), sum(n for _, n in known)


def macro_f1_of_common(before: Body, after: Body, common: Sequence[str]) -> Delta | None:
    """Macro F1 over the common classes; None if a report lacks one of them."""
    means = common_macro_f1(before, after, common) if common else None
    if means is None:
        return None
    title = f"Macro F1 of the {len(common)} common classes"
    what = Measure("macro_f1", title, "higher", "share", headline=True)
    return delta(what, Value(what, means[0]), Value(what, means[1]), told=True)


def mean_ap_of_common(before: Readings, after: Readings, common: Sequence[str]) -> Delta | None:
    """Mean AP over the common classes that have one in both runs; None without any."""
    pairs = [[side.get(f"ap/{name}") for side in (before, after)] for name in common]
    known = [
        (a.value, b.value)
        for a, b in pairs
        if a is not None and b is not None and a.value is not None and b.value is not None
    ]
    if not known:
        return None
    title = f"Mean AP of the {len(known)} common classes"
    what = Measure("mean_ap_common", title, "higher", "share", headline=True)
    sides = [Value(what, sum(each) / len(known)) for each in zip(*known, strict=True)]
    return delta(what, sides[0], sides[1], told=True)


def pictures_copied(before: Body, after: Body, *, same_hashes: bool) -> Delta | None:
    """The share of pictures that another split has, too; None if a report does not say.

    Of other pictures, numbers of pairs cannot be compared: they are no sample, and can outnumber the pictures.

    Args:
        before: report of contamination of the first run.
        after: of the second.
        same_hashes: whether copies that were changed a little were found in the same way.
    """
    names = ("exact", "confirmed") if same_hashes else ("exact",)
    counts = [_pictures(each, names) for each in (before, after)]
    if counts[0] is None or counts[1] is None or not counts[0][1] or not counts[1][1]:
        return None
    title = (
        "Pictures with a copy in another split" if same_hashes else "Pictures equal to one of another split"
    )
    what = Measure("copied", title, "lower", "share", headline=True)
    sides = [Value(what, k / n, n=n) for k, n in (counts[0], counts[1])]
    return delta(what, sides[0], sides[1], copied(counts[0], counts[1]), told=True)


def _pictures(body: Body, names: Sequence[str]) -> tuple[int, int] | None:
    """How many pictures of all splits are counted under these names, and among how many."""
    found = [[count(each.get(name)) for name in (*names, "n")] for each in rows(body, "exposure")]
    known = [[value for value in each if value is not None] for each in found]
    if not found or any(len(a) < len(b) for a, b in zip(known, found, strict=True)):
        return None
    return sum(sum(each[:-1]) for each in known), sum(each[-1] for each in known)


def untested(found: Delta) -> Delta:
    """A count of other pictures: more or fewer of them is neither better nor worse."""
    if found.unit != "count" or found.judgement not in {"better", "worse"}:
        return found
    return replace(found, judgement="changed", note="a count of other pictures, not tested")


def population_accuracies(
    before: Readings, after: Readings, *, same_data: bool
) -> tuple[list[Delta], dict[str, Difference | None]]:
    """Accuracies of whole populations: facts about the models if they are of one, samples if the data differ.

    Returns:
        The facts, and by key what chance does to the others.
    """
    facts: list[Delta] = []
    known: dict[str, Difference | None] = {}
    for second in after.items:
        what, first = second.measure, before.get(second.measure.key)
        if what.key.partition("/")[0] != "accuracy" or first is None:
            continue
        if same_data:
            facts.append(delta(what, first, second, told=True, fact=True))
            continue
        sides = [
            (round(each.value * each.n), each.n)
            for each in (first, second)
            if each.value is not None and each.n
        ]
        if len(sides) == 2:
            known[what.key] = shares(*sides)
    return facts, known
