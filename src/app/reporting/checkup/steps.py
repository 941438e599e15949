"""What to do next, the gravest first: taken from the recommendations of all parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.report.pages.mutate import Report as MutateReport
from app.report.words import defined, percent, plural, short
from app.reporting.autopsy import words as autopsy_words
from app.reporting.autopsy.report import AutopsyReport
from app.reporting.autopsy.words import gravest_first
from app.reporting.checkup.parts import Reports
from app.reporting.checkup.report import Mistake, Part, Question, Step, Unnoticed
from app.reporting.contamination.report import ContaminationReport
from app.reporting.estimate.report import EstimateReport

FINDINGS, UNNOTICED, MISTAKES = 3, 6, 12
"""How many of each are named; all are in the reports of the parts."""
_GRAVITY = ("bad", "warning", "unknown", "good")


def next_steps(
    reports: Reports, parts: Mapping[str, Part], questions: Sequence[Question]
) -> tuple[Step, ...]:
    """What to do next: what failed first, then by how bad the answers are, then what would tell more.

    Args:
        reports: of the parts that finished.
        parts: all of them, by name.
        questions: the answers so far.
    """
    failed = [
        Step(name, f"The part {name} failed", part.message)
        for name, part in parts.items()
        if part.status == "failed"
    ]
    gravity = {each.part: _GRAVITY.index(each.verdict) for each in questions}
    gravity["contaminate"] = gravity.get("autopsy", 0)
    found: list[Step] = []
    if reports.autopsy is not None:
        found += _of_findings(reports.autopsy)
    if reports.mutate is not None:
        found += _of_survivors(reports.mutate)
    if reports.estimate is not None:
        found += _of_operation(reports.estimate)
    if reports.contaminate is not None:
        found += _of_pictures(reports.contaminate)
    found.sort(key=lambda each: gravity[each.part])
    left_out = [
        Step(name, f"The part {name} was left out", part.message)
        for name, part in parts.items()
        if part.status == "left out"
    ]
    return (*failed, *found, *left_out)


def _of_findings(report: AutopsyReport) -> list[Step]:
    return [
        Step("autopsy", autopsy_words.title(each), " ".join(each.recommendations[:1]))
        for each in gravest_first(report)[:FINDINGS]
    ]


def _of_survivors(report: MutateReport) -> list[Step]:
    if not report.result.summary.survived:
        return []
    weak = sorted(
        (each for each in report.result.by_operator if each.weak), key=lambda each: each.mutation_score or 0.0
    )
    shown = ", ".join(f"{each.operator} ({percent(each.mutation_score)})" for each in weak[:4])
    least = f" Least is noticed of {shown}." if weak else ""
    text = (
        "Add test cases that a slightly broken model gets wrong: hard examples of the autopsy and failures found in "
        f"operation are candidates.{least}"
    )
    return [
        Step("mutate", f"{plural(report.result.summary.survived, 'fault goes', 'faults go')} unnoticed", text)
    ]


def _of_operation(report: EstimateReport) -> list[Step]:
    stand = report.labelling
    if stand is not None and stand.asked:
        n = plural(len(stand.asked), "case needs a label", "cases need a label")
        text = "Fill in estimate/to_label.csv, then run the same command with labels= and its path."
        return [Step("estimate", n, text)]
    if not report.failures:
        return []
    text = (
        "Look at them below and in estimate/failures.csv. Put them into the test set, and pictures like them into "
        "the training data."
    )
    return [Step("estimate", f"{plural(len(report.failures), 'failure')} found in operation", text)]


def _of_pictures(report: ContaminationReport) -> list[Step]:
    summary, found = report.summary, []
    if summary.drop:
        text = "contaminate/suggestions.csv lists them: copies make a score too good, or count twice."
        found.append(Step("contaminate", f"{plural(summary.drop, 'picture')} to leave out", text))
    if summary.exact_labels_differ:
        pairs = plural(summary.exact_labels_differ, "picture has two classes", "pictures have two classes")
        found.append(Step("contaminate", pairs, "At least one label of each pair of copies is wrong."))
    return found


def unnoticed(report: MutateReport | None) -> tuple[Unnoticed, ...]:
    """The mutants to kill next: those that survived, the nearest to being noticed first."""
    if report is None:
        return ()
    by_key = {each.key: each for each in report.result.mutants}
    near = sorted(
        report.result.survivors,
        key=lambda each: -each.distance if each.distance is not None and defined(each.distance) else 0.0,
    )
    return tuple(
        Unnoticed(
            each.key,
            by_key[each.key].operator,
            by_key[each.key].target,
            each.nearness or "",
            each.needed,
        )
        for each in near[:UNNOTICED]
    )


def mistakes(report: EstimateReport | None) -> tuple[Mistake, ...]:
    """The failures in operation to look at first: the surest."""
    if report is None:
        return ()
    found = sorted(report.failures, key=lambda each: -each.confidence if defined(each.confidence) else 0.0)
    return tuple(
        Mistake(
            short(each.id, 300),
            each.true_class,
            each.predicted_class,
            each.confidence,
            f"estimate/{each.picture}" if each.picture else "",
        )
        for each in found[:MISTAKES]
    )
