"""Image files as test cases: each is decoded once before any work, and again when it is its turn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from app import machine
from app.errors import Fault, UserError
from app.images import USUAL, Decoding, Unreadable, decode, decoded, read
from app.samples import told

Progress = Callable[[int, int], None]
"""Called with how many files are checked and how many there are."""


@dataclass(frozen=True, eq=False)
class FileSource:
    """Pictures in files."""

    files: tuple[Path, ...]
    """(N,): absolute paths."""
    decoding: Decoding = USUAL
    """What their formats leave open."""

    def load(self, row: int) -> Image.Image:
        """The picture of a row.

        Raises:
            Fault: the file was fine when the data set was made and no longer is.
        """
        try:
            return decode(read(self.files[row]), self.decoding)
        except Unreadable as reason:
            raise Fault(f"{self.files[row]} {reason}: it has changed since the run began") from None


@dataclass(frozen=True)
class Checked:
    """A file that decodes."""

    digest: bytes
    """SHA-256 of its bytes, and of the choices that made its pixels other than they usually are."""
    size: tuple[int, int]
    """Width and height, upright."""
    remarks: tuple[str, ...]
    """What was decided on the way (`app.samples.Decoded`)."""
    highest: int | None
    """The highest sample of 16 bits (`app.samples.Decoded`)."""


def check(
    files: Sequence[Path], decoding: Decoding, workers: int | None = None, progress: Progress | None = None
) -> Iterator[Checked | str]:
    """What there is to know of each file that decodes, or why it does not.

    Args:
        files: in any order; results come in the same.
        decoding: what their formats leave open.
        workers: threads; None takes one a core, at most 8.
        progress: is told how many files are done.
    """

    def look(path: Path) -> Checked | str:
        try:
            content = read(path)
            found = decoded(content, decoding)
        except Unreadable as reason:
            return str(reason)
        if found.remarks and decoding.choices != USUAL.choices:  # other pixels are other data
            content += repr(decoding.choices).encode()
        return Checked(hashlib.sha256(content).digest(), found.image.size, found.remarks, found.highest)

    with ThreadPoolExecutor(threads(workers, len(files))) as pool:
        for done, result in enumerate(pool.map(look, files), start=1):
            if progress is not None:
                progress(done, len(files))
            yield result


def threads(asked: int | None, items: int) -> int:
    """How many threads decode: no more than there are cores or items; None asks for at most 8.

    Raises:
        UserError: fewer than one is asked for.
    """
    if asked is not None and asked < 1:
        raise UserError(f"dataset.workers must be 1 or more (threads that decode), or null, not {asked}")
    return machine.helpers(8 if asked is None else asked, items)


def notes(read_files: Sequence[tuple[str, Checked]]) -> tuple[str, ...]:
    """What a reader should know of how files were decoded.

    Args:
        read_files: what each is called, and what is known of it.
    """
    return told((name, each.remarks, each.highest) for name, each in read_files)
