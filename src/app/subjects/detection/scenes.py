"""The embedded test scenes: pictures of Fashion-MNIST items, composed when they are loaded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image

from app.errors import UserError
from app.limits import NotNegative, Positive
from app.subjects.detection.composition import Items, Scene, compose
from app.subjects.detection.dataset import DetectionDataset, Objects
from app.subjects.fashion import CLASS_NAMES, fashion


@dataclass(frozen=True)
class SceneSource:
    """Scenes of a seed; each depends on the seed and its own number only, not on how many there are."""

    seed: int
    """Of all scenes."""

    def scene(self, row: int) -> Scene:
        """The scene of a number."""
        return compose(embedded_items(), np.random.default_rng([self.seed, row]))

    def load(self, row: int) -> Image.Image:
        """The picture of a scene."""
        return Image.fromarray(self.scene(row).pixels)


MOST = 100_000
"""Scenes of a data set: more is a slip of the finger."""


def scenes(n: Positive = 40, seed: NotNegative = 0, name: str | None = None) -> DetectionDataset:
    """Scenes of 128 pixels with 2 to 6 items of the embedded test images, which no training has seen.

    Args:
        n: how many.
        seed: of all choices; the scenes of a smaller `n` are the first of a larger one.
        name: None gives ``scenes``.

    Raises:
        UserError: `n` below one, a negative seed, or the embedded file is missing or not what was shipped.
    """
    if not 1 <= n <= MOST:
        raise UserError(f"dataset.n must be from 1 to {MOST:,} scenes, not {n}")
    if seed < 0:
        raise UserError(f"dataset.seed must be 0 or more, not {seed}")
    source = SceneSource(seed)
    objects: list[Objects] = []
    digests = b""
    for row in range(n):
        scene = source.scene(row)
        objects.append(Objects(scene.boxes, scene.labels))
        digests += hashlib.sha256(repr(scene.pixels.shape).encode() + scene.pixels.tobytes()).digest()
    return DetectionDataset(
        name=name or "scenes",
        class_names=CLASS_NAMES,
        objects=tuple(objects),
        paths=tuple(f"scene-{row:05d}" for row in range(n)),
        source=source,
        rows=np.arange(n),
        case_digests=np.frombuffer(digests, np.uint8).reshape(n, 32),
    )


@cache
def embedded_items() -> Items:
    """The 2,000 embedded test images as items.

    Raises:
        UserError: the embedded file is missing or not what was shipped.
    """
    data = fashion("test")
    images = np.stack([np.asarray(data.load(i)) for i in range(len(data))])
    return Items(images, data.labels.astype(np.int64))
