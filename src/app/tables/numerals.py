"""Columns of numbers as people and spreadsheets write them: decimal points or commas, and empty cells."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"})
"""What stands for no number, whatever the case of its letters."""
_COMMA = re.compile(r"[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+", re.ASCII)


class Numbers:
    """Takes the cells of a column piece by piece, and gives its numbers if all filled cells are numbers.

    Args:
        separator: between the table's cells. Where it is a comma, no cell has a decimal comma; where it is a
            semicolon, a comma is decimal; else `1,234` could be a thousand, and such a column is none of numbers.
    """

    def __init__(self, separator: str) -> None:
        self._commas, self._certain = separator != ",", separator == ";"
        self._mark = ""
        self._parts: list[NDArray[np.float64]] = []
        self._count = 0
        self._doubtful: tuple[int, str] | None = None
        self._plain_comma = False
        self.bad: tuple[int, str] | None = None
        """Row and content of the first cell that is no number."""

    def take(self, cells: Sequence[str]) -> None:
        """The next cells."""
        if self.bad is not None:
            return
        if self._fast(cells):
            return
        values = np.empty(len(cells))
        for place, cell in enumerate(cells):
            value = self._number(cell, self._count + place)
            if value is None:
                self.bad = (self._count + place, cell)
                self._parts.clear()
                return
            values[place] = value
        self._parts.append(values)
        self._count += len(cells)

    def values(self) -> NDArray[np.float64] | None:
        """(N,): NaN for an empty cell; None if a cell is no number, or all are empty."""
        if self._doubtful is not None and not self._plain_comma and not self._certain:
            self.bad = self._doubtful
        if self.bad is not None:
            return None
        values = np.concatenate(self._parts) if self._parts else np.empty(0)
        return values if len(values) and not np.isnan(values).all() else None

    def _fast(self, cells: Sequence[str]) -> bool:
        """Takes cells that are all plain numbers of one kind, as nearly all columns are; whether it did."""
        joined = "\n".join(cells)
        if "_" in joined:
            return False
        mark = "." if "." in joined else ""
        if self._certain and not mark and "," in joined:
            mark, cells = ",", joined.replace(",", ".").split("\n")
        if self._commas and mark and self._mark not in {"", mark}:
            return False
        try:
            values = np.array([float(cell) for cell in cells])
        except ValueError:
            return False
        self._mark = mark or self._mark
        self._parts.append(values)
        self._count += len(cells)
        return True

    def _number(self, cell: str, row: int) -> float | None:
        word = cell.strip()
        if word.casefold() in MISSING:
            return math.nan
        if self._commas and "," in word and _COMMA.fullmatch(word) and self._mark != ".":
            self._mark = ","
            if _THOUSANDS.fullmatch(word):
                self._doubtful = self._doubtful or (row, cell)
            else:
                self._plain_comma = True
            return float(word.replace(",", "."))
        found = number(word)
        if found is not None and "." in word:
            if self._mark == ",":
                return None
            self._mark = "."
        return found


def number(word: str) -> float | None:
    """A word as a number with a decimal point; None if it is none."""
    if "_" in word:
        return None
    try:
        return float(word)
    except ValueError:
        return None


def whole(word: str) -> int | None:
    """The whole number that a word means, which pandas writes as 1.0 in a column with gaps; None if it is none."""
    found = re.fullmatch(r"([+-]?\d{1,18})(?:[.,]0*)?", word.strip(), re.ASCII)
    return int(found[1]) if found else None
