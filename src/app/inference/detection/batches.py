"""Images of a detector in batches: those of one size together, since a batch is padded to its largest image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

from app.inference.batches import Batch, Batches, Images


class DetectorBatches(Batches):
    """The batches of test images that are still to do, without the noise that follows a classifier's test cases.

    Args:
        images: the test images.
        size: images a batch.
        todo: numbers of the batches to hand out; None for all.
        ranks: hand out at least so many, empty ones if need be.
    """

    def __init__(self, images: Images, size: int, todo: Sequence[int] | None = None, ranks: int = 1) -> None:
        super().__init__(images, size, todo, ranks)

    @staticmethod
    def count(cases: int, size: int) -> int:
        """How many batches there are."""
        return -(-cases // size)

    def __getitem__(self, index: int) -> Batch:
        number = self.todo[index]
        if number < 0:
            return Batch(-1, np.empty(0, dtype=np.int64), [])
        chosen = np.arange(number * self.size, min((number + 1) * self.size, len(self.images)))
        return Batch(number, chosen, [self.images.load(int(case)) for case in chosen])


def same_size(images: Sequence[Image.Image]) -> list[list[int]]:
    """Places of the images of each size, in the order in which sizes first come.

    Padding and the maps behind it, and so masks and results, then do not depend on what else is in a batch.
    """
    places: dict[tuple[int, int], list[int]] = {}
    for place, image in enumerate(images):
        places.setdefault(image.size, []).append(place)
    return list(places.values())
