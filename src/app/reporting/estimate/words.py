"""The words of an estimate: its headline, and the lines a command ends with."""

from __future__ import annotations

import math
from pathlib import Path

from app.report.blocks import Headline
from app.report.words import count, defined, number, percent, percent_interval, plural, short
from app.reporting.estimate.report import EstimateReport, EstimateRow, Labelling, ResultRow


def headline(report: EstimateReport) -> Headline:
    """What the report comes down to."""
    if report.labelling is None:
        return _of_evaluation(report)
    if report.labelling.asked:
        return _of_request(report)
    return _of_estimate(report)


def _of_request(report: EstimateReport) -> Headline:
    stand = report.labelling
    assert stand is not None  # noqa: S101 - narrows the type
    needed = plural(len(stand.asked), "case")
    spent = f"{count(stand.spent)} {_are(stand.spent)} spent" if stand.spent else "none is spent yet"
    wave = len(stand.asked) + stand.answered
    given = f"{count(stand.answered)} of this wave's {count(wave)} {_are(stand.answered)} given. "
    return Headline(
        f"{needed} need{'s' if len(stand.asked) == 1 else ''} a label to go on.",
        f"Of the budget of {plural(stand.budget, 'label')}, {spent}. {given if stand.answered else ''}"
        f"Nothing is estimated from a part of a wave: it would be biased.{_unused(stand)}",
    )


def _are(number_of: int) -> str:
    return "is" if number_of == 1 else "are"


def _unused(stand: Labelling) -> str:
    """What to say of labels of cases that were not drawn."""
    if not stand.unused:
        return ""
    return (
        f" {plural(stand.unused, 'further label')} {_are(stand.unused)} of cases that were not drawn and "
        "cannot be used: another seed, budget or estimator draws others."
    )


def _of_estimate(report: EstimateReport) -> Headline:
    [row] = report.estimates
    shown = interval_of(row)
    level = percent(report.settings.level)
    among = f" ({level} interval {percent_interval(shown, 1)})" if shown is not None else ""
    sentence = f"In operation the model is right in {percent(row.value, 1)} of all cases{among}."
    found = f"{plural(row.cost, 'label')} of {count(report.subject.n)} cases showed {plural(row.failures, 'failure')}"
    early = report.labelling is not None and report.labelling.state == "narrow enough"
    why = "; the interval is narrow enough to stop" if early else ""
    bias = (
        ""
        if row.unbiased
        else " The value itself is slightly biased."
        if early
        else " The estimate is biased."
    )
    return Headline(
        sentence, f"{found}{why}.{bias}{'' if report.labelling is None else _unused(report.labelling)}"
    )


def interval_of(row: EstimateRow) -> tuple[float, float] | None:
    """The interval to quote: the honest fixed one, else the always-valid one."""
    return row.interval or row.always_valid


def _of_evaluation(report: EstimateReport) -> Headline:
    budget = max(report.settings.budgets)
    rows = [row for row in report.results if row.budget == budget and row.estimator == report.example]
    several = len(rows) > 1
    where = f" over {count(len(rows))} populations" if several else f" on {short(rows[0].subject, 60)}"
    labels = plural(budget, "label")
    ratio = mean_ratio(rows)
    found = sum(row.failures_mean for row in rows) / len(rows)
    by_chance = sum((1 - row.accuracy) * budget for row in rows) / len(rows)
    name = short(report.example, 40)
    if not defined(ratio):
        return Headline(
            f"{name} was run {where.strip()} with {labels}.",
            "All outcomes are alike: random sampling makes no error to compare with.",
        )
    worth = f"as precise as {plural(_rounded(budget / ratio**2), 'label')} drawn at random"
    sentence = f"With {labels}, {name} errs {number(ratio, 2)} times as much as random sampling{where}."
    meaning = (
        f"That is about {worth}, and it finds {plural(round(found), 'failure')} where random sampling finds "
        f"{number(by_chance, 0)}. {_flagged(report)}"
    )
    return Headline(sentence, meaning.strip())


def _rounded(labels: float) -> int:
    """A number of labels to two digits, at least 1."""
    digits = 1 - math.floor(math.log10(labels)) if labels >= 1 else 0
    return max(1, int(round(labels, min(digits, 0))))


def mean_ratio(rows: list[ResultRow]) -> float:
    """Geometric mean of the error ratios of some results; NaN without any."""
    logs = [
        math.log(row.rmse_ratio_srs) for row in rows if defined(row.rmse_ratio_srs) and row.rmse_ratio_srs > 0
    ]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def _flagged(report: EstimateReport) -> str:
    leaks = [(block.name, each.name) for block in report.populations for each in block.variables if each.leak]
    said = []
    if leaks:
        subject, name = leaks[0]
        more = f" and {plural(len(leaks) - 1, 'more column')}" if len(leaks) > 1 else ""
        said.append(f"Column {name} of {subject}{more} knows the outcome: do not use it.")
    few = report.settings.repetitions < 300
    if few:
        said.append(
            f"{plural(report.settings.repetitions, 'repetition')} leave an error uncertain: rank on 1,000."
        )
    return " ".join(said)


def closing_lines(report: EstimateReport, output: Path, link: str | None = None) -> list[str]:
    """The lines a command ends with.

    Args:
        report: the report.
        output: the folder of its files.
        link: address of the run in MLflow's UI, if there is one.
    """
    head = headline(report)
    lines = [head.sentence, head.meaning]
    if report.labelling is not None and report.labelling.asked:
        n = len(report.labelling.asked)
        lines.append(
            f"Label {'this one' if n == 1 else f'these {count(n)}'} in {output / 'to_label.csv'} "
            f"(to look at: {output / 'to_label.html'}), then run the same command with the labels:"
        )
        lines.append(f"  {report.labelling.next_command}")
    elif report.failures:
        copies = ", with copies of their pictures" if any(each.picture for each in report.failures) else ""
        lines.append(f"Failures found{copies}: {output / 'failures.csv'}")
    lines.append(f"Report: {output / 'report.html'}")
    return [*lines, f"MLflow: {link}"] if link else lines
