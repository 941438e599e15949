"""Intervals and tests by resampling: bootstrap over images, permutation by sign flips."""

from __future__ import annotations

import numpy as np

from app.scoring.detection.overlap import Reals
from app.scoring.intervals import UNKNOWN, Interval
from app.scoring.multiplicity import benjamini_hochberg

_NOISE = 1e-12


def image_weights(images: int, resamples: int, rng: np.random.Generator) -> Reals:
    """(R, N): how often each image is drawn in each of R draws of N with replacement."""
    if not images:
        return np.zeros((resamples, 0))
    return rng.multinomial(images, np.full(images, 1.0 / images), size=resamples).astype(np.float64)


def percentiles(samples: Reals, level: float) -> Interval:
    """Percentile interval of samples (R,), NaN left out; NaN if all are."""
    told = samples[~np.isnan(samples)]
    if not len(told):
        return UNKNOWN
    low, high = np.quantile(told, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(low), float(high))


def nan_mean(values: Reals, axis: int | None = None) -> Reals:
    """Mean without NaN; NaN where nothing is left."""
    told = ~np.isnan(values)
    count = told.sum(axis=axis)
    total = np.where(told, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0))


def resampled_img_ms(p: Reals, weights: Reals, alpha: float) -> Reals:
    """(R, 3): Img-MS where image n counts weights[r, n] times; p (M, N, 3) per image.

    The smallest Holm-adjusted p of a mutant is the number of its tested images times its smallest p, so no
    resample needs a whole Holm adjustment.
    """
    mutants, images, kinds = p.shape
    if not mutants or not images:
        return np.full((len(weights), kinds), np.nan)
    drawn = weights > 0
    smallest = np.ones((kinds, len(weights), mutants))
    for mutant in range(mutants):
        tested = ~np.isnan(p[mutant, :, 0])
        family = weights @ tested
        for kind in range(kinds):
            values = np.where(tested, p[mutant, :, kind], 1.0)
            useful = np.flatnonzero(values < 1.0)
            useful = useful[np.argsort(values[useful], kind="stable")]
            if not len(useful):
                continue
            hits = drawn[:, useful]
            first = np.where(hits.any(axis=1), values[useful][hits.argmax(axis=1)], 1.0)
            smallest[kind, :, mutant] = np.minimum(first * family, 1.0)
    killed: Reals = (benjamini_hochberg(smallest) <= alpha).mean(axis=2).T
    return killed


def sign_flip_p(
    differences: Reals, rng: np.random.Generator, resamples: int, *, two_sided: bool = True
) -> float:
    """p-value of a paired permutation test on differences (K,), NaN left out; NaN if none is left.

    Under the null every difference may as well have the other sign. All 2^K sign patterns are tried where
    that is no more than `resamples`; otherwise so many random ones, counted with the one observed. The
    one-sided test asks whether differences are positive.
    """
    told = differences[~np.isnan(differences)]
    size = len(told)
    if not size:
        return float("nan")
    exact = 2.0**size <= resamples
    if exact:
        signs = 1.0 - 2.0 * ((np.arange(2**size)[:, None] >> np.arange(size)) & 1)
    else:
        signs = rng.choice(np.array([-1.0, 1.0]), size=(resamples, size))
    sums, observed = signs @ told, float(told.sum())
    if two_sided:
        sums, observed = np.abs(sums), abs(observed)
    as_large = int((sums >= observed - _NOISE * max(1.0, float(np.abs(told).sum()))).sum())
    return as_large / len(signs) if exact else (as_large + 1) / (len(signs) + 1)
