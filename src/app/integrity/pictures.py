"""The grey picture that everything is measured on, from a file or from an image that is decoded already."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from app.images import USUAL, Decoding, Unreadable, opened, upright, upright_size
from app.samples import plain

LEAST_SIDE = 96
"""Pictures are halved, up to three times, while both sides keep so many pixels: a JPEG decodes smaller in less
time, and what is measured on a photo of 12 megapixels compares with what is measured on a small one."""


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
    remarks: tuple[str, ...] = ()
    """What was decided on the way (`app.samples.Decoded`)."""
    highest: int | None = None
    """The highest sample of 16 bits (`app.samples.Decoded`)."""


def decode(content: bytes, decoding: Decoding = USUAL, *, reduced: bool = True) -> Picture:
    """The grey picture in a file, from all of its data.

    A JPEG gives its luma without going through colour; everything else is decoded whole and converted.

    Args:
        content: the file's bytes.
        decoding: what the formats leave open.
        reduced: whether large pictures are halved; otherwise `grey` has every pixel.

    Raises:
        Unreadable: as `app.images.decode`.
    """
    with opened(content, decoding) as (image, header):
        size, mode = image.size, image.mode
        width, height = upright_size(image)
        factor = _reduction(width, height) if reduced else 1
        image.draft("L", (max(size[0] // factor, 1), max(size[1] // factor, 1)))
        image.load()
        decoder_halved = image.size != size
        found = plain(upright(image), header, decoding)
        grey = _grey(found.image)
        if factor > 1 and not decoder_halved:
            grey = grey.reduce(factor)
        return Picture(grey, width, height, mode, factor, found.remarks, found.highest)


def in_memory(image: Image.Image, *, reduced: bool = True) -> Picture:
    """The grey picture of an image that is decoded already.

    Raises:
        Unreadable: it has no pixels, or samples whose white is not known.
    """
    if not (image.width and image.height):
        raise Unreadable("has no pixels")
    factor = _reduction(*image.size) if reduced else 1
    grey = _grey(plain(image).image)
    return Picture(grey.reduce(factor) if factor > 1 else grey, *image.size, image.mode, factor)


def _reduction(width: int, height: int) -> int:
    return next((factor for factor in (8, 4, 2) if min(width, height) // factor >= LEAST_SIDE), 1)


def _grey(image: Image.Image) -> Image.Image:
    """Mode L by ITU-R 601 luma."""
    return image if image.mode == "L" else image.convert("L")
