"""Histories to look at."""

from __future__ import annotations

import pytest

from app.report.lineage import Run
from app.reporting.history import assembly
from app.reporting.history.gathering import Gathered, scan
from app.reporting.history.report import HistoryReport, Settings

from .bodies import write

RUN = Run("id", None, "2026-06-01T00:00:00+00:00", "2026-06-01T00:00:09+00:00", 9.0, "python -m app", "here")
SETTINGS = Settings(
    "autopsy", "net@photos", "As asked for: autopsy about net@photos.", None, "assay", None, None, (), "c"
)


def reported(gathered: Gathered) -> HistoryReport:
    """The report of what was gathered."""
    newest = max(gathered.found, key=lambda each: each.time)
    subject = assembly.subject_of(newest, assembly.notes(gathered.found))
    return assembly.history_report(gathered.found, gathered.excluded, RUN, subject, SETTINGS)


@pytest.fixture
def history(tmp_path):
    """Makes the history of reports' JSON."""

    def made(*bodies):
        for number, body in enumerate(bodies):
            write(tmp_path / f"{number}" / "report.json", body)
        return reported(scan(tmp_path))

    return made
