"""Image files that nobody has looked at yet: limits first, then a full decode. The one way from a file to pixels."""

from __future__ import annotations

import io
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from app.samples import USUAL, Decoded, Decoding, Stored, Unreadable, plain, stored

__all__ = [
    "FORMATS",
    "NO_ENDING",
    "SUFFIXES",
    "USUAL",
    "Decoded",
    "Decoding",
    "Unreadable",
    "decode",
    "decoded",
    "no_image",
    "opened",
    "read",
    "upright",
    "upright_size",
]

MAX_BYTES = 256 * 2**20
"""Largest file that is read."""
PIXELS_AT_ONCE = 64_000_000
"""Most pixels that the threads of a process decode at a time; an image above waits until it is alone."""
FORMATS = ("JPEG", "PNG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
"""What is decoded; all by Pillow itself, none by an outside program."""
SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
    | {".ppm", ".pgm", ".pbm", ".pnm"}
)
"""Endings of files that are taken for images."""
NO_ENDING = "has no ending of a picture"
"""Why a file that claims to be no image is not looked at."""
_FOREIGN = {
    "JPEG 2000": (".jp2", ".j2k", ".jpf", ".jpx", ".j2c"),
    "JPEG XL": (".jxl",),
    "AVIF": (".avif",),
    "HEIF": (".heic", ".heif"),
    "DICOM": (".dcm", ".dicom"),
    "NIfTI": (".nii",),
    "OpenEXR": (".exr",),
    "Radiance": (".hdr",),
    "Photoshop": (".psd",),
    "SVG": (".svg",),
    "Targa": (".tga",),
    "PFM": (".pfm",),
    "camera raw": (".dng", ".nef", ".cr2", ".cr3", ".arw"),
}
_ORIENTATION, _ON_ITS_SIDE = 0x0112, (5, 6, 7, 8)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class _Room:
    """Pixels that threads may decode at a time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = 0

    @contextmanager
    def take(self, pixels: int) -> Iterator[None]:
        """Waits until there is room for so many pixels, or nothing else is decoded."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken or self._taken + pixels <= PIXELS_AT_ONCE)
            self._taken += pixels
        try:
            yield
        finally:
            with self._changed:
                self._taken -= pixels
                self._changed.notify_all()


_room = _Room()


def no_image(path: Path) -> str | None:
    """Why a file's ending makes it no image that is read, as the end of a sentence; None if it is one."""
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return None
    for name, endings in _FOREIGN.items():
        if suffix in endings:
            return f"is an image of a format that is not read ({name}): convert it to PNG, JPEG or TIFF"
    return NO_ENDING


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
def opened(content: bytes, decoding: Decoding = USUAL) -> Iterator[tuple[Image.Image, Stored]]:
    """The image of a file whose header keeps to the limits, and what that says; nothing of it is decoded yet.

    Whatever the block raises while it decodes is the file's fault, too.

    Args:
        content: the file's bytes.
        decoding: has the limit of pixels.

    Raises:
        Unreadable: it is empty, cut off, damaged, of a format outside `FORMATS`, or larger than the limit.
    """
    if not content:
        raise Unreadable("is empty")
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            pixels = image.width * image.height
            if pixels <= decoding.max_pixels:
                header = stored(image)
                with _room.take(pixels):
                    yield image, header
                return
            size = f"{image.width}x{image.height}"
    except Unreadable:
        raise
    except UnidentifiedImageError:
        raise Unreadable(_unknown(content)) from None
    except Image.DecompressionBombError:
        size = "far too many"
    except Exception as error:  # decoders of damaged files raise almost anything
        line = str(error).partition("\n")[0] or type(error).__name__
        raise Unreadable(f"cannot be decoded ({line})") from None
    raise Unreadable(f"has {size} pixels, more than {_millions(decoding.max_pixels)} (decoding.max_pixels)")


def _unknown(content: bytes) -> str:
    if content[:4] in {b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"}:
        return "is a TIFF of a kind that is not read, or its beginning is damaged: convert it to PNG"
    return f"is no picture of {', '.join(FORMATS)}, or its beginning is damaged"


def _millions(pixels: int) -> str:
    return f"{pixels // 10**6} million" if pixels and pixels % 10**6 == 0 else f"{pixels:,}"


def decode(content: bytes, decoding: Decoding = USUAL) -> Image.Image:
    """The whole image in a file, upright, in mode RGB or L; of several frames or pages the first.

    Args:
        content: the file's bytes.
        decoding: what the formats leave open.

    Raises:
        Unreadable: as `opened`; or its samples have no white that is known, or lie outside black and white.
    """
    return decoded(content, decoding).image


def decoded(content: bytes, decoding: Decoding = USUAL) -> Decoded:
    """As `decode`, with what was decided on the way."""
    with opened(content, decoding) as (image, header):
        image.load()
        found = plain(upright(image), header, decoding)
        if found.image is image:  # a copy leaves the decoder and its file behind
            found = replace(found, image=image.copy())
        return found


def upright(image: Image.Image) -> Image.Image:
    """A loaded image as it is to be looked at, by its EXIF orientation."""
    turn = _TURNS.get(_orientation(image))
    return image if turn is None else image.transpose(turn)


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Width and height of an image that is open but not loaded, as it is to be looked at."""
    width, height = image.size
    return (height, width) if _orientation(image) in _ON_ITS_SIDE else (width, height)


def _orientation(image: Image.Image) -> int:
    if image.format == "TIFF":  # Pillow turns them itself, and says the turned size before
        return 1
    try:
        found = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # damaged EXIF data say nothing about the pixels
        return 1
    return found if isinstance(found, int) else 1
