"""The grey picture that everything is measured on, from a file or from an image that is decoded already."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageOps

from app.images import Unreadable, eight_bits, opened

LEAST_SIDE = 96
"""Pictures are halved, up to three times, while both sides keep so many pixels: a JPEG decodes smaller in less
time, and what is measured on a photo of 12 megapixels compares with what is measured on a small one."""

_ORIENTATION, _ON_ITS_SIDE = 0x0112, (5, 6, 7, 8)


@dataclass(frozen=True, eq=False)
class Picture:
    """A decoded picture, as much of it as integrity looks at."""

    grey: Image.Image
    """Mode L, upright; a halving or more smaller than the picture where that is large."""
    width: int
    """Pixels of the whole picture, upright."""
    height: int
    """Pixels of the whole picture, upright."""
    mode: str
    """Pillow's mode of the picture as it is stored."""
    reduction: int
    """1, 2, 4 or 8: pixels of the picture a pixel of `grey`, each way."""


def decode(content: bytes, *, reduced: bool = True) -> Picture:
    """The grey picture in a file, from all of its data.

    A JPEG gives its luma without going through colour; everything else is decoded whole and converted.

    Args:
        content: the file's bytes.
        reduced: whether large pictures are halved; otherwise `grey` has every pixel.

    Raises:
        Unreadable: as `app.images.opened`.
    """
    with opened(content) as image:
        width, height, mode = *image.size, image.mode
        factor = _reduction(width, height) if reduced else 1
        image.draft("L", (max(width // factor, 1), max(height // factor, 1)))
        image.load()
        decoder_halved = image.size != (width, height)
        orientation = image.getexif().get(_ORIENTATION, 1)
        if orientation in _ON_ITS_SIDE:
            width, height = height, width
        if orientation != 1:
            ImageOps.exif_transpose(image, in_place=True)
        upright = _grey(image)
        if factor > 1 and not decoder_halved:
            upright = upright.reduce(factor)
        return Picture(upright, width, height, mode, factor)


def in_memory(image: Image.Image, *, reduced: bool = True) -> Picture:
    """The grey picture of an image that is decoded already.

    Raises:
        Unreadable: it has no pixels.
    """
    if not (image.width and image.height):
        raise Unreadable("has no pixels")
    factor = _reduction(*image.size) if reduced else 1
    grey = _grey(image)
    return Picture(grey.reduce(factor) if factor > 1 else grey, *image.size, image.mode, factor)


def _reduction(width: int, height: int) -> int:
    return next((factor for factor in (8, 4, 2) if min(width, height) // factor >= LEAST_SIDE), 1)


def _grey(image: Image.Image) -> Image.Image:
    """Mode L by ITU-R 601 luma; 16 bits are cut to the upper 8, transparency is dropped."""
    if image.mode == "L":
        return image
    if image.mode.startswith("I") or image.mode == "F":
        return eight_bits(image)
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode == "La":
        image = image.convert("LA")
    return image.convert("L")
