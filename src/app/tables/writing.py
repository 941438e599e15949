"""CSV that people open in spreadsheets: cells that a spreadsheet would run are made text, and read back unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

_RUNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
"""What a formula may begin with, and the same in full width."""
_BEGINS = rf"(?:(?:^|(?<=[;\t\r\n]))(?='*[ ]*[{_RUNS}])|^(?='*[\t\r\n]))"
"""Where a spreadsheet may see a cell begin: also after a semicolon or tab, which separate cells in other countries."""
_TO_QUOTE = re.compile(_BEGINS)
_QUOTED = re.compile(rf"(?:(?:^|(?<=[;\t\r\n]))'(?='*[ ]*[{_RUNS}])|^'(?='*[\t\r\n]))")
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf|nan)", re.ASCII)


def neutral(cell: str) -> str:
    """A cell that no spreadsheet runs: an apostrophe stands before what would begin a formula; numbers stay numbers."""
    return cell if _NUMBER.fullmatch(cell) else _TO_QUOTE.sub("'", cell)


def restored(cell: str) -> str:
    """The cell that `neutral` was given."""
    return _QUOTED.sub("", cell) if "'" in cell else cell


def csv_bytes(
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    separator: str = ",",
    marked: bool = False,
) -> bytes:
    """A table as CSV in UTF-8: a header line, then a line a row; text is `neutral`.

    Args:
        names: of the columns.
        rows: their cells; None is an empty one.
        separator: between cells.
        marked: whether a byte-order mark comes first, by which Excel knows UTF-8.
    """
    alone = "|^$" if len(names) == 1 else ""  # an empty line is no row
    quoted = re.compile(rf'["\r\n{re.escape(separator)}]{alone}')

    def line(row: Sequence[object]) -> str:
        return separator.join(_field(cell, quoted) for cell in row)

    text = "".join(f"{line(row)}\n" for row in chain([names], rows))
    return (b"\xef\xbb\xbf" if marked else b"") + text.encode("utf-8", "backslashreplace")


def _field(cell: object, quoted: re.Pattern[str]) -> str:
    """A cell as CSV: `csv.writer` leaves a lone carriage return without quotes, so that it ends the line."""
    text = neutral(cell) if isinstance(cell, str) else "" if cell is None else str(cell)
    return '"' + text.replace('"', '""') + '"' if quoted.search(text) else text
