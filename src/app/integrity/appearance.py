"""What a grey picture looks like, in five numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageChops

_LEVELS = np.arange(256.0)
SURE_BRIGHT = 128
"""A picture whose grey reaches so high is bright whatever its colours."""


@dataclass(frozen=True)
class Appearance:
    """Tone and sharpness of a picture."""

    mean: float
    """Mean grey level, 0 to 255."""
    std: float
    """Standard deviation of the grey levels."""
    dark: float
    """Grey level that 5 % of the pixels do not exceed."""
    bright: float
    """Level that 99 % of the pixels do not exceed: of grey, and in colour of the strongest of red, green and blue where
    grey is below `SURE_BRIGHT`, since a pure blue is bright and yet of grey level 29."""
    sharpness: float
    """Standard deviation of the Laplacian over that of the grey levels: about 0.1 or less is blurred, noise has
    4.5. It does not change with brightness and contrast. NaN for a picture of one tone or under 3 x 3 pixels."""


def appearance(grey: Image.Image) -> Appearance:
    """Measures a picture in mode L."""
    counts = np.asarray(grey.histogram(), dtype=np.float64)
    share = counts / counts.sum()
    mean = float(share @ _LEVELS)
    std = float(np.sqrt(share @ (_LEVELS - mean) ** 2))
    below = counts.cumsum()
    dark, bright = np.searchsorted(below, (0.05 * below[-1], 0.99 * below[-1]))
    return Appearance(mean, std, float(dark), float(bright), _laplacian_std(grey) / std if std else np.nan)


def brightest(image: Image.Image) -> float:
    """Level that the strongest channel of 99 % of the pixels does not exceed, of a picture in mode L or RGB."""
    first, *others = image.split()
    for each in others:
        first = ImageChops.lighter(first, each)
    return appearance(first).bright


def _laplacian_std(grey: Image.Image) -> float:
    """From every other row, which is enough and half the work."""
    if min(grey.size) < 3:
        return np.nan
    levels = np.asarray(grey)
    inner = levels[1:-1:2]
    values = inner[:, 1:-1] * np.float32(-4)
    values += inner[:, :-2]
    values += inner[:, 2:]
    values += levels[:-2:2, 1:-1]
    values += levels[2 : 2 * len(inner) + 1 : 2, 1:-1]
    flat = values.ravel()
    variance = float(flat @ flat) / flat.size - float(flat.mean()) ** 2
    return math.sqrt(max(variance, 0.0))
