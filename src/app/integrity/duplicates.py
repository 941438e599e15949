"""Exact duplicates by content, and near duplicates inside one split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.integrity.distances import histogram
from app.integrity.hashing import BITS, HashSpec
from app.integrity.scan import Scan

Rows = NDArray[np.int64]
NARROW, NEAR, WEAK = 2, 5, 14
"""Largest distances of pairs of hashes: a picture saved again; scaled or recompressed; cropped or changed a lot."""
NEAR_EMPTY = 1.0
"""A picture whose grey levels vary less than this shows nothing, and its hash says nothing."""


@dataclass(frozen=True)
class NearDuplicates:
    """Pairs of pictures of one split that look alike. It has no part in any score.

    The pairs are only counted. Which distance means what depends on the data: where all pictures look alike, so do
    their hashes.
    """

    n: int
    """Pictures compared."""
    exact: int
    """Pictures left out because another has the same content."""
    near_empty: int
    """Pictures left out because they show nothing."""
    histogram: tuple[int, ...]
    """(65,): pairs at each distance."""
    near: int
    """Pairs at a distance of at most 5."""
    weak: int
    """Pairs at a distance of 6 to 14."""
    signal_diluted: bool
    """Whether pairs at a distance of at most 2 are as many as the pictures or more: these pictures are so alike
    that the counts are no finding."""
    hash_spec: HashSpec
    """How the hashes were made."""


def near_duplicates(scan: Scan, *, workers: int = 1) -> NearDuplicates:
    """Counts the look-alikes of a split at every distance.

    Args:
        scan: the split.
        workers: threads.
    """
    blank = scan.readable & (scan.std < NEAR_EMPTY)
    exact = np.zeros(len(scan), dtype=np.bool_)
    for group in exact_groups(scan.digests, scan.readable):
        exact[group] = True
    compared = scan.readable & ~blank & ~exact
    counts = histogram(scan.hashes[compared], workers=workers)
    n = int(compared.sum())
    return NearDuplicates(
        n=n,
        exact=int(exact.sum()),
        near_empty=int((blank & ~exact).sum()),
        histogram=tuple(counts.tolist()),
        near=int(counts[: NEAR + 1].sum()),
        weak=int(counts[NEAR + 1 : WEAK + 1].sum()),
        signal_diluted=diluted(counts, n),
        hash_spec=scan.hash_spec,
    )


def exact_groups(digests: NDArray[np.uint8], readable: NDArray[np.bool_]) -> list[Rows]:
    """Rows of pictures with the same content: rising within a group, groups by their first row.

    Args:
        digests: (N, 32) SHA-256 of each picture.
        readable: (N,) which of them count.
    """
    rows = np.flatnonzero(readable)
    if not rows.size:
        return []
    keys = np.ascontiguousarray(digests[rows]).view("V32").ravel()
    _, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.argsort(group, kind="stable")
    parts = np.split(rows[order], np.cumsum(sizes)[:-1])
    return sorted((part for part in parts if part.size > 1), key=lambda part: int(part[0]))


def diluted(counts: NDArray[np.int64], n: int) -> bool:
    """Whether there is at least one pair at a distance of at most 2 for each of n pictures.

    Args:
        counts: (65,) pairs at each distance.
        n: pictures.
    """
    if len(counts) != BITS + 1:
        raise ValueError(f"counts must be ({BITS + 1},), not {counts.shape}")
    return n > 0 and int(counts[: NARROW + 1].sum()) >= n
