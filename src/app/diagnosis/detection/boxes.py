"""Boxes of many images in flat arrays, and an evaluation set: what is there and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Boxes:
    """D boxes in any order; D may be 0."""

    image: Indices
    """(D,): the image of each, a position in the set's images."""
    label: Indices
    """(D,): the class of each, a position in the set's class names."""
    xyxy: Reals
    """(D, 4): x1, y1, x2, y2."""
    score: Reals
    """(D,): confidence of each; 1 in the ground truth."""
    crowd: NDArray[np.bool_]
    """(D,): boxes around a crowd, only in the ground truth: what lies inside is neither right nor wrong."""
    stated_area: Reals | None = None
    """(D,): areas that the ground truth states, such as those of COCO's outlines; NaN where it states none."""

    def __post_init__(self) -> None:
        count = len(self.label)
        shapes = self.image.shape, self.label.shape, self.xyxy.shape, self.score.shape, self.crowd.shape
        if shapes != ((count,), (count,), (count, 4), (count,), (count,)):
            raise ValueError(f"boxes need arrays of shapes (D,), (D,), (D, 4), (D,), (D,), not {shapes}")
        if self.stated_area is not None and self.stated_area.shape != (count,):
            raise ValueError(f"stated_area must be (D,), not {self.stated_area.shape}")
        bad = ~np.isfinite(self.xyxy).all(axis=1) | ~np.isfinite(self.score)
        bad |= (self.xyxy[:, 2:] < self.xyxy[:, :2]).any(axis=1)
        if bad.any():
            first = int(np.argmax(bad))
            raise ValueError(
                f"box {first} is {self.xyxy[first].tolist()} with score {self.score[first]}: finite numbers with "
                "x2 >= x1 and y2 >= y1 are allowed"
            )

    def __len__(self) -> int:
        return len(self.label)

    @classmethod
    def of(
        cls,
        image: Any,
        label: Any,
        xyxy: Any,
        score: Any = None,
        crowd: Any = None,
        *,
        stated_area: Any = None,
    ) -> Boxes:
        """Boxes from anything array-like; without scores they are 1, without crowds there is none."""
        labels = np.asarray(label, dtype=np.int64).reshape(-1)
        count = len(labels)
        return cls(
            np.asarray(image, dtype=np.int64).reshape(-1),
            labels,
            np.asarray(xyxy, dtype=np.float64).reshape(-1, 4),
            np.ones(count) if score is None else np.asarray(score, dtype=np.float64).reshape(-1),
            np.zeros(count, dtype=np.bool_)
            if crowd is None
            else np.asarray(crowd, dtype=np.bool_).reshape(-1),
            None if stated_area is None else np.asarray(stated_area, dtype=np.float64).reshape(-1),
        )

    @property
    def area(self) -> Reals:
        """(D,): width times height."""
        sides = self.xyxy[:, 2:] - self.xyxy[:, :2]
        area: Reals = sides[:, 0] * sides[:, 1]
        return area

    @property
    def size_area(self) -> Reals:
        """(D,): what decides whether an object is small, medium or large: the stated area, else the box's."""
        if self.stated_area is None:
            return self.area
        return np.where(np.isnan(self.stated_area), self.area, self.stated_area)

    def take(self, rows: NDArray[Any]) -> Boxes:
        """Some of the boxes."""
        stated = None if self.stated_area is None else self.stated_area[rows]
        return Boxes(
            self.image[rows], self.label[rows], self.xyxy[rows], self.score[rows], self.crowd[rows], stated
        )


@dataclass(frozen=True)
class EvaluationSet:
    """Ground truth and detections of the same images."""

    images: tuple[str, ...]
    """N different image names, also of images without any box."""
    class_names: tuple[str, ...]
    """K different names."""
    truth: Boxes
    """What is there."""
    found: Boxes
    """What the detector found."""
    pixels: bool = True
    """Whether boxes are in pixels; if in fractions of the image, sizes mean nothing."""
    notes: tuple[str, ...] = ()
    """What a reader of the report should know about how the files were read."""
    forms: tuple[str, str] = ("", "")
    """Which forms ground truth and detections were read from, in words; empty if not from files."""

    def __post_init__(self) -> None:
        for what, names in (("image", self.images), ("class", self.class_names)):
            if len(set(names)) != len(names):
                raise ValueError(f"{what} names must differ from each other")
        for what, boxes in (("ground truth", self.truth), ("detections", self.found)):
            for kind, index, count in (
                ("image", boxes.image, len(self.images)),
                ("class", boxes.label, len(self.class_names)),
            ):
                if len(index) and not 0 <= int(index.min()) <= int(index.max()) < count:
                    raise ValueError(
                        f"each {kind} of the {what} must be in 0..{count - 1}, not {index.min()}..{index.max()}"
                    )
