"""What a class is called: one reader of class names and of labels, for every file that holds some."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from app.errors import UserError
from app.tables.content import called, read_content
from app.tables.json_content import LINES, read_json
from app.tables.numerals import whole
from app.tables.table import canonical, repeated

_NAMED = ("class_name", "name", "class", "label")
"""Columns of a table of class names."""
_SHOWN = 30


class Classes:
    """The classes that a label may mean.

    A label is, in this order: the name of a class as it is written; the same without the blanks around it or in another
    normal form of Unicode; for a whole number (`1`, `1.0`, `01`), the class whose name is that number, or, where no
    name is a number, the class with that number from 0; the name of one class only, whatever the case of its letters.

    Args:
        names: of the classes in the order of their numbers; without any, labels are numbers from 0.
        count: how many classes there are, where they have no names and that is known.
    """

    def __init__(self, names: Sequence[str] = (), count: int | None = None) -> None:
        self.names = tuple(map(str, names))
        self._count = len(self.names) or count
        self._exact = {name: number for number, name in enumerate(self.names)}
        self._plain = _groups(map(_normal, self.names))
        self._folded = _groups(_normal(name).casefold() for name in self.names)
        values = [whole(name) for name in self.names]
        self._values = _groups(values)
        self._numbered = all(value is None for value in values)

    def number(self, label: str) -> int:
        """The number of the class that a label means.

        Raises:
            KeyError: it means none, or could mean two; its argument says why, where there is more to say.
        """
        if label in self._exact:
            return self._exact[label]
        word = _normal(label)
        if word in self._plain:
            return _only(self._plain[word], label, self.names)
        value = whole(word)
        if value is not None and value in self._values:
            return _only(self._values[value], label, self.names)
        if value is not None and self._numbered and 0 <= value < (self._count or value + 1):
            return value
        if word.casefold() in self._folded:
            return _only(self._folded[word.casefold()], label, self.names)
        if not self.names and word.casefold() in {"true", "false"} and self._count in {None, 2}:
            return int(word.casefold() == "true")
        raise KeyError("")

    @property
    def listed(self) -> str:
        """What a label may be, in words."""
        if not self.names:
            return "class numbers" + (f" 0 to {self._count - 1}" if self._count else " from 0")
        more = len(self.names) - _SHOWN
        return ", ".join(self.names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _normal(word: str) -> str:
    return unicodedata.normalize("NFC", word.strip())


def _groups(keys: Iterable[object]) -> dict[object, list[int]]:
    found: dict[object, list[int]] = {}
    for number, key in enumerate(keys):
        if key is not None:
            found.setdefault(key, []).append(number)
    return found


def _only(found: list[int], label: str, names: Sequence[str]) -> int:
    if len(found) > 1:
        raise KeyError(
            f"{label!r} could be {' or '.join(repr(names[each]) for each in found[:3])}: write it exactly"
        )
    return found[0]


def unlike(first: Iterable[str], second: Iterable[str]) -> tuple[str, str] | None:
    """A name of the first and one of the second that differ in case or blanks only, and neither is in both."""
    one, other = set(first), set(second)
    folded = {_normal(name).casefold(): name for name in sorted(other - one)}
    for name in sorted(one - other):
        twin = folded.get(_normal(name).casefold())
        if twin is not None:
            return name, twin
    return None


def read_class_names(
    given: str | Path | Sequence[object], key: str, *, unique: bool = True
) -> tuple[str, ...]:
    """Names of classes in the order of their numbers, from a list or a file.

    A file is a JSON list, a table with a column `name`, or text with one name a line.

    Args:
        given: the names, or the file.
        key: the configuration's key, for messages.
        unique: whether all must differ.

    Raises:
        UserError: the file cannot be read, holds anything but names, or a name is empty or there twice.
    """
    if isinstance(given, str | Path):
        path = Path(given).expanduser()
        shown, found = called(path, key), _in_file(path, key)
    else:
        shown, found = key, list(given)
    names = []
    for place, each in enumerate(found):
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            raise UserError(
                f"{shown}: entry {place} must be the name of a class in quotes, not {str(each)[:60]!r}"
            )
        value = str(int(each)) if isinstance(each, float) and each.is_integer() else str(each)
        if not value.strip():
            raise UserError(f"{shown}: entry {place} is empty: give every class a name")
        names.append(value)
    twice = repeated(names) if unique else None
    if twice is not None:
        raise UserError(f"{shown} holds {twice!r} twice: give each class its own name")
    return tuple(names)


def _in_file(path: Path, key: str) -> list[object]:
    from app.tables.reading import read_table  # noqa: PLC0415 - which reads labels too

    ending = path.suffix.lower()
    if ending in {".json", *LINES}:
        found = read_json(path, key)
        if not isinstance(found, list):
            raise UserError(
                f"{called(path, key)} must hold a JSON list of class names, not a {type(found).__name__}"
            )
        return found
    if ending in {".csv", ".tsv", ".parquet"} and path.is_file():
        table = read_table(path, frozenset(_NAMED), key)
        column = next((table.columns[name] for name in table.columns if canonical(name) in _NAMED), None)
        if column is None and len(table.columns) == 1 and not table.header:
            column = next(iter(table.columns.values()))
        if column is None:
            raise UserError(f"{table.shown} has no column 'name'; it has: {table.listed}")
        return list(column.words())
    return list(read_content(path, key).entries())
