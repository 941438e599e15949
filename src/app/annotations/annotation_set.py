"""The boxes that one file or folder states, with its images and classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError

Reals = NDArray[np.float64]
Indices = NDArray[np.int64]
Size = tuple[int, int]
"""Width and height in pixels."""


@dataclass(frozen=True)
class StatedImage:
    """One image as a file states it."""

    name: str
    """What it is called: COCO's file name (or number), else the path of its file of boxes without ending."""
    where: str
    """Which file and object states it, for messages."""
    file: str | None = None
    """The file name that is stated; None if none is."""
    size: Size | None = None
    """Width and height that are stated; None if none are."""


@dataclass(frozen=True, eq=False)
class AnnotationSet:
    """D boxes in N images; both may be 0."""

    source: Path
    """The file or folder."""
    form: str
    """Which form it has, in words."""
    images: tuple[StatedImage, ...]
    """(N,): images that are stated, with boxes or without; their names differ."""
    class_names: tuple[str, ...]
    """(K,): different names: the classes that are listed, or those that occur, in their order."""
    image: Indices
    """(D,): positions in `images`."""
    label: Indices
    """(D,): positions in `class_names`."""
    xyxy: Reals
    """(D, 4): x1, y1, x2, y2, finite, with x2 >= x1 and y2 >= y1."""
    where: Callable[[int], str]
    """File and line or object of a box, for messages."""
    score: Reals | None = None
    """(D,): confidence of each; None if none is stated."""
    ignored: NDArray[np.bool_] | None = None
    """(D,): objects that need not be found, such as crowds or difficult ones; None if there are none."""
    area: Reals | None = None
    """(D,): areas that are stated, which decide what is small and large; NaN where none is, None if none is."""
    relative: bool = False
    """Whether boxes are in fractions of width and height."""
    named: bool = True
    """Whether classes have names; otherwise they are the numbers that occur."""
    closed: bool = False
    """Whether other images and classes than those listed are a mistake."""
    by_id: bool = False
    """Whether images are called by numbers, as in COCO's results."""
    class_by_id: bool = False
    """Whether classes are called by numbers: number 1 may be the class with the name 0."""
    image_ids: Mapping[str, int] = field(default_factory=dict)
    """Positions of images by number."""
    class_ids: Mapping[str, int] = field(default_factory=dict)
    """Positions of classes by number."""
    notes: tuple[str, ...] = ()
    """What a reader of the report should know about how this was read."""

    def __len__(self) -> int:
        return len(self.label)

    @property
    def is_ignored(self) -> NDArray[np.bool_]:
        """(D,): `ignored`, also where there are none."""
        return np.zeros(len(self), dtype=np.bool_) if self.ignored is None else self.ignored

    def of_images(self, chosen: Sequence[int]) -> AnnotationSet:
        """The same with some of the images, in the order given, and their boxes."""
        place = np.full(len(self.images), -1, dtype=np.int64)
        place[np.asarray(chosen, dtype=np.int64)] = np.arange(len(chosen))
        rows = np.flatnonzero(place[self.image] >= 0)
        numbers = rows.tolist()
        old = self.where

        def take(column: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if column is None else column[rows]

        return replace(
            self,
            images=tuple(self.images[i] for i in chosen),
            image=place[self.image[rows]],
            label=self.label[rows],
            xyxy=self.xyxy[rows],
            where=lambda i: old(numbers[i]),
            score=take(self.score),
            ignored=take(self.ignored),
            area=take(self.area),
            image_ids={name: int(place[i]) for name, i in self.image_ids.items() if place[i] >= 0},
        )


def refuse_scores(where: str) -> UserError:
    """The error of a score in a ground truth."""
    return UserError(
        f"{where} has a score, as detections have; ground truth has none. "
        "Give the file of true boxes here (are both files swapped?), or remove the scores"
    )


def numbered(names: Sequence[str], known: Sequence[str] = ()) -> tuple[tuple[str, ...], Indices]:
    """Different names in the order in which they come, after known ones, and the place of each entry."""
    different = tuple(dict.fromkeys([*known, *names]))
    place = {name: i for i, name in enumerate(different)}
    return different, np.array([place[name] for name in names], dtype=np.int64)


def scores_of(given: Sequence[float | None], where: Callable[[int], str], *, strict: bool) -> Reals | None:
    """(D,): scores where all boxes have one; None where none has, which ground truth must.

    Raises:
        UserError: ground truth with a score, or some boxes with one and some without.
    """
    lacking = [i for i, each in enumerate(given) if each is None]
    if strict and len(lacking) < len(given):
        raise refuse_scores(where(next(i for i, each in enumerate(given) if each is not None)))
    if lacking and len(lacking) < len(given):
        raise UserError(f"{where(lacking[0])} has no score and others have one; all or none is allowed")
    return None if lacking or strict else np.array(given, dtype=np.float64)
