"""Hidden slices: groups of similar test cases that fail more than their classes and confidences tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from app.diagnosis import embeddings
from app.diagnosis.causes import Finding, severity
from app.diagnosis.significance import LEVEL
from app.stats import Interval
from app.stats.multiplicity import benjamini_hochberg
from app.stats.proportions import wilson

SMALLEST = 20
"""Cases a slice needs."""
LARGE = 0.10
"""A slice's error rate must be this far above what its classes explain."""


@dataclass(frozen=True)
class Slice:
    """One cluster of embeddings."""

    number: int
    """Which cluster."""
    cases: tuple[int, ...]
    """Its test cases."""
    errors: int
    """How many of them are wrong."""
    expected: float
    """How many would be if each of its classes failed here as often as everywhere."""
    announced: float
    """How many its confidences announce: the sum of one minus the confidence, raised in proportion if over all
    test cases there are more errors than that."""
    error_rate: Interval
    """95 % interval of its error rate (Wilson)."""
    rest_error_rate: float
    """Error rate of all other test cases; NaN if there are none."""
    p_value: float
    """Chance of so many errors, or more, if the slice did not matter."""
    p_adjusted: float
    """The same after Benjamini and Hochberg over all clusters."""
    classes: tuple[int, ...]
    """Its most frequent labels, at most three."""

    @property
    def weak(self) -> bool:
        """Whether the model errs more here than its classes explain, beyond chance and by much."""
        excess = (self.errors - self.expected) / max(1, len(self.cases))
        return len(self.cases) >= SMALLEST and self.p_adjusted <= LEVEL and excess >= LARGE

    @property
    def hidden(self) -> bool:
        """Whether it is weak and its confidences do not say so (Poisson tail, 5 %).

        Where classes meet every model errs more. If it is unsure there as well, nothing hides.
        """
        return self.weak and bool(stats.poisson.sf(self.errors - 1, self.announced) <= 0.05)


def slices(
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    right: NDArray[np.bool_],
    confidence: NDArray[np.float64],
    *,
    classes: int,
    rng: np.random.Generator,
    clusters: int | None = None,
) -> tuple[Slice, ...]:
    """The clusters of the embeddings, most suspicious first.

    The errors of a cluster are compared, class by class, with those of the class everywhere (exact test of the
    hypergeometric sum): a class that is hard is not hidden, it stands in the table of classes.

    Args:
        rows: (N, D) embeddings.
        labels: (N,) true classes.
        right: (N,) whether each prediction is right.
        confidence: (N,) its confidence.
        classes: K.
        rng: starts the clusters.
        clusters: how many; by default two a class, as far as there are 40 test cases for each, 40 at most.
    """
    count = clusters or int(np.clip(2 * classes, 2, min(40, max(2, labels.size // 40))))
    reduced, _ = embeddings.pca(rows, embeddings.REDUCED)
    cluster = embeddings.kmeans(reduced, count, rng)
    count = int(cluster.max()) + 1
    totals = np.bincount(labels, minlength=classes)
    wrong = np.bincount(labels[~right], minlength=classes)
    inside = np.bincount(cluster * classes + labels, minlength=count * classes).reshape(count, classes)
    errors = np.bincount(cluster[~right], minlength=count)
    doubt = float((1 - confidence).sum())
    raised = max(1.0, float((~right).sum()) / doubt) if doubt > 0 else 1.0
    announced = np.bincount(cluster, np.minimum(1.0, raised * (1 - confidence)), minlength=count)
    sizes, everywhere = inside.sum(axis=1), int(wrong.sum())
    expected = inside @ (wrong / np.maximum(totals, 1))
    p_values = np.array([_tail(inside[k], totals, wrong, int(errors[k])) for k in range(count)])
    adjusted = benjamini_hochberg(p_values)
    found = [
        Slice(
            number=k,
            cases=tuple(np.flatnonzero(cluster == k).tolist()),
            errors=int(errors[k]),
            expected=float(expected[k]),
            announced=float(announced[k]),
            error_rate=wilson(int(errors[k]), int(sizes[k])),
            rest_error_rate=(everywhere - int(errors[k])) / (labels.size - int(sizes[k]))
            if labels.size > sizes[k]
            else np.nan,
            p_value=float(p_values[k]),
            p_adjusted=float(adjusted[k]),
            classes=tuple(int(c) for c in np.argsort(-inside[k], kind="stable")[:3] if inside[k, c]),
        )
        for k in range(count)
        if sizes[k]
    ]
    return tuple(sorted(found, key=lambda each: (each.p_value, each.number)))


def find(found: Sequence[Slice], class_names: tuple[str, ...], total: int) -> Iterator[Finding]:
    """A finding for each hidden slice; `cases` are its test cases.

    Args:
        found: the slices.
        class_names: K names.
        total: all test cases.
    """
    for each in found:
        if each.hidden:
            rate = each.errors / len(each.cases)
            evidence = {
                "cases": float(len(each.cases)),
                "errors": float(each.errors),
                "expected_errors": each.expected,
                "announced_errors": each.announced,
                "error_rate": rate,
                "error_rate_low": each.error_rate.low,
                "error_rate_high": each.error_rate.high,
                "rest_error_rate": each.rest_error_rate,
                "p_adjusted": each.p_adjusted,
            }
            excess = (each.errors - each.expected) / len(each.cases)
            names = tuple(class_names[k] for k in each.classes)
            sure = 0.6 + 0.35 * severity(excess, LARGE)
            yield Finding(
                "hidden_slice", sure, evidence, names, (each.errors - each.expected) / total, each.cases
            )


def _tail(
    inside: NDArray[np.int64], totals: NDArray[np.int64], wrong: NDArray[np.int64], errors: int
) -> float:
    """Chance of at least `errors` wrong cases if `inside[c]` of each class's cases are taken blindly."""
    distribution = np.ones(1)
    for taken, all_of, bad in zip(inside.tolist(), totals.tolist(), wrong.tolist(), strict=True):
        if taken and bad:
            k = np.arange(max(0, taken - (all_of - bad)), min(taken, bad) + 1)
            log = _log_binomial(bad, k) + _log_binomial(all_of - bad, taken - k)
            pmf = np.zeros(int(k[-1]) + 1)
            pmf[k] = np.exp(log - _log_binomial(all_of, np.array([taken])))
            distribution = np.convolve(distribution, pmf)
    return float(min(1.0, distribution[errors:].sum()))


def _log_binomial(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    logarithm: NDArray[np.float64] = (
        special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    )
    return logarithm
