"""Pictures of a detector's mistakes: the part of an image around a box, with the box drawn in."""

from __future__ import annotations

import io
from typing import Literal

from PIL import Image, ImageDraw

from app.reporting.detection_eval.report import Box

COLOURS = {"detection": (232, 113, 30), "truth": (74, 148, 222)}
"""Orange and blue, which stay apart with the common kinds of colour blindness."""
MARGIN, LEAST = 0.6, 64
"""How much is shown around a box, in its longer side, and how many pixels at least."""
WIDTH, HEIGHT = 320, 240
"""Largest crop."""


def crop(image: Image.Image, box: Box, kind: Literal["detection", "truth"]) -> bytes:
    """A JPEG file of the box and what is around it.

    Args:
        image: the whole image, in mode L or RGB.
        box: in its pixels; what lies outside of the image is cut off.
        kind: what the box is, which gives its colour.
    """
    x1, y1, x2, y2 = box
    around = max(MARGIN * max(x2 - x1, y2 - y1), LEAST / 2)
    left, top = max(0, int(x1 - around)), max(0, int(y1 - around))
    right, bottom = min(image.width, int(x2 + around) + 1), min(image.height, int(y2 + around) + 1)
    if right <= left or bottom <= top:  # a box that lies outside
        left, top, right, bottom = 0, 0, image.width, image.height
    part = image.crop((left, top, right, bottom)).convert("RGB")
    scale = min(WIDTH / part.width, HEIGHT / part.height, 6.0)
    size = max(1, round(part.width * scale)), max(1, round(part.height * scale))
    part = part.resize(size, Image.Resampling.BICUBIC if scale > 1 else Image.Resampling.LANCZOS)
    drawn = [
        min(max((value - start) * scale, 0), side - 1)
        for value, start, side in zip((x1, y1, x2, y2), (left, top) * 2, size * 2, strict=True)
    ]
    pen = ImageDraw.Draw(part)
    corners = drawn[0], drawn[1], max(drawn[2], drawn[0]), max(drawn[3], drawn[1])
    pen.rectangle(corners, outline=(255, 255, 255), width=5)
    pen.rectangle(
        (
            corners[0] + 1,
            corners[1] + 1,
            max(corners[2] - 1, corners[0] + 1),
            max(corners[3] - 1, corners[1] + 1),
        ),
        outline=COLOURS[kind],
        width=3,
    )
    buffer = io.BytesIO()
    part.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()
