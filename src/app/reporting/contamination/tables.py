"""Tables of contamination beside the report: what to leave out, the index of all pictures, and metrics by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from app.integrity import Scan
from app.integrity.findings import RISKS
from app.integrity.suggestions import Suggestion
from app.reporting.contamination.report import ContaminationReport
from app.reporting.schema import write_bytes
from app.tables import csv_bytes

COLUMNS = tuple(item.name for item in fields(Suggestion))
"""Of a suggestion."""


def metrics(report: ContaminationReport) -> dict[str, float]:
    """Everything countable by a stable name; the risk as 0 (NONE) to 5 (CRITICAL)."""
    summary = report.summary
    found: dict[str, float] = {
        "risk": len(RISKS) - 1 - RISKS.index(summary.overall_risk),
        "pictures": report.subject.n,
    }
    found |= {
        item.name: float(getattr(summary, item.name))
        for item in fields(summary)
        if item.name != "overall_risk"
    }
    for each in report.exposure:
        found[f"share/{each.split}"] = each.share
        found[f"share_sure/{each.split}"] = each.share_sure
    for quality in report.quality:
        found[f"share_faulty/{quality.split}"] = quality.share_faulty
        found[f"unreadable/{quality.split}"] = quality.unreadable
    return {f"contaminate/{name}": value for name, value in found.items()}


def suggestion_columns(found: Sequence[Suggestion]) -> dict[str, list[Any]]:
    """Suggestions as a table, a row a picture."""
    columns: dict[str, list[Any]] = {name: [getattr(each, name) for each in found] for name in COLUMNS}
    columns["likeness"] = [None if value is None else round(value, 6) for value in columns["likeness"]]
    return columns


def write_suggestions(found: Sequence[Suggestion], path: Path) -> Path:
    """All suggestions as CSV.

    Raises:
        UserError: The file cannot be written.
    """
    return _write(COLUMNS, zip(*suggestion_columns(found).values(), strict=True), path)


def write_index(scans: Sequence[Scan], path: Path) -> Path:
    """The index of every picture as CSV: its split, class, status, content, size, mode and hash.

    Raises:
        UserError: The file cannot be written.
    """
    columns = [(scan.name, scan.columns()) for scan in scans]
    names = ("split", *columns[0][1]) if columns else ("split",)
    rows = ((split, *row) for split, table in columns for row in _rows(table))
    return _write(names, rows, path)


def _rows(table: Mapping[str, Sequence[Any]]) -> Iterable[tuple[Any, ...]]:
    return zip(*table.values(), strict=True)


def _write(names: Sequence[str], rows: Iterable[Sequence[Any]], path: Path) -> Path:
    return write_bytes(csv_bytes(names, rows), path)
