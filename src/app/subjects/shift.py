"""A shifted stream: a data set as it may look in operation, with worse pictures and other class frequencies.

Each picture gets one corruption, drawn at random, with a severity from 0 (none) to 5 in the shares of a mix. The kinds
follow common ones of Hendrycks & Dietterich (ICLR 2019); their strengths are our own.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageFilter

from app.errors import UserError
from app.limits import NotNegative, Positive
from app.subjects.dataset import ImageDataset, Source

SEVERITIES = 6
"""None, and five strengths."""


def _noise(image: Image.Image, severity: int, rng: np.random.Generator) -> Image.Image:
    pixels = np.asarray(image, dtype=np.float32)
    spread = (8.0, 16.0, 26.0, 38.0, 52.0)[severity - 1]
    noisy = np.rint(pixels + rng.standard_normal(pixels.shape, dtype=np.float32) * np.float32(spread))
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def _blur(image: Image.Image, severity: int, _: np.random.Generator) -> Image.Image:
    share = (0.015, 0.025, 0.04, 0.055, 0.075)[severity - 1]
    return image.filter(ImageFilter.GaussianBlur(share * min(image.size)))


def _contrast(image: Image.Image, severity: int, _: np.random.Generator) -> Image.Image:
    return ImageEnhance.Contrast(image).enhance((0.75, 0.6, 0.45, 0.3, 0.2)[severity - 1])


def _brightness(image: Image.Image, severity: int, _: np.random.Generator) -> Image.Image:
    return ImageEnhance.Brightness(image).enhance((1.2, 1.4, 1.7, 2.1, 2.6)[severity - 1])


def _darkness(image: Image.Image, severity: int, _: np.random.Generator) -> Image.Image:
    return ImageEnhance.Brightness(image).enhance((0.8, 0.65, 0.5, 0.35, 0.22)[severity - 1])


def _pixelation(image: Image.Image, severity: int, _: np.random.Generator) -> Image.Image:
    share = (0.8, 0.65, 0.5, 0.4, 0.3)[severity - 1]
    small = (max(1, round(image.width * share)), max(1, round(image.height * share)))
    return image.resize(small, Image.Resampling.BOX).resize(image.size, Image.Resampling.NEAREST)


CORRUPTIONS: Mapping[str, Callable[[Image.Image, int, np.random.Generator], Image.Image]] = {
    "noise": _noise,
    "blur": _blur,
    "contrast": _contrast,
    "brightness": _brightness,
    "darkness": _darkness,
    "pixelation": _pixelation,
}
"""What can happen to a picture, by name."""


@dataclass(frozen=True, eq=False)
class ShiftedSource:
    """Pictures of another source, corrupted when they are loaded; the same ones every time."""

    source: Source
    """Where the clean pictures come from."""
    rows: NDArray[np.int64]
    """(M,) row of each in that source."""
    kinds: tuple[str, ...]
    """(M,) what happens to each."""
    severities: NDArray[np.int64]
    """(M,) how strongly, 0 not at all."""
    seed: int
    """Of noise."""

    def load(self, row: int) -> Image.Image:
        """The picture of a row as it looks in the stream."""
        image = self.source.load(int(self.rows[row]))
        severity = int(self.severities[row])
        if severity == 0:
            return image
        rng = np.random.default_rng([self.seed, int(self.rows[row])])
        return CORRUPTIONS[self.kinds[row]](image, severity, rng)


def shifted(
    dataset: ImageDataset,
    *,
    severities: Sequence[float],
    priors: Mapping[str, float],
    corruptions: Sequence[str] | None = None,
    size: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
) -> ImageDataset:
    """The stream that a data set becomes in operation; its labels stay true.

    Args:
        dataset: the clean pictures; none is shown twice.
        severities: shares of pictures with severity 0, 1, … 5; they need not sum to 1.
        priors: how much more (or less) often a class comes than in the data set, 1 for those not named; {"shirt": 3}.
        corruptions: kinds that may happen, of `CORRUPTIONS`, equally likely; None for all.
        size: pictures of the stream; None for as many as the priors allow.
        seed: of everything random.
        name: second half of the subject's name; None adds `_shifted`.

    Raises:
        UserError: an option out of range, an unknown kind or class, or more pictures than the priors allow.
    """
    if not isinstance(dataset, ImageDataset):
        raise UserError("dataset.dataset must have a _target_ that makes a data set of pictures")
    mix = _shares("severities", severities, 1, SEVERITIES)
    kinds = tuple(CORRUPTIONS if corruptions is None else corruptions)
    unknown = [each for each in kinds if each not in CORRUPTIONS]
    if unknown or not kinds:
        shown = f"{unknown[0]!r} is none" if unknown else "none is named"
        raise UserError(f"dataset.corruptions: {shown}; allowed: {', '.join(CORRUPTIONS)}")
    if seed < 0:
        raise UserError(f"dataset.seed must be 0 or more, not {seed}")
    rng = np.random.default_rng([seed, 0x5417])
    chosen = _drawn(dataset, priors, size, rng)
    levels = np.arange(len(mix))
    drawn = rng.choice(levels, size=len(chosen), p=mix)
    what = tuple(kinds[i] for i in rng.integers(len(kinds), size=len(chosen)))
    part = dataset.subset(chosen, name or f"{dataset.name}_shifted")
    digests = [
        content.tobytes()
        if severity == 0
        else hashlib.sha256(content.tobytes() + f"{kind}|{severity}|{seed}|{row}".encode()).digest()
        for content, kind, severity, row in zip(part.case_digests, what, drawn, part.rows, strict=True)
    ]
    words = f"shifted on purpose: {np.mean(drawn > 0):.0%} of the pictures are corrupted ({', '.join(kinds)})"
    if priors:
        words += f"; class frequencies times {', '.join(f'{key} {value:g}' for key, value in priors.items())}"
    return replace(
        part,
        source=ShiftedSource(part.source, part.rows, what, drawn.astype(np.int64), seed),
        rows=np.arange(len(part)),
        case_digests=np.frombuffer(b"".join(digests), np.uint8).reshape(len(part), 32),
        notes=(*part.notes, words),
    )


def _shares(name: str, values: Sequence[float], least: int, most: int) -> NDArray[np.float64]:
    shares = np.asarray(list(values), dtype=np.float64)
    fits = least <= len(shares) <= most and bool(np.isfinite(shares).all()) and bool((shares >= 0).all())
    if not fits or shares.sum() <= 0:
        raise UserError(
            f"dataset.{name} must be {least} to {most} shares of at least 0, not all 0, not {list(values)}"
        )
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def _drawn(
    dataset: ImageDataset, priors: Mapping[str, float], size: int | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Rising indices in which class c comes with its weight times its frequency."""
    for name, weight in priors.items():
        if name not in dataset.class_names:
            raise UserError(
                f"dataset.priors: {name!r} is no class; allowed: {', '.join(dataset.class_names)}"
            )
        if not (math.isfinite(weight) and weight >= 0):
            raise UserError(f"dataset.priors.{name} must be a number of at least 0, not {weight}")
    support = np.bincount(dataset.labels, minlength=len(dataset.class_names))
    wanted = support * np.array([priors.get(name, 1.0) for name in dataset.class_names])
    if wanted.sum() <= 0:
        raise UserError("dataset.priors leave no case: at least one class must have a weight above 0")
    share = wanted / wanted.sum()
    most = math.floor(float((support[share > 0] / share[share > 0]).min()) + 1e-9)
    total = most if size is None else size
    if not 1 <= total <= most:
        raise UserError(f"dataset.size must be 1 to {most} (more would show pictures twice), not {total}")
    exact = share * total
    quota = np.floor(exact + 1e-9).astype(np.int64)
    rest = np.argsort(quota - exact, kind="stable")[: total - quota.sum()]
    quota[rest] += 1
    return np.sort(
        np.concatenate(
            [
                rng.choice(np.flatnonzero(dataset.labels == c), int(min(k, support[c])), replace=False)
                for c, k in enumerate(quota)
            ]
        )
    ).astype(np.int64)
