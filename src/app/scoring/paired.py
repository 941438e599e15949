"""Paired tests of mutants against the original, on the whole suite or on any weighting of its test cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from app.scoring.discordance import Counts, Discordance
from app.stats.multiplicity import holm
from app.stats.paired_tests import mcnemar
from app.stats.proportions import upper_bound

Floats = NDArray[np.float64]
Weights = NDArray[np.integer]

MUTANT_BLOCK, RESAMPLE_BLOCK = 256, 128
"""Rows multiplied at once: 256 mutants of 10,000 cases are 10 MB as float32."""
WORST_CASES = 64
"""A resample misses all 64 worst cases with probability exp(-64); then every case is looked at."""


@dataclass(frozen=True)
class Paired:
    """Tests of M mutants under B weightings of the test cases."""

    p_value: Floats
    """(B, M): raw p of each mutant: exact McNemar if deterministic, smallest Holm-adjusted binomial p over
    the test cases if stochastic."""
    effect: Floats
    """(B, M): accuracy of the original minus mean accuracy of the mutant; NaN where no case has weight."""


def repetition_tail(repetitions: int, p0: float) -> Floats:
    """(T + 1,): P(Bin(T, p0) >= k), p of a test case that is lost in k of T repetitions."""
    k = np.arange(1, repetitions + 1, dtype=np.float64)
    return np.concatenate([[1.0], special.betainc(k, repetitions - k + 1, p0)])


def aa_loss_rate(noise: Discordance, level: float = 0.95) -> float:
    """Upper bound of p0 from an A/A run: mutants that change nothing but the random numbers.

    The Clopper-Pearson upper bound (Biometrika 26, 1934) of the share of repetitions that lose a test case
    which the original gets right; 1 if the original gets none right.
    """
    trials = int(noise.right.sum() * noise.repetitions.sum())
    return upper_bound(int(noise.lost.sum(dtype=np.int64)), trials, level)


def killing_cases(discordance: Discordance, q: float, p0: float) -> NDArray[np.bool_]:
    """(M, N): which test case kills which mutant.

    Deterministic: the original is right and the mutant wrong. Stochastic: the case's binomial p against p0,
    adjusted by Holm over the test cases that the original gets right, is at most q.
    """
    kills = discordance.lost > 0
    candidates = np.flatnonzero(discordance.right)
    for mutant in np.flatnonzero(discordance.repetitions > 1):
        tail = repetition_tail(int(discordance.repetitions[mutant]), p0)
        kills[mutant, candidates] = holm(tail[discordance.lost[mutant, candidates]]) <= q
    return kills


def class_tests(discordance: Discordance, labels: NDArray[np.integer], classes: int) -> Floats:
    """(M, K): p of a loss within each class, adjusted by Holm over the classes of each mutant; it decides nothing.

    The exact McNemar test on the test cases of one class; NaN for a stochastic mutant, whose repetitions are no pairs.

    Args:
        discordance: M mutants over N test cases.
        labels: (N,) true classes in 0..K-1.
        classes: K. A class without test cases has p = 1 and counts in the adjustment.
    """
    members = (labels == np.arange(classes)[:, None]).astype(np.uint8)
    lost, gained = _totals(members, discordance.lost).T, _totals(members, discordance.gained).T
    adjusted = holm(mcnemar(lost, gained))
    adjusted[discordance.repetitions > 1] = np.nan
    return adjusted


def measure(discordance: Discordance, weights: Weights, p0: float) -> Paired:
    """Tests of every mutant under every weighting.

    Args:
        discordance: M mutants over N test cases.
        weights: (B, N), how often each test case counts: ones for the suite itself, 0 and 1 for a part of it,
            multinomial counts for a bootstrap resample.
        p0: probability that one repetition loses a test case by chance.
    """
    size = weights.sum(axis=1, dtype=np.int64)
    lost, gained = _totals(weights, discordance.lost), _totals(weights, discordance.gained)
    repetitions = discordance.repetitions
    trials = repetitions * size[:, None]
    effect = np.divide(lost - gained, trials, out=np.full(lost.shape, np.nan), where=trials > 0)
    p_value = np.ones(lost.shape)
    fixed = repetitions == 1
    p_value[:, fixed] = mcnemar(lost[:, fixed], gained[:, fixed])
    family = (weights[:, discordance.right]).sum(axis=1, dtype=np.int64)
    for mutant in np.flatnonzero(~fixed):
        tail = repetition_tail(int(repetitions[mutant]), p0)
        worst = _worst(weights, discordance.lost[mutant])
        # Holm's smallest adjusted p is the smallest p times the size of the family.
        p_value[:, mutant] = np.minimum(tail[worst] * np.maximum(family, 1), 1.0)
    return Paired(p_value, effect)


def _totals(weights: Weights, counts: Counts) -> Floats:
    """(B, M): weighted sums of counts over the test cases, exact."""
    heaviest = int(weights.max(initial=0)) * int(counts.max(initial=0)) * weights.shape[1]
    exact: np.dtype[np.floating] = np.dtype(np.float32 if heaviest < 2**24 else np.float64)
    totals = np.empty((weights.shape[0], counts.shape[0]))
    for first in range(0, counts.shape[0], MUTANT_BLOCK):
        mutants = slice(first, first + MUTANT_BLOCK)
        columns = counts[mutants].astype(exact).T
        for start in range(0, weights.shape[0], RESAMPLE_BLOCK):
            resamples = slice(start, start + RESAMPLE_BLOCK)
            totals[resamples, mutants] = weights[resamples].astype(exact) @ columns
    return totals


def _worst(weights: Weights, lost: NDArray[np.integer]) -> NDArray[np.int64]:
    """(B,): the largest count among the test cases that have weight; 0 if none has."""
    order = np.argsort(lost, kind="stable")[::-1][:WORST_CASES]
    drawn = weights[:, order] > 0
    worst: NDArray[np.int64] = np.where(drawn, lost[order], 0).max(axis=1, initial=0).astype(np.int64)
    for row in np.flatnonzero(~drawn.any(axis=1)):
        worst[row] = lost[weights[row] > 0].max(initial=0)
    return worst
