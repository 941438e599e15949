"""Difference hashes: 64 bits that stay nearly the same when a picture is scaled, recompressed or brightened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, features
from PIL import __version__ as pillow_version

from app.integrity.pictures import LEAST_SIDE

Hashes = NDArray[np.uint64]
BITS = 64
"""Bits of a hash, and so the largest distance of two."""


@dataclass(frozen=True)
class HashSpec:
    """Everything that decides the bits of a hash; hashes of different specifications are never compared."""

    algorithm: str
    """The hash."""
    decoder: str
    """What turned files into pixels."""
    grey: str
    """How colour became grey."""
    scaling: str
    """How a large picture became smaller before it was resampled."""
    resampler: str
    """How the picture became 9 x 8 pixels."""
    comparison: str
    """When a bit is set, and the order of the bits."""

    def __str__(self) -> str:
        return "; ".join((self.algorithm, self.decoder, self.grey, self.scaling, self.resampler))


def file_spec() -> HashSpec:
    """The specification of hashes of picture files."""
    turbo = features.version("libjpeg_turbo")
    jpeg = f"libjpeg-turbo {turbo}" if turbo else f"libjpeg {features.version('jpg')}"
    return _spec(f"pillow {pillow_version}, {jpeg}", "ITU-R 601 luma, a JPEG's own")


def image_spec() -> HashSpec:
    """The specification of hashes of images that came decoded."""
    return _spec(f"pixels as given, pillow {pillow_version}", "ITU-R 601 luma")


def _spec(decoder: str, grey: str) -> HashSpec:
    return HashSpec(
        algorithm="dhash 8x8",
        decoder=decoder,
        grey=grey,
        scaling=f"halved up to 3 times while both sides keep {LEAST_SIDE} pixels",
        resampler="lanczos to 9x8",
        comparison="right > left, rows from the top, most significant bit first",
    )


def dhash(grey: Image.Image) -> int:
    """The difference hash of a picture in mode L, 0 to 2^64 - 1.

    The picture becomes 9 x 8 pixels; a bit says whether a pixel is brighter than its left neighbour. A picture of
    one tone has the hash 0.
    """
    levels = grey.resize((9, 8), Image.Resampling.LANCZOS).tobytes()
    small = np.frombuffer(levels, dtype=np.uint8).reshape(8, 9)
    return int.from_bytes(np.packbits(small[:, 1:] > small[:, :-1]).tobytes(), "big")


def distance(a: int, b: int) -> int:
    """In how many of the 64 bits two hashes differ."""
    return (a ^ b).bit_count()
