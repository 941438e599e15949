"""The page of a history: what became better or worse, a picture a headline series, and a line for every other."""

from __future__ import annotations

from app.report import words as text
from app.reporting import html
from app.reporting.history import charts, words
from app.reporting.history.report import HistoryReport, Series

PICTURES = 12
"""Headline series that get a picture; the rest stand in the table."""
LINES = 150
"""Series in the table."""
COLUMNS = 4
"""Headline series in the table of runs."""


def pictured(report: HistoryReport) -> tuple[Series, ...]:
    """The series with a picture: headlines but for counts that never moved; the first few series if there are none."""
    moving = [each for each in report.headlines if each.unit != "count" or not is_still(each)]
    return tuple(moving or report.series[:4])[:PICTURES]


def history_page(report: HistoryReport) -> str:
    """The page as HTML; equal reports give equal text.

    Args:
        report: The report.
    """
    first = pictured(report)
    keys = {each.key for each in first}
    others = [each for each in report.series if each.key not in keys]
    rest = [each for each in others if not is_still(each)]
    return html.render(
        "history.html.j2",
        report=report,
        kind="history",
        title=f"{text.short(report.subject.name)}: history",
        head=words.headline(report),
        pictures=[(each, charts.chart(each, report.runs)) for each in first],
        lines=[(each, charts.spark(each)) for each in rest[:LINES]],
        rest=len(rest),
        still=[each for each in others if is_still(each)],
        columns=first[:COLUMNS],
        run_heads=[
            ("", "num"),
            ("Started", ""),
            ("Run", ""),
            *((text.short(each.title, 26), "num") for each in first[:COLUMNS]),
            ("Changed", ""),
            ("Model", ""),
            ("Data", ""),
        ],
        numbered=list(enumerate(report.runs))[::-1],
        canvas=charts,
        words=words,
    )


def is_still(series: Series) -> bool:
    """Whether every run has the number, and always the same one."""
    return len({each.value for each in series.points}) == 1
