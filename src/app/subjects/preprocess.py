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

    What is not given is not done: only the scaling to [0, 1] always is. `IMAGENET` is that of torchvision's presets,
    bit for bit.

    Raises:
        ValueError: a size that is not positive, a crop larger than what it is cut from, an unknown mode or
            interpolation, or a mean or deviation that does not fit the mode or stands alone.
    """

    resize: int | tuple[int, int] | None = None
    """The shorter side in pixels (the longer keeps the proportion), or (height, width); None leaves the
    size."""
    crop: int | tuple[int, int] | None = None
    """Side or (height, width) of the centre crop in pixels; None: no crop."""
    mode: ColourMode = "RGB"
    """Colour mode the picture is converted to."""
    mean: tuple[float, ...] = ()
    """What is subtracted of each channel in [0, 1]; empty for nothing."""
    std: tuple[float, ...] = ()
    """What each channel is divided by afterwards; empty for nothing."""
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
        _check_crop(self.resize, self.crop)
        self._standardise()
        if min(self.std) <= 0:
            raise ValueError(f"std must be above zero, not {list(self.std)}")

    def _standardise(self) -> None:
        """Mean and deviation of each channel; of neither, what changes nothing."""
        given = [name for name, values in (("mean", self.mean), ("std", self.std)) if _is_given(values)]
        if len(given) == 1:
            other = "std" if given == ["mean"] else "mean"
            raise ValueError(
                f"{given[0]} was given without {other}: give both, one number a channel, or neither"
            )
        channels = _CHANNELS[self.mode]
        for name, nothing in (("mean", 0.0), ("std", 1.0)):
            values = getattr(self, name) if given else (nothing,) * channels
            object.__setattr__(self, name, _checked_channels(name, values, self.mode))

    @property
    def words(self) -> str:
        """All of it in words."""
        sizes = [
            f"{name} {_side(size)}" for name, size in (("resize", self.resize), ("crop", self.crop)) if size
        ]
        scaled = [
            f"{name} {' '.join(map(str, values))}"
            for name, values in (("mean", self.mean), ("std", self.std))
        ]
        how = [self.interpolation] if self.resize else []
        return ", ".join([*sizes, *how, self.mode, *scaled])

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


def _side(size: int | tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}" if isinstance(size, tuple) else str(size)


def _checked_size(name: str, size: object) -> int | tuple[int, int] | None:
    sides = size if isinstance(size, (list, tuple)) else (size,)
    if size is None:
        return None
    if len(sides) not in {1, 2} or not all(type(side) is int and side > 0 for side in sides):
        raise ValueError(f"{name} must be a positive number of pixels, [height, width] or null, not {size!r}")
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def _is_given(values: Sequence[float] | None) -> bool:
    return values is not None and len(values) > 0


def _check_crop(resize: int | tuple[int, int] | None, crop: int | tuple[int, int] | None) -> None:
    """Refuse a crop that no resized picture can hold: it would be filled up with black."""
    if resize is None or crop is None:
        return
    height, width = crop if isinstance(crop, tuple) else (crop, crop)
    small = (
        height > resize[0] or width > resize[1] if isinstance(resize, tuple) else min(height, width) > resize
    )
    if small:
        given = [list(each) if isinstance(each, tuple) else each for each in (crop, resize)]
        raise ValueError(
            f"crop {given[0]} is larger than what resize {given[1]} leaves: give the crop of training, or null"
        )


def _checked_channels(name: str, values: Sequence[float], mode: ColourMode) -> tuple[float, ...]:
    channels = _CHANNELS[mode]
    numbers = tuple(float(value) for value in values)
    if len(numbers) != channels or not all(map(math.isfinite, numbers)):
        grey = "; for a model of grey images add mode: L" if (len(numbers), mode) == (1, "RGB") else ""
        needed = f"{channels} finite number{'s' * (channels > 1)}"
        raise ValueError(f"{name} needs {needed} for mode {mode}, not {list(values)}{grey}")
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
        raise UserError(
            f"model.preprocess cuts {width}x{height} pixels out of an image of {image.width}x{image.height}: give a "
            "smaller crop, or a resize before it"
        )
    left, top = round((image.width - width) / 2), round((image.height - height) / 2)
    return image.crop((left, top, left + width, top + height))


IMAGENET = Preprocess(256, 224, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
"""What torchvision's classification presets do."""
