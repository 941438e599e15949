"""Boxes found on a moved image, as boxes of the image before, so that they can be matched."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.mutation.geometric import InputCrop, InputRotation
from app.mutation.mutant import Mutant

Boxes = NDArray[np.float32]


def restored(mutant: Mutant, boxes: Boxes, size: tuple[int, int]) -> Boxes:
    """Boxes in the frame of the image before the mutant, cut to the image.

    Of the operators here cropping and rotating move what is on an image; any other leaves boxes as they are
    (resizing goes down and up again). A user's own operator may offer `restore(mutant, boxes, size)`.

    A rotated box is no upright box any more. What is turned back is the ellipse inside it: its centre, and the
    upright box around it, with half widths √(a²cos² + b²sin²) and √(a²sin² + b²cos²). That keeps the size of what is
    round, is exact at multiples of 90 degrees, and never swells the way the box around four turned corners does
    (a square turned to 30 degrees and back would be 1.87 times as wide).

    Args:
        mutant: an input mutant.
        boxes: (K, 4), x1, y1, x2, y2 in pixels of the changed image.
        size: width and height of the image, which the mutant keeps.
    """
    operator = mutant.operator
    own = getattr(operator, "restore", None)
    if callable(own):
        moved = np.asarray(own(mutant, boxes, size), dtype=np.float64)
    elif isinstance(operator, InputCrop):
        moved = _uncropped(boxes.astype(np.float64), operator.value(mutant), size)
    elif isinstance(operator, InputRotation):
        moved = _turned_back(boxes.astype(np.float64), operator.value(mutant), size)
    else:
        return boxes
    return np.clip(moved, 0, [*size, *size]).astype(np.float32)


def _uncropped(boxes: NDArray[np.float64], keep: float, size: tuple[int, int]) -> NDArray[np.float64]:
    width, height = (max(1, round(side * keep)) for side in size)
    corner = np.array([(size[0] - width) // 2, (size[1] - height) // 2] * 2)
    moved: NDArray[np.float64] = boxes * (np.array([width, height] * 2) / np.array([*size, *size])) + corner
    return moved


def _turned_back(boxes: NDArray[np.float64], degrees: float, size: tuple[int, int]) -> NDArray[np.float64]:
    """The inverse of a turn to the left by an angle about the centre, with y growing downwards."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    middle = np.array(size) / 2
    x, y = ((boxes[:, :2] + boxes[:, 2:]) / 2 - middle).T
    centre = np.stack([x * cosine - y * sine, x * sine + y * cosine], axis=1) + middle
    a, b = ((boxes[:, 2:] - boxes[:, :2]) / 2).T
    half = np.stack([np.hypot(a * cosine, b * sine), np.hypot(a * sine, b * cosine)], axis=1)
    return np.concatenate([centre - half, centre + half], axis=1)
