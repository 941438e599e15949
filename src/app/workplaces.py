"""Folders for what runs keep until they have a report: a run that was interrupted goes on from there."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

DAYS = 30
"""How long what an interrupted run has kept is there for its resumption."""


def of(folder: Path, run_id: str) -> Path:
    """A run's workplace below the folder of its store; it need not exist."""
    return folder / "work" / run_id


def clear(folder: Path, days_kept: Callable[[str], float]) -> None:
    """Removes the workplaces below a store's folder that nobody can want any more.

    Args:
        folder: the store's.
        days_kept: how long after the last change in it a run's workplace is kept, by the run's id; infinite for what
            the store does not know: stores can share a folder, and the folder need not be Assay's.
    """
    with suppress(OSError):
        for place in sorted((folder / "work").iterdir()):
            if not re.fullmatch(r"[0-9a-f]{32}", place.name) or place.is_symlink() or not place.is_dir():
                continue
            days = _untouched(place)
            if days > 1 and days > days_kept(place.name):
                shutil.rmtree(place, ignore_errors=True)


def _untouched(place: Path) -> float:
    """Days since the last file or folder was made or removed anywhere below; 0 if that cannot be told."""
    try:
        changed = [each.lstat().st_mtime for each in (place, *place.rglob("*"))]
    except OSError:
        return 0.0
    return (time.time() - max(changed)) / 86_400
