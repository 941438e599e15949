"""The page of a classifier's mutation testing: what the test suite kills, and what it does not."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from app.report.document import Document, read
from app.scoring.results import MutationResult, Settings

ARTIFACT, VERSION = "assay.mutate", 2
Report: TypeAlias = Document[MutationResult, Settings]


def load(path: Path) -> Report:
    """The report in a file.

    Raises:
        UserError: the file is no such report, or lacks what is needed; the sentence names it.
    """
    return read(path, ARTIFACT, VERSION, settings=Settings, result=MutationResult)
