"""What an annotation can say of a value beyond its type: a range, or a place that must be there.

The command line reads these before anything heavy is imported, so that what is impossible is said at once. A
constructor that others call too still checks for itself.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal


@dataclass(frozen=True)
class Within:
    """A number of a range."""

    low: float
    """The least."""
    high: float = float("inf")
    """The most."""
    inside: bool = False
    """Whether the ends themselves are left out."""

    def problem(self, value: Any) -> str | None:
        """What is wrong, as the end of a sentence that begins with the key; None if nothing is."""
        fits = self.low < value < self.high if self.inside else self.low <= value <= self.high
        return None if fits else f" must {self.words}, not {value}"

    @property
    def words(self) -> str:
        """What is allowed."""
        if self.high == float("inf"):
            return f"be {'more than ' if self.inside else ''}{self.low:g}{'' if self.inside else ' or more'}"
        return (
            f"lie between {self.low:g} and {self.high:g}"
            if self.inside
            else f"be from {self.low:g} to {self.high:g}"
        )


@dataclass(frozen=True)
class Place:
    """A path to something that is there."""

    kind: Literal["file", "folder", "file or folder"]
    """What it must be."""
    holds: Literal["anything", "images", "classes"] = "anything"
    """What a folder must have in it: images at any depth, or a subfolder of images for each class."""
    unless: str = ""
    """A pattern of what is no path, such as the name of published weights."""

    def problem(self, value: Any) -> str | None:
        """What is wrong, as the end of a sentence that begins with the key; None if nothing is."""
        if self.unless and re.fullmatch(self.unless, str(value)):
            return None
        try:
            path = Path(value).expanduser()
            path = path if path.exists() else Path(value)
            if not path.exists():
                return f"={value} does not exist; give a {self.kind}"
            if path.is_dir():
                wrong = "is a folder; give a file" if self.kind == "file" else self._empty(path)
            else:
                wrong = "is no folder; give a folder" if self.kind == "folder" else None
                if wrong is None and path.is_file() and not path.stat().st_size:
                    wrong = "is empty; give a file that holds something"
        except (
            OSError,
            ValueError,
            RuntimeError,
        ) as error:  # too long a name, a zero byte, a home that nobody has
            wrong = (
                f"cannot be opened ({getattr(error, 'strerror', None) or error}); give another {self.kind}"
            )
        return None if wrong is None else f"={value} {wrong}"

    def _empty(self, folder: Path) -> str | None:
        if self.holds == "anything":
            return None if any(folder.iterdir()) else "is an empty folder; give one that holds something"
        if self.holds == "images":
            return None if _has_image(folder) else "holds no image; give a folder of images, at any depth"
        classes = sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
        if not classes:
            return "has no subfolders: put the images of each class in a folder named after it"
        for each in classes:
            if not _has_image(each):
                return (
                    f"has the class folder {each.name}, which holds no image: add some or remove the folder"
                )
        return None


@dataclass(frozen=True)
class Form:
    """Text of a certain form."""

    pattern: str
    """As a regular expression."""
    words: str
    """What is allowed."""

    def problem(self, value: Any) -> str | None:
        """What is wrong, as the end of a sentence that begins with the key; None if nothing is."""
        return None if re.fullmatch(self.pattern, value) else f"={value} must be {self.words}"


@dataclass(frozen=True)
class Time:
    """A day or time in ISO 8601."""

    def problem(self, value: Any) -> str | None:
        """What is wrong, as the end of a sentence that begins with the key; None if nothing is."""
        try:
            datetime.fromisoformat(value).astimezone()
        except (ValueError, OverflowError, OSError):
            return f"={value} must be a day or time such as 2026-05-03 or 2026-05-03T14:00"
        return None


Limit = Within | Place | Form | Time


class Made:
    """Stands for whatever a `_target_` makes."""


def _has_image(folder: Path) -> bool:
    from app.images import SUFFIXES  # noqa: PLC0415 - it starts Pillow, which most commands do without

    return any(
        not name.startswith(".") and os.path.splitext(name)[1].lower() in SUFFIXES  # noqa: PTH122 - ten times faster
        for _, _, names in os.walk(folder)
        for name in names
    )


Positive = Annotated[int, Within(1)]
NotNegative = Annotated[int, Within(0)]
Amount = Annotated[float, Within(0)]
MoreThanNothing = Annotated[float, Within(0, inside=True)]
Share = Annotated[float, Within(0, 1)]
Level = Annotated[float, Within(0, 1, inside=True)]
"""A probability or confidence level, neither 0 nor 1."""

Bits = Annotated[int, Within(0, 64)]
"""Of a 64-bit hash."""
Resamples = Annotated[int, Within(100)]
Overlap = Annotated[float, Within(0.1, 1)]
"""An IoU at which boxes match."""

File = Annotated[str, Place("file")]
Folder = Annotated[str, Place("folder")]
FileOrFolder = Annotated[str, Place("file or folder")]
ImageFolder = Annotated[str, Place("folder", "images")]
ClassFolders = Annotated[str, Place("folder", "classes")]
ModelFile = Annotated[str, Place("file or folder", unless=r"(models|runs):/.*")]
"""A model file, the directory of an MLflow model, or an address in MLflow."""
Weights = Annotated[str, Place("file or folder", unless=r"(models|runs):/.*|pretrained|[A-Z][A-Z0-9_]*")]
"""The same, or the name of published weights."""
Report = Annotated[str, Place("file or folder", unless=r"(?!.*\.json$)[^/]*/?")]
"""What looks like the path of a report is one; anything else is for the store to know."""

RunId = Annotated[str, Form(r"[0-9a-f]{1,32}", "the id of a run, or the beginning of one")]
Tests = Annotated[str, Place("file")]
"""A file that lists test cases."""
Moment = Annotated[str, Time()]
