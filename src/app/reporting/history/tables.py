"""A history as tables: every number in long form, and one line a series."""

from __future__ import annotations

from pathlib import Path

from app.reporting.history.report import HistoryReport
from app.reporting.schema import write_bytes
from app.tables import csv_bytes

COLUMNS = (
    *("time", "run_id", "key", "title", "unit", "better", "value", "low", "high", "change_point"),
    *("model_digest", "data_digest", "reason"),
)


def write_history(report: HistoryReport, path: Path) -> Path:
    """One row a run and measure as CSV, in the order of the series, then of time; gaps have a reason.

    Raises:
        UserError: the file cannot be written.
    """
    rows: list[tuple[object, ...]] = []
    for series in report.series:
        changed = {each.index: each.kind for each in series.change_points}
        rows.extend(
            (
                point.time,
                point.run_id,
                series.key,
                series.title,
                series.unit,
                series.better or "",
                _exact(point.value),
                _exact(point.low),
                _exact(point.high),
                changed.get(i, ""),
                run.model_digest,
                run.data_digest,
                point.reason,
            )
            for i, (run, point) in enumerate(zip(report.runs, series.points, strict=True))
        )
    return write_bytes(csv_bytes(COLUMNS, rows), path)


def series_columns(report: HistoryReport) -> dict[str, list[object]]:
    """One row a series, for the store's pages."""
    series = report.series
    return {
        "measure": [each.title for each in series],
        "first": [None if each.first is None else each.first.value for each in series],
        "last": [None if each.last is None else each.last.value for each in series],
        "difference": [each.difference for each in series],
        "trend": [each.trend for each in series],
        "best": [None if each.best is None else each.best.value for each in series],
        "worst": [None if each.worst is None else each.worst.value for each in series],
        "changes": [len(each.change_points) for each in series],
        "runs": [each.n for each in series],
        "key": [each.key for each in series],
    }


def metrics(report: HistoryReport) -> dict[str, float | None]:
    """What the store lists of a history."""
    found: dict[str, float | None] = {
        "history/runs": len(report.runs),
        "history/series": len(report.series),
        "history/left_out": report.n_excluded,
        "history/changes": sum(len(each.change_points) for each in report.series),
    }
    return found


def _exact(value: float | None) -> str:
    return "" if value is None else repr(value)
