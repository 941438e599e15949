"""The pages of an estimate: the report, and the contact sheet of what is to be labelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.report import words as text
from app.reporting import html
from app.reporting.estimate import charts, words
from app.reporting.estimate.report import EstimateReport, ResultRow, SkippedRow, WinLoss

MOST_FAILURES = 60
"""Failures with a picture on the page."""
MOST_ASKED = 400
"""Cases with a picture on the contact sheet."""


@dataclass(frozen=True)
class SubjectResults:
    """The results on one population, the most precise first."""

    name: str
    accuracy: float
    rows: tuple[ResultRow, ...]
    skipped: tuple[SkippedRow, ...]
    worst: float
    """The largest error ratio, to which bars are drawn."""
    drawings: tuple[charts.Curve, ...]
    sequences: bool = False
    """Whether always-valid intervals were checked."""


def estimate_page(report: EstimateReport, thumbnails: Mapping[int, bytes | str] | None = None) -> str:
    """The page as HTML; equal reports and thumbnails give equal text.

    Args:
        report: the report.
        thumbnails: by place among the failures, small pictures.

    Raises:
        ValueError: a thumbnail is no picture.
    """
    numbers = charts.numbered(report)
    order = list(range(min(len(report.failures), MOST_FAILURES)))
    if thumbnails:
        order = sorted(thumbnails)
    return html.render(
        "estimate.html.j2",
        report=report,
        kind="operational accuracy",
        title=f"{text.short(report.subject.name)}: operational accuracy",
        head=words.headline(report),
        level=text.percent(report.settings.level),
        numbers=numbers,
        paretos=charts.paretos(report),
        panels=charts.panels(report),
        intervals=charts.intervals(report),
        canvas=(charts.WIDTH, charts.HEIGHT),
        small=(charts.SMALL_WIDTH, charts.SMALL_HEIGHT),
        subjects=subject_results(report),
        wins=win_table(report, list(numbers)),
        thumbnails=html.data_uris(thumbnails or {}, order),
        shown=order,
        budget=max(report.settings.budgets),
        most_lines=charts.MOST_LINES,
        interval_of=words.interval_of,
        curves=charts.curves,
        rmse=rmse_words,
    )


def contact_sheet(report: EstimateReport, thumbnails: Mapping[int, bytes | str]) -> str:
    """The page of what is to be labelled, with pictures by case where there are any.

    Raises:
        ValueError: a thumbnail is no picture.
    """
    asked = () if report.labelling is None else report.labelling.asked
    return html.render(
        "contact_sheet.html.j2",
        report=report,
        kind="cases to label",
        title=f"{text.short(report.subject.name)}: cases to label",
        head=words.headline(report),
        asked=asked[:MOST_ASKED],
        total=len(asked),
        thumbnails=html.data_uris(thumbnails, [each.case for each in asked]),
    )


def subject_results(report: EstimateReport) -> tuple[SubjectResults, ...]:
    """The results with the largest budget, population by population."""
    budget = max(report.settings.budgets)
    found = []
    for block in report.populations:
        rows = [row for row in report.results if (row.subject, row.budget) == (block.name, budget)]
        rows.sort(key=lambda row: (not text.defined(row.rmse_ratio_srs), row.rmse_ratio_srs))
        ratios = [row.rmse_ratio_srs for row in rows if text.defined(row.rmse_ratio_srs)]
        skipped = tuple(each for each in report.skipped if each.subject == block.name)
        drawings = charts.curves(block.variables)
        found.append(
            SubjectResults(
                block.name,
                block.accuracy,
                tuple(rows),
                skipped,
                max([1.0, *ratios]),
                drawings,
                any(text.defined(row.sequence_misses) for row in rows),
            )
        )
    return tuple(found)


def win_table(report: EstimateReport, names: list[str]) -> list[list[WinLoss | None]]:
    """Wins and losses of each estimator (row) against each other one (column); None against itself."""
    found = {(each.a, each.b): each for each in report.wins}
    return [[found.get((a, b)) for b in names] for a in names]


def rmse_words(row: ResultRow) -> str:
    """The root mean squared error in points."""
    return text.number(100 * row.mse**0.5, 2)
