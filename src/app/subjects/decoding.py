"""Decoding of image files that nobody has looked at yet: limits first, then a full decode."""

from __future__ import annotations

import io
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


class Undecodable(Exception):  # noqa: N818  # it is a property of a file, which callers list, rather than a failure
    """A picture that is left out; the message says why."""


def read(path: Path) -> bytes:
    """The bytes of an image file.

    Raises:
        Undecodable: it is missing, no regular file, or larger than `MAX_BYTES`.
    """
    try:
        size = path.stat().st_size
        if path.is_file() and size <= MAX_BYTES:
            return path.read_bytes()
    except OSError as error:
        raise Undecodable(f"cannot be read ({error.strerror or error})") from None
    if size > MAX_BYTES:
        raise Undecodable(f"is larger than {MAX_BYTES // 2**20} MiB ({size // 2**20} MiB)")
    raise Undecodable("is no regular file")


def decode(content: bytes) -> Image.Image:
    """The whole picture in an image file, upright, in mode RGB or L.

    Args:
        content: the file's bytes.

    Raises:
        Undecodable: it is empty, cut off, damaged, of a format outside `FORMATS`, or larger than
            `MAX_PIXELS`.
    """
    if not content:
        raise Undecodable("is empty")
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height <= MAX_PIXELS:
                image.load()
                return _plain(ImageOps.exif_transpose(image))
            size = f"{image.width}x{image.height}"
    except UnidentifiedImageError:
        raise Undecodable(f"is no picture of {', '.join(FORMATS)}, or its beginning is damaged") from None
    except Image.DecompressionBombError:
        size = "far too many"
    except Exception as error:  # decoders of damaged files raise almost anything
        line = str(error).partition("\n")[0] or type(error).__name__
        raise Undecodable(f"cannot be decoded ({line})") from None
    raise Undecodable(f"has {size} pixels, more than {MAX_PIXELS // 10**6} million")


def _plain(image: Image.Image) -> Image.Image:
    """Grey as L, everything else as RGB; 16 bits are cut to the upper 8, transparency is dropped."""
    if image.mode.startswith("I") or image.mode == "F":
        values = np.asarray(image, dtype=np.float64)
        if values.size and values.max() > 255:
            values = values / 256
        return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
    if image.mode in {"1", "L", "LA", "La"}:
        return image.convert("LA").convert("L") if image.mode == "La" else image.convert("L")
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    return image.convert("RGB")
