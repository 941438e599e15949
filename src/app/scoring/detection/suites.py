"""Test suites: named lists of images, scored on the same detections, and their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from app.scoring.detection.campaign import Campaign
from app.scoring.detection.image_tests import Kills
from app.scoring.detection.overlap import Indices, Reals
from app.scoring.detection.ratios import nan_mean
from app.scoring.detection.results import ScoreSettings, ScoreSummary, SuiteDifference, SuiteScores
from app.scoring.detection.significance import KILLS
from app.stats import Interval
from app.stats.bootstrap import multinomial_weights, percentile
from app.stats.paired_tests import sign_flips
from app.stats.proportions import wilson

COMPARED = ("obj_ms_miss", "obj_ms_ghost", "obj_ms_mg", "ms_iou")


@dataclass(frozen=True)
class Summarised:
    """One suite's scores with what they were made from."""

    summary: ScoreSummary
    kills: Kills
    intervals: Mapping[str, tuple[Interval, ...]]
    """By COMPARED: of each mutant's score."""


def summarise(
    campaign: Campaign, images: Indices, settings: ScoreSettings, rng: np.random.Generator
) -> Summarised:
    """The summary of a suite: some images of a campaign, by position."""
    ratios, tests, counts = campaign.take(images)
    kills = tests.kills(settings.alpha)
    killed = kills.mutants
    any_kill = (counts > 0).any(axis=1)
    weights = multinomial_weights(len(images), settings.resamples, rng)
    img = tests.resampled(weights, settings.alpha)
    mutants = len(campaign.keys)
    shares = killed.mean(axis=0) if mutants else np.full(3, np.nan)
    legacy = any_kill.mean(axis=0) if mutants else np.full(3, np.nan)
    values = {name: ratios[name].values() for name in COMPARED}
    samples = {name: ratios[name].resampled(weights) for name in COMPARED}
    means = {name: float(nan_mean(values[name])) for name in COMPARED}
    means_ci = {name: percentile(nan_mean(samples[name], axis=1), settings.level) for name in COMPARED}
    summary = ScoreSummary(
        img_ms={kind: float(shares[i]) for i, kind in enumerate(KILLS)},
        img_ms_ci={kind: percentile(img[:, i], settings.level) for i, kind in enumerate(KILLS)},
        img_ms_ci_mutants={
            kind: wilson(int(killed[:, i].sum()), mutants, settings.level) for i, kind in enumerate(KILLS)
        },
        img_ms_any={kind: float(legacy[i]) for i, kind in enumerate(KILLS)},
        obj_ms={kind: means[f"obj_ms_{kind}"] for kind in KILLS},
        obj_ms_ci={kind: means_ci[f"obj_ms_{kind}"] for kind in KILLS},
        ms_iou=means["ms_iou"],
        ms_iou_ci=means_ci["ms_iou"],
    )
    intervals = {
        name: tuple(percentile(columns, settings.level) for columns in samples[name].T) for name in COMPARED
    }
    return Summarised(summary, kills, intervals)


def suite_scores(
    campaign: Campaign, name: str, images: Indices, settings: ScoreSettings, rng: np.random.Generator
) -> SuiteScores:
    """The scores of one named suite."""
    found = summarise(campaign, images, settings, rng)
    killed = {
        kind: tuple(
            key for key, dead in zip(campaign.keys, found.kills.mutants[:, index], strict=True) if dead
        )
        for index, kind in enumerate(KILLS)
    }
    return SuiteScores(name=name, n=len(images), killed=killed, **vars(found.summary))


def suite_differences(
    campaign: Campaign,
    suites: Mapping[str, Indices],
    settings: ScoreSettings,
    rng: np.random.Generator,
) -> tuple[SuiteDifference, ...]:
    """Every score of every pair of suites, first minus second, with interval and paired test.

    The interval draws the images of both suites together, so that images in both count in both. The test pairs
    the two suites' scores of each mutant.
    """
    found: list[SuiteDifference] = []
    for (a, first), (b, second) in combinations(suites.items(), 2):
        union = np.union1d(first, second)
        weights = multinomial_weights(len(union), settings.resamples, rng)
        sides = tuple((images, weights[:, np.searchsorted(union, images)]) for images in (first, second))
        for name, gaps, samples in _gaps(campaign, sides, settings):
            interval = percentile(samples, settings.level)
            p_value = sign_flips(gaps, rng, settings.resamples)
            found.append(SuiteDifference(a, b, name, float(nan_mean(gaps)), interval, p_value))
    return tuple(found)


def _gaps(
    campaign: Campaign, sides: Sequence[tuple[Indices, Reals]], settings: ScoreSettings
) -> Iterator[tuple[str, Reals, Reals]]:
    """Name, per-mutant differences (M,) and resampled mean differences (R,) of every score."""
    (first, here), (second, there) = sides
    for name in COMPARED:
        one, other = (campaign.tallies.ratios[name].take(images) for images in (first, second))
        samples = one.resampled(here) - other.resampled(there)
        yield name, one.values() - other.values(), nan_mean(samples, axis=1)
    tests = [(campaign.tests.take(images), drawn) for images, drawn in sides]
    one_ms, other_ms = (each.resampled(drawn, settings.alpha) for each, drawn in tests)
    one_dead, other_dead = (each.kills(settings.alpha).mutants.astype(np.float64) for each, _ in tests)
    for index, kind in enumerate(KILLS):
        dead = one_dead[:, index] - other_dead[:, index]
        yield f"img_ms_{kind}", dead, one_ms[:, index] - other_ms[:, index]
