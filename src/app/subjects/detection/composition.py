"""Scenes: pictures composed of small grey items on a textured background, with the box of every item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

SIZE = 128
"""Width and height of a scene in pixels."""
FEWEST, MOST = 2, 6
"""Items of a scene."""
SCALES = (0.9, 1.5)
"""How much larger than its original an item is drawn."""
MAX_COVERED = 0.1
"""Largest share of the smaller of two boxes that the other may cover."""
_INK = 16
"""Grey level from which a pixel belongs to an item."""


@dataclass(frozen=True, eq=False)
class Items:
    """What scenes are composed of."""

    images: Bytes
    """(M, H, W): grey items on black, at most 64 pixels wide and high."""
    labels: NDArray[np.int64]
    """(M,): the class of each."""

    def __post_init__(self) -> None:
        if self.images.ndim != 3 or len(self.images) != len(self.labels) or not len(self.labels):
            raise ValueError(
                f"items must be (M, H, W) images with (M,) labels and not empty, not {self.images.shape} "
                f"with {self.labels.shape}"
            )
        if max(self.images.shape[1:]) > SIZE // 2:
            raise ValueError(f"items must be at most {SIZE // 2} pixels wide and high: {self.images.shape}")


@dataclass(frozen=True, eq=False)
class Scene:
    """A composed picture and what is in it."""

    pixels: Bytes
    """(128, 128, 3): colour."""
    boxes: Floats
    """(K, 4): x1, y1, x2, y2 in pixels, the whole item even where another covers a part of it."""
    labels: NDArray[np.int64]
    """(K,): the items' classes."""
    items: NDArray[np.int64]
    """(K,): which items they are."""


def compose(items: Items, rng: np.random.Generator, fewest: int = FEWEST, most: int = MOST) -> Scene:
    """A scene of items drawn evenly, each at a size, place, contrast and tint of its own.

    Items are placed one after another, evenly over the places where boxes cover each other by at most
    `MAX_COVERED`; one for which no such place is left is not drawn. A later one covers an earlier one.

    Args:
        items: what to draw.
        rng: every choice comes from it.
        fewest: items of a scene, at least; 1 or 2, which always find a place.
        most: items of a scene, at most.
    """
    canvas = _background(rng)
    boxes: list[tuple[int, int, int, int]] = []
    chosen: list[int] = []
    for item in rng.integers(len(items.labels), size=rng.integers(fewest, most, endpoint=True)):
        drawn = _scaled(items.images[item], rng.uniform(*SCALES))
        height, width = drawn.shape
        place = _place(boxes, width, height, rng)
        if place is None:
            continue
        x, y = place
        tint = rng.uniform(0.75, 1.0, 3)
        tint /= tint.max()
        ink = rng.uniform(0.0, 0.25) + rng.uniform(0.5, 0.75) * drawn
        cover = np.minimum(drawn * (255 / (3 * _INK)), 1.0)[..., None]
        under = canvas[y : y + height, x : x + width]
        under += cover * (ink[..., None] * tint - under)
        boxes.append((x, y, x + width, y + height))
        chosen.append(int(item))
    canvas += rng.uniform(0.005, 0.03) * rng.standard_normal(canvas.shape, dtype=np.float32)
    which = np.array(chosen, dtype=np.int64)
    return Scene(
        np.round(np.clip(canvas, 0.0, 1.0) * 255).astype(np.uint8),
        np.array(boxes, dtype=np.float64).reshape(-1, 4),
        items.labels[which],
        which,
    )


def _background(rng: np.random.Generator) -> Floats:
    """(128, 128, 3): a coloured slope under smooth noise of two grain sizes."""
    axis = np.linspace(-0.5, 0.5, SIZE)
    angle = rng.uniform(0, 2 * np.pi)
    slope = np.add.outer(np.sin(angle) * axis, np.cos(angle) * axis) * rng.uniform(0.0, 0.25)
    texture = np.zeros((SIZE, SIZE))
    for cells in (int(rng.integers(3, 9)), int(rng.integers(16, 49))):
        texture += _smooth_noise(rng, cells) * rng.uniform(0.01, 0.05)
    tint = rng.uniform(0.7, 1.0, 3)
    grey = rng.uniform(0.05, 0.5) + slope + texture
    return np.asarray(grey[..., None] * tint / tint.max(), dtype=np.float64)


def _smooth_noise(rng: np.random.Generator, cells: int) -> Floats:
    grid = Image.fromarray(rng.normal(size=(cells, cells)).astype(np.float32))
    return np.asarray(grid.resize((SIZE, SIZE), Image.Resampling.BICUBIC), dtype=np.float64)


def _scaled(image: Bytes, scale: float) -> Floats:
    """(h, w) in [0, 1]: the item cut to its own extent and scaled."""
    ink = image >= _INK
    if not ink.any():
        ink = np.ones_like(ink)
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    cut = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height, width = (max(round(side * scale), 2) for side in cut.shape)
    resized = Image.fromarray(cut).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(resized, dtype=np.float64) / 255


def _place(
    boxes: list[tuple[int, int, int, int]], width: int, height: int, rng: np.random.Generator
) -> tuple[int, int] | None:
    """Upper left corner of a new box, evenly over all that are allowed; None if there are none."""
    left, top = np.arange(SIZE - width + 1), np.arange(SIZE - height + 1)
    free = np.ones((len(top), len(left)), dtype=bool)
    for x1, y1, x2, y2 in boxes:
        across = np.clip(np.minimum(left + width, x2) - np.maximum(left, x1), 0, None)
        down = np.clip(np.minimum(top + height, y2) - np.maximum(top, y1), 0, None)
        smaller = min(width * height, (x2 - x1) * (y2 - y1))
        free &= np.multiply.outer(down, across) <= MAX_COVERED * smaller
    places = np.flatnonzero(free)
    if not places.size:
        return None
    y, x = divmod(int(places[rng.integers(places.size)]), len(left))
    return x, y
