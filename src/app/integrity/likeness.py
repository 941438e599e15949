"""Whether look-alikes show the same: their grey pictures compared tone by tone, which a hash of 64 bits cannot."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 32
"""Pixels a side of the small pictures that are compared."""
SAME = 0.99
"""From this likeness on, two pictures are taken for copies. Of the 8 million pairs of a training and a test picture
of the embedded data one is beyond it; saved again as a JPEG, or 10 % darker, a picture keeps 0.993 or more."""

T = TypeVar("T", bound=Hashable)


def outline(grey: Image.Image) -> NDArray[np.float32]:
    """A picture in mode L as (1024,) tones of mean 0 and length 1; zeros if it has one tone."""
    small = grey.resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    tones: NDArray[np.float32] = np.array(small, dtype=np.float32).ravel()
    tones -= tones.mean()
    length = float(np.linalg.norm(tones))
    if length:
        tones /= np.float32(length)
    return tones


def likenesses(pairs: Sequence[tuple[T, T]], load: Callable[[T], Image.Image | None]) -> NDArray[np.float64]:
    """(M,): the correlation of the tones of each pair, -1 to 1; NaN where a picture is missing or has one tone.

    Args:
        pairs: M pairs of what pictures are called.
        load: gives the picture in mode L; None if it cannot. Each is asked for once.
    """
    place = {name: row for row, name in enumerate(dict.fromkeys(name for pair in pairs for name in pair))}
    outlines = np.full((len(place), SIDE * SIDE), np.nan, dtype=np.float32)
    for name, row in place.items():
        grey = load(name)
        if grey is not None:
            found = outline(grey)
            outlines[row] = found if found.any() else np.nan
    first, second = (np.array([place[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
    found_all = np.empty(len(pairs), dtype=np.float64)
    for start in range(0, len(pairs), 4096):
        part = slice(start, start + 4096)
        found_all[part] = np.einsum("ij,ij->i", outlines[first[part]], outlines[second[part]])
    return np.clip(found_all, -1.0, 1.0)
