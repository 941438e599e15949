"""Where each detection of a log is: its image, its repetition, and how many of them there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.detections import DetectionLog
from app.scoring.detection.overlap import Indices
from app.scoring.detection.stacks import Stacks


@dataclass(frozen=True)
class Places:
    """Where each detection of a log is."""

    image: Indices
    """(D,): position of its image."""
    repetition: Indices
    """(D,): its repetition."""
    total: Indices
    """(D,): T of its image."""
    widest: int
    """The largest T of all images."""

    @classmethod
    def of(cls, log: DetectionLog) -> Places:
        """The places of a log's detections."""
        cell = log.cell_of
        image_of_cell = np.repeat(np.arange(len(log.images), dtype=np.int64), log.repetitions)
        image = image_of_cell[cell]
        widest = int(log.repetitions.max()) if len(log.repetitions) else 0
        return cls(image, cell - log.starts[image], log.repetitions[image].astype(np.int64), widest)

    def seen(self, stacks: Stacks) -> NDArray[np.bool_]:
        """(G, T): the repetitions each stack of rows holds one of."""
        flags = np.zeros((len(stacks.counts), self.widest), dtype=np.bool_)
        flags[stacks.group_of, self.repetition[stacks.rows]] = True
        return flags


def numbers_within(images: Indices) -> Indices:
    """(G,): 0, 1, 2, … within each image, for groups whose images never fall."""
    _, first, counts = np.unique(images, return_index=True, return_counts=True)
    return np.arange(len(images), dtype=np.int64) - np.repeat(first, counts)
