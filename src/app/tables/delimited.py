"""Tables in text files: CSV of any country, with or without a header line, as spreadsheets and programs write it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice

from app.errors import UserError
from app.tables.content import Content
from app.tables.numerals import MISSING, Numbers, number
from app.tables.table import MOST_CELLS, Column, Table, canonical, short, without_index
from app.tables.writing import restored

_SEPARATORS = "\t;|,"
"""In the order in which they are preferred where several cut all lines alike: commas may be decimal."""
_BLANK = " "
_PREVIEW = 200
_CELLS_AT_ONCE = 200_000
_HINT = re.compile(r"\"?sep=(.)\"?")
"""A first line by which Excel is told the separator."""

Row = tuple[int, list[str]]
"""The line it begins at, and its cells."""


def read_delimited(content: Content, names: Collection[str]) -> Table:
    """The table in a text file.

    Args:
        content: the file's.
        names: what columns may be called, as `canonical`; one of them in the first line makes it a header.

    Raises:
        UserError: it is empty, a line has more or fewer cells than the header, two columns share a name, or it is too
            large.
    """
    cut = _Cut(content)
    cut.choose(names)
    first = next(cut.rows(), None)
    if first is None:
        raise UserError(f"{content.shown}: the file is empty, a header line is needed")
    header, doubtful = _is_header(first[1], [cells for _, cells in islice(cut.rows(), 1, _PREVIEW)], names)
    notes = list(content.notes)
    if doubtful:
        shown = ", ".join(first[1])
        notes.append(f"{content.path.name}: the first line ({shown}) was read as the names of the columns")
    titles = _titles(first[1], header, content.shown)
    lines, collected, kept = _collected(cut, titles, header, content.shown)
    columns = {}
    for place, name in enumerate(titles):
        values = collected[place].values()
        empty = not name.strip() and header and values is None and collected[place].bad is None
        if not (empty and place):  # a separator at the end of each line makes an empty column
            words = _words(cut, place, header, kept[place] if len(kept[place]) == len(lines) else None)
            columns[name] = Column(name.strip(), words, values, bad=collected[place].bad)
    found, numbered, more = (
        without_index(columns, len(lines), content.path.name) if header else (columns, False, ())
    )
    return Table(
        path=content.path,
        shown=content.shown,
        columns=found,
        size=len(lines),
        header=header,
        numbered=numbered,
        separator=cut.separator,
        marked=content.marked,
        notes=(*notes, *more),
        lines=lines,
    )


class _Cut:
    """A text file cut into rows of cells; it can be gone through again and again without being held whole."""

    def __init__(self, content: Content) -> None:
        self.content, self.separator, self._skipped = content, ",", 0
        first = next(iter(content.lines()), "").strip()
        hint = _HINT.fullmatch(first)
        if hint:
            self.separator, self._skipped = hint[1], 1

    def choose(self, names: Collection[str]) -> None:
        """Finds out what separates cells."""
        if self._skipped:
            return
        best: tuple[tuple[bool, float, bool], str] = ((False, 0.0, False), ",")
        for separator in (*_SEPARATORS, _BLANK):
            try:
                rows = [cells for _, cells in islice(self.rows(separator), _PREVIEW)]
            except UserError:
                continue
            if not rows or len(rows[0]) < 2:
                continue
            titled = any(canonical(cell) in names for cell in rows[0] if cell.strip())
            even = sum(len(_trimmed(row, len(rows[0]))) == len(rows[0]) for row in rows) / len(rows)
            if separator == _BLANK and not (
                even == 1 and (titled or all(_numeric(cell) for row in rows[1:] for cell in row))
            ):
                continue
            score = (titled, even, separator != _BLANK)
            if score > best[0]:
                best = score, separator
        self.separator = best[1]

    def rows(self, separator: str | None = None) -> Iterator[Row]:
        """The rows that are not empty.

        Raises:
            UserError: the quotes do not match, or a cell is larger than any cell is.
        """
        separator = separator or self.separator
        lines: Iterator[str] = iter(self.content.lines())
        for _ in range(self._skipped):
            next(lines, None)
        first = next(lines, "")  # NumPy writes a header as a comment
        lines = chain([first.removeprefix("# ")], lines)
        if separator == _BLANK:
            for place, line in enumerate(lines, start=1 + self._skipped):
                if line.strip():
                    yield place, line.split()
            return
        reader = csv.reader(lines, delimiter=separator, strict=True)
        while True:
            begins = reader.line_num + 1 + self._skipped
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                reason = str(error)
                if "field larger" in reason:
                    reason = (
                        f"a cell is larger than {csv.field_size_limit():,} characters; is a quote not closed?"
                    )
                elif "unexpected end" in reason:
                    reason = "a quote is opened and not closed"
                raise UserError(f"{self.content.shown}: line {begins}: {reason}") from None
            if any(cell.strip() for cell in cells):
                yield begins, cells


def _trimmed(cells: list[str], width: int) -> list[str]:
    """A row without the empty cells beyond the header's width."""
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _numeric(cell: str) -> bool:
    """Whether a cell is a filled one of a column of numbers."""
    word = cell.strip()
    return bool(word) and (
        number(word) is not None or re.fullmatch(r"[+-]?\d+,\d+(e[+-]?\d+)?", word, re.I) is not None
    )


def _is_header(
    first: Sequence[str], rest: Sequence[Sequence[str]], names: Collection[str]
) -> tuple[bool, bool]:
    """Whether the first line names the columns, and whether that could be seen otherwise."""
    if any(canonical(cell) in names for cell in first if cell.strip()):
        return True, False
    numeric = [place for place, cell in enumerate(first) if _numeric(cell)]

    def below(place: int) -> list[str]:
        return [row[place] for row in rest if len(row) > place and row[place].strip()]

    if not first[0].strip() and len(first) > 1 and below(0):
        return True, False  # pandas' index has no name
    if not numeric:
        counted = any(cells and all(map(_numeric, cells)) for cells in map(below, range(len(first))))
        words = [cell for cell in first if cell.strip().casefold() not in MISSING]
        return bool(words) and (counted or not rest or not names), False
    numbers = [first[place].strip() for place in numeric]
    counting = len(numbers) > 1 and numbers == [str(each) for each in range(len(numbers))]
    if not counting:
        return False, False
    fractions = all(any("." in cell or "," in cell for cell in below(place)) for place in numeric)
    return fractions or len(numbers) > 2, len(numbers) == 2 and fractions


def _titles(first: Sequence[str], header: bool, shown: str) -> list[str]:
    if not header:
        return [f"column {place}" for place in range(1, len(first) + 1)]
    titles = [restored(cell).strip() for cell in first]
    seen: dict[str, int] = {}
    for place, title in enumerate(titles):
        if title and title in seen:
            raise UserError(
                f"{shown}: two columns have the same name: {title!r} (columns {seen[title] + 1} and {place + 1}); "
                "rename one"
            )
        seen.setdefault(title, place)
    # Columns without a name but the first are kept apart by blanks, which no name ends with.
    return [title or " " * place for place, title in enumerate(titles)]


def _collected(
    cut: _Cut, titles: Sequence[str], header: bool, shown: str
) -> tuple[list[int], list[Numbers], list[list[str]]]:
    """The lines of the rows, each column's numbers, and the cells of those columns that are text."""
    width = len(titles)
    kept: list[list[str]] = [[] for _ in titles]
    columns = [Numbers(cut.separator) for _ in titles]
    lines: list[int] = []
    rows: list[list[str]] = []

    def hand_over() -> None:
        for column, cells, text in zip(columns, zip(*rows, strict=True), kept, strict=True):
            column.take(cells)
            if column.bad is not None:
                text.extend(cells)
        rows.clear()

    for line, given in islice(cut.rows(), 1 if header else 0, None):
        cells = _trimmed(given, width)
        if len(cells) != width:
            what = "the header" if header else "the first line"
            raise UserError(f"{shown}: line {line} has {len(cells)} fields, {what} has {width}")
        lines.append(line)
        rows.append(cells)
        if len(lines) * width > MOST_CELLS:
            raise UserError(f"{shown} has more than {MOST_CELLS:,} cells, the most that is read: cut it")
        if len(rows) * width >= _CELLS_AT_ONCE:
            hand_over()
    if rows:
        hand_over()
    return lines, columns, kept


def _words(cut: _Cut, place: int, header: bool, kept: list[str] | None) -> Callable[[], list[str]]:
    """What gives the cells of a column: those of numbers are read again, so that no table is held twice."""

    def words() -> list[str]:
        cells = (
            (row[place] for _, row in islice(cut.rows(), 1 if header else 0, None)) if kept is None else kept
        )
        return [restored(cell) for cell in cells]

    return words


def refuse_headless(table: Table, needed: str) -> None:
    """Sees to it that the first case is not lost, nor the columns guessed.

    Args:
        table: the table.
        needed: what the columns are to be called, in words.

    Raises:
        UserError: the table has no header line.
    """
    if table.header:
        return
    first = ", ".join(short(column.words()[0]) for column in list(table.columns.values())[:3])
    raise UserError(
        f"{table.shown}: line {table.lines[0]} is no header but a case ({first}): put a line with the names of the "
        f"columns before it, {needed}"
    )
