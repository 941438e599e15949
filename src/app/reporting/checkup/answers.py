"""The answers to the first three questions, and how good each of them is."""

from __future__ import annotations

from collections.abc import Mapping

from app.report import words as text
from app.report.blocks import Headline
from app.report.pages.mutate import Report as MutateReport
from app.report.pages.mutate import words as mutate_words
from app.report.words import count, defined, number, percent, percent_interval, plural
from app.reporting.autopsy import words as autopsy_words
from app.reporting.autopsy.report import AutopsyReport
from app.reporting.checkup.parts import Reports, estimated, operation, share_of_copies
from app.reporting.checkup.report import Grade, Number, Part, Question
from app.reporting.contamination import words as contamination_words
from app.reporting.estimate import words as estimate_words
from app.reporting.estimate.report import EstimateReport

NOTICE, WRONG, OPERATION, BETTER = (
    "Would my tests notice if the model broke?",
    "What is wrong with this model?",
    "How accurate is it in operation?",
    "Is it getting better?",
)
"""The four questions."""
MOST, HALF = 0.80, 0.50
"""Mutation scores from which on tests notice most faults, and enough of them not to be called bad."""
COPIES = 0.01
"""Share of the test set that the training data has, too, from which on its score is not to be trusted."""
MUCH = 0.05
"""Accuracy lost in operation for certain that is called bad."""
NEEDS_LABELS = "needs labels"
"""The answer while people have to label."""


def answers(
    reports: Reports, parts: Mapping[str, Part], numbers: Mapping[str, Number]
) -> tuple[Question, ...]:
    """The answers to the first three questions.

    Args:
        reports: of the parts that finished.
        parts: all of them, by name.
        numbers: the headline numbers.
    """
    found = []
    if reports.mutate is None:
        found.append(_unanswered(NOTICE, "mutate", parts))
    else:
        found.append(_noticed(reports.mutate))
    if reports.autopsy is None:
        found.append(_unanswered(WRONG, "autopsy", parts))
    else:
        found.append(_wrong(reports.autopsy, reports))
    if reports.estimate is None:
        found.append(_unanswered(OPERATION, "estimate", parts))
    else:
        found.append(_operation(reports.estimate, numbers))
    return tuple(found)


def _unanswered(question: str, name: str, parts: Mapping[str, Part]) -> Question:
    part = parts[name]
    if part.status == "failed":
        return Question(question, "unknown", "failed", f"The part {name} failed.", part.message, name)
    said, _, rest = part.message.partition(". ")
    return Question(question, "unknown", "not asked", f"{said.rstrip('.')}.", rest, name)


def _noticed(report: MutateReport) -> Question:
    head, score = Headline(*mutate_words.headline(report)), report.result.summary.mutation_score
    grade: Grade = "unknown"
    label = "not known"
    if score is not None and defined(score):
        grade = "good" if score >= MOST else "warning" if score >= HALF else "bad"
        label = {"good": "most faults", "warning": "in part", "bad": "hardly"}[grade]
    return Question(NOTICE, grade, label, head.sentence, head.meaning, "mutate", "mutation_score")


def _wrong(report: AutopsyReport, reports: Reports) -> Question:
    head, health = autopsy_words.headline(report), report.summary.health
    grades: dict[str, Grade] = {"healthy": "good", "at risk": "warning", "unhealthy": "bad"}
    grade, label, meaning = grades[health], health, head.meaning
    pictures = reports.contaminate
    if pictures is not None:
        if share_of_copies(pictures) >= COPIES and grade == "good":
            grade, label = "warning", "tested on copies"
        meaning = f"{meaning} Its data: {contamination_words.headline(pictures).sentence}"
    return Question(WRONG, grade, label, head.sentence, meaning, "autopsy", "autopsy_score")


def _operation(report: EstimateReport, numbers: Mapping[str, Number]) -> Question:
    row, tested = estimated(report), numbers.get("accuracy", Number(None)).value
    if row is None:
        head = estimate_words.headline(report)
        return Question(OPERATION, "unknown", NEEDS_LABELS, head.sentence, head.meaning, "estimate")
    value, ends = row.value, estimate_words.interval_of(row)
    shown = (
        f" ({percent(report.settings.level)} interval {percent_interval(ends, 1)})"
        if percent_interval(ends) != text.UNDEFINED
        else ""
    )
    sentence = f"In operation it is right in {percent(value, 1)} of all cases{shown}."
    cases, failures = count(operation(report).n), plural(row.failures, "failure")
    said = f"{plural(row.cost, 'label')} of {cases} cases showed {failures}."
    if defined(row.truth):
        inside = ends is None or ends[0] <= row.truth <= ends[1]
        where = "" if ends is None else ", inside the interval" if inside else ", outside the interval"
        said = f"{said} All labels are known here: the truth is {percent(row.truth, 1)}{where}."
    if tested is None or not defined(tested):
        return _in_operation("unknown", "no comparison", sentence, said)
    highest = value if ends is None else ends[1]
    lost = f"{number(100 * (tested - value), 1)} points less than on the test set"
    if highest < tested:
        grade: Grade = "bad" if highest < tested - MUCH else "warning"
        label = "much less than tested" if grade == "bad" else "less than tested"
        return _in_operation(grade, label, sentence, f"That is {lost}: its score there is too good. {said}")
    compared = "No loss against the test set shows" + (
        "." if ends is None else f" in {plural(row.cost, 'label')}."
    )
    return _in_operation("good", "as tested", sentence, f"{compared} {said}")


def _in_operation(grade: Grade, label: str, sentence: str, meaning: str) -> Question:
    return Question(OPERATION, grade, label, sentence, meaning, "estimate", "operational_accuracy")
