"""Whether the misses and ghosts of an image are more than noise, and which mutants that kills.

Per image a one-sided binomial test on the repetitions with a miss, a ghost or either; Holm over the images
of a mutant; Benjamini-Hochberg over the mutants. What ran once has no repetitions: `image_tests`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc
from scipy.stats import binom

from app.scoring.detection.overlap import Indices, Reals
from app.stats.multiplicity import benjamini_hochberg, holm

KILLS = ("miss", "ghost", "mg")
"""A miss, a ghost, either."""


def binomial_p(counts: Indices, trials: Indices | int, p0: Reals | float) -> Reals:
    """P(Bin(trials, p0) >= counts), elementwise; 0 where counts exceed the trials."""
    tail: Reals = np.asarray(bdtrc(counts - 1.0, trials, p0), dtype=np.float64)
    return np.where(counts <= 0, 1.0, np.where(counts > trials, 0.0, tail))


def power(share: Reals, trials: int, p0: float, alpha: float) -> Reals:
    """Chance that Bin(trials, share) reaches the smallest count that Bin(trials, p0) reaches at most by alpha.

    NaN for a share over 1.
    """
    critical = int(binom.ppf(1.0 - alpha, trials, p0))
    if binom.sf(critical - 1, trials, p0) > alpha:
        critical += 1
    reached: Reals = np.asarray(binom.sf(critical - 1, trials, np.minimum(share, 1.0)), dtype=np.float64)
    return np.where(share > 1.0, np.nan, reached)


@dataclass(frozen=True)
class NoiseFloor:
    """How often a repetition holds a miss, a ghost or either though nothing was changed."""

    miss: float
    ghost: float
    mg: float
    trials: int
    """Repetitions compared, over all images."""

    @property
    def p0(self) -> Reals:
        """(3,): in the order of KILLS."""
        return np.array([self.miss, self.ghost, self.mg])


@dataclass(frozen=True)
class ImageKills:
    """The image tests of M mutants on N images, for miss, ghost and either."""

    p: Reals
    """(M, N, 3): per image; NaN where the image could not be scored."""
    adjusted: Reals
    """(M, N, 3): by Holm over the images of the mutant."""
    smallest: Reals
    """(M, 3): the mutant's p: its smallest adjusted p; NaN without a tested image."""
    over_mutants: Reals
    """(M, 3): `smallest` adjusted by Benjamini-Hochberg over the mutants; one without a tested image counts as 1."""


def image_kills(p: Reals) -> ImageKills:
    """The adjusted p-values of p (M, N, 3)."""
    mutants, images, kinds = p.shape
    adjusted = np.full_like(p, np.nan)
    for mutant in range(mutants):
        for kind in range(kinds):
            tested = ~np.isnan(p[mutant, :, kind])
            adjusted[mutant, tested, kind] = holm(p[mutant, tested, kind])
    filled = np.where(np.isnan(adjusted), np.inf, adjusted)
    smallest = filled.min(axis=1) if images else np.full((mutants, kinds), np.inf)
    smallest = np.where(np.isinf(smallest), np.nan, smallest)
    over_mutants = benjamini_hochberg(np.nan_to_num(smallest.T, nan=1.0)).T
    return ImageKills(p, adjusted, smallest, over_mutants)
