"""Intersection over union of boxes, many pairs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Reals = NDArray[np.float64]
Indices = NDArray[np.integer[Any]]


def areas(boxes: Floats) -> Reals:
    """(K,): width times height of each box (K, 4), xyxy, in square pixels."""
    exact = boxes.astype(np.float64)
    sides = exact[:, 2:] - exact[:, :2]
    product: Reals = sides[:, 0] * sides[:, 1]
    return product


def paired_iou(first: Floats, second: Floats) -> Reals:
    """(P,): IoU of first[i] with second[i], both (P, 4) xyxy; 0 where the union is empty.

    All arithmetic is in double precision, also of boxes in single precision.
    """
    first, second = first.astype(np.float64), second.astype(np.float64)
    width = np.minimum(first[:, 2], second[:, 2]) - np.maximum(first[:, 0], second[:, 0])
    height = np.minimum(first[:, 3], second[:, 3]) - np.maximum(first[:, 1], second[:, 1])
    shared = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    union = areas(first) + areas(second) - shared
    iou: Reals = np.divide(shared, union, out=np.zeros(len(first)), where=union > 0)
    return iou


def iou_matrix(first: Floats, second: Floats) -> Reals:
    """(A, B): IoU of every box of `first` (A, 4) with every box of `second` (B, 4)."""
    rows, columns = len(first), len(second)
    left = np.repeat(np.arange(rows), columns)
    right = np.tile(np.arange(columns), rows)
    return paired_iou(first[left], second[right]).reshape(rows, columns)


def cell_pairs(first_counts: Indices, second_counts: Indices) -> tuple[Indices, Indices]:
    """(P,), (P,): positions of all pairs of rows of equal cells, cell after cell, each in row-major order.

    Cell c holds first_counts[c] rows of one list and second_counts[c] of the other; a position counts
    through all cells.
    """
    per_row = np.repeat(second_counts, first_counts)
    left = np.repeat(np.arange(int(first_counts.sum()), dtype=np.int64), per_row)
    second_begins = np.cumsum(second_counts) - second_counts
    begins = np.repeat(second_begins, first_counts)
    row_begins = np.cumsum(per_row) - per_row
    right = np.arange(len(left), dtype=np.int64) + np.repeat(begins - row_begins, per_row)
    return left, right


PAIRS = 2_000_000
"""About as many pairs are held at a time: 300 MB at most, whatever the number of images."""


def pair_blocks(
    first_counts: Indices, second_counts: Indices, limit: int = PAIRS
) -> Iterator[tuple[Indices, Indices, Indices]]:
    """The pairs of `cell_pairs` in blocks of whole cells, of about `limit` pairs.

    Yields:
        The cells of a block, and the two positions of each of its pairs.
    """
    sizes = np.asarray(first_counts * second_counts, dtype=np.int64)
    block = (np.cumsum(sizes) - sizes) // limit
    first_begins, second_begins = np.cumsum(first_counts), np.cumsum(second_counts)
    for cells in np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(block)) + 1):
        if not sizes[cells].any():
            continue
        left, right = cell_pairs(first_counts[cells], second_counts[cells])
        start = cells[0]
        yield (
            cells,
            left + first_begins[start] - first_counts[start],
            right + second_begins[start] - second_counts[start],
        )
