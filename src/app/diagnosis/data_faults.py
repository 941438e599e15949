"""Faults of the test data that the scan of the images found: bad images, and images the model was trained on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.diagnosis.causes import Finding, severity

BY_DESIGN = 0.5
"""If at least this share of the images is small, the data set is a small-image one and none of them is bad."""
NOTABLE = 0.02
"""A share of faulty images below this is no finding, unless one cannot be read."""


@dataclass(frozen=True)
class QualityCounts:
    """What the scan of the test images counted."""

    total: int
    """Images scanned."""
    unreadable: int = 0
    """Images that cannot be decoded."""
    low_resolution: int = 0
    """Images below the smallest size."""
    extra_duplicates: int = 0
    """Exact copies beyond the first of each group."""
    near_empty: int = 0
    """Images of nearly one grey."""
    unreadable_files: tuple[str, ...] = ()
    """Their names."""

    def __post_init__(self) -> None:
        counts = self.unreadable, self.low_resolution, self.extra_duplicates, self.near_empty
        if self.total < 0 or min(counts) < 0 or max(counts) > self.total:
            raise ValueError(f"quality counts must be from 0 to the total of {self.total}, not {counts}")

    def faults(self, profile: str = "assay") -> float | None:
        """Share of faulty images for the score, at most 1; None (N/A) without images.

        Profile `original` counts small images always, `assay` only where they are the exception.
        """
        if not self.total:
            return None
        small = self.low_resolution
        if profile != "original" and small >= BY_DESIGN * self.total:
            small = 0
        return min(1.0, (self.unreadable + small + self.extra_duplicates + self.near_empty) / self.total)


@dataclass(frozen=True)
class LeakageCounts:
    """Test cases that are also in the training data."""

    total: int
    """Test cases compared."""
    exact: int
    """Test cases with an exact copy in the training data."""
    near: int = 0
    """Test cases with a near duplicate there and no exact copy; named in the evidence, never a finding alone."""
    files: tuple[str, ...] = ()
    """The test cases with an exact copy."""

    def __post_init__(self) -> None:
        if min(self.exact, self.near) < 0 or self.exact + self.near > self.total:
            raise ValueError(
                f"leaked test cases must be from 0 to the total of {self.total}, not {self.exact} + {self.near}"
            )


def find(quality: QualityCounts | None, leakage: LeakageCounts | None) -> Iterator[Finding]:
    """Findings `data_quality` and `leakage`, from what was counted."""
    share = quality.faults() if quality is not None else None
    if quality is not None and share is not None and (quality.unreadable or share >= NOTABLE):
        evidence = {
            "share": share,
            "total": float(quality.total),
            "unreadable": float(quality.unreadable),
            "low_resolution": float(quality.low_resolution),
            "extra_duplicates": float(quality.extra_duplicates),
            "near_empty": float(quality.near_empty),
        }
        sure = 0.6 + 0.35 * severity(share, NOTABLE)
        yield Finding("data_quality", sure, evidence, quality.unreadable_files, share)
    if leakage is not None and leakage.exact:
        share = leakage.exact / leakage.total
        evidence = {
            "exact": float(leakage.exact),
            "near": float(leakage.near),
            "total": float(leakage.total),
            "share": share,
        }
        yield Finding("leakage", 0.8 + 0.15 * share, evidence, leakage.files, share)
