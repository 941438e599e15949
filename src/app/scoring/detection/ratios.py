"""Scores as ratios of sums over images: one form for points, bootstrap, suites and trends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.scoring.detection.columns import ImageRows
from app.scoring.detection.objects import METRICS, SETS, ObjectTable
from app.scoring.detection.overlap import Indices, Reals
from app.scoring.detection.significance import KILLS


@dataclass(frozen=True)
class Ratio:
    """One score of M mutants: sum over images of `top` over sum of `bottom`."""

    top: Reals
    """(M, N)."""
    bottom: Reals
    """(M, N): 0 where an image says nothing."""

    @classmethod
    def mean(cls, values: Reals) -> Ratio:
        """The mean over images of values (M, N), NaN left out."""
        told = ~np.isnan(values)
        return cls(np.where(told, values, 0.0), told.astype(np.float64))

    def values(self) -> Reals:
        """(M,): the score; NaN where no image says anything."""
        return divided(self.top.sum(axis=1), self.bottom.sum(axis=1))

    def per_image(self) -> Reals:
        """(M, N): each image's own score; NaN where it says nothing."""
        return divided(self.top, self.bottom)

    def resampled(self, weights: Reals) -> Reals:
        """(R, M): the score where image n counts weights[r, n] times."""
        return divided(weights @ self.top.T, weights @ self.bottom.T)

    def take(self, images: Indices) -> Ratio:
        """The score on some images only."""
        return Ratio(self.top[:, images], self.bottom[:, images])

    def undefined(self) -> Indices:
        """(M,): images that say nothing."""
        missing: Indices = (self.bottom == 0).sum(axis=1)
        return missing


def divided(top: Reals, bottom: Reals) -> Reals:
    """The quotient top / bottom, NaN where bottom is 0."""
    return np.asarray(np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 0))


def nan_mean(values: Reals, axis: int | None = None) -> Reals:
    """Mean without NaN; NaN where nothing is left."""
    told = ~np.isnan(values)
    count = told.sum(axis=axis)
    total = np.where(told, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0))


@dataclass(frozen=True)
class Tallies:
    """What the object table says about each image, for M mutants and N images."""

    ratios: Mapping[str, Ratio]
    """By score: `obj_ms_miss`, `obj_ms_macro_miss`, `ms_iou`, `rate_match`, `ua_match_vr`, …"""
    counts: Indices
    """(M, N, 3): repetitions with a miss, a ghost, either."""
    ua_undefined: Mapping[str, Indices]
    """(M,) by `ua_match_vr`, …: objects whose score is undefined."""


def tally(table: ObjectTable, mutants: int, images: int) -> Tallies:
    """The tallies of an object table, as profile `paper` defines its scores."""
    grid = _Grid(table, mutants, images)
    matched, missed, ghosts = (grid.total(table.kind == kind, table.count) for kind in range(3))
    ratios = {
        "obj_ms_miss": Ratio(missed, missed + matched),
        "obj_ms_ghost": Ratio(ghosts, ghosts + matched),
        "obj_ms_mg": Ratio(missed + ghosts, missed + ghosts + matched),
    }
    ratios |= {f"obj_ms_macro_{kind}": Ratio.mean(ratios[f"obj_ms_{kind}"].per_image()) for kind in KILLS}
    ratios["ms_iou"] = Ratio(grid.total(table.kind == 0, table.count * (1.0 - table.iou)), matched)
    undefined: dict[str, Indices] = {}
    for kind, name in enumerate(SETS):
        ratios[f"rate_{name}"] = grid.mean(table.kind == kind, table.rate)
        for column, metric in enumerate(METRICS):
            score = table.score[:, column]
            ratios[f"ua_{name}_{metric}"] = grid.mean(table.kind == kind, score)
            lost = (table.kind == kind) & np.isnan(score)
            undefined[f"ua_{name}_{metric}"] = np.bincount(table.mutant[lost], minlength=mutants)
    ratios["miss_confidence"] = grid.mean(table.kind == 1, table.conf)
    return Tallies(ratios, _counts(table, mutants, images), undefined)


def tally_rows(tallies: Tallies, rows: Sequence[ImageRows]) -> Tallies:
    """The same tallies with the scores that profile `deepluq` takes from its columns: means over images."""

    def mean(column: str) -> Ratio:
        values = (
            np.stack([table.column(column) for table in rows]) if rows else np.zeros(tallies.counts.shape[:2])
        )
        return Ratio.mean(values)

    ratios = dict(tallies.ratios)
    for kind, name in zip(KILLS, ("miss", "ghost", "miss_ghost"), strict=True):
        ratios[f"obj_ms_macro_{kind}"] = mean(f"[obj_level] kill_rate_{name}_mean")
    ratios["ms_iou"] = mean("[match] iou_mean")
    for name in SETS:
        ratios[f"rate_{name}"] = mean(f"[{name}] {name}_rate")
        for metric in METRICS:
            ratios[f"ua_{name}_{metric}"] = mean(f"[{name}] {metric}_diff")
    return Tallies(ratios, tallies.counts, tallies.ua_undefined)


@dataclass(frozen=True)
class _Grid:
    """Sums of table columns by mutant and image."""

    table: ObjectTable
    mutants: int
    images: int

    def total(self, rows: NDArray[np.bool_], values: NDArray[np.generic]) -> Reals:
        place = self.table.mutant[rows] * self.images + self.table.image[rows]
        size = self.mutants * self.images
        weights = np.asarray(values[rows], dtype=np.float64)
        sums = np.bincount(place, weights=weights, minlength=size).astype(np.float64)
        return sums.reshape(self.mutants, self.images)

    def mean(self, rows: NDArray[np.bool_], values: Reals) -> Ratio:
        told = rows & ~np.isnan(values)
        return Ratio(self.total(told, values), self.total(told, np.ones(len(values))))


def _counts(table: ObjectTable, mutants: int, images: int) -> Indices:
    shape = mutants, images, table.seen.shape[1]
    flags = np.zeros((2, *shape), dtype=np.bool_)
    row, repetition = np.nonzero(table.seen & (table.kind > 0)[:, None])
    flags[table.kind[row].astype(np.int64) - 1, table.mutant[row], table.image[row], repetition] = True
    miss, ghost = flags
    return np.stack([flag.sum(axis=2) for flag in (miss, ghost, miss | ghost)], axis=2).astype(np.int64)
