"""Profile `paper`: object scores as the definitions of UAMTERS (arXiv 2602.20334) mean them.

An object is a detection of the original, not a rounded box; matching respects the class; every uncertainty is
free of units and lies in [0, 1]; what one repetition cannot tell is NaN. Detections are put into one canonical
order first, so that the order in which a detector lists them changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from app.detections import DetectionLog
from app.scoring.detection.clustering import mean_boxes, one_each
from app.scoring.detection.hull import corner_hulls
from app.scoring.detection.matching import DetectionSets, match_by_class
from app.scoring.detection.objects import ObjectTable
from app.scoring.detection.overlap import Indices, Reals, areas
from app.scoring.detection.places import Places, numbers_within
from app.scoring.detection.rows import UnitRows
from app.scoring.detection.stacks import Stacks


def canonical(log: DetectionLog) -> DetectionLog:
    """The same log with the detections of each cell in order of class, box, score and class row."""
    cells = log.cell_of
    keys = [-log.scores, *log.boxes.T[::-1], log.labels, cells]
    order = np.lexsort(keys)
    told = np.column_stack([cells, log.labels, log.boxes, log.scores])[order]
    if len(told) > 1 and (told[1:] == told[:-1]).all(axis=1).any():
        order = np.lexsort([*log.probs.T[::-1], *keys])
    return replace(
        log,
        boxes=log.boxes[order],
        labels=log.labels[order],
        scores=log.scores[order],
        probs=log.probs[order],
    )


@dataclass(frozen=True)
class Identity:
    """Which detections of the original, over its repetitions, are one object."""

    objects: Indices
    """(D,): object of each detection; numbers rise image by image."""
    unstable: tuple[str, ...]
    """Images whose original says different things in different repetitions; there, objects are clusters."""


def identify(original: DetectionLog, places: Places, link: float) -> Identity:
    """The objects of a canonical log: the index of a detection, or its cluster where repetitions differ."""
    counts, starts = np.diff(original.offsets), original.starts
    stable = np.array(
        [_repeats(original, counts, int(starts[i]), int(starts[i + 1])) for i in range(len(original.images))],
        dtype=np.bool_,
    )
    within = np.arange(len(original.labels), dtype=np.int64) - np.repeat(original.offsets[:-1], counts)
    moving = np.flatnonzero(~stable[places.image]) if len(original.labels) else np.zeros(0, dtype=np.int64)
    within[moving] = _clusters(original, moving, places, link)
    width = int(within.max()) + 1 if len(within) else 1
    _, objects = np.unique(places.image * width + within, return_inverse=True)
    names = tuple(original.images[i] for i in np.flatnonzero(~stable))
    return Identity(objects.astype(np.int64), names)


def _repeats(log: DetectionLog, counts: Indices, begin: int, end: int) -> bool:
    """Whether cells begin to end say the same."""
    if (counts[begin:end] != counts[begin]).any():
        return False
    size, rows = int(counts[begin]), slice(int(log.offsets[begin]), int(log.offsets[end]))
    told = np.column_stack([log.labels[rows], log.scores[rows], log.boxes[rows], log.probs[rows]])
    return bool((told == np.tile(told[:size], (end - begin, 1))).all())


def _clusters(log: DetectionLog, rows: Indices, places: Places, link: float) -> Indices:
    """(R,): cluster number of rows of a log, by class, one a repetition."""
    order = np.lexsort((places.repetition[rows], log.labels[rows], places.image[rows]))
    sorted_rows = rows[order]
    keys = np.column_stack([places.image[sorted_rows], log.labels[sorted_rows]])
    _, blocks = np.unique(keys, axis=0, return_inverse=True)
    clusters = one_each(log.boxes[sorted_rows], blocks.reshape(-1), places.repetition[sorted_rows], link)
    numbers = np.empty(len(rows), dtype=np.int64)
    numbers[order] = clusters
    return numbers


@dataclass(frozen=True)
class Prepared:
    """The original, made ready once for all its mutants."""

    log: DetectionLog
    """In canonical order."""
    rows: UnitRows
    places: Places
    identity: Identity
    boxes: Reals
    """(objects, 4): mean box of each object."""
    uncertainty: Reals
    """(objects, 5): of the original's own repetitions."""

    @classmethod
    def of(cls, original: DetectionLog, *, threshold: float, semantics: str) -> Prepared:
        """Raises `UserError` at the first class row that is no probability row."""
        log = canonical(original)
        rows, places = UnitRows.of(log, semantics), Places.of(log)
        identity = identify(log, places, threshold)
        if not len(log.labels):
            return cls(log, rows, places, identity, np.zeros((0, 4)), np.zeros((0, 5)))
        moving = np.isin(np.array(log.images), identity.unstable)[places.image]
        kept = np.flatnonzero(moving | (places.repetition == 0))  # a stable original says it all at once
        stacks = Stacks.of(kept, identity.objects[kept])
        boxes = mean_boxes(log.boxes[kept], identity.objects[kept])
        return cls(log, rows, places, identity, boxes, stack_uncertainty(log, rows, stacks, boxes))


def stack_uncertainty(log: DetectionLog, rows: UnitRows, stacks: Stacks, boxes: Reals) -> Reals:
    """(G, 5) in [0, 1]: VR, entropy, mutual information, spread and surface of each stack.

    The spread is sqrt(total variance) / sqrt(w h), the surface the mean hull area of the four corners over
    w h, both at most 1, with w h of the given reference boxes (G, 4); NaN where that has no area.
    """
    ratio, entropy, information = rows.uncertainty(stacks)
    area = areas(boxes)
    _, hull = corner_hulls(log.boxes[stacks.rows], stacks.begins, stacks.counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.minimum(np.sqrt(stacks.total_variance(log.boxes.astype(np.float64)) / area), 1.0)
        surface = np.minimum(hull.mean(axis=1) / area, 1.0)
    spread[area <= 0], surface[area <= 0] = np.nan, np.nan
    return np.column_stack([ratio, entropy, information, spread, surface])


def paper_objects(
    prepared: Prepared, mutant: DetectionLog, *, position: int = 0, threshold: float = 0.5
) -> ObjectTable:
    """The object table of one mutant over the images of both logs (same images, same repetitions)."""
    log = canonical(mutant)
    rows, places = UnitRows.of(log, prepared.rows.semantics), Places.of(log)
    sets = match_by_class(prepared.log, log, threshold)
    tables = [
        _matches(prepared, log, rows, sets),
        _misses(prepared, sets),
        _ghosts(log, rows, places, sets.ghosts, threshold),
    ]
    return replace(
        ObjectTable.joined(tables), mutant=np.full(sum(map(len, tables)), position, dtype=np.int64)
    )


def _compact(groups: Indices) -> tuple[Indices, Indices]:
    """The different numbers of some groups, and each group renumbered by its place among them."""
    numbers, inverse = np.unique(groups, return_inverse=True)
    return numbers, inverse.astype(np.int64)


def _number_of(prepared: Prepared, objects: Indices) -> Indices:
    """Number within its image of each object of the original."""
    heads = np.zeros(len(prepared.boxes), dtype=np.int64)
    heads[prepared.identity.objects[::-1]] = prepared.places.image[::-1]
    return numbers_within(heads)[objects]


def _matches(prepared: Prepared, log: DetectionLog, rows: UnitRows, sets: DetectionSets) -> ObjectTable:
    objects, groups = _compact(prepared.identity.objects[sets.match_original])
    pairs = Stacks.of(np.arange(len(groups), dtype=np.int64), groups)
    olds = Stacks(sets.match_original[pairs.rows], pairs.begins, pairs.counts)
    news = Stacks(sets.match_mutant[pairs.rows], pairs.begins, pairs.counts)
    heads = olds.heads
    before = prepared.uncertainty[objects]
    after = stack_uncertainty(log, rows, news, prepared.boxes[objects])
    return ObjectTable(
        mutant=np.zeros(len(objects), dtype=np.int64),
        image=prepared.places.image[heads],
        kind=np.zeros(len(objects), dtype=np.int8),
        number=_number_of(prepared, objects),
        label=prepared.log.labels[heads].astype(np.int64),
        count=pairs.counts,
        seen=prepared.places.seen(olds),
        rate=pairs.counts / prepared.places.total[heads],
        iou=pairs.means(sets.match_iou),
        conf=np.full(len(objects), np.nan),
        score=np.abs(before - after),
        original=before,
        changed=after,
    )


def _misses(prepared: Prepared, sets: DetectionSets) -> ObjectTable:
    objects, groups = _compact(prepared.identity.objects[sets.misses])
    stacks = Stacks.of(sets.misses, groups)
    heads = stacks.heads
    rate = stacks.counts / prepared.places.total[heads]
    before = prepared.uncertainty[objects]
    score = np.full_like(before, np.nan)
    score[:, 1] = rate * (1.0 - before[:, 1])
    surest = prepared.rows.probs[stacks.rows].max(axis=1) if len(heads) else np.zeros(0)
    means = np.add.reduceat(surest, stacks.begins) / stacks.counts if len(heads) else surest
    return ObjectTable(
        mutant=np.zeros(len(objects), dtype=np.int64),
        image=prepared.places.image[heads],
        kind=np.ones(len(objects), dtype=np.int8),
        number=_number_of(prepared, objects),
        label=prepared.log.labels[heads].astype(np.int64),
        count=stacks.counts,
        seen=prepared.places.seen(stacks),
        rate=rate,
        iou=np.full(len(objects), np.nan),
        conf=rate * means,
        score=score,
        original=before,
        changed=np.full_like(before, np.nan),
    )


def _ghosts(
    log: DetectionLog, rows: UnitRows, places: Places, ghosts: Indices, threshold: float
) -> ObjectTable:
    groups = _clusters(log, ghosts, places, threshold)
    stacks = Stacks.of(ghosts, groups)
    heads = stacks.heads
    rate = stacks.counts / places.total[heads]
    boxes = mean_boxes(log.boxes[ghosts], groups) if len(ghosts) else np.zeros((0, 4))
    after = stack_uncertainty(log, rows, stacks, boxes)
    single = stacks.counts < 2
    for metric in (0, 2, 3, 4):
        after[single, metric] = np.nan
    return ObjectTable(
        mutant=np.zeros(len(heads), dtype=np.int64),
        image=places.image[heads],
        kind=np.full(len(heads), 2, dtype=np.int8),
        number=numbers_within(places.image[heads]),
        label=log.labels[heads].astype(np.int64),
        count=stacks.counts,
        seen=places.seen(stacks),
        rate=rate,
        iou=np.full(len(heads), np.nan),
        conf=np.full(len(heads), np.nan),
        score=rate[:, None] * (1.0 - after),
        original=np.full_like(after, np.nan),
        changed=after,
    )
