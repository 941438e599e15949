"""The unlabelled operational data to estimate over, with what is known of every case before labelling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from app.errors import UserError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_ROWS_SHOWN = 5
_ROUNDING = 1e-3
"""So far beyond 0 or 1 rounding takes a confidence, in the coarsest arithmetic that models use."""
_SILENT = 1e-6
"""Beyond this it is noted."""


def _named(rows: IntArray, ids: NDArray[np.str_] | None = None) -> str:
    """A few row numbers (and ids) in words."""
    few = [
        f"row {row}" if ids is None else f"row {row} (id {ids[row]})" for row in rows[:_ROWS_SHOWN].tolist()
    ]
    rest = len(rows) - len(few)
    return ", ".join(few) + (f" and {rest} more" if rest else "")


@dataclass(frozen=True)
class Population:
    """N cases with their auxiliary variables, checked when built.

    Raises:
        UserError: at building, for a column of another length, a NaN or infinity in a column, a confidence outside
            [0, 1] by more than rounding, ids that are not unique, or no cases at all.
    """

    name: str
    """What it is called in reports: the subject."""
    ids: NDArray[np.str_]
    """(N,) unique names of the cases: paths, or whatever the table has."""
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    """Auxiliary variables, (N,) each: confidence, dsa, lsa, margin, entropy, combined or any name of the user's."""
    predicted: IntArray | None = None
    """(N,) predicted classes, or None."""
    neurons: NDArray[np.floating] | None = None
    """(N, m) outputs of the last hidden layer, or None."""
    notes: tuple[str, ...] = ()
    """What the checks found and did not refuse."""
    _scores: dict[str, FloatArray] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ids = np.asarray(self.ids).astype(np.str_)
        object.__setattr__(self, "ids", ids)
        if ids.ndim != 1 or len(ids) == 0:
            raise UserError(f"population {self.name!r} has no cases")
        self._check_ids(ids)
        columns = {name: self._checked(name, values) for name, values in self.columns.items()}
        object.__setattr__(self, "columns", columns)
        if self.predicted is not None:
            predicted = np.asarray(self.predicted)
            if predicted.shape != ids.shape:
                raise UserError(
                    f"population {self.name!r}: {len(ids)} ids, {predicted.shape} predicted classes"
                )
            object.__setattr__(self, "predicted", predicted.astype(np.int64))
        if self.neurons is not None:
            self._check_neurons(np.asarray(self.neurons))
        constant = [
            f"column {name!r} is constant: it tells nothing" for name in columns if self.is_constant(name)
        ]
        object.__setattr__(
            self, "notes", (*self.notes, *(note for note in constant if note not in self.notes))
        )

    def _check_ids(self, ids: NDArray[np.str_]) -> None:
        _, first, counts = np.unique(ids, return_index=True, return_counts=True)
        if (counts > 1).any():
            twice = first[counts > 1]
            rows = np.flatnonzero(np.isin(ids, ids[twice]))
            raise UserError(
                f"population {self.name!r}: ids must be unique, but {_named(rows, ids)} share theirs"
            )

    def _checked(self, name: str, values: ArrayLike) -> FloatArray:
        try:
            column = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise UserError(f"population {self.name!r}: column {name!r} must hold numbers only") from None
        if column.shape != self.ids.shape:
            raise UserError(
                f"population {self.name!r}: column {name!r} has shape {column.shape}, not ({self.size},)"
            )
        bad = np.flatnonzero(~np.isfinite(column))
        if len(bad):
            where = _named(bad, self.ids)
            raise UserError(
                f"population {self.name!r}: column {name!r} must be finite; empty, NaN or infinite in {where}"
            )
        return self._confidence(column) if name == "confidence" else column

    def _confidence(self, column: FloatArray) -> FloatArray:
        """Confidences in [0, 1]; rounding beyond is cut off."""
        bad = np.flatnonzero((column < -_ROUNDING) | (column > 1 + _ROUNDING))
        if len(bad):
            where = _named(bad, self.ids)
            more = "; per cents are to be divided by 100" if column.max() > 2 and column.min() >= 0 else ""
            raise UserError(
                f"population {self.name!r}: confidence must lie in [0, 1]; not so in {where}{more}"
            )
        cut = np.clip(column, 0.0, 1.0)
        beyond = float(np.abs(cut - column).max())
        if beyond > _SILENT:
            note = (
                f"confidence lies up to {beyond:.2g} outside [0, 1], as rounding does: it was cut off there"
            )
            object.__setattr__(self, "notes", (*self.notes, note))
        return cut

    def _check_neurons(self, neurons: NDArray[np.floating]) -> None:
        if neurons.ndim != 2 or neurons.shape[0] != self.size or neurons.shape[1] == 0:
            raise UserError(
                f"population {self.name!r}: neurons must be ({self.size}, m), not {neurons.shape}"
            )
        bad = np.flatnonzero(~np.isfinite(neurons).all(axis=1))
        if len(bad):
            raise UserError(
                f"population {self.name!r}: neurons must be finite; NaN or infinite in {_named(bad, self.ids)}"
            )

    @property
    def size(self) -> int:
        """N."""
        return len(self.ids)

    def has(self, name: str) -> bool:
        """Whether there is such a column."""
        return name in self.columns

    def is_constant(self, name: str) -> bool:
        """Whether a column has one value only, so that it cannot tell cases apart."""
        column = self.columns[name]
        return bool(column.min() == column.max())

    def column(self, name: str) -> FloatArray:
        """(N,) an auxiliary variable.

        Raises:
            UserError: there is no such column; the message lists those there are.
        """
        if name not in self.columns:
            there = ", ".join(sorted(self.columns)) or "none"
            raise UserError(f"population {self.name!r} has no column {name!r}; it has: {there}")
        return self.columns[name]

    def scores(self, name: str) -> FloatArray:
        """(N,) normal scores of a column; computed once.

        Raises:
            UserError: there is no such column.
        """
        if name not in self._scores:
            self._scores[name] = normal_scores(self.column(name))
        return self._scores[name]

    def check_budget(self, budget: int) -> int:
        """The budget itself, if 1 ≤ budget < N.

        Raises:
            UserError: otherwise.
        """
        if not 1 <= budget < self.size:
            raise UserError(
                f"budget {budget} is not allowed for population {self.name!r}: choose 1 to {self.size - 1} labels"
                + (
                    "; with a label for every case there is nothing to estimate"
                    if budget >= self.size
                    else ""
                )
            )
        return int(budget)


def normal_scores(values: FloatArray) -> FloatArray:
    """(N,) normal quantiles of the mid-ranks of some values; ties share one score, a constant gives zeros."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    return np.asarray(ndtri((below + up_to) / (2 * len(values))), dtype=np.float64)
