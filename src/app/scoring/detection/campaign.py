"""A campaign: M mutants of one original on the same N images, scored image by image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.detections import DetectionLog
from app.errors import UserError
from app.scoring.detection.columns import P0, TRIALS, ImageRows, image_rows
from app.scoring.detection.compatible import compatible_objects
from app.scoring.detection.image_tests import IMAGES_ARE_TRIALS, ImageTests, OverImages, OverRepetitions
from app.scoring.detection.objects import ObjectTable
from app.scoring.detection.overlap import Indices, Reals
from app.scoring.detection.paper import Prepared, paper_objects
from app.scoring.detection.ratios import Ratio, Tallies, tally, tally_rows
from app.scoring.detection.results import ScoreSettings
from app.scoring.detection.significance import KILLS, NoiseFloor, binomial_p
from app.stats.proportions import upper_bound


def aligned(original: DetectionLog, mutant: DetectionLog, key: str, settings: ScoreSettings) -> DetectionLog:
    """The mutant's log on the original's images and repetitions.

    Raises:
        UserError: When an image is missing, or repetitions, class counts or semantics differ.
    """
    try:
        log = mutant.take(original.images)
        if settings.repetitions is not None:
            log = log.first(settings.repetitions)
    except UserError as error:
        raise UserError(f"{key}: {error}") from error
    other = np.flatnonzero(log.repetitions != original.repetitions)
    if len(other):
        name, has, wants = (
            column[other[0]] for column in (log.images, log.repetitions, original.repetitions)
        )
        raise UserError(
            f"{key}: image {name!r} has {has} repetitions, the original {wants}; give the repetitions to score"
        )
    if len(log.labels) and len(original.labels) and log.classes != original.classes:
        raise UserError(f"{key}: class rows have {log.classes} numbers, the original's {original.classes}")
    if settings.semantics is None and log.semantics != original.semantics:
        raise UserError(f"{key}: class rows are {log.semantics}, the original's {original.semantics}")
    return log


@dataclass(frozen=True)
class Campaign:
    """What was found on every image, before any test over images or mutants."""

    images: tuple[str, ...]
    repetitions: Indices
    """(N,): T of each image."""
    keys: tuple[str, ...]
    table: ObjectTable
    tallies: Tallies
    tests: ImageTests
    """Of miss, ghost, either."""
    rows: tuple[ImageRows, ...]
    """Profile `deepluq`: one a mutant."""
    invalid_rows: tuple[int, ...]
    """Profile `deepluq`: per mutant."""
    notes: tuple[str, ...]

    def take(self, images: Indices) -> tuple[Mapping[str, Ratio], ImageTests, Indices]:
        """Ratios, tests and counts on some images only."""
        ratios = {name: ratio.take(images) for name, ratio in self.tallies.ratios.items()}
        return ratios, self.tests.take(images), self.tallies.counts[:, images]


def run_campaign(
    original: DetectionLog,
    mutants: Mapping[str, DetectionLog],
    settings: ScoreSettings,
    p0: Reals,
) -> Campaign:
    """Score every image under every mutant; p0 (3,) by miss, ghost, either.

    `mutants` may load its values when asked: one is held at a time.
    """
    keys = tuple(mutants)
    if settings.repetitions is not None:
        original = original.first(settings.repetitions)
    finder: _Deepluq | _Paper
    finder = _Deepluq(original) if settings.profile == "deepluq" else _Paper(original, settings)
    tables = [
        finder.find(aligned(original, mutants[key], key, settings), index, key)
        for index, key in enumerate(keys)
    ]
    widest = int(original.repetitions.max()) if len(original.images) else 0
    table = ObjectTable.joined([*tables, ObjectTable.none(widest)])
    tallies = tally(table, len(keys), len(original.images))
    if settings.profile == "deepluq":
        tallies = tally_rows(tallies, finder.rows)
        p0 = np.full(len(KILLS), P0)
    tested = np.ones(tallies.counts.shape[:2], dtype=np.bool_)
    for index, rows in enumerate(finder.rows):
        tested[index] = ~np.isnan(rows.values[:, 0])
    notes = finder.notes()
    tests: ImageTests
    if len(original.images) and (original.repetitions == 1).all():
        tests = OverImages(tallies.counts > 0, tested, p0)
        notes = (*notes, IMAGES_ARE_TRIALS) if keys else notes
    else:
        trials = TRIALS if settings.profile == "deepluq" else original.repetitions[:, None]
        p = binomial_p(tallies.counts, trials, p0)
        tests = OverRepetitions(np.where(tested[:, :, None], p, np.nan))
    return Campaign(
        images=original.images,
        repetitions=original.repetitions,
        keys=keys,
        table=table,
        tallies=tallies,
        tests=tests,
        rows=tuple(finder.rows),
        invalid_rows=tuple(finder.invalid),
        notes=notes,
    )


class _Paper:
    """Finds objects by profile `paper`."""

    def __init__(self, original: DetectionLog, settings: ScoreSettings) -> None:
        self.rows: list[ImageRows] = []
        self.invalid: list[int] = []
        self._threshold = settings.threshold
        try:
            self._prepared = Prepared.of(
                original,
                threshold=settings.threshold,
                semantics=settings.semantics or original.semantics,
            )
        except UserError as error:
            raise UserError(f"original: {error}") from error

    def find(self, mutant: DetectionLog, position: int, key: str) -> ObjectTable:
        try:
            return paper_objects(self._prepared, mutant, position=position, threshold=self._threshold)
        except UserError as error:
            raise UserError(f"{key}: {error}") from error

    def notes(self) -> tuple[str, ...]:
        unstable = self._prepared.identity.unstable
        if not unstable:
            return ()
        return (
            f"The original differs between repetitions on {len(unstable)} images (first: {unstable[0]}); "
            "there, its objects are clusters of its own detections.",
        )


class _Deepluq:
    """Finds objects and columns by profile `deepluq`."""

    def __init__(self, original: DetectionLog) -> None:
        self.rows: list[ImageRows] = []
        self.invalid: list[int] = []
        self._original = original

    def find(self, mutant: DetectionLog, position: int, key: str) -> ObjectTable:
        del key
        found = compatible_objects(self._original, mutant, position=position)
        self.rows.append(image_rows(self._original, mutant, found))
        self.invalid.append(found.invalid_rows)
        return found.table

    def notes(self) -> tuple[str, ...]:
        unscorable = self.rows[0].unscorable if self.rows else 0
        notes = []
        if unscorable:
            notes.append(
                f"{unscorable} images have a repetition without an original object and are not scored."
            )
        if any(self.invalid):
            notes.append(
                f"{max(self.invalid)} class rows are negative somewhere or do not have a positive sum."
            )
        return tuple(notes)


def noise_floor(unchanged: Campaign, *, level: float = 0.95) -> NoiseFloor:
    """How often a repetition of an unchanged second run has a miss, a ghost or either.

    Args:
        unchanged: A campaign of one mutant: the original once more.
        level: Of the bounds.

    Returns:
        The one-sided upper Clopper-Pearson bounds over all images and repetitions.
    """
    trials = int(unchanged.repetitions.sum())
    counts = unchanged.tallies.counts[0].sum(axis=0)
    bounds = [upper_bound(int(count), trials, level) for count in counts]
    return NoiseFloor(bounds[0], bounds[1], bounds[2], trials)


def positions(names: Sequence[str], images: Sequence[str], suite: str) -> Indices:
    """Positions of a suite's image names among all images.

    Raises:
        UserError: When a name is not among them or is there twice.
    """
    place = {name: index for index, name in enumerate(images)}
    unknown = [name for name in names if name not in place]
    if unknown:
        raise UserError(f"suite {suite!r}: image {unknown[0]!r} has no saved detections")
    if len(set(names)) != len(names):
        raise UserError(f"suite {suite!r}: an image is listed twice")
    return np.array([place[name] for name in names], dtype=np.int64)
