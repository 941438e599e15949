"""The few pairs of pictures that a report shows, out of a stream of any length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Shortlist:
    """The `limit` pairs with the smallest (urgency, distance, first, second) of all that were offered.

    Args:
        limit: how many.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: Ints = np.empty((0, 4), dtype=np.int64)

    def offer(self, urgency: Ints, distance: Ints, first: Ints, second: Ints) -> None:
        """Takes the pairs (M,) that belong on the list; a smaller urgency comes first."""
        candidates = np.stack([urgency, distance, first, second], axis=1).astype(np.int64)
        if self._limit and len(self._rows) == self._limit:
            last = self._rows[-1]
            better = (candidates[:, 0] < last[0]) | (
                (candidates[:, 0] == last[0]) & (candidates[:, 1] <= last[1])
            )
            candidates = candidates[better]
        if not len(candidates):
            return
        rows = np.concatenate([self._rows, candidates])
        self._rows = rows[np.lexsort(rows.T[::-1])][: self._limit]

    @property
    def rows(self) -> Ints:
        """(M, 4): urgency, distance, first and second of each pair, in order."""
        return self._rows
