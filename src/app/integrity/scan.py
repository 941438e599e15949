"""The scan index: what integrity knows about each picture of one split, from one pass over its files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from app import images, machine
from app.errors import UserError
from app.images import USUAL, Decoding, Unreadable, read
from app.integrity.appearance import SURE_BRIGHT, Appearance, appearance, brightest
from app.integrity.hashing import Hashes, HashSpec, dhash, file_spec, image_spec
from app.integrity.listing import Skipped, list_pictures
from app.integrity.pictures import Picture, decode, in_memory
from app.samples import plain, told

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is."""
SURE_STD = 4.0
"""Halving takes noise away: a large picture whose halved one varies less than this is measured in full."""
_GREY = {"1", "L", "LA", "La", "I", "F", "I;16", "I;16B", "I;16L", "I;16N"}
"""Pillow's modes without colour."""
_NO_LOOK = Appearance(*(np.nan,) * len(fields(Appearance)))


@dataclass(frozen=True, eq=False)
class Scan:
    """The index of one split, a row a picture. Made by `scan_folder` or `scan_images`."""

    name: str
    """The split: train, test, …"""
    class_names: tuple[str, ...]
    """What the labels 0, 1, … mean."""
    labels: NDArray[np.int32]
    """(N,): the class of each picture; -1 is none."""
    paths: tuple[str, ...]
    """(N,): what each is called in reports."""
    reasons: tuple[str, ...]
    """(N,): why a picture is unreadable, as the end of a sentence that begins with its path; empty if it is not."""
    digests: NDArray[np.uint8]
    """(N, 32): SHA-256 of the content, of unreadable files too; zeros where not even the file could be read."""
    file_bytes: NDArray[np.int64]
    """(N,): size of the file; 0 if there is none."""
    sides: NDArray[np.int32]
    """(N, 2): width and height in pixels, upright; 0 where unreadable."""
    modes: tuple[str, ...]
    """(N,): Pillow's mode of the stored picture; empty where unreadable."""
    hashes: Hashes
    """(N,): difference hashes; 0 where unreadable."""
    mean: NDArray[np.float64]
    """(N,): see `Appearance`, also for the next four; NaN where unreadable."""
    std: NDArray[np.float64]
    """(N,)."""
    dark: NDArray[np.float64]
    """(N,)."""
    bright: NDArray[np.float64]
    """(N,)."""
    sharpness: NDArray[np.float64]
    """(N,)."""
    hash_spec: HashSpec
    """How the hashes were made."""
    skipped: tuple[Skipped, ...] = ()
    """Files that are no pictures of the split."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how files were decoded."""

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def readable(self) -> NDArray[np.bool_]:
        """(N,): whether each picture was decoded in full."""
        return np.array([not reason for reason in self.reasons], dtype=np.bool_)

    def class_of(self, row: int) -> str | None:
        """The name of a picture's class, if it has one."""
        label = int(self.labels[row])
        return self.class_names[label] if label >= 0 else None

    def columns(self) -> dict[str, list[str] | list[int]]:
        """The index as a table: path, class, status, sha256, bytes, width, height, mode, hash; a row a picture."""
        rows = range(len(self))
        return {
            "path": list(self.paths),
            "class": [self.class_of(row) or "" for row in rows],
            "status": [reason or "ok" for reason in self.reasons],
            "sha256": [self.digests[row].tobytes().hex() for row in rows],
            "bytes": self.file_bytes.tolist(),
            "width": self.sides[:, 0].tolist(),
            "height": self.sides[:, 1].tolist(),
            "mode": list(self.modes),
            "hash": [f"{value:016x}" for value in self.hashes.tolist()],
        }


@dataclass(frozen=True)
class _Row:
    digest: bytes = bytes(32)
    file_bytes: int = 0
    reason: str = ""
    sides: tuple[int, int] = (0, 0)
    mode: str = ""
    hashed: int = 0
    look: Appearance = _NO_LOOK
    remarks: tuple[str, ...] = ()
    highest: int | None = None


def scan_folder(
    root: str | Path,
    *,
    name: str | None = None,
    classes: bool = True,
    workers: int | None = None,
    progress: Progress | None = None,
    decoding: Decoding = USUAL,
) -> Scan:
    """The index of the pictures below a folder; every file is read once and decoded to its end.

    Args:
        root: the folder: ``root/CLASS/**/picture``, or pictures without classes.
        name: of the split; None takes the folder's name.
        classes: whether the subfolders are classes.
        workers: threads; None takes one a core, at most 8.
        progress: is told how many files are done.
        decoding: what the formats of files leave open: which sample is white, what transparency is laid on.

    Raises:
        UserError: no such folder, or no picture in it.
    """
    listing = list_pictures(root, classes=classes)

    def examine(path: Path) -> _Row:
        return _examine_file(path, decoding)

    rows = _rows(examine, listing.files, workers, progress)
    return _scan(
        rows,
        name=name or Path(root).expanduser().resolve().name,
        class_names=listing.class_names,
        labels=np.array(listing.labels, dtype=np.int32),
        paths=listing.paths,
        spec=file_spec(),
        skipped=listing.skipped,
    )


def scan_images(
    load: Callable[[int], Image.Image],
    labels: ArrayLike,
    class_names: Sequence[str] = (),
    *,
    name: str,
    paths: Sequence[str] | None = None,
    digests: ArrayLike | None = None,
    unreadable: Sequence[Skipped] = (),
    workers: int | None = None,
    progress: Progress | None = None,
) -> Scan:
    """The index of images that come decoded: arrays, embedded data, a data set of another room.

    Args:
        load: gives the image of a row; threads call it at the same time. An image that it cannot give is
            unreadable.
        labels: (N,) classes; -1 is none.
        class_names: what the labels mean; may be empty if there are none.
        name: of the split.
        paths: (N,) what the images are called; None numbers them.
        digests: (N, 32) SHA-256 of their contents; None makes them from the pixels.
        unreadable: files that were left out before and count as unreadable; their class is the first part of
            their path if that is a class.
        workers: threads; None takes one a core, at most 8.
        progress: is told how many images are done.

    Raises:
        ValueError: labels, paths or digests that do not fit each other.
    """
    classes = np.asarray(labels, dtype=np.int32).reshape(-1)
    n, names = len(classes), tuple(map(str, class_names))
    called = tuple(paths) if paths is not None else tuple(f"case-{row:05d}" for row in range(n))
    given = None if digests is None else np.asarray(digests, dtype=np.uint8)
    if n and not (classes.min() >= -1 and classes.max() < len(names)):
        raise ValueError(f"labels must be in -1..{len(names) - 1}, not {classes.min()}..{classes.max()}")
    if len(called) != n or (given is not None and given.shape != (n, 32)):
        raise ValueError(f"there are {n} labels, so paths must be ({n},) and digests ({n}, 32)")

    def examine(row: int) -> _Row:
        return _examine_image(load, row, None if given is None else given[row].tobytes())

    rows = _rows(examine, range(n), workers, progress)
    rows += [_Row(reason=each.reason) for each in unreadable]
    place = {each: label for label, each in enumerate(names)}
    lost = [place.get(each.path.partition("/")[0], -1) for each in unreadable]
    return _scan(
        rows,
        name=name,
        class_names=names,
        labels=np.concatenate([classes, np.array(lost, dtype=np.int32)]),
        paths=called + tuple(each.path for each in unreadable),
        spec=image_spec(),
    )


def _rows(
    examine: Callable[[T], _Row], items: Sequence[T], workers: int | None, progress: Progress | None
) -> list[_Row]:
    threads = machine.helpers(workers or 8, len(items))
    if threads == 1:
        return list(_told(map(examine, items), len(items), progress))
    with ThreadPoolExecutor(threads) as pool:
        return list(_told(pool.map(examine, items), len(items), progress))


def _told(rows: Iterable[_Row], total: int, progress: Progress | None) -> Iterable[_Row]:
    for done, row in enumerate(rows, start=1):
        if progress is not None:
            progress(done, total)
        yield row


def _examine_file(path: Path, decoding: Decoding) -> _Row:
    try:
        content = read(path)
    except Unreadable as reason:
        return _Row(reason=str(reason))
    facts = _Row(hashlib.sha256(content).digest(), len(content))
    try:
        return _measured(
            facts,
            decode(content, decoding),
            lambda: decode(content, decoding, reduced=False),
            lambda: images.decode(content, decoding),
        )
    except Unreadable as reason:
        return replace(facts, reason=str(reason))


def _examine_image(load: Callable[[int], Image.Image], row: int, digest: bytes | None) -> _Row:
    try:
        image = load(row)
        image.load()
        facts = _Row(
            digest or hashlib.sha256(repr((image.size, image.mode)).encode() + image.tobytes()).digest()
        )
        return _measured(
            facts, in_memory(image), lambda: in_memory(image, reduced=False), lambda: plain(image).image
        )
    except UserError as error:
        return _Row(digest or bytes(32), reason=f"cannot be loaded ({error})")
    except Exception as error:  # whatever a loader of the user's raises is a fact about this picture
        line = str(error).partition("\n")[0] or type(error).__name__
        return _Row(digest or bytes(32), reason=f"cannot be loaded ({line})")


def _measured(
    facts: _Row, picture: Picture, whole: Callable[[], Picture], colour: Callable[[], Image.Image]
) -> _Row:
    look = appearance(picture.grey)
    if look.bright < SURE_BRIGHT and picture.mode not in _GREY:
        look = replace(look, bright=brightest(colour().reduce(picture.reduction)))
    if picture.reduction > 1 and look.std < SURE_STD:
        look = replace(look, std=appearance(whole().grey).std)
    return replace(
        facts,
        sides=(picture.width, picture.height),
        mode=picture.mode,
        hashed=dhash(picture.grey),
        look=look,
        remarks=picture.remarks,
        highest=picture.highest,
    )


def _scan(
    rows: Sequence[_Row],
    *,
    name: str,
    class_names: tuple[str, ...],
    labels: NDArray[np.int32],
    paths: tuple[str, ...],
    spec: HashSpec,
    skipped: tuple[Skipped, ...] = (),
) -> Scan:
    looks = {
        field.name: np.array([getattr(row.look, field.name) for row in rows], dtype=np.float64)
        for field in fields(Appearance)
    }
    return Scan(
        name=name,
        class_names=class_names,
        labels=labels,
        paths=paths,
        reasons=tuple(row.reason for row in rows),
        digests=np.frombuffer(b"".join(row.digest for row in rows), np.uint8).reshape(-1, 32),
        file_bytes=np.array([row.file_bytes for row in rows], dtype=np.int64),
        sides=np.array([row.sides for row in rows], dtype=np.int32).reshape(-1, 2),
        modes=tuple(row.mode for row in rows),
        hashes=np.array([row.hashed for row in rows], dtype=np.uint64),
        hash_spec=spec,
        skipped=skipped,
        notes=told((path, row.remarks, row.highest) for path, row in zip(paths, rows, strict=True)),
        **looks,
    )
