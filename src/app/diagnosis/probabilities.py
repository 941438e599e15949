"""The model's output checked at the door: rows of class probabilities that belong to labels and class names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from app.diagnosis.rounding import AS_IT_IS, slack
from app.errors import UserError

OUTPUTS = ("auto", "logits", "probs")
ON_INVALID = ("error", "drop")
SHOWN = 5
"""So many rows are named in a message."""


@dataclass(frozen=True)
class Probabilities:
    """What a classifier said about N test cases, checked: finite rows that sum to 1, labels that exist."""

    rows: NDArray[np.float64]
    """(N, K): class probabilities."""
    labels: NDArray[np.int64]
    """(N,): true classes, each in 0..K-1."""
    class_names: tuple[str, ...]
    """K names in the order of the columns."""
    output: str
    """What the given rows were, `probs` or `logits`."""
    cases: NDArray[np.int64]
    """(N,): the row each test case had in the given array; they differ from 0..N-1 if rows were dropped."""
    dropped: tuple[int, ...]
    """Rows of the given array that were left out because they held NaN or infinity."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""


def check(
    probs: ArrayLike,
    labels: ArrayLike,
    class_names: Sequence[str],
    *,
    output: str = "auto",
    on_invalid: str = "error",
) -> Probabilities:
    """Probabilities from a model's output rows, or one line about what is wrong with them.

    Args:
        probs: (N, K) probabilities or logits, one row a test case.
        labels: (N,) whole numbers in 0..K-1.
        class_names: K different names in training order, which is the order of the columns.
        output: what the rows are: `probs`, `logits` (a softmax makes them probabilities), or `auto`, which
            looks. Rows of a multi-label model, each in [0, 1] and summing to something else than 1, are
            refused: a softmax over them would look right and mean nothing.
        on_invalid: `error` names the rows with NaN or infinity; `drop` leaves them out and lists them.

    Raises:
        UserError: if anything of this does not hold.
    """
    if output not in OUTPUTS:
        raise UserError(f"output must be one of {', '.join(OUTPUTS)}, not {output!r}")
    if on_invalid not in ON_INVALID:
        raise UserError(f"on_invalid must be one of {', '.join(ON_INVALID)}, not {on_invalid!r}")
    rows, half_precision = _matrix(probs)
    names = _names(class_names, rows.shape[1])
    true = _labels(labels, rows.shape)
    finite = np.asarray(np.isfinite(rows).all(axis=1))
    if not finite.all() and on_invalid == "error":
        raise UserError(
            f"{_some(~finite)} of the probabilities {_verb(~finite, 'hold')} NaN or infinity; only finite numbers "
            "are allowed (on_invalid=drop leaves such rows out and lists them)"
        )
    cases = np.flatnonzero(finite)
    if not cases.size:
        raise UserError("every row of the probabilities holds NaN or infinity; nothing is left to diagnose")
    kept, kind, notes = _normalised(rows[cases], cases, output, half_precision)
    return Probabilities(
        kept, true[cases], names, kind, cases, tuple(np.flatnonzero(~finite).tolist()), notes
    )


def _matrix(probs: ArrayLike) -> tuple[NDArray[np.float64], bool]:
    """The rows in double precision, and whether they came in half precision."""
    given = np.asarray(probs)
    if given.dtype.kind not in "fiu":
        raise UserError(f"probabilities must be an array of numbers, not {given.dtype}")
    if given.ndim == 1 or (given.ndim == 2 and given.shape[1] == 1):
        raise UserError(
            f"probabilities of shape {given.shape} have one column; a two-class model needs two, "
            "[1 - p, p]: (N, K) with K of at least 2 is allowed"
        )
    if given.ndim != 2:
        raise UserError(f"probabilities must be an (N, K) array, one row a test case, not {given.shape}")
    if 0 in given.shape:
        raise UserError(f"the array of probabilities is empty, {given.shape}; at least one row is needed")
    return given.astype(np.float64), given.dtype == np.float16


def _names(class_names: Sequence[str], columns: int) -> tuple[str, ...]:
    names = tuple(map(str, class_names))
    if len(names) != columns:
        raise UserError(
            f"{len(names)} class names for {columns} columns of probabilities; one each is needed"
        )
    if len(set(names)) != columns:
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"class names must differ from each other; {twice!r} is there more than once")
    return names


def _labels(labels: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.int64]:
    given = np.asarray(labels)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise UserError(f"labels must be an (N,) array of class numbers, not {given.shape}")
    if given.size != shape[0]:
        raise UserError(f"{given.size} labels for {shape[0]} rows of probabilities; one each is needed")
    whole = given.dtype.kind in "iub" or (
        given.dtype.kind == "f" and bool((np.isfinite(given) & (given == np.floor(given))).all())
    )
    if not whole:
        raise UserError(f"labels must be whole numbers in 0..{shape[1] - 1}, not {_not_whole(given)}")
    outside = (given < 0) | (given >= shape[1])
    if outside.any():
        raise UserError(
            f"{_some(outside)} {_verb(outside, 'have')} a label outside 0..{shape[1] - 1} (the first is "
            f"{given[outside][0]}): with {shape[1]} columns only these classes are allowed"
        )
    return given.astype(np.int64)


def _normalised(
    rows: NDArray[np.float64], cases: NDArray[np.int64], output: str, half_precision: bool
) -> tuple[NDArray[np.float64], str, tuple[str, ...]]:
    """Rows that sum to 1, what they were, and what is to be said about it."""
    inside = np.asarray(((rows >= -1e-6) & (rows <= 1 + 1e-6)).all(axis=1))
    sums = rows.sum(axis=1)
    allowed = slack(np.clip(rows, 0.0, 1.0), half_precision)
    fine = inside & allowed.fits(sums)
    if output != "logits" and bool((rows >= 0).all()) and (np.abs(sums - 100) <= 0.5).mean() > 0.5:
        raise UserError("the rows sum to 100, as per cents do: divide them by 100")
    if output == "logits" or (output == "auto" and not inside.all() and fine.mean() < 0.5):
        softmax: NDArray[np.float64] = special.softmax(rows, axis=1)
        return softmax, "logits", ()
    if fine.all():
        return _summing(np.clip(rows, 0.0, 1.0), allowed.grid)
    bad = np.zeros(int(cases[-1]) + 1, dtype=np.bool_)
    bad[cases[~fine]] = True
    first = int(np.argmin(fine))
    if inside.all() and fine.mean() < 0.5:
        raise UserError(
            f"the rows are in [0, 1] and sum to {sums.min():.3g}..{sums.max():.3g}: this looks like the output "
            "of a multi-label (sigmoid) model, which has no one right class; rows that sum to 1, or logits "
            "(task.output=logits), are allowed"
        )
    if inside[first]:
        raise UserError(
            f"{_some(bad)} of the probabilities {_verb(bad, 'do')} not sum to 1 (the first: {sums[first]:.4g})"
        )
    raise UserError(
        f"{_some(bad)} of the probabilities {_verb(bad, 'hold')} numbers outside [0, 1]; for logits say "
        "task.output=logits"
    )


def _summing(rows: NDArray[np.float64], grid: str) -> tuple[NDArray[np.float64], str, tuple[str, ...]]:
    """Rows of which rounding has changed the sums, divided by these; others stay as they are."""
    sums = rows.sum(axis=1)
    if np.abs(sums - 1).max() <= AS_IT_IS:
        return rows, "probs", ()
    reason = f"they are rounded to {grid}" if grid else "their precision is low"
    note = (
        f"the probabilities of a test case sum to {sums.min():.4g} to {sums.max():.4g}, as {reason}: each was divided "
        "by the sum"
    )
    return rows / sums[:, None], "probs", (note,)


def _some(bad: NDArray[np.bool_]) -> str:
    """The bad rows in words: `row 3`, `rows 1, 2, 3`, `12 rows (1, 2, 3, 4, 5, ...)`."""
    rows = np.flatnonzero(bad).tolist()
    shown = ", ".join(map(str, rows[:SHOWN]))
    if len(rows) > SHOWN:
        return f"{len(rows)} rows ({shown}, ...)"
    return f"row {shown}" if len(rows) == 1 else f"rows {shown}"


def _verb(bad: NDArray[np.bool_], many: str) -> str:
    """The verb that follows `_some`."""
    one = {"have": "has", "do": "does"}.get(many, many + "s")
    return one if np.count_nonzero(bad) == 1 else many


def _not_whole(labels: NDArray[Any]) -> str:
    """What is wrong with labels that are no whole numbers, in words."""
    if labels.dtype.kind != "f":
        return f"{labels.dtype}"
    row = int(np.argmax(~(np.isfinite(labels) & (labels == np.floor(labels)))))
    return f"{labels[row]} (row {row})"
