"""Picture files that nobody has looked at yet: limits first, then the grey picture that everything is measured on."""

from __future__ import annotations

import io
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

MAX_BYTES = 256 * 2**20
"""Largest file that is read."""
MAX_PIXELS = 40_000_000
"""Most pixels that are decoded."""
FORMATS = ("JPEG", "PNG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
"""What is decoded; all by Pillow itself, none by an outside program."""
SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pbm"}
)
"""Endings of files that are taken for pictures."""
LEAST_SIDE = 96
"""Pictures are halved, up to three times, while both sides keep so many pixels: a JPEG decodes smaller in less
time, and what is measured on a photo of 12 megapixels compares with what is measured on a small one."""

_ORIENTATION, _ON_ITS_SIDE = 0x0112, (5, 6, 7, 8)


class Unreadable(Exception):  # noqa: N818  # it is a property of a file, which callers list, rather than a failure
    """A picture that is left out; the message says why."""


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


def read(path: Path) -> bytes:
    """The bytes of a picture file.

    Raises:
        Unreadable: it is missing, no regular file, or larger than `MAX_BYTES`.
    """
    try:
        facts = path.stat()
        if stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_BYTES:
            with path.open("rb", buffering=0) as file:
                return file.read()
    except OSError as error:
        raise Unreadable(f"cannot be read ({error.strerror or error})") from None
    if stat.S_ISREG(facts.st_mode):
        raise Unreadable(f"is larger than {MAX_BYTES // 2**20} MiB ({facts.st_size // 2**20} MiB)")
    raise Unreadable("is no regular file")


def decode(content: bytes, *, reduced: bool = True) -> Picture:
    """The grey picture in a file, from all of its data.

    A JPEG gives its luma without going through colour; everything else is decoded whole and converted.

    Args:
        content: the file's bytes.
        reduced: whether large pictures are halved; otherwise `grey` has every pixel.

    Raises:
        Unreadable: it is empty, cut off, damaged, of a format outside `FORMATS`, or larger than `MAX_PIXELS`.
    """
    if not content:
        raise Unreadable("is empty")
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            width, height, mode = *image.size, image.mode
            if width * height <= MAX_PIXELS:
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
            size = f"{width}x{height}"
    except UnidentifiedImageError:
        raise Unreadable(f"is no picture of {', '.join(FORMATS)}, or its beginning is damaged") from None
    except Image.DecompressionBombError:
        size = "far too many"
    except Exception as error:  # decoders of damaged files raise almost anything
        line = str(error).partition("\n")[0] or type(error).__name__
        raise Unreadable(f"cannot be decoded ({line})") from None
    raise Unreadable(f"has {size} pixels, more than {MAX_PIXELS // 10**6} million")


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
        values = np.asarray(image, dtype=np.float64)
        if values.size and values.max() > 255:
            values = values / 256
        return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode == "La":
        image = image.convert("LA")
    return image.convert("L")
