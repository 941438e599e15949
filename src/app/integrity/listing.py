"""Which files of a folder are pictures of a data set, and which are not looked at."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app.errors import UserError
from app.images import SUFFIXES, no_image


@dataclass(frozen=True)
class Skipped:
    """A file that is not scanned."""

    path: str
    """Relative to the root, with forward slashes."""
    reason: str
    """Why, as the end of a sentence that begins with the path."""


@dataclass(frozen=True)
class Listing:
    """The files of a data set."""

    files: tuple[Path, ...]
    """The pictures, by path."""
    paths: tuple[str, ...]
    """What each is called: relative to the root, with forward slashes."""
    class_names: tuple[str, ...]
    """The first folders below the root, by name; none if the classes were not asked for."""
    labels: tuple[int, ...]
    """(N,): the class of each picture; -1 for one that lies in the root itself."""
    skipped: tuple[Skipped, ...]
    """What else lies there."""


def list_pictures(root: str | Path, *, classes: bool = True) -> Listing:
    """Lists the pictures below a folder, at any depth.

    Hidden files and folders are passed over; links that lead out of the root, links to folders and files without
    an ending of a picture are skipped and listed.

    Args:
        root: the folder.
        classes: whether its subfolders are classes.

    Raises:
        UserError: no such folder, or no picture in it.
    """
    top = Path(root).expanduser()
    if not top.is_dir():
        raise UserError(f"split folder {top} " + ("is no folder" if top.exists() else "does not exist"))
    inside = top.resolve()
    found: list[Path] = []
    skipped: list[Skipped] = []

    def closed(error: OSError) -> None:
        reason = f"cannot be opened ({error.strerror})"
        skipped.append(Skipped(_shown(Path(error.filename), top), reason))

    for folder, subfolders, entries in os.walk(top, onerror=closed):
        here = Path(folder)
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        skipped += [
            Skipped(_shown(here / name, top), "is a link to a folder")
            for name in subfolders
            if (here / name).is_symlink()
        ]
        for path in (here / name for name in entries if not name.startswith(".")):
            reason = _reason_to_skip(path, inside)
            if reason is None:
                found.append(path)
            else:
                skipped.append(Skipped(_shown(path, top), reason))
    if not found:
        raise UserError(
            f"split folder {top} holds no picture (files that end in {', '.join(sorted(SUFFIXES))})"
        )
    found.sort(key=lambda path: path.relative_to(top).parts)
    folders = [parts[0] if len(parts := path.relative_to(top).parts) > 1 else None for path in found]
    names = sorted({name for name in folders if name is not None}) if classes else []
    place = {name: label for label, name in enumerate(names)}
    return Listing(
        files=tuple(found),
        paths=tuple(_shown(path, top) for path in found),
        class_names=tuple(map(_printable, names)),
        labels=tuple(-1 if name is None else place.get(name, -1) for name in folders),
        skipped=tuple(sorted(skipped, key=lambda each: each.path)),
    )


def _reason_to_skip(path: Path, inside: Path) -> str | None:
    if (foreign := no_image(path)) is not None:
        return foreign
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(inside):
            return "is a link out of the data set's folder"
    except (OSError, RuntimeError):  # a link to itself
        return "is a link that leads nowhere"
    return None


def _shown(path: Path, top: Path) -> str:
    return _printable(path.relative_to(top).as_posix())


def _printable(name: str) -> str:
    """A name that every file and page can hold: bytes that are no UTF-8 become a replacement character."""
    return name.encode(errors="surrogateescape").decode(errors="replace")
