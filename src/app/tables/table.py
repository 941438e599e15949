"""One table, whatever file it came in: named columns that are asked for their words or their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError

MOST_CELLS = 400_000_000
"""A larger table is not read."""
CASES = (
    "path",
    "id",
    "case",
    "image",
    "file",
    "filename",
    "file_name",
    "filepath",
    "file_path",
    "image_path",
    "image_id",
    "row_id",
    "case_id",
    "sample_id",
    "index",
    "",
)
"""Columns that name the cases, the first that is there before the others; the last has no name, as pandas' index."""
TRUE = ("label", "true_label", "true_class", "target", "labels", "y_true")
"""Columns that hold true classes."""
LABELS = (*TRUE, "class", "choice", "y")
"""The same where true classes are all that is looked for."""
PREDICTED = ("predicted", "sut", "prediction", "predicted_class", "predicted_label", "y_pred")
"""Columns that hold predicted classes."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table."""

    name: str
    words: Callable[[], list[str]]
    """The cells as they are written, empty where there is nothing; whole numbers without a decimal point."""
    numbers: NDArray[np.float64] | None = None
    """(N,) where every filled cell is a number, NaN for the others; None elsewhere."""
    matrix: NDArray[Any] | None = None
    """(N, m) where every cell is a list of m numbers; None elsewhere."""
    bad: tuple[int, str] | None = None
    """Row and content of the first cell that is no number."""

    @property
    def whole(self) -> bool:
        """Whether every filled cell is a whole number."""
        found = self.numbers
        if found is None:
            return False
        filled = found[~np.isnan(found)]
        return bool((filled == np.floor(filled)).all())


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read."""

    path: Path
    shown: str
    """What messages call it."""
    columns: Mapping[str, Column]
    """By name, in the table's order; numbered from 1 where there is no header."""
    size: int
    """How many rows it has."""
    header: bool = True
    """Whether the columns have names."""
    numbered: bool = False
    """Whether there was a column that counts the rows from 0, pandas' index; it is left out."""
    separator: str = ""
    """Between cells, where it is text."""
    marked: bool = False
    """Whether the text had a byte-order mark."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""
    lines: Sequence[int] = field(default=())
    """(N,) line of each row, where the table is text."""

    def where(self, row: int) -> str:
        """A row in words, as its reader finds it."""
        return f"line {self.lines[row]}" if len(self.lines) else f"row {row}"

    @property
    def listed(self) -> str:
        """The names of the columns in words."""
        names = [name or "one without a name" for name in self.columns]
        return (
            ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "") or "nothing"
        )

    def find(self, names: Sequence[str]) -> Column | None:
        """The first column of these names, whatever their case and blanks; None if there is none."""
        return next(iter(self.candidates(names)), None)

    def candidates(self, names: Sequence[str]) -> list[Column]:
        """All columns of these names, in the order of the names.

        Raises:
            UserError: two columns have a name that differs only in case or blanks.
        """
        by_name: dict[str, list[Column]] = {}
        for name, column in self.columns.items():
            by_name.setdefault(canonical(name), []).append(column)
        found = [by_name[name] for name in names if name in by_name]
        for alike in found:
            if len(alike) > 1:
                both = " and ".join(repr(column.name) for column in alike[:2])
                raise UserError(f"{self.shown} has the columns {both}, which could both be meant: rename one")
        return [column for [column] in found]

    def column(self, name: str, role: str) -> Column:
        """The column that a user named.

        Raises:
            UserError: there is none.
        """
        found = self.columns.get(name)
        if found is None:
            alike = [each for each in self.columns if canonical(each) == canonical(name)]
            found = self.columns[alike[0]] if len(alike) == 1 else None
        if found is None:
            raise UserError(f"{self.shown} has no column {name!r} (for {role}); it has: {self.listed}")
        return found

    def cases(self) -> Column | None:
        """The column that names the cases: of several, the first whose cells all differ."""
        found = self.candidates(CASES)
        for column in found:
            if column.matrix is None:
                words = column.words()
                if len(set(words)) == len(words):
                    return column
        return next((column for column in found if column.name), None)

    def require_numbers(self, column: Column) -> NDArray[np.float64]:
        """The numbers of a column; NaN where a cell is empty.

        Raises:
            UserError: a cell is no number.
        """
        if column.numbers is not None:
            return column.numbers
        if column.matrix is not None:
            raise UserError(f"{self.shown}: column {column.name!r} must hold one number a row, not lists")
        if column.bad is None:
            raise UserError(f"{self.shown}: column {column.name!r} must hold numbers only, but it is empty")
        row, cell = column.bad
        raise UserError(
            f"{self.shown}: column {column.name!r} must hold numbers only, but {self.where(row)} holds {short(cell)}"
        )


def canonical(name: str) -> str:
    """A column's name as it is compared: small letters, and `_` for blanks, hyphens and points."""
    return re.sub(r"[\s_.\-]+", "_", name.strip().casefold())


def short(cell: str) -> str:
    """A cell in a message."""
    return repr(cell if len(cell) <= 60 else cell[:57] + "...")


def repeated(words: Iterable[str]) -> str | None:
    """The first word that is there a second time; None if all differ."""
    seen: set[str] = set()
    for word in words:
        if word in seen:
            return word
        seen.add(word)
    return None


def known(*roles: Collection[str]) -> frozenset[str]:
    """Names that tell a header line from a case."""
    return frozenset(name for role in roles for name in role if name)


def without_index(
    columns: dict[str, Column], size: int, shown: str
) -> tuple[dict[str, Column], bool, tuple[str, ...]]:
    """The columns without pandas' index, whether there was one, and what is to be said about it.

    It is the first column, has no name (pandas calls it `Unnamed: 0` when it reads it back) and counts the rows; one
    that does not count them names the cases.
    """
    notes: list[str] = []
    numbered = False
    while columns:
        name = next(iter(columns))
        if name and not re.fullmatch(r"Unnamed: \d+(\.\d+)?", name):
            break
        values = columns[name].numbers
        if values is None or not np.array_equal(values, np.arange(size)):
            if name:
                columns = {"" if each == name else each: column for each, column in columns.items()}
            notes.append(f"the first column of {shown} has no name: it was taken for the names of the cases")
            break
        del columns[name]
        numbered = True
        notes.append(
            f"the first column of {shown} has no name and counts the rows: it was left out as an index"
        )
    return columns, numbered, tuple(dict.fromkeys(notes))
