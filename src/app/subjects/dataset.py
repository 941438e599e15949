"""Data sets of labelled pictures: the test cases of a subject."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from app.errors import UserError
from app.samples import pixels

Labels = NDArray[np.int32]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Excluded:
    """A file that is no test case."""

    path: str
    """Relative to the data set's root, with forward slashes."""
    reason: str
    """Why it was left out, as the end of a sentence that begins with the path."""


class Source(Protocol):
    """Where pictures come from; can be pickled, since worker processes load too."""

    def load(self, row: int) -> Image.Image:
        """The fully decoded picture of a row, in mode RGB or L."""
        ...


@dataclass(frozen=True, eq=False)
class ImageDataset:
    """Labelled pictures in a fixed order. Made by `arrays`, `image_folder` or `fashion`.

    Raises:
        UserError: an empty name or one with ``@``.
    """

    name: str
    """The second half of the subject's name."""
    class_names: tuple[str, ...]
    """What the labels 0, 1, … mean; classes without a case are allowed."""
    labels: Labels
    """(N,): the class of each test case."""
    paths: tuple[str, ...]
    """(N,): what each test case is called in reports; for files, relative to the root with forward
    slashes."""
    source: Source = field(repr=False)
    """Loads the pictures."""
    rows: NDArray[np.int64] = field(repr=False)
    """(N,): where each test case is in the source."""
    case_digests: Bytes = field(repr=False)
    """(N, 32): SHA-256 of each test case's content."""
    excluded: tuple[Excluded, ...] = ()
    """Files that were left out."""
    named: bool = True
    """Whether the class names were given; otherwise they are just the numbers."""
    notes: tuple[str, ...] = ()
    """What a reader of the report should know about how the data was read."""
    digest: str = field(init=False)
    """SHA-256 of content and class name of every test case, in order: equal data has an equal digest,
    wherever it lies and however its classes are numbered."""

    def __post_init__(self) -> None:
        if not self.name or "@" in self.name:
            raise UserError(f"dataset.name must not be empty nor hold '@': {self.name!r}")
        hasher = hashlib.sha256()
        for label, content in zip(self.labels, self.case_digests, strict=True):
            hasher.update(
                content.tobytes() + self.class_names[label].encode(errors="surrogateescape") + b"\0"
            )
        object.__setattr__(self, "digest", hasher.hexdigest())

    def __len__(self) -> int:
        return len(self.labels)

    def load(self, i: int) -> Image.Image:
        """The picture of a test case, fully decoded, in mode RGB or L as it is stored."""
        return pixels(self.source.load(int(self.rows[i])))

    def subset(self, indices: ArrayLike, name: str | None = None) -> ImageDataset:
        """Some test cases, in the given order.

        Args:
            indices: (M,) integers in 0..N-1.
            name: of the new data set; None keeps this one's.

        Raises:
            ValueError: indices that are no integers or out of range.
        """
        chosen = checked_indices(indices, len(self))
        return replace(
            self,
            name=name or self.name,
            labels=self.labels[chosen],
            paths=tuple(self.paths[i] for i in chosen),
            rows=self.rows[chosen],
            case_digests=self.case_digests[chosen],
        )

    def sample(self, max_samples: int | None, seed: int = 0) -> ImageDataset:
        """At most so many test cases, of every class in proportion, in their old order.

        Args:
            max_samples: how many; None or no fewer than there are gives all.
            seed: of the draw.

        Raises:
            UserError: fewer than one.
        """
        return self.subset(stratified(self.labels, max_samples, seed))


def checked_indices(indices: ArrayLike, n: int) -> NDArray[np.int64]:
    """(M,) indices of some of n test cases.

    Raises:
        ValueError: they are no integers or out of range.
    """
    chosen = np.asarray(indices)
    if chosen.ndim != 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
        raise ValueError(f"indices must be a list of integers, not {chosen.dtype} of shape {chosen.shape}")
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < n):
        raise ValueError(f"indices must be in 0..{n - 1}, not {chosen.min()}..{chosen.max()}")
    return chosen.astype(np.int64)


def stratified(labels: NDArray[np.integer], max_samples: int | None, seed: int) -> NDArray[np.int64]:
    """Rising indices of a seeded draw in which every class has its share, by largest remainder.

    Args:
        labels: (N,) classes.
        max_samples: how many to draw; None or at least N gives all.
        seed: of the draw.

    Raises:
        UserError: `max_samples` is below one, or `seed` below zero.
    """
    n = len(labels)
    if max_samples is not None and max_samples < 1:
        raise UserError(f"dataset.max_samples must be at least 1 or null, not {max_samples}")
    if seed < 0:
        raise UserError(f"dataset.seed must be 0 or more, not {seed}")
    if max_samples is None or max_samples >= n:
        return np.arange(n)
    classes, support = np.unique(labels, return_counts=True)
    exact = support * max_samples / n
    quota = np.floor(exact).astype(np.int64)
    most_left = np.argsort(quota - exact, kind="stable")
    quota[most_left[: max_samples - quota.sum()]] += 1
    rng = np.random.default_rng(seed)
    drawn = [
        rng.choice(np.flatnonzero(labels == c), k, replace=False) for c, k in zip(classes, quota, strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def check_class_names(names: Sequence[str]) -> None:
    """Checks the names of a data set's classes.

    Raises:
        UserError: none, an empty one, or one twice.
    """
    if not names:
        raise UserError("dataset.class_names is empty: name at least one class or leave it null")
    for each in names:
        if not each or names.count(each) > 1:
            raise UserError(f"dataset.class_names must be different and not empty, but holds {each!r}")
