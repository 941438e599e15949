"""The 38 columns of profile `deepluq`: one row an image of one mutant, and their CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.detections import DetectionLog
from app.scoring.detection.compatible import CompatibleObjects
from app.scoring.detection.objects import METRICS
from app.scoring.detection.overlap import Indices, Reals
from app.scoring.detection.significance import binomial_p, cohens_h, power
from app.tables import csv_bytes

_SETS = ("miss", "ghost", "miss_ghost")
_UA = tuple(f"{metric}_diff" for metric in METRICS)
COLUMNS = (
    *(
        f"[img_level] iskill_{kind}_{what}"
        for kind in _SETS
        for what in ("p_value", "cohens_h", "power", "count")
    ),
    *(f"[obj_level] kill_rate_{kind}_{what}" for kind in _SETS for what in ("mean", "std")),
    *(f"[match] {what}" for what in ("iou_mean", "match_rate", *_UA)),
    *(f"[miss] {what}" for what in ("miss_rate", *_UA)),
    *(f"[ghost] {what}" for what in ("ghost_rate", *_UA)),
)
"""The columns after `test_suite`, in their order."""

TRIALS, P0, ALPHA = 10, 0.01, 0.05
"""What the reference assumes of every image, whatever its number of repetitions."""


@dataclass(frozen=True)
class ImageRows:
    """The rows of one mutant."""

    images: tuple[str, ...]
    values: Reals
    """(N, 37): by image and COLUMNS; a row is NaN where a repetition has no original object."""

    @property
    def unscorable(self) -> int:
        """Images where a repetition has no original object: the reference stops there."""
        return int(np.isnan(self.values[:, 0]).sum())

    def column(self, name: str) -> Reals:
        """(N,): one column by its name."""
        column: Reals = self.values[:, COLUMNS.index(name)]
        return column

    def mean(self, name: str) -> float:
        """Mean of a column over the images that have a number; NaN if none has."""
        column = self.column(name)
        column = column[~np.isnan(column)]
        return float(column.mean()) if len(column) else float("nan")


def image_rows(original: DetectionLog, mutant: DetectionLog, found: CompatibleObjects) -> ImageRows:
    """The rows of one mutant over the images of both logs (same images, same repetitions)."""
    matches, misses, ghosts = cell_counts(original, mutant, found)
    begins = original.starts[:-1]
    blocks = [
        *_image_level(begins, (misses > 0, ghosts > 0, (misses > 0) | (ghosts > 0))),
        *_object_level(original.repetitions, matches, misses, ghosts),
        *_set_level(len(original.images), found),
    ]
    values = np.column_stack(blocks) if len(begins) else np.zeros((0, len(COLUMNS)))
    blind = (
        np.logical_or.reduceat(matches + misses == 0, begins) if len(begins) else np.zeros(0, dtype=np.bool_)
    )
    values[blind] = np.nan
    return ImageRows(original.images, values)


def cell_counts(
    original: DetectionLog, mutant: DetectionLog, found: CompatibleObjects
) -> tuple[Indices, Indices, Indices]:
    """(cells,) each: matches, misses and ghosts of every cell."""
    cells = len(original.offsets) - 1
    old, new = original.cell_of, mutant.cell_of
    return (
        np.bincount(old[found.sets.match_original], minlength=cells),
        np.bincount(old[found.sets.misses], minlength=cells),
        np.bincount(new[found.sets.ghosts], minlength=cells),
    )


def _image_level(begins: Indices, flags: Sequence[np.ndarray]) -> list[Reals]:
    blocks: list[Reals] = []
    for flag in flags:
        count = np.add.reduceat(flag.astype(np.int64), begins) if len(begins) else np.zeros(0, dtype=np.int64)
        share = count / TRIALS
        blocks += [
            binomial_p(count, TRIALS, P0),
            cohens_h(share, P0),
            power(share, TRIALS, P0, ALPHA),
            count.astype(np.float64),
        ]
    return blocks


def _object_level(repetitions: Indices, matches: Indices, misses: Indices, ghosts: Indices) -> list[Reals]:
    everything = matches + misses + ghosts
    blocks: list[Reals] = []
    for part, whole in ((misses, matches + misses), (ghosts, everything), (misses + ghosts, everything)):
        rate = part / np.maximum(whole, 1)
        image = np.repeat(np.arange(len(repetitions)), repetitions)
        mean = np.bincount(image, weights=rate, minlength=len(repetitions)) / repetitions
        squares = np.bincount(image, weights=(rate - mean[image]) ** 2, minlength=len(repetitions))
        blocks += [mean, np.sqrt(squares / repetitions)]
    return blocks


def _set_level(images: int, found: CompatibleObjects) -> list[Reals]:
    blocks: list[Reals] = []
    for kind in range(3):
        rows = found.table.take(found.table.kind == kind)
        first = [1.0 - rows.rate * rows.iou] if kind == 0 else []
        for values in (*first, rows.rate, *rows.score.T):
            told = ~np.isnan(values)
            count = np.bincount(rows.image[told], minlength=images)
            total = np.bincount(rows.image[told], weights=values[told], minlength=images)
            objects = np.bincount(rows.image, minlength=images)
            mean = np.divide(total, count, out=np.full(images, np.nan), where=count > 0)
            blocks.append(np.where(objects == 0, 0.0, mean))
    return blocks


def write_csv(rows: ImageRows, path: Path) -> None:
    """Write one mutant's 38 columns; NaN is an empty field."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {index for index, name in enumerate(COLUMNS) if name.endswith("_count")}
    cells = (
        [image, *(_field(value, index in whole) for index, value in enumerate(values))]
        for image, values in zip(rows.images, rows.values.tolist(), strict=True)
    )
    path.write_bytes(csv_bytes(["test_suite", *COLUMNS], cells))


def _field(value: float, whole: bool) -> str:
    if np.isnan(value):
        return ""
    return str(int(value)) if whole else repr(value + 0.0)
