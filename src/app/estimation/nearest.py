"""Nearest training traces in blocks of matrix products, exact where it matters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.estimation.population import FloatArray, IntArray

Traces = NDArray[np.floating]

_BLOCK = 1 << 24
"""Entries of one distance block (64 MiB of float32); half of that measured slower, twice as much no faster."""
_COLUMNS = 1 << 17
"""Most training traces compared at once."""
_ROUNDING = 4e-6
"""Relative error allowed for a float32 product of some hundred terms: whoever is this close is computed exactly."""


@dataclass(frozen=True)
class TrainingTraces:
    """Training traces sorted by class, centred, ready for products."""

    exact: FloatArray
    """(T, d) centred traces, sorted by class."""
    classes: IntArray
    """(T,) ascending classes."""
    centre: FloatArray
    """(d,) what was subtracted."""

    @classmethod
    def of(cls, traces: Traces, classes: NDArray[np.integer]) -> TrainingTraces:
        """Sorts and centres; centring keeps |a|² + |b|² - 2ab from cancelling."""
        order = np.argsort(classes, kind="stable")
        exact = np.asarray(traces, dtype=np.float64)[order]
        centre = exact.mean(axis=0)
        exact -= centre
        return cls(exact, np.asarray(classes, dtype=np.int64)[order], centre)

    def span(self, label: int) -> slice:
        """Where the traces of a class stand; empty for a class there is none of."""
        return slice(
            int(np.searchsorted(self.classes, label, "left")),
            int(np.searchsorted(self.classes, label, "right")),
        )


@dataclass(frozen=True)
class Nearest:
    """The nearest trace of each query."""

    index: IntArray
    """(n,) its position among the sorted training traces; -1 if none was allowed."""
    distance: FloatArray
    """(n,) Euclidean distance in float64; NaN if none was allowed."""


class NearestSearch:
    """Looks for nearest training traces; float32 products propose, float64 differences decide.

    Args:
        training: The traces to look among.
    """

    def __init__(self, training: TrainingTraces) -> None:
        self._training = training
        squares = np.einsum("ij,ij->i", training.exact, training.exact)
        # One more dimension carries |t|², so that a single product gives |t|² - 2 q·t.
        self._base = np.empty((training.exact.shape[1] + 1, len(squares)), dtype=np.float32)
        np.multiply(training.exact.T, -2.0, out=self._base[:-1], casting="unsafe")
        self._base[-1] = squares
        self._largest = float(squares.max(initial=0.0))

    def inside(self, queries: FloatArray, span: slice) -> Nearest:
        """The nearest trace of a span for each centred query.

        Args:
            queries: (n, d) in float64, centred.
            span: Which sorted training traces count.
        """
        nowhere = np.zeros(len(queries), dtype=np.int64)
        return self._search(queries, span, nowhere, nowhere)

    def outside(self, queries: FloatArray, labels: IntArray) -> Nearest:
        """The nearest trace of any class but a given one, for each centred query.

        Args:
            queries: (n, d) in float64, centred.
            labels: (n,) the class to leave out for each.
        """
        classes = self._training.classes
        first, last = np.searchsorted(classes, labels, "left"), np.searchsorted(classes, labels, "right")
        return self._search(queries, slice(0, len(classes)), first, last)

    def _search(self, queries: FloatArray, span: slice, first: IntArray, last: IntArray) -> Nearest:
        """The nearest trace of a span, without those from `first` to before `last` of each query."""
        count = len(queries)
        best = np.full(count, np.inf)
        index = np.full(count, -1, dtype=np.int64)
        extended = np.ones((count, queries.shape[1] + 1), dtype=np.float32)
        extended[:, :-1] = queries
        own = np.einsum("ij,ij->i", queries, queries)
        columns = max(1, min(span.stop - span.start, _COLUMNS))
        rows = max(1, _BLOCK // columns)
        for start in range(0, count, rows):
            part = slice(start, min(start + rows, count))
            for left in range(span.start, span.stop, columns):
                block = extended[part] @ self._base[:, left : min(left + columns, span.stop)]
                # Queries of one class mostly stand together: one assignment for each run of them.
                runs = np.flatnonzero(
                    (np.diff(first[part], prepend=-1) != 0) | (np.diff(last[part], prepend=-1) != 0)
                )
                for begin, end in zip(runs, [*runs[1:], len(block)], strict=True):
                    low, high = first[start + begin] - left, last[start + begin] - left
                    block[begin:end, max(low, 0) : max(high, 0)] = np.inf
                self._improve(
                    block, left, queries=queries[part], own=own[part], best=best[part], index=index[part]
                )
        return Nearest(index, np.where(index < 0, np.nan, np.sqrt(best)))

    def _improve(
        self,
        block: NDArray[np.float32],
        left: int,
        *,
        queries: FloatArray,
        own: FloatArray,
        best: FloatArray,
        index: IntArray,
    ) -> None:
        """Replaces the best so far (squared distance, index) by better ones of this block."""
        rows = np.arange(len(block))
        winner = block.argmin(axis=1)
        smallest = block[rows, winner].astype(np.float64)
        tolerance = _ROUNDING * (own + self._largest)
        block[rows, winner] = np.inf
        second = block.min(axis=1)
        block[rows, winner] = smallest
        difference = queries - self._training.exact[left + winner]
        exact = np.einsum("ij,ij->i", difference, difference)
        exact[~np.isfinite(smallest)] = np.inf
        for row in np.flatnonzero(np.isfinite(smallest) & (second <= smallest + tolerance)):
            close = np.flatnonzero(block[row] <= smallest[row] + tolerance[row])
            gaps = self._training.exact[left + close] - queries[row]
            squared = np.einsum("ij,ij->i", gaps, gaps)
            winner[row] = close[squared.argmin()]
            exact[row] = squared.min()
        better = exact < best
        best[better] = exact[better]
        index[better] = left + winner[better]
