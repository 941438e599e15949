"""Small pictures for pages and folders: thumbnails, and pictures with what a model looks at laid over them."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SMALL, LARGE = 96, 224
"""Pixels of the longer side of a thumbnail, and of an overlay."""
TINY = 64
"""Pictures up to this side are not scaled down, and enlarged without blur."""
WARM = np.array(
    [[0, 0, 4], [66, 10, 104], [147, 38, 103], [221, 81, 58], [252, 165, 10], [252, 255, 164]],
    dtype=np.float64,
)
"""Colours from nothing to most, even in brightness, also for the colour-blind."""


def thumbnail(image: Image.Image, side: int = SMALL) -> bytes:
    """A small picture as a file's bytes: PNG for tiny pictures, where each pixel counts, else JPEG."""
    small = image.convert("RGB") if image.mode not in {"L", "RGB"} else image.copy()
    if max(small.size) <= TINY:
        return _bytes(small, "PNG")
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    return _bytes(small, "JPEG")


def enlarged(picture: Image.Image) -> Image.Image:
    """The picture in colour at about the size of an overlay."""
    colour = picture.convert("RGB")
    factor = max(1, LARGE // max(colour.size)) if max(colour.size) <= TINY else 1
    if factor > 1:
        return colour.resize((colour.width * factor, colour.height * factor), Image.Resampling.NEAREST)
    colour.thumbnail((LARGE, LARGE), Image.Resampling.LANCZOS)
    return colour


def overlay(picture: Image.Image, weights: NDArray[np.float32]) -> Image.Image:
    """The picture with a map laid over it: the stronger a place, the more of its colour.

    Args:
        picture: as the model saw it.
        weights: (h, w) in [0, 1].
    """
    base = enlarged(picture)
    grid = Image.fromarray(weights.astype(np.float32)).resize(base.size, Image.Resampling.BICUBIC)
    strength = np.clip(np.asarray(grid, dtype=np.float64), 0.0, 1.0)
    steps = np.linspace(0.0, 1.0, len(WARM))
    colours = np.stack([np.interp(strength, steps, WARM[:, channel]) for channel in range(3)], axis=-1)
    share = (0.15 + 0.5 * strength)[..., None]
    mixed = (1 - share) * np.asarray(base, dtype=np.float64) + share * colours
    return Image.fromarray(np.clip(mixed, 0, 255).astype(np.uint8))


def jpeg(image: Image.Image) -> bytes:
    """A picture as a JPEG file's bytes."""
    return _bytes(image, "JPEG")


def _bytes(image: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "JPEG":
        image.save(buffer, kind, quality=85)
    else:
        image.save(buffer, kind, optimize=True)
    return buffer.getvalue()
