"""The checkup before this one: which it is, what has changed since, and the answer to the fourth question."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from app.comparison import Limits
from app.comparison.differences import independent
from app.report.lineage import Subject
from app.report.words import defined, number, points, short
from app.reporting.checkup.answers import BETTER
from app.reporting.checkup.report import (
    Change,
    CheckupReport,
    Grade,
    Number,
    Previous,
    Question,
    Settings,
    Verdict,
)

TITLES: Mapping[str, str] = {
    "mutation_score": "Mutation score",
    "autopsy_score": "Autopsy score",
    "accuracy": "Accuracy on the test set",
    "operational_accuracy": "Accuracy in operation",
}
"""The headline numbers of which more is better."""
PREPROCESSING, OUTPUTS, CLASSES = "preprocessing", "reading of the outputs", "classes or their order"
TEST_DATA, STREAM = "test data", "operational data"
MUTATION_RULE, AUTOPSY_RULE = "mutants or when they are killed", "rule of the autopsy score"
BARS: Mapping[str, tuple[str, ...]] = {
    PREPROCESSING: tuple(TITLES),
    OUTPUTS: tuple(TITLES),
    CLASSES: tuple(TITLES),
    TEST_DATA: ("mutation_score", "autopsy_score", "accuracy"),
    STREAM: ("operational_accuracy",),
    MUTATION_RULE: ("mutation_score",),
    AUTOPSY_RULE: ("autopsy_score",),
}
"""Differences that make numbers of another thing, with those numbers: none of them is better or worse for it."""
SMALLEST = {"autopsy_score": Limits.score}
"""Change from which on a number matters; `Limits.share` for the others."""
ROUNDING = 1e-9
"""Changes this close to a limit are on it."""


def previous(
    earlier: Iterable[CheckupReport], subject: Subject, settings: Settings, numbers: Mapping[str, Number]
) -> Previous | None:
    """What has changed since the checkup before this one; None if there was none.

    A checkup made from the very same things says nothing about getting better, and is passed over: so a repeated
    command gives the same report.

    Args:
        earlier: reports of the same subject, the newest first.
        subject: of this checkup.
        settings: of this checkup.
        numbers: the headline numbers of this checkup.
    """
    for report in earlier:
        differs = differences(report, subject, settings)
        if not differs:
            continue
        then, same = report.summary, report.settings.operators == settings.operators
        if not same:  # the mutation scores of other mutants say nothing about the tests
            then = {key: each for key, each in then.items() if key != "mutation_score"}
        found = changes(then, numbers)
        barred = {key for name in differs for key in BARS.get(name, ())}
        found = tuple(
            replace(each, verdict="not comparable") if each.key in barred else each for each in found
        )
        return Previous(report.run.id, report.run.started, differs, found)
    return None


def differences(report: CheckupReport, subject: Subject, settings: Settings) -> tuple[str, ...]:
    """What an earlier checkup was made from that this one is not; first what makes its numbers of another thing.

    What an older report does not say is taken to be the same.
    """
    then, before = report.settings, report.subject
    pairs: dict[str, tuple[object, object]] = {
        PREPROCESSING: (before.preprocess or subject.preprocess, subject.preprocess),
        OUTPUTS: (before.output or subject.output, subject.output),
        CLASSES: (before.classes, subject.classes),
        TEST_DATA: (before.data_digest, subject.data_digest),
        STREAM: (then.stream_digest, settings.stream_digest),
        MUTATION_RULE: _rules(then, settings, "mutation_score"),
        AUTOPSY_RULE: _rules(then, settings, "autopsy_score"),
        "model": (before.model_digest, subject.model_digest),
        "training data": (then.training_digest, settings.training_digest),
        "operators": (then.operators, settings.operators),
        "settings": (then.config_digest, settings.config_digest),
    }
    return tuple(name for name, (old, new) in pairs.items() if old != new)


def _rules(then: Settings, now: Settings, key: str) -> tuple[str, str]:
    """How a number was and is made."""
    new = now.rules.get(key, "")
    return then.rules.get(key, new), new


def changes(then: Mapping[str, Number], now: Mapping[str, Number]) -> tuple[Change, ...]:
    """The headline numbers that both have, with what has become of them; larger is better.

    Chance and size count as in a comparison of two reports: what the two intervals explain is left to chance, as if
    the two were independent, which is cautious on the same test cases; and a change matters from a point on. The
    autopsy score has no interval; it rests on the same test cases as the accuracy and is taken for as uncertain.
    """
    found = []
    for key, title in TITLES.items():
        before, after = then.get(key, Number(None)), now.get(key, Number(None))
        if before.value is None or after.value is None or not defined(before.value + after.value):
            continue
        difference, smallest = after.value - before.value, SMALLEST.get(key, Limits.share)
        noise = _noise(before, after, rising=difference > 0)
        if key == "autopsy_score":
            sides = (each.get("accuracy", Number(None)) for each in (then, now))
            noise = 100 * _noise(*sides, rising=difference > 0)
        same = abs(difference) <= noise + ROUNDING or abs(difference) < smallest - ROUNDING
        verdict: Verdict = "same" if same else "better" if difference > 0 else "worse"
        found.append(Change(key, title, before, after, difference, max(noise, smallest), verdict))
    return tuple(found)


def _noise(before: Number, after: Number, *, rising: bool) -> float:
    """How far a number rises or falls by chance; 0 where nothing is known about it."""
    if before.value is None or after.value is None:
        return 0.0
    found = independent(before.value, before.ci, after.value, after.ci)
    if found is None or found.ci is None or not defined(sum(found.ci)):
        return 0.0
    return found.value - found.ci[0] if rising else found.ci[1] - found.value


def better(found: Previous | None, subject: Subject) -> Question:
    """The answer to the fourth question."""
    if found is None:
        return Question(
            BETTER,
            "unknown",
            "first checkup",
            f"This is the first checkup of {short(subject.name, 80)}.",
            "Run it again after the next change, and what has moved is shown here.",
            "",
        )
    moved = {each.verdict for each in found.changes} - {"not comparable"}
    since = f"since the checkup of {day(found.started)}"
    told = ", ".join(f"{each.title.lower()} {moved_by(each)}" for each in found.changes)
    same_model = "The model is the same as then. " if "model" not in found.differs else ""
    meaning = f"{told.capitalize()}. {same_model}What differs: {', '.join(found.differs)}."
    other = [name for name in found.differs if name in BARS]
    barred = [each for each in found.changes if each.verdict == "not comparable"]
    if barred and moved:
        titles = _joined([each.title.lower() for each in barred])
        meaning = f"With other {_joined(other)}, nothing is said about {titles}. {meaning}"
    verdict, label, answer = _answer(moved, since)
    if barred and not moved:
        label = "not comparable"
        then = f"the checkup of {day(found.started)}"
        answer = f"Other {_joined(other)} than at {then}: the numbers are of different things."
    return Question(BETTER, verdict, label, answer, meaning.removeprefix(". "), "")


def _answer(moved: Collection[Verdict], since: str) -> tuple[Grade, str, str]:
    """Verdict, label and answer by how the numbers moved that can be compared."""
    if not moved:
        return "unknown", "not known", f"No number can be compared {since}."
    if {"better", "worse"} <= set(moved):
        return "warning", "mixed", f"In part, {since}."
    if "worse" in moved:
        return "bad", "worse", f"It got worse {since}."
    if "better" in moved:
        return "good", "better", f"It got better {since}."
    return "good", "the same", f"Nothing moved by more than chance {since}."


def _joined(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def moved_by(each: Change) -> str:
    """A change as a page shows it: in percentage points, or in points of the autopsy score."""
    if each.key != "autopsy_score":
        return f"{points(each.difference)} points"
    sign = "+" if round(each.difference, 1) > 0 else ""
    return f"{sign}{number(each.difference, 1)}"


def day(started: str) -> str:
    """A time as a page shows it, to the minute."""
    try:
        return datetime.fromisoformat(started).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return short(started, 40)
