"""The checkup before this one: which it is, what has changed since, and the answer to the fourth question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from app.comparison import Limits
from app.comparison.differences import independent
from app.report.lineage import Subject
from app.report.words import defined, number, points, short
from app.reporting.checkup.answers import BETTER
from app.reporting.checkup.report import (
    Change,
    CheckupReport,
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
        return Previous(report.run.id, report.run.started, differs, changes(then, numbers))
    return None


def differences(report: CheckupReport, subject: Subject, settings: Settings) -> tuple[str, ...]:
    """What an earlier checkup was made from that this one is not."""
    then, before = report.settings, report.subject
    pairs = {
        "model": (before.model_digest, subject.model_digest),
        "test data": (before.data_digest, subject.data_digest),
        "training data": (then.training_digest, settings.training_digest),
        "operational data": (then.stream_digest, settings.stream_digest),
        "operators": (then.operators, settings.operators),
        "settings": (then.config_digest, settings.config_digest),
    }
    return tuple(name for name, (old, new) in pairs.items() if old != new)


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
    moved = {each.verdict for each in found.changes}
    since = f"since the checkup of {day(found.started)}"
    told = ", ".join(f"{each.title.lower()} {moved_by(each)}" for each in found.changes)
    same_model = "The model is the same as then. " if "model" not in found.differs else ""
    meaning = f"{told.capitalize()}. {same_model}What differs: {', '.join(found.differs)}."
    if not found.changes:
        nothing = f"No number can be compared {since}."
        return Question(BETTER, "unknown", "not known", nothing, meaning.removeprefix(". "), "")
    if {"better", "worse"} <= moved:
        return Question(BETTER, "warning", "mixed", f"In part, {since}.", meaning, "")
    if "worse" in moved:
        return Question(BETTER, "bad", "worse", f"It got worse {since}.", meaning, "")
    if "better" in moved:
        return Question(BETTER, "good", "better", f"It got better {since}.", meaning, "")
    return Question(BETTER, "good", "the same", f"Nothing moved by more than chance {since}.", meaning, "")


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
