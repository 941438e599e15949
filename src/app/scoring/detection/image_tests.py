"""The tests behind Img-MS: over the repetitions of each image, or over the images where there is one repetition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.scoring.detection.overlap import Indices, Reals
from app.scoring.detection.significance import binomial_p, image_kills
from app.stats.multiplicity import benjamini_hochberg

IMAGES_ARE_TRIALS = (
    "There is one repetition of each image, so a miss or ghost is no noise of repetition: the images are the trials of "
    "the test of a mutant, and an image kills a mutant where it has one."
)


@dataclass(frozen=True)
class Kills:
    """The tests of M mutants on N images, for miss, ghost and either."""

    images: NDArray[np.bool_]
    """(M, N, 3): the kill matrix: which images kill which mutants."""
    p: Reals
    """(M, 3): the mutant's p; NaN without a tested image."""
    adjusted: Reals
    """(M, 3): `p` by Benjamini-Hochberg over the mutants; one without a tested image counts as 1."""
    mutants: NDArray[np.bool_]
    """(M, 3): whether the images kill the mutant."""


class ImageTests(ABC):
    """What is tested of M mutants on N images."""

    @abstractmethod
    def take(self, images: Indices) -> Self:
        """On some images only."""

    @abstractmethod
    def kills(self, alpha: float) -> Kills:
        """Adjusted p-values of at most `alpha` kill."""

    @abstractmethod
    def resampled(self, weights: Reals, alpha: float) -> Reals:
        """(R, 3): Img-MS where image n counts weights[r, n] times."""


@dataclass(frozen=True)
class OverRepetitions(ImageTests):
    """A binomial test for each image on its repetitions; Holm over images, the smallest is the mutant's."""

    p: Reals
    """(M, N, 3): of each image; NaN where it could not be scored."""

    def take(self, images: Indices) -> OverRepetitions:
        """On some images only."""
        return OverRepetitions(self.p[:, images])

    def kills(self, alpha: float) -> Kills:
        """Adjusted p-values of at most `alpha` kill."""
        found = image_kills(self.p)
        images = np.nan_to_num(found.adjusted, nan=1.0) <= alpha
        return Kills(images, found.smallest, found.over_mutants, found.over_mutants <= alpha)

    def resampled(self, weights: Reals, alpha: float) -> Reals:
        """(R, 3): Img-MS where image n counts weights[r, n] times."""
        return resampled_img_ms(self.p, weights, alpha)


@dataclass(frozen=True)
class OverImages(ImageTests):
    """A binomial test for each mutant on the images with an event, for images that ran once."""

    events: NDArray[np.bool_]
    """(M, N, 3): whether the image has a miss, a ghost, either."""
    tested: NDArray[np.bool_]
    """(M, N): whether it could be scored."""
    p0: Reals
    """(3,): chance of an event in an image without mutation."""

    def take(self, images: Indices) -> OverImages:
        """On some images only."""
        return OverImages(self.events[:, images], self.tested[:, images], self.p0)

    def kills(self, alpha: float) -> Kills:
        """Adjusted p-values of at most `alpha` kill."""
        events = self.events & self.tested[:, :, None]
        trials = self.tested.sum(axis=1)[:, None]
        p = binomial_p(events.sum(axis=1), trials, self.p0)
        adjusted = benjamini_hochberg(p.T).T
        return Kills(events, np.where(trials > 0, p, np.nan), adjusted, adjusted <= alpha)

    def resampled(self, weights: Reals, alpha: float) -> Reals:
        """(R, 3): Img-MS where image n counts weights[r, n] times."""
        mutants, images, kinds = self.events.shape
        if not mutants or not images:
            return np.full((len(weights), kinds), np.nan)
        trials = _whole(weights @ self.tested.T)
        events = (self.events & self.tested[:, :, None]).astype(np.float64)
        columns = [
            benjamini_hochberg(binomial_p(_whole(weights @ events[:, :, kind].T), trials, self.p0[kind]))
            <= alpha
            for kind in range(kinds)
        ]
        return np.stack([killed.mean(axis=1) for killed in columns], axis=1)


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


def _whole(counts: Reals) -> Indices:
    return counts.astype(np.int64)
