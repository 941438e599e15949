"""Profile `deepluq`: object scores as the reference implementation computes them, to 1e-12.

Its known oddities are kept on purpose (rates above 1, entropies that are sums, pixels in the variance);
`paper` is the profile without them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from app.detections import DetectionLog
from app.scoring.detection.clustering import single_linkage
from app.scoring.detection.hull import prediction_surface
from app.scoring.detection.matching import DetectionSets, match_blind
from app.scoring.detection.objects import ObjectTable
from app.scoring.detection.overlap import Indices, Reals
from app.scoring.detection.places import Places, numbers_within
from app.scoring.detection.stacks import Stacks, first_seen

EPSILON = 1e-15
LINK = 0.5
"""Ghosts of one image with an IoU of at least this are linked."""


def norm(value: Reals) -> Reals:
    """The value x as x / (1 + x): any uncertainty of at least 0 brought under 1."""
    scaled: Reals = value / (1.0 + value)
    return scaled


def penalised(rate: Reals, value: Reals) -> Reals:
    """The mix rate * norm(value) + (1 - rate), for rate (D,) and value (D, W)."""
    mixed: Reals = rate[:, None] * norm(value) + (1.0 - rate[:, None])
    return mixed


@dataclass(frozen=True)
class ClassRows:
    """The class rows of a log, normalised, with what every stack of them needs."""

    probs: Reals
    """(D, C): rows divided by their sum; NaN where the sum is 0."""
    plogp: Reals
    """(D,): sum of p ln(p + 1e-15) of each row."""
    modes: Indices
    """(D,): index of the largest of each row in single precision; the first wins."""

    @classmethod
    def of(cls, log: DetectionLog) -> ClassRows:
        """The rows of a log, negative and zero-sum ones included."""
        probs = log.probs.astype(np.float64)
        if not probs.shape[1]:
            probs = np.zeros((len(probs), 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            probs = probs / probs.sum(axis=1, keepdims=True)
        return cls(probs, plogp(probs), probs.astype(np.float32).argmax(axis=1))

    def uncertainty(self, stacks: Stacks) -> tuple[Reals, Reals, Reals]:
        """(G,) each: VR, entropy of the mean row, and mutual information of each stack, in bits."""
        entropy = rounded_entropy(plogp(stacks.means(self.probs)))
        information = np.maximum(entropy + stacks.means(self.plogp) / np.log(2.0), 0.0)
        return stacks.variation_ratio(self.modes), entropy, information


def plogp(probs: Reals) -> Reals:
    """(…,): sum over the last axis of p ln(p + 1e-15)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        total: Reals = (probs * np.log(probs + EPSILON)).sum(axis=-1)
    return total


def rounded_entropy(total: Reals) -> Reals:
    """Entropy in bits from sums of p ln p, rounded to 5 decimals and not below 0."""
    entropy: Reals = np.maximum(np.round(-total / np.log(2.0), 5), 0.0)
    return entropy


@dataclass(frozen=True)
class CompatibleObjects:
    """What profile `deepluq` finds for one mutant."""

    table: ObjectTable
    sets: DetectionSets
    invalid_rows: int
    """Class rows that are negative somewhere or do not have a positive sum; scored, not refused."""


def compatible_objects(
    original: DetectionLog, mutant: DetectionLog, *, position: int = 0, threshold: float = 0.5
) -> CompatibleObjects:
    """The object table of one mutant over the images of both logs (same images, same repetitions)."""
    sets = match_blind(original, mutant, threshold)
    first, second = ClassRows.of(original), ClassRows.of(mutant)
    places = Places.of(original), Places.of(mutant)
    tables = [
        _matches((original, mutant), sets, (first, second), places[0]),
        _misses(original, sets, first, places[0]),
        _ghosts(mutant, sets, second, places[1]),
    ]
    table = replace(
        ObjectTable.joined(tables), mutant=np.full(sum(map(len, tables)), position, dtype=np.int64)
    )
    return CompatibleObjects(table, sets, count_invalid(original) + count_invalid(mutant))


def count_invalid(log: DetectionLog) -> int:
    """How many class rows are negative somewhere or do not have a positive sum."""
    return int(((log.probs < 0).any(axis=1) | ~(log.probs.sum(axis=1) > 0)).sum())


def _by_box(log: DetectionLog, rows: Indices, places: Places) -> Stacks:
    """Stacks of rows with one image and one box, rounded to 4 decimals, numbered by first sight."""
    boxes = np.round(log.boxes[rows].astype(np.float64), 4) + 0.0
    groups = first_seen(np.column_stack([places.image[rows], boxes]))
    return Stacks.of(np.arange(len(rows), dtype=np.int64), groups)


def _reference(rows: ClassRows, heads: Indices) -> Reals:
    """(G, 5): uncertainty of copies of one row each: no variation, no spread."""
    entropy = rounded_entropy(plogp(rows.probs[heads]))
    information = np.maximum(entropy + rows.plogp[heads] / np.log(2.0), 0.0)
    zero = np.zeros(len(heads))
    return np.column_stack([zero, entropy, information, zero, zero])


def _matches(
    logs: tuple[DetectionLog, DetectionLog],
    sets: DetectionSets,
    class_rows: tuple[ClassRows, ClassRows],
    places: Places,
) -> ObjectTable:
    original, mutant = logs
    first, second = class_rows
    pairs = _by_box(original, sets.match_original, places)
    olds = Stacks(sets.match_original[pairs.rows], pairs.begins, pairs.counts)
    news = Stacks(sets.match_mutant[pairs.rows], pairs.begins, pairs.counts)
    heads = olds.heads
    rate = pairs.counts / places.total[heads]
    ratio, entropy, information = second.uncertainty(news)
    boxes = mutant.boxes[news.rows].astype(np.float64)
    spread = news.total_variance(mutant.boxes.astype(np.float64))
    surface = prediction_surface(boxes, news.begins, news.counts)
    before = norm(_reference(first, heads))
    after = penalised(rate, np.column_stack([ratio, entropy, information, spread, surface]))
    return ObjectTable(
        mutant=np.zeros(len(heads), dtype=np.int64),
        image=places.image[heads],
        kind=np.zeros(len(heads), dtype=np.int8),
        number=numbers_within(places.image[heads]),
        label=original.labels[heads].astype(np.int64),
        count=pairs.counts,
        seen=places.seen(olds),
        rate=rate,
        iou=pairs.means(sets.match_iou),
        conf=np.full(len(heads), np.nan),
        score=np.abs(before - after),
        original=before,
        changed=after,
    )


def _misses(original: DetectionLog, sets: DetectionSets, rows: ClassRows, places: Places) -> ObjectTable:
    found = _by_box(original, sets.misses, places)
    stacks = Stacks(sets.misses[found.rows], found.begins, found.counts)
    heads = stacks.heads
    rate = stacks.counts / places.total[heads]
    before = penalised(rate, _reference(rows, heads))
    empty = np.full(len(heads), np.nan)
    return ObjectTable(
        mutant=np.zeros(len(heads), dtype=np.int64),
        image=places.image[heads],
        kind=np.ones(len(heads), dtype=np.int8),
        number=numbers_within(places.image[heads]),
        label=original.labels[heads].astype(np.int64),
        count=stacks.counts,
        seen=places.seen(stacks),
        rate=rate,
        iou=empty,
        conf=empty,
        score=1.0 - before,
        original=before,
        changed=np.full_like(before, np.nan),
    )


def _ghosts(mutant: DetectionLog, sets: DetectionSets, rows: ClassRows, places: Places) -> ObjectTable:
    groups = single_linkage(mutant.boxes[sets.ghosts], places.image[sets.ghosts], LINK)
    stacks = Stacks.of(sets.ghosts, groups)
    heads = stacks.heads
    rate = stacks.counts / places.total[heads]
    ratio, _, information = rows.uncertainty(stacks)
    entropy = rounded_entropy(stacks.sums(rows.plogp))
    boxes = mutant.boxes[stacks.rows].astype(np.float64)
    spread = stacks.total_variance(mutant.boxes.astype(np.float64))
    surface = prediction_surface(boxes, stacks.begins, stacks.counts)
    after = penalised(rate, np.column_stack([ratio, entropy, information, spread, surface]))
    empty = np.full(len(heads), np.nan)
    return ObjectTable(
        mutant=np.zeros(len(heads), dtype=np.int64),
        image=places.image[heads],
        kind=np.full(len(heads), 2, dtype=np.int8),
        number=numbers_within(places.image[heads]),
        label=mutant.labels[heads].astype(np.int64),
        count=stacks.counts,
        seen=places.seen(stacks),
        rate=rate,
        iou=empty,
        conf=empty,
        score=1.0 - after,
        original=np.full_like(after, np.nan),
        changed=after,
    )
