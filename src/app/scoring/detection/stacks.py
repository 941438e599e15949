"""Stacks: rows of detections that belong to one object or cluster, and sums over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.scoring.detection.overlap import Floats, Indices, Reals


@dataclass(frozen=True)
class Stacks:
    """G groups of rows; each group keeps its rows in the order given."""

    rows: Indices
    """(R,): rows, group after group."""
    begins: Indices
    """(G,): where each group begins in `rows`."""
    counts: Indices
    """(G,): size K of each group, at least 1."""

    @classmethod
    def of(cls, rows: Indices, groups: Indices) -> Stacks:
        """The stacks of rows[i] in group groups[i]; groups are numbered 0 to G - 1 without a gap."""
        order = np.argsort(groups, kind="stable")
        counts = np.bincount(groups).astype(np.int64)
        return cls(rows[order], np.cumsum(counts) - counts, counts)

    @cached_property
    def group_of(self) -> Indices:
        """(R,): the group of each row."""
        return np.repeat(np.arange(len(self.counts), dtype=np.int64), self.counts)

    @property
    def heads(self) -> Indices:
        """(G,): the first row of each group."""
        return self.rows[self.begins]

    def sums(self, values: Floats) -> Reals:
        """(G, …): sum over each group of values (D, …), which are indexed by `rows`."""
        if not len(self.counts):
            return np.zeros((0, *values.shape[1:]))
        total: Reals = np.add.reduceat(values[self.rows], self.begins, axis=0, dtype=np.float64)
        return total

    def means(self, values: Floats) -> Reals:
        """(G, …): mean over each group of values (D, …)."""
        mean: Reals = self.sums(values) / self.counts.reshape(-1, *[1] * (values.ndim - 1))
        return mean

    def total_variance(self, boxes: Floats) -> Reals:
        """(G,): trace of the covariance (ddof 1) of boxes (D, 4) in square pixels; 0 for one row."""
        if not len(self.counts):
            return np.zeros(0)
        centred = boxes[self.rows] - np.repeat(self.means(boxes), self.counts, axis=0)
        squares = np.add.reduceat((centred**2).sum(axis=1), self.begins)
        return np.asarray(squares / np.maximum(self.counts - 1, 1), dtype=np.float64)

    def variation_ratio(self, modes: Indices) -> Reals:
        """(G,): 1 - share of the most frequent value of modes (D,), the class each row says."""
        if not len(self.counts):
            return np.zeros(0)
        width = int(modes.max()) + 1
        _, where, sizes = np.unique(
            self.group_of * width + modes[self.rows], return_inverse=True, return_counts=True
        )
        largest = np.maximum.reduceat(sizes[where], self.begins)
        return np.asarray(1.0 - largest / self.counts, dtype=np.float64)


def first_seen(keys: Floats) -> Indices:
    """(D,): the number of each row of keys (D, W), where equal rows share one and numbers rise by first sight."""
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.reshape(-1)]
