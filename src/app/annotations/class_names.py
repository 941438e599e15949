"""Names of classes: where YOLO's folders keep them, and names that are there twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.annotations.content import read_text
from app.errors import UserError

NAMES_FILE = "classes.txt"
"""Where labelling tools leave the class names, one a line."""
DATA_FILES = ("data.yaml", "data.yml")
"""Where training tools leave them, with the key ``names``."""
_LEVELS = 3
"""They are looked for in the folder of labels and so many less one above it: root/labels/val has root/data.yaml."""
_MOST_BYTES = 2**20


@dataclass(frozen=True)
class ClassList:
    """Classes with different names, free for what is used."""

    names: tuple[str, ...]
    """(K,): different names."""
    position: Mapping[str, int]
    """Where in `names` the class of a number is; several numbers may share a name."""
    notes: tuple[str, ...] = ()
    """Which numbers were left out."""


def class_list(names: Mapping[str, str], used: Collection[str], where: str) -> ClassList:
    """Classes in their order. A name that is there twice is no mistake where boxes have only one of both.

    Export tools write such lists: a heading above the classes, with the name of the only class under it.

    Args:
        names: the name of each number, in the order of the classes.
        used: numbers that boxes have.
        where: what messages call the list.

    Raises:
        UserError: an empty name, or the same name for two numbers that boxes have.
    """
    of_name: dict[str, list[str]] = {}
    for number, name in names.items():
        if not name.strip():
            raise UserError(f"{where}: class {number} has an empty name")
        of_name.setdefault(name, []).append(number)
    kept: dict[str, str] = {}
    notes: list[str] = []
    for name, numbers in of_name.items():
        taken = [number for number in numbers if number in used] or numbers[:1]
        if len(taken) > 1:
            raise UserError(
                f"{where}: the name {name!r} is there twice, for {taken[0]} and {taken[1]}, and both have boxes; "
                "names must be different"
            )
        kept[taken[0]] = name
        others = [number for number in numbers if number != taken[0]]
        if others:
            notes.append(
                f"{where}: class {others[0]} is called {name!r} like class {taken[0]} and has no box: left out"
            )
    order = [number for number in names if number in kept]
    place = {kept[number]: i for i, number in enumerate(order)}
    position = {number: place[name] for number, name in names.items()}
    return ClassList(tuple(kept[number] for number in order), position, tuple(notes))


def spelling_notes(names: Sequence[str], source: Path) -> tuple[str, ...]:
    """A note on classes that differ only in capitals or blanks: most often they are meant to be one."""
    seen: dict[str, str] = {}
    for name in names:
        like = seen.setdefault(" ".join(name.split()).casefold(), name)
        if like != name:
            return (
                f"{source}: {like!r} and {name!r} are taken for two classes, although they differ in spelling only",
            )
    return ()


@dataclass(frozen=True)
class NamesFile:
    """Names that were found in a file."""

    path: Path
    """The file."""
    names: tuple[str, ...]
    """What it lists."""


def find_names(folder: Path) -> NamesFile | None:
    """Class names of a folder of YOLO's labels: ``classes.txt`` or ``data.yaml`` in it or above it; the nearest.

    Raises:
        UserError: a file that cannot be read or lists no names.
    """
    at = folder.resolve()
    for place in (at, *at.parents)[:_LEVELS]:
        shown = folder if place == at else place
        if (place / NAMES_FILE).is_file():
            lines = read_text(shown / NAMES_FILE).splitlines()
            names = tuple(line.strip() for line in lines if line.strip())
            if not names:
                raise UserError(f"{shown / NAMES_FILE} lists no class: write one name a line, or remove it")
            return NamesFile(shown / NAMES_FILE, names)
        for each in DATA_FILES:
            if (place / each).is_file():
                found = _of_yaml(shown / each)
                if found is not None:
                    return NamesFile(shown / each, found)
    return None


def _of_yaml(path: Path) -> tuple[str, ...] | None:
    """The key ``names`` of a file: a list, or names by number. None if it has no such key."""
    import yaml  # noqa: PLC0415 -- only where such a file is there

    if path.stat().st_size > _MOST_BYTES:
        raise UserError(f"{path} is larger than {_MOST_BYTES // 2**20} MiB: no description of a data set is")
    try:
        content = yaml.safe_load(read_text(path))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UserError(f"{path}: no valid YAML ({' '.join(str(error).split())[:120]})") from None
    names = content.get("names") if isinstance(content, dict) else None
    if names is None:
        return None
    if isinstance(names, dict) and set(names) == set(range(len(names))):
        names = [names[number] for number in range(len(names))]
    if not isinstance(names, list) or not names or not all(isinstance(each, str | int) for each in names):
        raise UserError(
            f"{path}: names must be a list of names, or a name for each number from 0 on without a gap"
        )
    return tuple(map(str, names))
