"""Pictures in NumPy arrays and files of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app import array_files
from app.errors import UserError
from app.limits import File, NotNegative, Positive
from app.subjects.dataset import Bytes, ImageDataset, check_class_names
from app.tables import read_class_names


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Pictures in one array."""

    images: Bytes
    """(N, H, W) grey or (N, H, W, 3) colour."""

    def load(self, row: int) -> Image.Image:
        """The picture of a row."""
        return Image.fromarray(self.images[row])


def arrays(
    images: File | Path | NDArray[np.generic],
    labels: File | Path | NDArray[np.generic] | None = None,
    *,
    class_names: str | Sequence[str] | None = None,
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
) -> ImageDataset:
    """The data set in NumPy arrays or files of them.

    Args:
        images: (N, H, W) or (N, H, W, C) with C 1 or 3, bytes or floats in [0, 1]; an array, a ``.npy`` file
            or a ``.npz`` file with the keys ``images`` and, if `labels` is None, ``labels``.
        labels: (N,) integers from 0; an array, ``.npy``, or ``.npz`` with the key ``labels``.
        class_names: what the labels mean, a list or a file; None leaves them numbers.
        max_samples: keep a stratified sample of so many.
        seed: of the sample.
        name: None takes the file's name, or ``arrays``.

    Raises:
        UserError: files that cannot be read, wrong shapes or types, NaN, unlike lengths, or labels outside
            the classes.
    """
    in_file = isinstance(images, (str, Path))
    if labels is None and not (in_file and str(images).endswith(".npz")):
        raise UserError("dataset.labels is missing: only a .npz file of images can hold the labels too")
    pixels, notes = _pixels(_read(images, "images"))
    classes = _labels(_read(images if labels is None else labels, "labels"), len(pixels))
    named = class_names is not None
    names = _numbers(classes) if class_names is None else read_class_names(class_names, "dataset.class_names")
    check_class_names(names)
    outside = np.flatnonzero((classes < 0) | (classes >= len(names)))
    if outside.size:
        i = outside[0]
        raise UserError(
            f"labels must be in 0..{len(names) - 1} (one of the {len(names)} classes), but "
            f"case {i} has {classes[i]}" + (f", and {outside.size - 1} more" if outside.size > 1 else "")
        )
    return from_pixels(
        name or (Path(str(images)).stem.replace("@", "_") if in_file else "arrays"),
        names,
        classes,
        pixels,
        named=named,
        notes=notes,
    ).sample(max_samples, seed)


def from_pixels(
    name: str,
    class_names: tuple[str, ...],
    labels: NDArray[np.integer],
    pixels: Bytes,
    *,
    paths: Sequence[str] | None = None,
    named: bool = True,
    notes: tuple[str, ...] = (),
) -> ImageDataset:
    """The data set of checked arrays: (N,) labels and (N, H, W) or (N, H, W, 3) bytes."""
    n = len(labels)
    shape = repr(pixels.shape[1:]).encode()
    contents = [hashlib.sha256(shape + np.ascontiguousarray(image).tobytes()).digest() for image in pixels]
    return ImageDataset(
        name=name,
        class_names=class_names,
        labels=labels.astype(np.int32),
        paths=tuple(paths) if paths is not None else tuple(f"case-{i:05d}" for i in range(n)),
        source=ArraySource(pixels),
        rows=np.arange(n),
        case_digests=np.frombuffer(b"".join(contents), np.uint8).reshape(n, 32),
        named=named,
        notes=notes,
    )


def _read(given: str | Path | NDArray[np.generic], key: str) -> NDArray[np.generic]:
    if not isinstance(given, (str, Path)):
        return np.asarray(given)
    path = Path(given).expanduser()
    try:
        loaded = array_files.load(path, only=key)
    except FileNotFoundError:
        raise UserError(f"dataset.{key} {path} does not exist") from None
    except array_files.UnsoundFileError as reason:
        raise UserError(f"dataset.{key} {path} cannot be read as .npy or .npz: {reason}") from None
    return loaded[key] if isinstance(loaded, dict) else loaded


def _pixels(images: NDArray[np.generic]) -> tuple[Bytes, tuple[str, ...]]:
    """Images as (N, H, W) or (N, H, W, 3) bytes, and notes about the conversion."""
    if images.ndim == 4 and images.shape[-1] not in {1, 3} and images.shape[1] in {1, 3}:
        raise UserError(
            f"images are {images.shape}, channels first: give (N, H, W, C), images.transpose(0, 2, 3, 1)"
        )
    if images.ndim not in {3, 4} or (images.ndim == 4 and images.shape[-1] not in {1, 3}):
        raise UserError(
            f"images must be (N, H, W) or (N, H, W, C) with C 1 or 3, not of shape {images.shape}"
        )
    if not images.size:
        raise UserError(f"images hold no picture: their shape is {images.shape}")
    images = images[..., 0] if images.ndim == 4 and images.shape[-1] == 1 else images
    if images.dtype == np.uint8:
        return images.astype(np.uint8, copy=False), ()
    if not np.issubdtype(images.dtype, np.floating):
        raise UserError(f"images must be uint8, or floats in [0, 1], not {images.dtype}")
    lowest, highest = float(images.min()), float(images.max())  # NaN if there is one
    if not (math.isfinite(lowest) and math.isfinite(highest)):
        i = next(case for case, image in enumerate(images) if not np.isfinite(image).all())
        raise UserError(f"images hold NaN or infinity, first in case {i}")
    if lowest < 0 or highest > 1:
        raise UserError(
            f"images are floats in {lowest:g}..{highest:g}: scale them to [0, 1], or give bytes (uint8)"
        )
    rounded = np.empty(images.shape, dtype=np.uint8)
    for case, image in enumerate(
        images
    ):  # one at a time: all in double precision may be more than memory holds
        rounded[case] = np.round(image.astype(np.float64) * 255)
    return rounded, ("float images were rounded to 256 steps",)


def _labels(labels: NDArray[np.generic], n: int) -> NDArray[np.int64]:
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise UserError(f"labels must be (N,) integers, not {labels.dtype} of shape {labels.shape}")
    if len(labels) != n:
        raise UserError(f"there are {n} images but {len(labels)} labels")
    return labels.astype(np.int64)


def _numbers(labels: NDArray[np.int64]) -> tuple[str, ...]:
    if labels.min() < 0:
        raise UserError(f"labels must not be negative, but case {int(np.argmin(labels))} has {labels.min()}")
    if labels.max() >= 100_000:
        raise UserError(f"labels go up to {labels.max()}: they must number the classes from 0")
    return tuple(str(i) for i in range(int(labels.max()) + 1))
