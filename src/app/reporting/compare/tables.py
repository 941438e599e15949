"""Tables of a comparison beside its report, and what the history keeps of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.comparison.results import Delta
from app.reporting.compare.report import CompareReport
from app.reporting.schema import write_bytes
from app.tables import csv_bytes

COLUMNS = (
    "key",
    "title",
    "unit",
    "better",
    "headline",
    "before",
    "before_low",
    "before_high",
    "after",
    "after_low",
    "after_high",
    "difference",
    "low",
    "high",
    "p_value",
    "method",
    "pairs",
    "judgement",
    "note",
)
MOST_METRICS = 20
"""Differences that have metrics of their own in the store, which draws a chart for each."""


def delta_columns(report: CompareReport) -> dict[str, list[Any]]:
    """Every number in both runs as a table, a row a number."""
    rows = [_row(each) for each in report.deltas]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def _row(delta: Delta) -> tuple[Any, ...]:
    nothing = (None, None)
    return (
        *(delta.key, delta.title, delta.unit, delta.better, delta.headline),
        *(delta.before, *(delta.before_ci or nothing), delta.after, *(delta.after_ci or nothing)),
        *(delta.difference, *(delta.ci or nothing), delta.p_value, delta.method, delta.n),
        *(delta.judgement, delta.note),
    )


def write_deltas(report: CompareReport, path: Path) -> Path:
    """The same as CSV; what is not defined is empty.

    Raises:
        UserError: the file cannot be written.
    """
    return write_bytes(csv_bytes(COLUMNS, map(_row, report.deltas)), path)


def metrics(report: CompareReport) -> dict[str, float | None]:
    """The differences that stand for the reports, and how often something moved."""
    found: dict[str, float | None] = {}
    for each in [each for each in report.deltas if each.headline][:MOST_METRICS]:
        found[f"delta/{each.key}"] = each.difference
        found[f"p_value/{each.key}"] = each.p_value
    found["improved"] = float(report.verdict == "improved")
    found["regressed"] = float(report.verdict == "regressed")
    if report.mutants is not None:
        found["newly_killed"] = len(report.mutants.newly_killed)
        found["newly_surviving"] = len(report.mutants.newly_surviving)
    if report.causes is not None:
        found["causes_new"] = len(report.causes.new)
        found["causes_resolved"] = len(report.causes.resolved)
    return found
