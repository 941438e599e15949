"""The page of a detector's mutation testing: what the images kill, and what they do not."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from app.report.document import Document, read
from app.scoring.detection.mutation_result import DetectorMutationResult, Settings

ARTIFACT, VERSION = "assay.uamt", 2
Report: TypeAlias = Document[DetectorMutationResult, Settings]


def load(path: Path) -> Report:
    """The report in a file.

    Raises:
        UserError: the file is no such report, or lacks what is needed; the sentence names it.
    """
    return read(path, ARTIFACT, VERSION, settings=Settings, result=DetectorMutationResult)
