"""Images seen from elsewhere: cropped and rotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from PIL import Image

from app.mutation.image_change import SteadyChange
from app.mutation.mutant import INPUT
from app.mutation.operator import Choice
from app.mutation.targets import Targets


class InputCrop(SteadyChange):
    """Keeps the centre of the image, a share of each side, and scales it back to the whole size.

    Args:
        keeps: shares of each side to keep, above 0 and up to 1; 1 changes nothing.
        count: how many mutants, at most one a share.
    """

    name: ClassVar[str] = "input_crop"
    parameter: ClassVar[str] = "keep"

    def __init__(self, keeps: float | Sequence[float] = (0.5, 0.6, 0.7, 0.85), count: int = 20) -> None:
        super().__init__(
            ("keeps", keeps), lambda keep: 0 < keep <= 1, "give shares above 0 and up to 1", count
        )

    def change(self, image: Image.Image, value: float) -> Image.Image:
        """The enlarged centre."""
        width, height = (max(1, round(side * value)) for side in image.size)
        left, top = (image.width - width) // 2, (image.height - height) // 2
        box = (left, top, left + width, top + height)
        return image.crop(box).resize(image.size, Image.Resampling.BILINEAR)


class InputRotation(SteadyChange):
    """Rotates the image about its centre, to either side; the corners become black.

    Args:
        degrees: angles above 0 and up to 180; each is drawn with either sign.
        count: how many mutants, at most two an angle.
    """

    name: ClassVar[str] = "input_rotation"
    parameter: ClassVar[str] = "degrees"

    def __init__(self, degrees: float | Sequence[float] = (5.0, 10.0, 20.0, 30.0), count: int = 20) -> None:
        super().__init__(
            ("degrees", degrees), lambda angle: 0 < angle <= 180, "give angles above 0 and up to 180", count
        )

    def choices(self, targets: Targets) -> list[Choice]:  # noqa: ARG002 - inputs are there in any model
        """Every angle, counter-clockwise (positive) and clockwise; 180 degrees once."""
        signed = [angle * sign for angle in self.values for sign in ((1,) if angle == 180 else (1, -1))]
        return [Choice({self.parameter: angle}, INPUT) for angle in signed]

    def change(self, image: Image.Image, value: float) -> Image.Image:
        """The rotated image."""
        return image.rotate(value, Image.Resampling.BILINEAR, fillcolor=0)
