"""Preprocessing: from pictures to the batch a model takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from app.errors import UserError

ColourMode = Literal["RGB", "L"]

_CHANNELS = {"RGB": 3, "L": 1}
_RESAMPLING = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


@dataclass(frozen=True)
class Preprocess:
    """Resize, crop the centre, scale to [0, 1], standardise: what torchvision's classification presets do.

    The default is ImageNet's. Equal to those presets bit for bit.

    Raises:
        ValueError: a size that is not positive, an unknown mode or interpolation, or a mean or deviation that
            does not fit the mode.
    """

    resize: int | tuple[int, int] | None = 256
    """The shorter side in pixels (the longer keeps the proportion), or (height, width); None leaves the
    size."""
    crop: int | tuple[int, int] | None = 224
    """Side or (height, width) of the centre crop in pixels; smaller pictures are padded with black; None: no
    crop."""
    mode: ColourMode = "RGB"
    """Colour mode the picture is converted to."""
    mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    """What is subtracted of each channel in [0, 1]."""
    std: tuple[float, ...] = (0.229, 0.224, 0.225)
    """What each channel is divided by afterwards."""
    interpolation: str = "bilinear"
    """nearest, bilinear, bicubic or lanczos; with antialiasing, as Pillow does it."""

    def __post_init__(self) -> None:
        for name in ("resize", "crop"):
            object.__setattr__(self, name, _checked_size(name, getattr(self, name)))
        if self.mode not in _CHANNELS:
            raise ValueError(f"mode must be RGB or L, not {self.mode!r}")
        if self.interpolation not in _RESAMPLING:
            raise ValueError(
                f"interpolation must be one of {', '.join(_RESAMPLING)}, not {self.interpolation!r}"
            )
        for name in ("mean", "std"):
            object.__setattr__(self, name, _checked_channels(name, getattr(self, name), self.mode))
        if min(self.std) <= 0:
            raise ValueError(f"std must be above zero, not {list(self.std)}")

    def picture(self, image: Image.Image) -> Image.Image:
        """The picture in the model's colour mode and size, still in pixel values."""
        if image.mode != self.mode:
            image = image.convert(self.mode)
        if self.resize is not None:
            image = _resized(image, self.resize, _RESAMPLING[self.interpolation])
        if self.crop is not None:
            image = _centre_crop(image, self.crop)
        return image

    def __call__(self, image: Image.Image) -> Tensor:
        """(C, H, W) float32: the standardised picture."""
        return self.to_batch([image])[0]

    def to_batch(self, images: Sequence[Image.Image]) -> Tensor:
        """(B, C, H, W) float32: the standardised pictures.

        Args:
            images: pictures that have one size after resizing and cropping; none give an empty (0, C, 0, 0).

        Raises:
            UserError: pictures of several sizes.
        """
        if not images:
            return torch.empty((0, _CHANNELS[self.mode], 0, 0))
        pictures = [self.picture(image) for image in images]
        sizes = {picture.size for picture in pictures}
        if len(sizes) > 1:
            (w1, h1), (w2, h2) = sorted(sizes)[:2]
            raise UserError(
                f"preprocessing leaves pictures of several sizes ({w1}x{h1} and {w2}x{h2} pixels) that "
                "cannot be one batch: set preprocess.resize to [height, width] or set preprocess.crop"
            )
        return self.from_pixels(np.stack([np.asarray(picture) for picture in pictures]))

    def from_pixels(self, pixels: NDArray[np.uint8]) -> Tensor:
        """(B, C, H, W) float32 from (B, H, W) or (B, H, W, C) bytes of the right mode and size."""
        planes = pixels[:, None] if pixels.ndim == 3 else pixels.transpose(0, 3, 1, 2)
        batch = torch.from_numpy(np.array(planes, dtype=np.float32, order="C")).div_(255)
        mean, std = (
            torch.tensor(values, dtype=torch.float32)[:, None, None] for values in (self.mean, self.std)
        )
        return batch.sub_(mean).div_(std)


def _checked_size(name: str, size: object) -> int | tuple[int, int] | None:
    sides = size if isinstance(size, (list, tuple)) else (size,)
    if size is None:
        return None
    if len(sides) not in {1, 2} or not all(type(side) is int and side > 0 for side in sides):
        raise ValueError(f"{name} must be a positive number of pixels, [height, width] or null, not {size!r}")
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def _checked_channels(name: str, values: Sequence[float], mode: ColourMode) -> tuple[float, ...]:
    channels = _CHANNELS[mode]
    numbers = tuple(float(value) for value in values)
    if len(numbers) != channels or not all(map(math.isfinite, numbers)):
        raise ValueError(f"{name} needs {channels} finite numbers for mode {mode}, not {list(values)}")
    return numbers


def _resized(image: Image.Image, size: int | tuple[int, int], resampling: Image.Resampling) -> Image.Image:
    width, height = image.size
    if isinstance(size, tuple):
        new = size[1], size[0]
    elif width <= height:  # the longer side is cut down to whole pixels, like torchvision does
        new = size, int(size * height / width)
    else:
        new = int(size * width / height), size
    return image if new == image.size else image.resize(new, resampling)


def _centre_crop(image: Image.Image, size: int | tuple[int, int]) -> Image.Image:
    height, width = size if isinstance(size, tuple) else (size, size)
    if image.size == (width, height):
        return image
    if image.width < width or image.height < height:
        left, top = max(0, (width - image.width) // 2), max(0, (height - image.height) // 2)
        canvas = Image.new(image.mode, (max(width, image.width), max(height, image.height)))
        canvas.paste(image, (left, top))
        image = canvas
    left, top = round((image.width - width) / 2), round((image.height - height) / 2)
    return image.crop((left, top, left + width, top + height))
