"""Data sets of pictures with boxes: the test cases of a detector."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from app.errors import UserError
from app.samples import pixels
from app.subjects.dataset import Bytes, Excluded, Source, checked_indices

Boxes = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Objects:
    """What is in one picture; K is 0 in a picture of nothing."""

    boxes: Boxes
    """(K, 4): x1, y1, x2, y2 in pixels, with x2 > x1 and y2 > y1, inside the picture."""
    labels: Labels
    """(K,): their classes."""

    def __post_init__(self) -> None:
        if self.boxes.shape != (len(self.labels), 4) or self.labels.ndim != 1:
            raise ValueError(
                f"objects must be (K, 4) boxes and (K,) labels, not {self.boxes.shape} and {self.labels.shape}"
            )

    def __len__(self) -> int:
        return len(self.labels)


NOTHING = Objects(np.zeros((0, 4)), np.zeros(0, dtype=np.int64))
"""No objects."""


@dataclass(frozen=True, eq=False)
class DetectionDataset:
    """Pictures with boxes in a fixed order. Made by `coco`, `yolo`, `voc` or `scenes`."""

    name: str
    """The second half of the subject's name."""
    class_names: tuple[str, ...]
    """What the labels 0, 1, … mean, without a background; classes without an object are allowed."""
    objects: tuple[Objects, ...] = field(repr=False)
    """(N,): what is to be found in each test case."""
    paths: tuple[str, ...]
    """(N,): what each test case is called in reports; for files, relative to the folder of pictures with
    forward slashes."""
    source: Source = field(repr=False)
    """Loads the pictures."""
    rows: NDArray[np.int64] = field(repr=False)
    """(N,): where each test case is in the source."""
    case_digests: Bytes = field(repr=False)
    """(N, 32): SHA-256 of each picture's content."""
    ignored: tuple[Objects, ...] = field(default=(), repr=False)
    """(N,), or empty where there are none: crowds and objects marked difficult, which need not be found and
    are no mistake if they are."""
    excluded: tuple[Excluded, ...] = ()
    """Files that were left out."""
    named: bool = True
    """Whether the class names were given; otherwise they are just the numbers."""
    notes: tuple[str, ...] = ()
    """What a reader of the report should know about how the data was read."""
    digest: str = field(init=False)
    """SHA-256 of content, boxes (to a hundredth of a pixel) and class names of every test case, in order:
    equal data has an equal digest, wherever it lies, in whichever format, and however its classes and objects
    are numbered."""

    def __post_init__(self) -> None:
        n = len(self.objects)
        if not n == len(self.paths) == len(self.rows) == len(self.case_digests):
            raise ValueError("objects, paths, rows and case_digests must have one entry a test case")
        if not self.ignored:
            object.__setattr__(self, "ignored", (NOTHING,) * n)
        hasher = hashlib.sha256()
        for content, found, left in zip(self.case_digests, self.objects, self.ignored, strict=True):
            hasher.update(content.tobytes())
            hasher.update(self._described(found) + b"\1" + self._described(left) + b"\2")
        object.__setattr__(self, "digest", hasher.hexdigest())

    def _described(self, objects: Objects) -> bytes:
        hundredths = np.round(objects.boxes * 100).astype("<i8")
        rows = (
            self.class_names[label].encode(errors="surrogateescape") + b"\0" + box.tobytes()
            for label, box in zip(objects.labels, hundredths, strict=True)
        )
        return b"".join(sorted(rows))

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def num_objects(self) -> int:
        """How many objects are to be found in all test cases."""
        return sum(map(len, self.objects))

    def load(self, i: int) -> Image.Image:
        """The picture of a test case, fully decoded, in mode RGB or L as it is stored."""
        return pixels(self.source.load(int(self.rows[i])))

    def boxes(self, i: int) -> Boxes:
        """(K, 4): x1, y1, x2, y2 in pixels of what is to be found in a test case."""
        return self.objects[i].boxes

    def labels(self, i: int) -> Labels:
        """(K,): the classes of what is to be found in a test case."""
        return self.objects[i].labels

    def subset(self, indices: ArrayLike, name: str | None = None) -> DetectionDataset:
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
            objects=tuple(self.objects[i] for i in chosen),
            paths=tuple(self.paths[i] for i in chosen),
            rows=self.rows[chosen],
            case_digests=self.case_digests[chosen],
            ignored=tuple(self.ignored[i] for i in chosen),
        )

    def sample(self, max_samples: int | None, seed: int = 0) -> DetectionDataset:
        """At most so many test cases, drawn evenly, in their old order.

        Args:
            max_samples: how many; None or no fewer than there are gives all.
            seed: of the draw.

        Raises:
            UserError: fewer than one.
        """
        return self.subset(drawn(len(self), max_samples, seed))


def drawn(n: int, max_samples: int | None, seed: int) -> NDArray[np.int64]:
    """Rising indices of a seeded draw without replacement; all of 0..n-1 if `max_samples` allows.

    Raises:
        UserError: `max_samples` is below one.
    """
    if max_samples is not None and max_samples < 1:
        raise UserError(f"dataset.max_samples must be at least 1 or null, not {max_samples}")
    if max_samples is None or max_samples >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, max_samples, replace=False))


def objects_of(pairs: Iterable[tuple[tuple[float, float, float, float], int]]) -> Objects:
    """The objects of (box, label) pairs."""
    listed = list(pairs)
    return Objects(
        np.array([box for box, _ in listed], dtype=np.float64).reshape(-1, 4),
        np.array([label for _, label in listed], dtype=np.int64),
    )
