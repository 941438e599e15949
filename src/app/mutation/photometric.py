"""Images in another light: brightness and contrast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from PIL import Image, ImageEnhance

from app.mutation.image_change import SteadyChange


class InputBrightness(SteadyChange):
    """Multiplies every pixel by a factor, cut to the range of a byte.

    Args:
        factors: at least 0: 0 is black, 1 changes nothing.
        count: how many mutants, at most one a factor.
    """

    name: ClassVar[str] = "input_brightness"
    parameter: ClassVar[str] = "factor"

    def __init__(self, factors: float | Sequence[float] = (0.4, 0.6, 1.6, 2.0), count: int = 20) -> None:
        super().__init__(
            ("factors", factors), lambda factor: factor >= 0, "give numbers of at least 0", count
        )

    def change(self, image: Image.Image, value: float) -> Image.Image:
        """The image in brighter or darker light."""
        return ImageEnhance.Brightness(image).enhance(value)


class InputContrast(SteadyChange):
    """Moves every pixel away from, or towards, the mean grey of its image by a factor.

    Args:
        factors: at least 0: 0 is grey, 1 changes nothing.
        count: how many mutants, at most one a factor.
    """

    name: ClassVar[str] = "input_contrast"
    parameter: ClassVar[str] = "factor"

    def __init__(self, factors: float | Sequence[float] = (0.3, 0.5, 1.8, 2.2), count: int = 20) -> None:
        super().__init__(
            ("factors", factors), lambda factor: factor >= 0, "give numbers of at least 0", count
        )

    def change(self, image: Image.Image, value: float) -> Image.Image:
        """The image with more or less contrast."""
        return ImageEnhance.Contrast(image).enhance(value)
