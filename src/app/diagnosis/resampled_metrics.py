"""The headline numbers on bootstrap resamples: whatever is a function of sums over test cases, in one product.

A bootstrap sample of N cases is a vector of N counts. Hits per class, gaps per bin and losses are linear in it,
so one sparse matrix of features times a block of count vectors gives all of them for all samples; ratios and
absolute values follow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from app.diagnosis import calibration, scoring_rules
from app.stats import Interval
from app.stats.bootstrap import case_weights, reflected

BUDGET = 20_000_000
"""At most so many cases are drawn in all: 0.5 s of CPU. Large sets have narrow intervals anyway."""
BLOCK = 100
"""Samples held at a time."""
MOST_NUMBERS = 10_000_000
"""With more probabilities than this, 240 MB of features, the classwise ECE gets no interval."""
FEWER = 200
"""The adaptive and the classwise ECE, which cost more, are resampled this often."""


def calibration_interval(
    value: float, draws: NDArray[np.float64], *, noise: float = -1.0, level: float = 0.95
) -> Interval:
    """The reflected bootstrap interval of a calibration error, within [0, 1].

    Args:
        value: as measured.
        draws: (B,) of it.
        noise: what a perfectly calibrated model stays below (`calibration_noise`); a value up to it gives an
            interval from 0 on.
        level: confidence level.
    """
    ends = reflected(value, draws, level)
    if not ends.known:
        return ends
    return Interval(0.0 if value <= noise else max(0.0, ends.low), min(1.0, ends.high), level)


def calibration_noise(
    confidence: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    bins: int = 10,
    draws: int = 200,
    level: float = 0.95,
) -> dict[str, float]:
    """The `ece`, `mce` and `adaptive_ece` that a perfectly calibrated model stays below, by sampling.

    Each prediction is right with the probability of its confidence (Bröcker and Smith, Weather and Forecasting
    22, 2007). The level is two-sided, as that of an interval.

    Args:
        confidence: (N,) confidence of each prediction.
        rng: draws which are right.
        bins: bins of the calibration errors.
        draws: how often.
        level: confidence level.
    """
    cases = confidence.size
    ordered = np.sort(confidence)
    block = max(1, BUDGET // (10 * cases))
    found: dict[str, list[NDArray[np.float64]]] = {"ece": [], "mce": [], "adaptive_ece": []}
    for start in range(0, draws, block):
        size = min(block, draws - start)
        right = rng.random((size, cases)) < ordered
        bars = calibration.reliability(np.broadcast_to(ordered, right.shape), right, bins)
        gaps = np.add.reduceat(ordered - right, _cuts(cases, bins), axis=1)
        found["ece"].append(bars.ece)
        found["mce"].append(bars.mce)
        found["adaptive_ece"].append(np.abs(gaps).sum(axis=1) / cases)
    return {name: float(np.quantile(np.concatenate(each), (1 + level) / 2)) for name, each in found.items()}


def _cuts(cases: int, bins: int) -> NDArray[np.int64]:
    """Where the bins of equally many cases begin; fewer bins than asked for with fewer cases."""
    begins = np.unique(-(-np.arange(bins) * cases // bins))
    return begins[begins < cases].astype(np.int64)


def resample(
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    resamples: int = 1000,
    bins: int = 10,
) -> dict[str, NDArray[np.float64]]:
    """Bootstrap draws (B,) by name of macro and weighted rates, log loss, Brier score and calibration errors.

    NaN in samples where a number is not defined; no draws of one that is not resampled.

    Args:
        rows: (N, K) probabilities, N of at least 1.
        labels: (N,) true classes.
        rng: draws the samples.
        resamples: how many; fewer, but 200 at least, where N times this exceeds `BUDGET`.
        bins: bins of the calibration errors.
    """
    cases, classes = rows.shape
    samples = min(resamples, max(200, BUDGET // cases))
    features = _features(rows, labels, bins)
    gaps, cells = _classwise(rows, labels, bins) if rows.size <= MOST_NUMBERS else (None, classes * bins)
    order = np.argsort(rows.max(axis=1), kind="stable")
    confidence = rows.max(axis=1)
    missed = (confidence - (rows.argmax(axis=1) == labels))[order]
    blocks: list[dict[str, NDArray[np.float64]]] = []
    done, block = 0, int(np.clip(BUDGET // (4 * cases), 1, BLOCK))
    for start in range(0, samples, block):
        drawn = case_weights(cases, min(block, samples - start), rng)
        counts = np.ascontiguousarray(drawn.T, dtype=np.float64)
        sums = features @ counts
        found = _rates(sums[: 3 * classes].reshape(3, classes, -1))
        found |= _calibration(sums[3 * classes :], bins, cases)
        short = counts[:, : max(0, FEWER - done)]
        found["adaptive_ece"] = _adaptive(short[order], missed, bins)
        found["classwise_ece"] = (
            np.zeros(0) if gaps is None else np.abs(gaps @ short).sum(axis=0) / (cases * cells / bins)
        )
        blocks.append(found)
        done += counts.shape[1]
    return {name: np.concatenate([each[name] for each in blocks]) for name in blocks[0]}


def _features(rows: NDArray[np.float64], labels: NDArray[np.int64], bins: int) -> sparse.csr_array:
    """(3 K + 2 bins + 2, N): hits, labels and predictions of each class; gap and cases of each bin; losses."""
    cases, classes = rows.shape
    top1, confidence, every = rows.argmax(axis=1), rows.max(axis=1), np.arange(cases)
    right = top1 == labels
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    cell = 3 * classes + np.searchsorted(edges, confidence, side="right")
    ones, last = np.ones(cases), 3 * classes + 2 * bins
    parts = (
        (labels[right], every[right], ones[right]),
        (classes + labels, every, ones),
        (2 * classes + top1, every, ones),
        (cell, every, confidence - right),
        (cell + bins, every, ones),
        (np.full(cases, last), every, scoring_rules.log_losses(rows, labels)),
        (np.full(cases, last + 1), every, scoring_rules.brier_scores(rows, labels)),
    )
    row, column, value = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sparse.csr_array((value, (row, column)), shape=(last + 2, cases))


def _classwise(
    rows: NDArray[np.float64], labels: NDArray[np.int64], bins: int
) -> tuple[sparse.csr_array, int]:
    cases, classes = rows.shape
    gaps = rows - (np.arange(classes) == labels[:, None])
    column = np.repeat(np.arange(cases), classes)
    cells = calibration.classwise_cells(rows, bins).ravel()
    shape = (classes * bins, cases)
    return sparse.csr_array((gaps.ravel(), (cells, column)), shape=shape), classes * bins


def _rates(sums: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Macro and weighted rates from (3, K, b) hits, labels and predictions of each class."""
    hits, cases, predicted = sums
    found = {}
    for name, whole in (("recall", cases), ("precision", predicted), ("f1", (cases + predicted) / 2)):
        rate = np.divide(hits, whole, out=np.zeros_like(hits), where=whole > 0)
        present = cases > 0
        found[f"macro_{name}"] = (rate * present).sum(axis=0) / present.sum(axis=0)
        found[f"weighted_{name}"] = (rate * cases).sum(axis=0) / cases.sum(axis=0)
    return found


def _calibration(sums: NDArray[np.float64], bins: int, cases: int) -> dict[str, NDArray[np.float64]]:
    gap, counts = np.abs(sums[:bins]), sums[bins : 2 * bins]
    return {
        "ece": gap.sum(axis=0) / cases,
        "mce": np.divide(gap, counts, out=np.zeros_like(gap), where=counts > 0).max(axis=0),
        "log_loss": sums[2 * bins] / cases,
        "brier": sums[2 * bins + 1] / cases,
    }


def _adaptive(counts: NDArray[np.float64], gaps: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """(b,): adaptive ECE; the cases of a sample, in order of confidence, are cut where the counts say."""
    cases, size = counts.shape
    # A case drawn several times stays in the bin of its first copy.
    cell = ((np.cumsum(counts, axis=0) - counts) * bins // cases).astype(np.int64)
    np.minimum(cell, bins - 1, out=cell)
    cell += np.arange(size) * bins
    summed = np.bincount(cell.ravel(), (counts * gaps[:, None]).ravel(), minlength=size * bins)
    errors: NDArray[np.float64] = np.abs(summed.reshape(size, bins)).sum(axis=1) / cases
    return errors
