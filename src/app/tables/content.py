"""The text of a file that a user hands over: in any encoding, within bounds, and one line where it holds none."""

from __future__ import annotations

import codecs
import io
import stat
from dataclasses import dataclass
from pathlib import Path

from app.errors import UserError

MOST_BYTES = 2 * 2**30
"""A larger file is not read."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_TEXT = (
    (b"PK\x03\x04", "is a zip archive, such as an Excel workbook: save the table as CSV UTF-8"),
    (b"\xd0\xcf\x11\xe0", "is an Excel workbook: save the table as CSV UTF-8"),
    (b"\x1f\x8b", "is compressed: unpack it first (gunzip)"),
    (b"PAR1", "is a Parquet file: let its name end in .parquet"),
    (b"\x93NUMPY", "is a NumPy array: let its name end in .npy"),
)
"""How files begin that are often taken for text, and the remedy."""
_SAMPLE = 4096


@dataclass(frozen=True, eq=False)
class Content:
    """A text file, not yet cut into lines."""

    path: Path
    shown: str
    """What messages call it."""
    raw: bytes
    """Without a byte-order mark."""
    encoding: str
    marked: bool = False
    """Whether there was a byte-order mark."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""

    @property
    def text(self) -> str:
        """All of it."""
        return self.raw.decode(self.encoding)

    def lines(self) -> io.TextIOWrapper:
        """Line by line with their ends, which are those of any system; other separators of Unicode end none."""
        return io.TextIOWrapper(io.BytesIO(self.raw), encoding=self.encoding, newline="")

    def entries(self) -> list[str]:
        """The lines without the blanks around them; empty ones are passed over."""
        return [line.strip() for line in self.lines() if line.strip()]


def read_bytes(path: Path, key: str = "", most: int = MOST_BYTES) -> bytes:
    """What a file holds.

    Args:
        path: the file.
        key: the configuration's key it was given as, for messages.
        most: the largest size that is read.

    Raises:
        UserError: it does not exist, is no file, is too large or cannot be read.
    """
    shown = called(path, key)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{shown} is no file")
        if status.st_size > most:
            raise UserError(f"{shown} is larger than {most / 2**30:.3g} GiB, the most that is read")
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{shown} does not exist") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def read_content(path: Path, key: str = "", *, latin: bool = False) -> Content:
    """The text in a file: UTF-8 or UTF-16, with or without a byte-order mark.

    Args:
        path: the file.
        key: the configuration's key it was given as, for messages.
        latin: whether other text is read as Latin-1 (Windows-1252), with a note; else it is refused.

    Raises:
        UserError: as `read_bytes`, or it is no text.
    """
    shown, raw = called(path, key), read_bytes(path, key)
    for magic, remedy in _NO_TEXT:
        if raw.startswith(magic):
            raise UserError(f"{shown} {remedy}")
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _checked(Content(path, shown, raw[len(mark) :], encoding, marked=True))
    unmarked = _wide(raw[:_SAMPLE])
    if unmarked:
        return _checked(Content(path, shown, raw, unmarked))
    try:
        return _checked(Content(path, shown, raw, "utf-8"))
    except UserError:
        if not latin or b"\0" in raw:
            raise
    note = f"{path.name} is not UTF-8: it was read as Latin-1 (Windows-1252)"
    try:
        return _checked(Content(path, shown, raw, "cp1252", notes=(note,)))
    except UserError:  # five bytes mean nothing in Windows-1252
        return _checked(Content(path, shown, raw, "latin-1", notes=(note,)))


def called(path: Path, key: str) -> str:
    """What messages call a file: as on the command line, where its key is known."""
    return f"{key}={path}" if key else str(path)


def _wide(sample: bytes) -> str:
    """UTF-16 without a mark: every other byte of Western text is 0."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if min(even, odd) or 4 * max(even, odd) < len(sample):
        return ""
    return "utf-16-le" if odd else "utf-16-be" if even else ""


def _checked(content: Content) -> Content:
    try:
        text = content.text
    except UnicodeDecodeError as error:
        line = content.raw.count(b"\n", 0, error.start) + 1
        what = "UTF-8" if content.encoding == "utf-8" else content.encoding.upper()
        raise UserError(
            f"{content.shown}: line {line} is not {what} text (byte {error.start}): save it as CSV UTF-8 or UTF-8 text"
        ) from None
    place = text.find("\0")
    if place >= 0:
        raise UserError(
            f"{content.shown}: line {text.count(chr(10), 0, place) + 1} holds a NUL byte: it is no text file"
        )
    return content
