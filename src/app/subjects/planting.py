"""Copies of one data set's pictures planted in another: known faults that a check of the data must find."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from PIL import Image, ImageEnhance

from app.errors import UserError
from app.subjects.dataset import ImageDataset, Source


@dataclass(frozen=True)
class Plant:
    """A planted copy."""

    kind: Literal["exact", "near"]
    """Of equal content, or changed a little."""
    path: str
    """What it is called in the data set that it was planted in."""
    copy_of: str
    """What its original is called in the data set that it comes from."""
    change: str
    """What was done to it; empty for nothing."""
    class_name: str
    """The class it was given."""
    true_class: str
    """The class of its original."""


@dataclass(frozen=True)
class Planting:
    """How many copies of which split are planted where.

    Raises:
        ValueError: a negative number, more wrong labels than exact copies, or one split twice.
    """

    source: str = "train"
    """The split that pictures are copied from."""
    into: str = "test"
    """The split that gets the copies."""
    exact: int = 6
    """Copies of equal content."""
    near: int = 6
    """Copies that were made darker, given less contrast or saved again as JPEGs, in turn."""
    mislabelled: int = 2
    """Exact copies that get another class."""

    def __post_init__(self) -> None:
        if min(self.exact, self.near, self.mislabelled) < 0 or self.mislabelled > self.exact:
            raise ValueError("exact, near and mislabelled must be 0 or more, and mislabelled at most exact")
        if self.source == self.into:
            raise ValueError(f"source and into must be different splits, not both {self.source}")

    def plant(
        self, source: ImageDataset, target: ImageDataset, seed: int
    ) -> tuple[ImageDataset, tuple[Plant, ...]]:
        """The target with the copies at its end, and what they are.

        Args:
            source: where the pictures come from.
            target: what they are planted in.
            seed: of the draw.

        Raises:
            UserError: too few pictures to copy, classes that the target does not have, or one class alone to
                mislabel with.
        """
        n = self.exact + self.near
        if n > len(source):
            raise UserError(f"{n} copies cannot be planted: {self.source} has only {len(source)} pictures")
        lacking = set(source.class_names) - set(target.class_names)
        if lacking:
            raise UserError(f"{self.into} has no class {min(lacking)}, which pictures of {self.source} have")
        if self.mislabelled and len(target.class_names) < 2:
            raise UserError(f"{self.into} has one class alone: there is no wrong one to give")
        rng = np.random.default_rng([seed, 7])
        images, digests, labels, plants = [], [], [], []
        for number, row in enumerate(rng.choice(len(source), n, replace=False).tolist()):
            exact = number < self.exact
            image, change = (source.load(row), "") if exact else _changed(source.load(row), number)
            true = source.class_names[int(source.labels[row])]
            label = target.class_names.index(true)
            if number < self.mislabelled:
                label = int((label + rng.integers(1, len(target.class_names))) % len(target.class_names))
            images.append(image)
            digests.append(source.case_digests[row].tobytes() if exact else _digest(image))
            labels.append(label)
            plants.append(
                Plant(
                    "exact" if exact else "near",
                    f"planted/{source.paths[row]}",
                    source.paths[row],
                    change,
                    target.class_names[label],
                    true,
                )
            )
        own = len(target)
        planted = replace(
            target,
            labels=np.concatenate([target.labels, np.array(labels, dtype=np.int32)]),
            paths=target.paths + tuple(each.path for each in plants),
            source=PlantedSource(target, tuple(images)),
            rows=np.arange(own + n),
            case_digests=np.concatenate(
                [target.case_digests, np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)]
            ),
        )
        return planted, tuple(plants)


@dataclass(frozen=True, eq=False)
class PlantedSource(Source):
    """Pictures of a data set, then the planted ones."""

    dataset: ImageDataset
    """The pictures that were there."""
    images: tuple[Image.Image, ...]
    """The planted ones."""

    def load(self, row: int) -> Image.Image:
        """The picture of a row."""
        own = len(self.dataset)
        return self.dataset.load(row) if row < own else self.images[row - own].copy()


def _changed(image: Image.Image, number: int) -> tuple[Image.Image, str]:
    """The picture changed in one of three ways, and in which."""
    if number % 3 == 0:
        return ImageEnhance.Brightness(image).enhance(0.9), "10 % darker"
    if number % 3 == 1:
        return ImageEnhance.Contrast(image).enhance(0.9), "10 % less contrast"
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90)
    again = Image.open(buffer)
    again.load()
    return again, "saved again as JPEG, quality 90"


def _digest(image: Image.Image) -> bytes:
    return hashlib.sha256(repr((image.size, image.mode)).encode() + image.tobytes()).digest()
