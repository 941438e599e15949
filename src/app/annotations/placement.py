"""Boxes in their images: fractions become pixels, and true boxes must lie inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.annotations.annotation_set import AnnotationSet, Reals, Size, StatedImage
from app.errors import UserError

MAX_OVERHANG = 1.0
"""Pixels that a box may reach over the image's edge and is cut: tools round, and some count from 1."""
_ROUNDING = 0.01
"""Pixels that are no overhang, but rounding of the file's decimals."""
_SMALL_SIDE = 32
"""Where an image's size is not known, `MAX_OVERHANG` is that of an image with such sides."""


def placed(
    stated: AnnotationSet, sizes: Sequence[tuple[float, float] | None], *, strict: bool
) -> AnnotationSet:
    """The set in pixels where sizes are known; of ground truth, every box cut to its image.

    Args:
        stated: N images and their boxes.
        sizes: (N,) width and height of each in pixels; None where it is not known.
        strict: ground truth, whose boxes must lie in their images, or detections, which are left as they are.

    Raises:
        UserError: boxes in fractions of images of which only some sizes are known, or a true box that reaches
            over the edge by more than `MAX_OVERHANG`.
    """
    known = np.array([size is not None for size in sizes], dtype=np.bool_)
    sides = np.array([size or (np.nan, np.nan) for size in sizes], dtype=np.float64).reshape(-1, 2)
    if stated.relative and known.any():
        if not known.all():
            first = stated.images[int(np.argmin(known))]
            raise UserError(
                f"{first.where}: the size of image {first.name!r} is not known; give one for every image"
            )
        stated = replace(stated, xyxy=stated.xyxy * np.tile(sides, 2)[stated.image], relative=False)
    if not strict or not len(stated):
        return stated
    room = np.tile([[1.0, 1.0]], (len(sides), 1)) if stated.relative else sides
    unit = _SMALL_SIDE if stated.relative else 1.0
    cut = _cut(stated, room[stated.image], unit)
    if not cut.many:
        return replace(stated, xyxy=cut.xyxy)
    amount = "" if stated.relative else f" up to {MAX_OVERHANG:g} pixel"
    note = f"{cut.many} box{'es' * (cut.many != 1)} reached{amount} over the edge: cut to the picture"
    return replace(stated, xyxy=cut.xyxy, notes=(*stated.notes, note))


def agreed_size(image: StatedImage, real: Size) -> Size:
    """The real size of an image.

    Raises:
        UserError: another one is stated.
    """
    if image.size is not None and image.size != real:
        stated, found = (f"{width}x{height}" for width, height in (image.size, real))
        raise UserError(
            f"{image.where}: {image.file or image.name} is {found} pixels (upright), but {stated} is stated: "
            "the annotations belong to another version of the picture"
        )
    return real


@dataclass(frozen=True, eq=False)
class _Cut:
    xyxy: Reals
    """(D, 4): inside their images."""
    many: int
    """How many were visibly cut."""


def _cut(stated: AnnotationSet, room: Reals, unit: float) -> _Cut:
    """Boxes cut to (D, 2) widths and heights, NaN where not known; `unit` pixels are 1 there."""
    boxes, far = stated.xyxy, np.where(np.isnan(room), np.inf, room)
    over = np.maximum(np.maximum(-boxes[:, :2], boxes[:, 2:] - far).max(axis=1), 0.0)
    inside = np.hstack([np.maximum(boxes[:, :2], 0.0), np.minimum(boxes[:, 2:], far)])
    # Without a size nothing is known, not even that an image begins at 0.
    free = np.isnan(room).any(axis=1)
    over[free], inside[free] = 0.0, boxes[free]
    bad = over * unit > MAX_OVERHANG + _ROUNDING
    bad |= (inside[:, 2:] <= inside[:, :2]).any(axis=1) & ~free
    if bad.any():
        i = int(np.argmax(bad))
        image = stated.images[int(stated.image[i])]
        size = "" if stated.relative else f", which is {room[i][0]:g}x{room[i][1]:g} pixels"
        box = ", ".join(f"{value:g}" for value in boxes[i])
        raise UserError(
            f"{stated.where(i)}: box [{box}] lies outside {image.file or image.name}{size}; true boxes are cut "
            f"by up to {MAX_OVERHANG:g} pixel, not more: correct it, or remove the object"
        )
    return _Cut(inside, int((over * unit > _ROUNDING).sum()))
