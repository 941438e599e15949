"""Overlapping pairs: every detection with every true box of its image, where they overlap enough to matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.detection.boxes import Boxes, Indices, Reals

PAIRS = 2_000_000
"""About as many pairs are held at a time, however many there are."""


@dataclass(frozen=True)
class Overlaps:
    """P pairs of a detection and a true box of the same image."""

    found: Indices
    """(P,): the detection."""
    truth: Indices
    """(P,): the true box."""
    iou: Reals
    """(P,): intersection over union; with a crowd, intersection over the area of the detection."""

    def take(self, pairs: NDArray[np.bool_] | Indices) -> Overlaps:
        """Some of the pairs."""
        return Overlaps(self.found[pairs], self.truth[pairs], self.iou[pairs])


def overlaps(truth: Boxes, found: Boxes, images: int, least: float) -> Overlaps:
    """The pairs whose IoU is at least `least` (above 0), of whatever classes.

    Args:
        truth: true boxes.
        found: detections.
        images: number of images.
        least: smallest IoU of interest.
    """
    parts = [
        _measured(truth, found, left, right, least)
        for left, right in _blocks(truth.image, found.image, images)
    ]
    empty = np.zeros(0, dtype=np.int64)
    parts.append(Overlaps(empty, empty, np.zeros(0)))
    return Overlaps(
        np.concatenate([part.found for part in parts]),
        np.concatenate([part.truth for part in parts]),
        np.concatenate([part.iou for part in parts]),
    )


def _measured(truth: Boxes, found: Boxes, left: Indices, right: Indices, least: float) -> Overlaps:
    first, second = found.xyxy[left], truth.xyxy[right]
    sides = np.minimum(first[:, 2:], second[:, 2:]) - np.maximum(first[:, :2], second[:, :2])
    meet = (sides > 0).all(axis=1)
    left, right, sides = left[meet], right[meet], sides[meet]
    shared = sides[:, 0] * sides[:, 1]
    alone = found.area[left]
    union = np.where(truth.crowd[right], alone, alone + truth.area[right] - shared)
    iou = shared / union
    enough = iou >= least
    return Overlaps(left[enough], right[enough], iou[enough])


def _blocks(truth: Indices, found: Indices, images: int) -> Iterator[tuple[Indices, Indices]]:
    """All (detection, true box) pairs of equal images, some images at a time."""
    by_found, by_truth = np.argsort(found, kind="stable"), np.argsort(truth, kind="stable")
    many_found, many_truth = np.bincount(found, minlength=images), np.bincount(truth, minlength=images)
    begin_found, begin_truth = np.cumsum(many_found) - many_found, np.cumsum(many_truth) - many_truth
    sizes = many_found * many_truth
    block = (np.cumsum(sizes) - sizes) // PAIRS
    cuts = np.flatnonzero(np.diff(block)) + 1
    for some in np.split(np.arange(images), cuts):
        total = int(sizes[some].sum())
        if not total:
            continue
        image = np.repeat(some, sizes[some])
        place = np.arange(total) - np.repeat(np.cumsum(sizes[some]) - sizes[some], sizes[some])
        left, right = np.divmod(place, many_truth[image])
        yield by_found[begin_found[image] + left], by_truth[begin_truth[image] + right]
