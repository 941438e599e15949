"""Clusters of look-alikes, from pairs that come in a stream and are never held all at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Rows = NDArray[np.int64]
SPARE = 65_536
"""Joins that wait at least until they are carried out together."""


class Clusters:
    """Connected components of n things; at most about n + `SPARE` joins are held.

    Args:
        n: how many things, numbered from 0.
    """

    def __init__(self, n: int) -> None:
        self._component: Rows = np.arange(n, dtype=np.int64)
        self._waiting: list[tuple[Rows, Rows]] = []
        self._held = 0

    def join(self, first: Rows, second: Rows) -> None:
        """Puts each pair (M,), (M,) into one cluster."""
        a, b = self._component[first], self._component[second]
        new = a != b
        if not new.any():
            return
        self._waiting.append((a[new], b[new]))
        self._held += int(new.sum())
        if self._held > len(self._component) + SPARE:
            self._merge()

    def groups(self, least: int = 2) -> list[Rows]:
        """The clusters with so many members or more: rising within a cluster, clusters by their first member."""
        self._merge()
        _, place, sizes = np.unique(self._component, return_inverse=True, return_counts=True)
        order = np.argsort(place, kind="stable")
        parts = np.split(order, np.cumsum(sizes)[:-1]) if order.size else []
        return sorted((part for part in parts if part.size >= least), key=lambda part: int(part[0]))

    def _merge(self) -> None:
        if not self._waiting:
            return
        a = np.concatenate([pair[0] for pair in self._waiting])
        b = np.concatenate([pair[1] for pair in self._waiting])
        n = len(self._component)
        graph = coo_array((np.ones(len(a), dtype=np.int32), (a, b)), shape=(n, n))
        _, joined = connected_components(graph, directed=False)
        self._component = joined.astype(np.int64)[self._component]
        self._waiting, self._held = [], 0
