"""Images of lesser quality: blurred, noisy, compressed, or taken with fewer pixels."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import ClassVar

import numpy as np
from PIL import Image, ImageFilter

from app.mutation.image_change import ImageChange, SteadyChange
from app.mutation.mutant import Mutant


class InputBlur(SteadyChange):
    """Gaussian blur.

    Args:
        radii: standard deviations in pixels, above 0.
        count: how many mutants, at most one a radius.
    """

    name: ClassVar[str] = "input_blur"
    parameter: ClassVar[str] = "radius"

    def __init__(self, radii: float | Sequence[float] = (1.0, 2.0, 4.0, 6.0), count: int = 20) -> None:
        super().__init__(("radii", radii), lambda radius: radius > 0, "give numbers above 0", count)

    def change(self, image: Image.Image, value: float) -> Image.Image:
        """The blurred image."""
        return image.filter(ImageFilter.GaussianBlur(value))


class InputNoise(ImageChange):
    """Adds N(0, σ²) to every value of every pixel; each test case has a field of its own.

    Args:
        sigmas: standard deviations on the scale 0–255, above 0.
        count: how many mutants; the same σ may come again with other fields.
    """

    name: ClassVar[str] = "input_noise"
    parameter: ClassVar[str] = "sigma"
    random: ClassVar[bool] = True

    def __init__(self, sigmas: float | Sequence[float] = (10.0, 20.0, 35.0, 50.0), count: int = 20) -> None:
        super().__init__(("sigmas", sigmas), lambda sigma: sigma > 0, "give numbers above 0", count)

    def changed(self, image: Image.Image, mutant: Mutant, case: int) -> Image.Image:
        """The image with the noise of its test case."""
        pixels = np.asarray(image, dtype=np.float32)
        noise = np.random.default_rng([mutant.seed, case]).standard_normal(pixels.shape, dtype=np.float32)
        noisy = np.rint(pixels + noise * np.float32(self.value(mutant)))
        return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


class InputCompression(SteadyChange):
    """Through JPEG and back.

    Args:
        qualities: JPEG qualities, whole numbers from 1 to 95.
        count: how many mutants, at most one a quality.
    """

    name: ClassVar[str] = "input_compression"
    parameter: ClassVar[str] = "quality"

    def __init__(self, qualities: int | Sequence[int] = (5, 10, 20, 40), count: int = 20) -> None:
        super().__init__(
            ("qualities", qualities),
            lambda quality: 1 <= quality <= 95 and quality == int(quality),
            "give whole numbers from 1 to 95",
            count,
        )

    def change(self, image: Image.Image, value: float) -> Image.Image:
        """The image as JPEG keeps it."""
        file = BytesIO()
        image.save(file, "JPEG", quality=int(value))
        return Image.open(file).convert(image.mode)


class InputResize(SteadyChange):
    """Scaled down and up again, bilinear.

    Args:
        scales: of each side, above 0 and below 1; at least one pixel is left.
        count: how many mutants, at most one a scale.
    """

    name: ClassVar[str] = "input_resize"
    parameter: ClassVar[str] = "scale"

    def __init__(self, scales: float | Sequence[float] = (0.1, 0.2, 0.35, 0.5), count: int = 20) -> None:
        super().__init__(
            ("scales", scales), lambda scale: 0 < scale < 1, "give numbers between 0 and 1", count
        )

    def change(self, image: Image.Image, value: float) -> Image.Image:
        """The image with the detail of a smaller one."""
        small = (max(1, round(image.width * value)), max(1, round(image.height * value)))
        return image.resize(small, Image.Resampling.BILINEAR).resize(image.size, Image.Resampling.BILINEAR)
