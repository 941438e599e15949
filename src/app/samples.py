"""From what an image file stores to 8 bits of grey or colour, by what its format says and never by its content.

A format says which sample is white: 255, 65535, or what a file's header states. Where it does not (real numbers,
whole numbers of 32 bits, signed ones), the user says it, or the file is listed as unreadable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageCms, ImageColor

from app.errors import UserError

MAX_PIXELS = 40_000_000
"""Most pixels that are decoded, unless a configuration says otherwise."""
_PILLOWS_LIMIT = 89_478_485
"""Above this Pillow warns of a decompression bomb."""
_BLOCK = 2**20
"""Samples that are scaled at a time, so that a large image is not held as real numbers."""
_TOLERANCE = 1e-6
"""Relative: what rounding to 32-bit real numbers may put above white or below black."""
_HALF = 2**15
"""Images of 16 bits that all stay below are perhaps of fewer."""
_FEW_BITS = {"L;2": 85, "L;4": 17}
"""Pillow's grey of fewer than 8 bits, and what it multiplies samples by."""
_BITS, _WHITE_IS_ZERO, _SAMPLE_FORMAT = 258, 262, 339
"""Tags of TIFF."""


class Unreadable(Exception):  # noqa: N818  # it is a property of a file, which callers list, rather than a failure
    """An image that is left out; the message says why, as the end of a sentence that begins with its path."""


def _no_number(value: object) -> bool:
    return isinstance(value, bool) or not isinstance(value, (int, float))


def _colour(given: Any) -> tuple[int, int, int] | None:
    if given is None:
        return None
    try:
        rgb = ImageColor.getrgb(given)[:3] if isinstance(given, str) else tuple(given)
    except (ValueError, TypeError):
        rgb = ()
    if len(rgb) != 3 or not all(type(each) is int and 0 <= each <= 255 for each in rgb):
        raise UserError(
            "decoding.background must be a colour such as white, '#ffffff' or [255, 255, 255], or null to drop "
            f"transparency, not {given!r}"
        )
    return rgb[0], rgb[1], rgb[2]


@dataclass(frozen=True)
class Decoding:
    """How image files become pixels, as far as their formats leave it open.

    Args:
        white_level: the sample that is white in images whose samples have more than 8 bits or are real numbers;
            None takes what the format says, and lists images whose format does not say.
        background: what transparent images are laid on: a name of CSS, ``#rrggbb`` or three numbers of 0 to 255;
            None drops transparency and shows the colours beneath, as torchvision and OpenCV do.
        max_pixels: most pixels of an image.

    Raises:
        UserError: a white level that is not above 0, an unknown colour, or a limit out of range.
    """

    white_level: float | None = None
    background: str | Sequence[int] | None = "white"
    max_pixels: int = MAX_PIXELS

    def __post_init__(self) -> None:
        level = self.white_level
        if level is not None and (_no_number(level) or not (math.isfinite(level) and level > 0)):
            raise UserError(
                f"decoding.white_level must be a number above 0 (4095 for 12 bits, 1 for [0, 1]) or null, not {level!r}"
            )
        if (
            not isinstance(self.max_pixels, int)
            or _no_number(self.max_pixels)
            or not (1 <= self.max_pixels <= _PILLOWS_LIMIT)
        ):
            raise UserError(
                f"decoding.max_pixels must be in 1..{_PILLOWS_LIMIT} (pixels of one image), not {self.max_pixels!r}"
            )
        object.__setattr__(self, "background", _colour(self.background))

    @property
    def choices(self) -> tuple[object, ...]:
        """What decides about pixels, of images whose format leaves it open."""
        return self.white_level, self.paper

    @property
    def paper(self) -> tuple[int, int, int] | None:
        """The background as red, green and blue."""
        colour = self.background
        return None if colour is None else (int(colour[0]), int(colour[1]), int(colour[2]))

    @property
    def paper_name(self) -> str:
        """The background in words."""
        names = {(255, 255, 255): "white", (0, 0, 0): "black", None: "nothing"}
        return names.get(self.paper) or f"the colour {list(self.paper or ())}"


USUAL = Decoding()
"""What formats say, transparency on white."""


@dataclass(frozen=True)
class Stored:
    """What the header of a file says about its samples; read before they are decoded."""

    white: float | None = 255.0
    """Which sample is white; None where the format does not say."""
    kind: str = ""
    """What the samples are, in words, where they are not 8 bits."""
    states_white: bool = False
    """Whether the file itself states its white, so that nobody else has a say."""
    inverted: bool = False
    """Whether 0 is white, which Pillow has not turned over."""
    deep_colour: bool = False
    """Whether colour has 16 bits, of which Pillow gives the upper 8."""
    grey: bool = False
    """Whether colour that Pillow gives is grey."""
    frames: bool = False
    """Whether there is more than one frame or page."""


@dataclass(frozen=True)
class Decoded:
    """An image as it is worked with, and what was decided on the way."""

    image: Image.Image
    """Mode L or RGB."""
    remarks: tuple[str, ...] = ()
    """What a reader should know, each as the end of a sentence that begins with how many images have it."""
    highest: int | None = None
    """The highest sample of an image of 16 bits whose white is the format's; None for others."""


def stored(image: Image.Image) -> Stored:
    """What the header of an open image says; the image must not have been loaded.

    Raises:
        Unreadable: samples that Pillow would misread.
    """
    tags: Any = getattr(image, "tag_v2", {})
    bits = max(tags.get(_BITS, (8,)), default=8)
    signed = 2 in tuple(tags.get(_SAMPLE_FORMAT, (1,)))
    raw = _raw_mode(image)
    more = {"frames": _has_frames(image)}
    if _turned_twice(image, raw):
        raise Unreadable(
            "is a compressed TIFF of numbers in big-endian order, which is not read: store it in another way"
        )
    if (
        raw in _FEW_BITS and "transparency" in image.info
    ):  # Pillow spreads the samples over 0..255, but not this one
        image.info["transparency"] *= _FEW_BITS[raw]
    if image.mode == "F":
        inverted = tags.get(_WHITE_IS_ZERO) == 0
        return Stored(None, f"real numbers of {bits if tags else 32} bits", inverted=inverted, **more)
    if image.mode.startswith("I"):
        if image.format == "PPM":
            return Stored(65535.0, "16 bits", states_white=True, **more)
        if signed or bits == 32:
            return Stored(None, f"{'signed ' if signed else ''}whole numbers of {bits} bits", **more)
        bits = 12 if raw == "I;12" else 16
        inverted = bool(tags) and tags.get(_WHITE_IS_ZERO, 0) == 0
        return Stored(2.0**bits - 1, f"{bits} bits", inverted=inverted, **more)
    if signed:
        raise Unreadable(
            f"holds signed whole numbers of {bits} bits, which are not read: store it without signs"
        )
    deep = ";16" in raw
    if bits > 8 and not deep:
        raise Unreadable(
            f"is in colour with {bits} bits a channel in a layout that is not read: convert it to PNG"
        )
    if deep and "transparency" in image.info:
        raise Unreadable(
            "has 16 bits a channel and one transparent colour, which is not read: give it an alpha channel"
        )
    return Stored(
        deep_colour=deep, kind="16 bits a channel" if deep else "", grey=raw.startswith("LA"), **more
    )


def _turned_twice(image: Image.Image, raw: str) -> bool:
    """Whether libtiff has put bytes in order that Pillow then takes for being out of order."""
    tiles = getattr(image, "tile", None) or [("",)]
    return tiles[0][0] == "libtiff" and raw in {"F;32BF", "I;16BS", "I;32BS"}


def _raw_mode(image: Image.Image) -> str:
    """How Pillow calls the samples of a file that is not loaded yet."""
    tiles = getattr(image, "tile", None) or [()]
    arguments = tiles[0][3] if len(tiles[0]) > 3 else ""
    first = arguments[0] if isinstance(arguments, tuple) and arguments else arguments
    return first if isinstance(first, str) else ""


def _has_frames(image: Image.Image) -> bool:
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:  # a damaged second frame is none that could be read
        return False


def _of_mode(mode: str) -> Stored:
    """What is known of an image that came without a file."""
    if mode.startswith("I;16"):
        return Stored(65535.0, "16 bits")
    return {
        "I": Stored(None, "whole numbers of 32 bits"),
        "F": Stored(None, "real numbers of 32 bits"),
    }.get(mode, Stored())


def plain(image: Image.Image, header: Stored | None = None, decoding: Decoding = USUAL) -> Decoded:
    """A loaded image as grey (L) or colour (RGB).

    Args:
        image: of any mode.
        header: what `stored` said of it; None for an image that is in no file.
        decoding: what the format leaves open.

    Raises:
        Unreadable: its samples have no white that is known, or lie outside black and white.
    """
    header = _of_mode(image.mode) if header is None else header
    remarks = ["several frames or pages: the first is read"] if header.frames else []
    highest = None
    if image.mode == "F" or image.mode.startswith("I"):
        keyed = image.info.get("transparency")
        levels = np.asarray(image)
        white = header.white if header.states_white or decoding.white_level is None else decoding.white_level
        if white is None:
            hint = (
                "1 for images in [0, 1]" if image.mode == "F" else "255 for 8 bits, 4095 for 12, 65535 for 16"
            )
            raise Unreadable(
                f"holds {header.kind}, and its format does not say which is white: give decoding.white_level ({hint})"
            )
        if header.kind:
            remarks.append(f"{header.kind} a sample: {white:,.6g} is white")
        if decoding.white_level is None and not header.states_white and levels.size:
            highest = int(levels.max())
        image = _scaled(levels, white, inverted=header.inverted)
        if isinstance(keyed, int):
            alpha = Image.fromarray(np.where(levels == keyed, 0, 255).astype(np.uint8))
            image = Image.merge("LA", (image, alpha))
    elif header.deep_colour:
        if decoding.white_level not in {None, 65535}:
            raise Unreadable(
                "is in colour with 16 bits a channel, of which only the upper 8 are read: decoding.white_level "
                "cannot be applied"
            )
        remarks.append("16 bits a channel: the upper 8 are read")
    if image.has_transparency_data:
        image, seen = _opaque(image, decoding, grey=header.grey)
        if seen:
            remarks.append(
                f"transparent pixels: laid on {decoding.paper_name}"
                if decoding.paper
                else "transparent pixels: the colours beneath are shown"
            )
    return Decoded(_eight_bits(image), tuple(remarks), highest)


def pixels(image: Image.Image) -> Image.Image:
    """The image of a user's own loader as L or RGB, by what its mode says.

    Raises:
        UserError: samples whose white is not known.
    """
    if image.mode in {"L", "RGB"}:
        return image
    try:
        return plain(image).image
    except Unreadable as reason:
        raise UserError(
            f"an image of mode {image.mode} {reason}: the data set must give modes L or RGB"
        ) from None


def _eight_bits(image: Image.Image) -> Image.Image:
    """Opaque samples of 8 bits as L or RGB."""
    if image.mode in {"L", "RGB"}:
        return image
    if image.mode == "LAB":  # Pillow knows the way to RGB alone
        lab, rgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        found = ImageCms.profileToProfile(image, lab, rgb, outputMode="RGB")
        assert found is not None  # noqa: S101 - narrows the type: it is not in place
        return found
    return image.convert("L" if image.mode in {"1", "LA"} else "RGB")


def _opaque(image: Image.Image, decoding: Decoding, *, grey: bool) -> tuple[Image.Image, bool]:
    """The image without transparency, and whether it had any."""
    grey = grey or image.mode in {"1", "L", "LA", "La"}
    if image.mode == "La":
        image = image.convert("LA")
    full = image if image.mode == "RGBA" else image.convert("RGBA")
    alpha = full.getchannel("A")
    seen = alpha.getextrema() != (255, 255)
    paper = decoding.paper
    if seen and paper is not None:
        canvas = Image.new("RGB", full.size, paper)
        canvas.paste(full, mask=alpha)
        grey = grey and len(set(paper)) == 1
    else:
        canvas = full.convert("RGB")
    return (canvas.convert("L") if grey else canvas), seen


def _scaled(levels: np.ndarray[Any, Any], white: float, *, inverted: bool) -> Image.Image:
    """Numbers from black, 0, to white as mode L."""
    lowest, highest = (float(levels.min()), float(levels.max())) if levels.size else (0.0, 0.0)
    if not (math.isfinite(lowest) and math.isfinite(highest)):
        raise Unreadable("holds NaN or infinity")
    slack = _TOLERANCE * white
    if lowest < -slack:
        raise Unreadable(f"holds {lowest:g}, and samples begin with 0, which is black")
    if highest > white + slack:
        raise Unreadable(
            f"holds {highest:,.6g}, more than {white:,.6g}, which is white by decoding.white_level"
        )
    out = np.empty(levels.shape, dtype=np.uint8)
    rows = max(_BLOCK // max(levels.shape[-1], 1), 1)
    for first in range(0, len(levels), rows):
        part = np.clip(levels[first : first + rows].astype(np.float64) / white, 0, 1)
        out[first : first + rows] = np.rint(255 * (1 - part if inverted else part))
    return Image.fromarray(out)


def told(read: Iterable[tuple[str, Sequence[str], int | None]]) -> tuple[str, ...]:
    """Notes on how images were read: a line a kind of remark, with how many have it and the first of them.

    Args:
        read: what each image is called, its remarks, and its highest sample of 16 bits.
    """
    kinds: dict[str, list[str]] = {}
    deep: list[int] = []
    for name, remarks, highest in read:
        for each in remarks:
            kinds.setdefault(each, []).append(name)
        if highest is not None:
            deep.append(highest)
    lines = [
        f"{len(names):,} image{'s have' if len(names) > 1 else ' has'} {remark} (such as {names[0]})"
        for remark, names in kinds.items()
    ]
    if deep and max(deep) < _HALF:
        lines.append(
            f"no sample of the images of 16 bits is above {max(deep):,}: if less than 65,535 is white, they are read "
            "too dark; give decoding.white_level (4095 for 12 bits)"
        )
    return tuple(lines)
