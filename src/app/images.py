"""Image files that nobody has looked at yet: limits first, then a full decode."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from contextlib import contextmanager
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


class Unreadable(Exception):  # noqa: N818  # it is a property of a file, which callers list, rather than a failure
    """A picture that is left out; the message says why, as the end of a sentence that begins with its path."""


def read(path: Path) -> bytes:
    """The bytes of an image file.

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


@contextmanager
def opened(content: bytes) -> Iterator[Image.Image]:
    """The image of a file whose header keeps to the limits; nothing of it is decoded yet.

    Whatever the block raises while it decodes is the file's fault, too.

    Args:
        content: the file's bytes.

    Raises:
        Unreadable: it is empty, cut off, damaged, of a format outside `FORMATS`, or larger than `MAX_PIXELS`.
    """
    if not content:
        raise Unreadable("is empty")
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height <= MAX_PIXELS:
                yield image
                return
            size = f"{image.width}x{image.height}"
    except UnidentifiedImageError:
        raise Unreadable(f"is no picture of {', '.join(FORMATS)}, or its beginning is damaged") from None
    except Image.DecompressionBombError:
        size = "far too many"
    except Exception as error:  # decoders of damaged files raise almost anything
        line = str(error).partition("\n")[0] or type(error).__name__
        raise Unreadable(f"cannot be decoded ({line})") from None
    raise Unreadable(f"has {size} pixels, more than {MAX_PIXELS // 10**6} million")


def decode(content: bytes) -> Image.Image:
    """The whole picture in an image file, upright, in mode RGB or L.

    Args:
        content: the file's bytes.

    Raises:
        Unreadable: as `opened`.
    """
    with opened(content) as image:
        image.load()
        return plain(ImageOps.exif_transpose(image))


def plain(image: Image.Image) -> Image.Image:
    """Grey as L, everything else as RGB; 16 bits are cut to the upper 8, transparency is dropped."""
    if image.mode.startswith("I") or image.mode == "F":
        return eight_bits(image)
    if image.mode in {"1", "L", "LA", "La"}:
        return image.convert("LA").convert("L") if image.mode == "La" else image.convert("L")
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    return image.convert("RGB")


def eight_bits(image: Image.Image) -> Image.Image:
    """A picture of whole or real numbers as mode L: cut to the upper 8 bits if any exceeds 255."""
    values = np.asarray(image, dtype=np.float64)
    if values.size and values.max() > 255:
        values = values / 256
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
