"""What a history is made of: the readings of many runs, each with its time and its place, and what was left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from app.comparison import Readings, read
from app.comparison.body import block, count, texts
from app.errors import UserError
from app.reporting.history.excerpt import read_excerpt
from app.reporting.history.report import Excluded

DEEPEST = 12
"""Folders inside folders that are looked into."""
MOST_FILES = 5000
"""Reports that are read of a folder."""
MOST_ENTRIES = 500_000
"""Files and folders that are looked at."""


@dataclass(frozen=True)
class Found:
    """A run with its numbers."""

    readings: Readings
    """The numbers."""
    time: datetime
    """When it started, with its offset from UTC."""
    time_from: Literal["report", "store", "file"]
    """Who says so."""
    source: str
    """Where the report is."""
    generator: str
    """Version of the tool that wrote it."""
    classes: tuple[str, ...] | None
    """Class names; None if the report does not say."""
    n: int
    """Test cases; 0 if the report does not say."""


@dataclass
class Gathered:
    """Runs as they are found."""

    found: list[Found] = field(default_factory=list)
    """Those with numbers."""
    excluded: list[Excluded] = field(default_factory=list)
    """Those without."""
    notes: list[str] = field(default_factory=list)
    """What a reader must know."""

    def take(self, path: Path, source: str, otherwise: datetime, time_from: Literal["store", "file"]) -> None:
        """Reads a report, or lists why it cannot be read.

        Args:
            path: the report.
            source: what to call it.
            otherwise: its time, if it does not say.
            time_from: where that comes from.
        """
        try:
            found = _read(path, source, otherwise, time_from)
        except UserError as error:
            self.leave_out("", source, otherwise, str(error))
            return
        numbers = found.readings.items
        if numbers and all(each.value is None for each in numbers):
            self.leave_out(found.readings.run_id, source, found.time, numbers[0].reason)
        else:
            self.found.append(found)

    def leave_out(self, run_id: str, where: str, time: datetime | None, reason: str) -> None:
        """Lists what is not in the history."""
        shown = "" if time is None else time.astimezone().isoformat(timespec="seconds")
        self.excluded.append(Excluded(run_id, where, shown, reason))

    def once(self) -> None:
        """Leaves out further copies of a run."""
        first: dict[str, Found] = {}
        kept = []
        for each in self.found:
            run_id = each.readings.run_id
            if run_id and run_id in first:
                self.leave_out(run_id, each.source, each.time, f"the same run as {first[run_id].source}")
                continue
            first[run_id] = each
            kept.append(each)
        self.found = kept


def _read(path: Path, source: str, otherwise: datetime, time_from: Literal["store", "file"]) -> Found:
    body = read_excerpt(path)
    readings = read(body)
    time = moment(readings.started)
    subject, wrote = block(body, "subject"), block(body, "schema", "generator")
    names = subject.get("classes")
    return Found(
        readings=readings,
        time=time or otherwise.astimezone(),
        time_from="report" if time else time_from,
        source=source,
        generator=str(wrote.get("version") or ""),
        classes=texts(names) if isinstance(names, list) else None,
        n=count(subject.get("n")) or 0,
    )


def moment(text: str) -> datetime | None:
    """The time that a text in ISO 8601 means, in this machine's zone if it names none; None if it means none."""
    try:
        found = datetime.fromisoformat(text)
        here = found.astimezone()  # fails for times that other zones cannot tell
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo else here


def scan(folder: Path) -> Gathered:
    """The reports in a folder and the folders inside it: files whose name has `report` in it and ends in .json.

    Links are not followed; those that lead to a report or folder outside are listed. A run that is there twice counts
    once.

    Raises:
        UserError: it is no folder.
    """
    if not folder.is_dir():
        raise UserError(f"task.folder={folder} is no folder")
    gathered = Gathered()
    for taken, entry in enumerate(_entries(folder, folder.resolve(), gathered)):
        if taken == MOST_FILES:
            gathered.notes.append(f"{folder} has more than {MOST_FILES} reports: the rest was not read")
            break
        path = Path(entry.path)
        written = datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime).astimezone()
        gathered.take(path, path.relative_to(folder).as_posix(), written, "file")
    gathered.once()
    return gathered


def _entries(folder: Path, root: Path, gathered: Gathered) -> Iterator[os.DirEntry[str]]:
    """The report files below a folder, by name; depth first."""
    waiting, looked = [(folder, 0)], 0
    while waiting:
        place, depth = waiting.pop()
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda each: each.name)
        except OSError as error:
            name = place.relative_to(folder).as_posix()
            gathered.leave_out("", name, None, f"the folder cannot be read: {error.strerror or error}")
            continue
        looked += len(entries)
        if looked > MOST_ENTRIES:
            gathered.notes.append(f"{folder} has more than {MOST_ENTRIES} files: the rest was not looked at")
            return
        inside = []
        for entry in entries:
            if entry.is_symlink():
                _link(entry, folder, root, gathered)
            elif entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    inside.append((Path(entry.path), depth + 1))
                else:
                    name = Path(entry.path).relative_to(folder).as_posix()
                    gathered.leave_out("", name, None, f"deeper than {DEEPEST} folders: not looked into")
            elif _is_report(entry.name):
                yield entry
        waiting += reversed(inside)


def _is_report(name: str) -> bool:
    return name.lower().endswith(".json") and "report" in name.lower() and not name.startswith(".")


def _link(entry: os.DirEntry[str], folder: Path, root: Path, gathered: Gathered) -> None:
    """Lists a link that leaves the folder; what one inside it leads to is found without it."""
    try:
        inside, leads = Path(entry.path).resolve().is_relative_to(root), entry.is_dir()
    except (OSError, RuntimeError):  # a link in a circle
        return
    if not inside and (leads or _is_report(entry.name)):
        name = Path(entry.path).relative_to(folder).as_posix()
        gathered.leave_out("", name, None, "a link out of the folder: not followed")
