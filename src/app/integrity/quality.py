"""Quality of the pictures of one split: what is broken, repeated, empty, too small or unlike the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.integrity.duplicates import NEAR_EMPTY, exact_groups
from app.integrity.listing import Skipped
from app.integrity.scan import Scan

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class QualityLimits:
    """From where on a picture is faulty.

    Raises:
        ValueError: a limit that no picture could keep.
    """

    min_width: int = 64
    """Pixels; less is low resolution."""
    min_height: int = 64
    """Pixels; less is low resolution."""
    near_empty_std: float = NEAR_EMPTY
    """Grey levels; a standard deviation below is near-empty."""
    dark_below: float = 64.0
    """Level of the strongest channel; too dark if 99 % of the pixels are below."""
    bright_above: float = 240.0
    """Grey level; too bright if 95 % of the pixels are above."""
    blurry_below: float = 0.10
    """Sharpness (`Appearance.sharpness`); less is blurry."""
    aspect_factor: float = 2.0
    """How many times the longer side over the shorter one may be off from its median."""
    size_factor: float = 4.0
    """How many times the side of a square of the same area may be off from its median."""
    shown: int = 200
    """How many pictures of a fault are listed; all are counted."""

    def __post_init__(self) -> None:
        if min(self.min_width, self.min_height, self.shown) < 0:
            raise ValueError("min_width, min_height and shown must be 0 or more")
        if not (self.aspect_factor > 1 and self.size_factor > 1):
            raise ValueError("aspect_factor and size_factor must be above 1")


@dataclass(frozen=True)
class Flagged:
    """A picture with a fault."""

    path: str
    """What it is called."""
    class_name: str | None
    """Its class."""
    value: float
    """What was measured."""


@dataclass(frozen=True)
class Fault:
    """The pictures with one kind of fault."""

    kind: str
    """low_resolution, near_empty, too_dark, too_bright, blurry, odd_aspect or odd_size."""
    n: int
    """How many there are."""
    value: str
    """What was measured, in words with the limit."""
    worst: tuple[Flagged, ...]
    """The worst of them, worst first."""


@dataclass(frozen=True)
class DuplicateGroup:
    """Pictures with the same content."""

    sha256: str
    """Of their content."""
    n: int
    """How many."""
    paths: tuple[str, ...]
    """What they are called; the first of them if they are many."""
    class_names: tuple[str, ...]
    """Their classes, by name."""
    spans_classes: bool
    """Whether the same picture has more than one class: at least one label is wrong."""


@dataclass(frozen=True)
class Unread:
    """A picture that is left out."""

    path: str
    """What it is called."""
    class_name: str | None
    """Its class."""
    reason: str
    """Why, as the end of a sentence that begins with the path."""


@dataclass(frozen=True)
class ClassQuality:
    """Faults of the pictures of one class."""

    name: str
    """The class; empty for pictures without one."""
    n: int
    """Its pictures, unreadable ones too."""
    unreadable: int
    """Pictures that are left out."""
    low_resolution: int
    """Pictures below the least width or height."""
    extra_duplicates: int
    """Pictures whose content an earlier one has, of whatever class."""
    near_empty: int
    """Pictures that show nothing."""


@dataclass(frozen=True)
class Quality:
    """Quality of one split."""

    split: str
    """The split's name."""
    total: int
    """Pictures, unreadable ones too."""
    limits: QualityLimits
    """From where on a picture counted as faulty."""
    unreadable: tuple[Unread, ...]
    """All pictures that are left out."""
    faults: tuple[Fault, ...]
    """One of each kind, also where there is none."""
    duplicate_groups: int
    """Groups of pictures with the same content."""
    extra_duplicates: int
    """Their members less the groups: how many pictures could go."""
    groups_spanning_classes: int
    """Groups whose members have different classes."""
    duplicates: tuple[DuplicateGroup, ...]
    """The groups that span classes first, then by size; as many as the limits show."""
    classes: tuple[ClassQuality, ...]
    """By label; then pictures without a class, if there are any."""
    skipped: tuple[Skipped, ...]
    """Files that are no pictures of the split."""

    def fault(self, kind: str) -> Fault:
        """The fault of a kind."""
        return next(each for each in self.faults if each.kind == kind)

    @property
    def share_faulty(self) -> float:
        """Unreadable, low-resolution, extra duplicate and near-empty pictures over all, at most 1.

        A picture with two of these faults counts twice. NaN without pictures.
        """
        counted = self.fault("low_resolution").n + self.fault("near_empty").n
        faulty = len(self.unreadable) + self.extra_duplicates + counted
        return min(faulty / self.total, 1.0) if self.total else float("nan")


def quality(scan: Scan, limits: QualityLimits | None = None) -> Quality:
    """Quality of a split.

    Args:
        scan: the split.
        limits: from where on a picture is faulty; None takes the defaults.
    """
    limits = limits or QualityLimits()
    measures = _measures(scan, limits)
    groups = exact_groups(scan.digests, scan.readable)
    extra = np.zeros(len(scan), dtype=np.bool_)
    for group in groups:
        extra[group[1:]] = True
    shown = [_group(scan, group) for group in groups]
    spanning = sum(each.spans_classes for each in shown)
    return Quality(
        split=scan.name,
        total=len(scan),
        limits=limits,
        unreadable=tuple(
            Unread(scan.paths[row], scan.class_of(row), scan.reasons[row])
            for row in np.flatnonzero(~scan.readable).tolist()
        ),
        faults=tuple(_fault(scan, measure, limits.shown) for measure in measures),
        duplicate_groups=len(groups),
        extra_duplicates=int(extra.sum()),
        groups_spanning_classes=spanning,
        duplicates=tuple(sorted(shown, key=lambda each: (not each.spans_classes, -each.n))[: limits.shown]),
        classes=_by_class(scan, {each.kind: each.mask for each in measures}, extra),
        skipped=scan.skipped,
    )


@dataclass(frozen=True, eq=False)
class _Measure:
    kind: str
    words: str
    mask: Mask
    values: NDArray[np.float64]
    badness: NDArray[np.float64]


def _measures(scan: Scan, limits: QualityLimits) -> list[_Measure]:
    ok = scan.readable
    sides = np.where(ok[:, None], scan.sides, 1).astype(np.float64)
    width, height = sides[:, 0], sides[:, 1]
    short = np.minimum(width, height)
    aspect, size = np.maximum(width, height) / short, np.sqrt(width * height)
    seen = ok & ~(scan.std < limits.near_empty_std)  # what is empty is not also dark, bright and blurry

    def measure(kind: str, words: str, mask: Mask, values: NDArray[np.float64], sign: int) -> _Measure:
        return _Measure(kind, words, mask, values, sign * values)

    def odd(kind: str, words: str, values: NDArray[np.float64], factor: float) -> _Measure:
        median = float(np.median(values[ok])) if ok.any() else 1.0
        off = np.abs(np.log(values / median))
        text = f"{words}; the median is {median:.4g}, odd is {factor:g} times off"
        return _Measure(kind, text, ok & (off > np.log(factor)), values, off)

    small = ok & ((width < limits.min_width) | (height < limits.min_height))
    low = f"shorter side in pixels; low is under {limits.min_width} x {limits.min_height}"
    empty = f"standard deviation of the grey levels; near-empty is under {limits.near_empty_std:g}"
    dark = f"level of the strongest channel in 99 % of the pixels; too dark is under {limits.dark_below:g}"
    bright = f"grey level that 5 % of the pixels do not exceed; too bright is over {limits.bright_above:g}"
    blurry = (
        f"variation of the Laplacian over that of the grey levels; blurry is under {limits.blurry_below:g}"
    )
    return [
        measure("low_resolution", low, small, short, -1),
        measure("near_empty", empty, ok & (scan.std < limits.near_empty_std), scan.std, -1),
        measure("too_dark", dark, seen & (scan.bright < limits.dark_below), scan.bright, -1),
        measure("too_bright", bright, seen & (scan.dark > limits.bright_above), scan.dark, 1),
        measure("blurry", blurry, seen & (scan.sharpness < limits.blurry_below), scan.sharpness, -1),
        odd("odd_aspect", "longer side over the shorter one", aspect, limits.aspect_factor),
        odd("odd_size", "side in pixels of a square of the same area", size, limits.size_factor),
    ]


def _fault(scan: Scan, measure: _Measure, shown: int) -> Fault:
    rows = np.flatnonzero(measure.mask)
    worst = rows[np.argsort(-measure.badness[rows], kind="stable")][:shown]
    return Fault(
        measure.kind,
        int(rows.size),
        measure.words,
        tuple(
            Flagged(scan.paths[row], scan.class_of(row), float(measure.values[row])) for row in worst.tolist()
        ),
    )


def _group(scan: Scan, rows: NDArray[np.int64], shown: int = 20) -> DuplicateGroup:
    labels = np.unique(scan.labels[rows])
    names = tuple(sorted(scan.class_names[label] for label in labels.tolist() if label >= 0))
    return DuplicateGroup(
        sha256=scan.digests[rows[0]].tobytes().hex(),
        n=int(rows.size),
        paths=tuple(scan.paths[row] for row in rows[:shown].tolist()),
        class_names=names,
        spans_classes=len(names) > 1,
    )


def _by_class(scan: Scan, masks: dict[str, Mask], extra: Mask) -> tuple[ClassQuality, ...]:
    slots = len(scan.class_names) + 1
    place = np.where(scan.labels >= 0, scan.labels, slots - 1)

    def count(mask: Mask) -> list[int]:
        return list(map(int, np.bincount(place[mask], minlength=slots)))

    columns = zip(
        (*scan.class_names, ""),
        count(np.ones(len(scan), dtype=np.bool_)),
        count(~scan.readable),
        count(masks["low_resolution"]),
        count(extra),
        count(masks["near_empty"]),
        strict=True,
    )
    rows = [ClassQuality(*row) for row in columns]
    return tuple(rows if rows[-1].n else rows[:-1])
