"""Files of annotations, of unknown origin: bounded in size, and never outside the folder that was given."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import UserError

MAX_BYTES = 2**30
"""Largest file of annotations that is read."""


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """The content of a file of annotations.

    Raises:
        UserError: it is missing, cannot be read, or is larger than `most`.
    """
    try:
        if path.stat().st_size > most:
            raise UserError(f"{path} is larger than {most // 2**20} MiB: no annotations are")
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror or error})") from None


def read_text(path: Path) -> str:
    """The text of a file of annotations; errors as of `read_bytes`.

    Raises:
        UserError: it is not UTF-8.
    """
    try:
        return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8 text (byte {error.start})") from None


def read_json(path: Path) -> Any:
    """What a JSON file holds; errors as of `read_text`.

    Raises:
        UserError: it is no JSON, or nested too deeply.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path} line {error.lineno} column {error.colno}: no valid JSON ({error.msg})"
        ) from None
    except (RecursionError, ValueError) as error:
        raise UserError(f"{path}: no valid JSON ({error})") from None


@dataclass(frozen=True)
class Listing:
    """Files below a folder."""

    files: tuple[str, ...]
    """Their paths, relative to the folder, with forward slashes, by name."""
    notes: tuple[str, ...]
    """What was left out that may surprise."""


def listed(folder: Path, endings: Collection[str]) -> Listing:
    """Files with such endings (in small letters) below a folder; no hidden ones.

    Links that lead out of the folder are not followed, and a note says so.
    """
    inside = folder.resolve()
    found: list[str] = []
    outside: list[str] = []
    for at, subfolders, entries in os.walk(folder):
        subfolders[:] = [each for each in subfolders if not each.startswith(".")]
        for entry in entries:
            path = Path(at) / entry
            if entry.startswith(".") or path.suffix.lower() not in endings:
                continue
            own = not path.is_symlink() or path.resolve().is_relative_to(inside)
            (found if own else outside).append(path.relative_to(folder).as_posix())
    notes: tuple[str, ...] = ()
    if outside:
        plural = "s lead" if len(outside) > 1 else " leads"
        notes = (f"{len(outside)} link{plural} out of {folder}, such as {min(outside)}: not read",)
    return Listing(tuple(sorted(found)), notes)


def by_stem(files: Collection[str], folder: Path) -> dict[str, str]:
    """Files by their paths without endings.

    Raises:
        UserError: two differ in their endings only.
    """
    found: dict[str, str] = {}
    for file in files:
        name = without_ending(file)
        if name in found:
            raise UserError(f"{folder} holds {found[name]} and {file}, which would be of one image: keep one")
        found[name] = file
    return found


def without_ending(path: str) -> str:
    """A path without the ending of its file."""
    folders, slash, name = path.rpartition("/")
    stem = name.rpartition(".")[0]
    return f"{folders}{slash}{stem or name}"
