"""The jobs of a sweep as a table, for spreadsheets and for MLflow's pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.reporting.schema import write_bytes
from app.reporting.sweep.report import SweepReport
from app.reporting.text import defined
from app.tables import csv_bytes


def job_columns(report: SweepReport) -> dict[str, list[Any]]:
    """A row a job: what differs, status, the numbers with their intervals, run and page."""
    jobs = report.jobs
    columns: dict[str, list[Any]] = {"job": [each.job for each in jobs]}
    columns |= {key: [each.overrides.get(key, "") for each in jobs] for key in report.swept}
    columns |= {"status": [each.status for each in jobs], "subject": [each.subject for each in jobs]}
    for spread in report.spreads:
        found = [each.values.get(spread.key) for each in jobs]
        columns[spread.key] = [None if v is None or not defined(v.value) else v.value for v in found]
        ends = [None if v is None else v.interval for v in found]
        if any(end is not None for end in ends):
            columns[f"{spread.key}_low"] = [None if end is None else end[0] for end in ends]
            columns[f"{spread.key}_high"] = [None if end is None else end[1] for end in ends]
    columns["seconds"] = [each.seconds if defined(each.seconds) else None for each in jobs]
    for name in ("reason", "run_id", "link", "page", "command"):
        columns[name] = [getattr(each, name) for each in jobs]
    return columns


def write_jobs(report: SweepReport, path: Path) -> Path:
    """The same as CSV; what is not defined is left empty.

    Raises:
        UserError: the file cannot be written.
    """
    columns = job_columns(report)
    return write_bytes(csv_bytes(list(columns), zip(*columns.values(), strict=True)), path)


def series(report: SweepReport) -> dict[str, list[tuple[int, float | None]]]:
    """Each number over the jobs, by a name under which MLflow's pages draw them together."""
    return {
        f"jobs/{spread.key}": [
            (each.job, each.values[spread.key].value) for each in report.jobs if spread.key in each.values
        ]
        for spread in report.spreads
        if spread.n
    }
