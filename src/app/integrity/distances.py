"""Hamming distances between many 64-bit hashes: how many pairs there are at each distance, and which are close.

All pairs are looked at and none is missed, tile by tile; at no time are more held than those of a few tiles,
however alike the pictures are.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.integrity.hashing import BITS, Hashes

Counts = NDArray[np.int64]
ROWS, COLUMNS = 256, 4096
"""Pairs of a tile. Its distances (1 MB) are counted at one go."""
STRIP = 8
"""Rows of a tile whose differing bits are held at a time: 256 KB, which stays in a processor's cache."""


@dataclass(frozen=True, eq=False)
class Tile:
    """Some of the pairs."""

    histogram: Counts
    """(65,): pairs of the tile at each distance; zeros if they were not asked for."""
    first: NDArray[np.int64]
    """(M,): one hash of each close pair, as its row in the first array."""
    second: NDArray[np.int64]
    """(M,): the other one; a row in the second array, or a later row in the same."""
    distance: NDArray[np.uint8]
    """(M,): their distance, at most the radius."""
    compared: int
    """Pairs of the tile."""


def histogram(hashes: Hashes, others: Hashes | None = None, *, workers: int = 1) -> Counts:
    """How many pairs there are at each distance, (65,).

    Args:
        hashes: (N,) hashes; with no others, each pair of them counts once and none pairs with itself.
        others: (M,) hashes that each of the first is paired with.
        workers: threads.
    """
    counts = np.zeros(BITS + 1, np.int64)
    for tile in sweep(hashes, others, radius=-1, workers=workers):
        counts += tile.histogram
    return counts


def pairs(hashes: Hashes, others: Hashes | None = None, *, radius: int, workers: int = 1) -> Iterator[Tile]:
    """The pairs at a distance of at most `radius`, in tiles that hold at least one; their histograms are empty.

    Args:
        hashes: as for `histogram`.
        others: as for `histogram`.
        radius: largest distance, inclusive.
        workers: threads.
    """
    tiles = sweep(hashes, others, radius=radius, counted=False, workers=workers)
    return (tile for tile in tiles if tile.first.size)


def sweep(
    hashes: Hashes, others: Hashes | None = None, *, radius: int, counted: bool = True, workers: int = 1
) -> Iterator[Tile]:
    """Histogram and close pairs in one pass; tiles come in the same order whatever the number of workers.

    Args:
        hashes: as for `histogram`.
        others: as for `histogram`.
        radius: largest distance of a close pair, inclusive; negative gives none.
        counted: whether histograms are made.
        workers: threads.
    """
    first = np.ascontiguousarray(hashes, dtype=np.uint64)
    second = first if others is None else np.ascontiguousarray(others, dtype=np.uint64)

    scratch = _Scratch()

    def work(corner: tuple[int, int]) -> Tile:
        row, column = corner
        left, right = first[row : row + ROWS], second[column : column + COLUMNS]
        diagonal = others is None and row == column
        tile = _tile(left, right, scratch, radius=radius, counted=counted, diagonal=diagonal)
        return replace(tile, first=tile.first + row, second=tile.second + column)

    corners = _corners(len(first), len(second), triangle=others is None)
    if workers <= 1:
        yield from map(work, corners)
        return
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[Future[Tile]] = deque()
        for corner in corners:
            ahead.append(pool.submit(work, corner))
            if len(ahead) > workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def comparisons(n: int, others: int | None = None) -> int:
    """How many pairs a sweep compares: of n hashes with each other, or with so many others."""
    return n * (n - 1) // 2 if others is None else n * others


def _corners(n: int, m: int, triangle: bool) -> Iterator[tuple[int, int]]:
    """Upper left corners of the tiles, as (row, column); on a triangle, of those with a column after a row."""
    for row in range(0, n, ROWS):
        for column in range(row if triangle else 0, m, COLUMNS):
            yield row, column


class _Scratch(threading.local):
    """Memory that a thread uses for one tile after the other: fresh pages would cost as much as the work."""

    def __init__(self) -> None:
        self.bits = np.empty(STRIP * COLUMNS, np.uint64)
        self.distances = np.empty(ROWS * COLUMNS, np.uint8)
        self.close = np.empty(ROWS * COLUMNS, np.bool_)


def _tile(
    left: Hashes, right: Hashes, scratch: _Scratch, *, radius: int, counted: bool, diagonal: bool
) -> Tile:
    """The pairs of some hashes and others, with rows that count from those; on a diagonal, of each two once."""
    shape = len(left), len(right)
    size = len(left) * len(right)
    distances = scratch.distances[:size].reshape(shape)
    for start in range(0, len(left), STRIP):
        strip = left[start : start + STRIP, None]
        differing = scratch.bits[: len(strip) * len(right)].reshape(len(strip), -1)
        np.bitwise_xor(strip, right, out=differing)
        np.bitwise_count(differing, out=distances[start : start + STRIP])
    outside = 0
    if diagonal:  # a hash and itself, and pairs the wrong way round: out of reach of every radius
        distances[np.tril_indices(len(left))] = 255
        outside = len(left) * (len(left) + 1) // 2
    close = np.empty(0, np.int64)
    if radius >= 0:
        close = np.flatnonzero(np.less_equal(scratch.distances[:size], radius, out=scratch.close[:size]))
    first, second = np.divmod(close, len(right))
    counts = _count(scratch.distances[:size])[: BITS + 1] if counted else np.zeros(BITS + 1, np.int64)
    return Tile(counts, first, second, scratch.distances[close], size - outside)


def _count(values: NDArray[np.uint8]) -> Counts:
    """(256,): how often each value occurs in (n,) values.

    Pillow counts bytes as they are, in four interleaved tables, in half the time of ``numpy.bincount``, which
    first widens each to 8 bytes.
    """
    whole = values.size - values.size % 4
    counts = np.bincount(values[whole:], minlength=256).astype(np.int64)
    if whole:
        image = Image.frombuffer("RGBA", (whole // 4, 1), values[:whole], "raw", "RGBA", 0, 1)
        counts += np.asarray(image.histogram(), np.int64).reshape(4, 256).sum(axis=0)
    return counts
