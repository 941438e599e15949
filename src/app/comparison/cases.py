"""Test cases one by one: what two runs said about them, brought together by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.comparison.body import Body, at, count, number, rows, texts

COLUMNS = ("path", "label", "predicted", "confidence")
"""Of a file of predictions."""
ENOUGH = 0.9
"""Runs are compared case by case if they share this much of their cases."""
MOST = 5_000_000
"""More test cases are not rebuilt from counts."""
_NUMBERED = re.compile(r"(case-)?\d+")


@dataclass(frozen=True, eq=False)
class Cases:
    """What one run said about its N test cases."""

    paths: tuple[str, ...]
    """Their names; empty for cases that were rebuilt from counts."""
    labels: tuple[str, ...]
    """Their classes."""
    predicted: tuple[str, ...]
    """The predicted classes."""
    confidence: NDArray[np.float64]
    """(N,)."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def right(self) -> NDArray[np.bool_]:
        """(N,): whether each is predicted right."""
        return np.array([a == b for a, b in zip(self.labels, self.predicted, strict=True)], dtype=bool)

    def take(self, places: Sequence[int]) -> Cases:
        """Some of the cases, in this order."""
        return Cases(
            tuple(self.paths[i] for i in places) if self.paths else (),
            tuple(self.labels[i] for i in places),
            tuple(self.predicted[i] for i in places),
            self.confidence[list(places)],
        )


def cases(columns: Mapping[str, Sequence[Any]]) -> Cases | None:
    """Test cases from the columns of a table; None if a column is missing or a confidence is no number."""
    if any(name not in columns for name in COLUMNS):
        return None
    try:
        confidence = np.array([float(each) for each in columns["confidence"]], dtype=np.float64)
    except ValueError:
        return None
    if not np.isfinite(confidence).all():
        return None
    paths, labels, predicted = (tuple(map(str, columns[name])) for name in COLUMNS[:3])
    return Cases(paths, labels, predicted, confidence)


def confusion(body: Body) -> tuple[tuple[str, ...], NDArray[np.int64]] | None:
    """Class names, and the (K, K) counts of their labels by row and predictions by column; None if a report lacks it.

    A matrix that is not whole, or holds anything but counts, is none.
    """
    names, lines = texts(at(body, "subject", "classes")), at(body, "confusion")
    if not names or not isinstance(lines, list | tuple) or len(lines) != len(names):
        return None
    if not all(isinstance(line, list | tuple) and len(line) == len(names) for line in lines):
        return None
    cells = [count(cell) for line in lines for cell in line]
    known = [cell for cell in cells if cell is not None]
    if len(known) < len(cells):
        return None
    return names, np.array(known, dtype=np.int64).reshape(len(names), len(names))


def rebuilt(body: Body) -> Cases | None:
    """Cases with the confusion matrix and the calibration of an autopsy; None if it lacks either, or they disagree.

    Each case has the mean confidence of a bin, right and wrong cases as many as the bin holds; which wrong prediction
    has which confidence is not known and spread evenly. Accuracy, F1 and calibration error are the report's.
    """
    found, n = confusion(body), count(at(body, "summary", "n"))
    bins = [each for each in rows(body, "calibration", "bins") if each.get("n")]
    sizes = [count(each["n"]) or 0 for each in bins]
    if found is None or not n or n > MOST or sum(sizes) != n or found[1].max() > n or found[1].sum() != n:
        return None
    names, counts = found
    hits = [
        round(size * min(max(number(each.get("accuracy")) or 0.0, 0.0), 1.0))
        for size, each in zip(sizes, bins, strict=True)
    ]
    if sum(hits) != np.trace(counts):
        return None
    sure = np.array([number(each.get("confidence")) or 0.0 for each in bins])
    right, wrong = np.repeat(sure, hits), np.repeat(sure, np.subtract(sizes, hits))
    same = np.eye(len(names), dtype=bool)
    pairs = np.concatenate(
        [np.repeat(np.argwhere(which), counts[which], axis=0) for which in (same, ~same)]
    ).tolist()
    labels, predicted = (tuple(names[pair[side]] for pair in pairs) for side in (0, 1))
    rng = np.random.default_rng(0)
    return Cases((), labels, predicted, np.concatenate([rng.permutation(right), rng.permutation(wrong)]))


@dataclass(frozen=True, eq=False)
class Shared:
    """The M test cases that both runs saw, in one order."""

    before: Cases
    after: Cases
    relabelled: int
    """Cases of the same name with another label; they are left out."""
    only_before: int
    """Cases that the second run did not see."""
    only_after: int
    """Cases that the first run did not see."""

    def __len__(self) -> int:
        return len(self.before)


def shared(before: Cases, after: Cases, *, same_data: bool) -> tuple[Shared | None, str]:
    """The cases that two runs share, if those are enough to compare them case by case; else why not.

    Cases are the same if they have the same name and label. Names that are only numbers say nothing about other data:
    they count only where the digests of the data are equal.

    Args:
        before: of the first run.
        after: of the second.
        same_data: whether the digests of the data are equal.
    """
    if not before.paths or not after.paths:
        return None, "which test cases were right is not saved beside the report"
    named = [name for name in before.paths if not _NUMBERED.fullmatch(name)]
    if not same_data and len(named) < len(before.paths):
        return None, "the test cases have no names, and the digests of the data differ"
    first, second = (_places(each.paths) for each in (before, after))
    common = [name for name in first if name in second]
    same = [name for name in common if before.labels[first[name]] == after.labels[second[name]]]
    if len(same) < ENOUGH * max(len(before), len(after)):
        return None, f"only {len(same)} of {len(before)} and {len(after)} test cases are the same"
    return (
        Shared(
            before.take([first[name] for name in same]),
            after.take([second[name] for name in same]),
            relabelled=len(common) - len(same),
            only_before=len(before) - len(common),
            only_after=len(after) - len(common),
        ),
        "",
    )


def _places(paths: Sequence[str]) -> dict[tuple[str, int], int]:
    """Where each name is; of a name that is there several times, the first, the second and so on."""
    seen: Counter[str] = Counter()
    found = {}
    for place, path in enumerate(paths):
        found[path, seen[path]] = place
        seen[path] += 1
    return found
