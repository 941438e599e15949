"""What scoring saved detections gives back, shaped like the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.detections import SEMANTICS
from app.limits import Level, Positive
from app.scoring.detection.columns import ImageRows, write_csv
from app.scoring.detection.names import safe_name
from app.scoring.detection.objects import ObjectTable, write_objects
from app.scoring.detection.significance import NoiseFloor
from app.scoring.verdict import MOST_RESAMPLES
from app.stats import Interval

PROFILES = ("paper", "deepluq")


@dataclass(frozen=True)
class Strength:
    """What an operator did to make a mutant."""

    operator: str
    rate: float
    """Injected rate; NaN where the operator has none."""
    block: int | None = None
    """Block size; None where the operator has none."""


@dataclass(frozen=True)
class ScoreSettings:
    """The choices that scores depend on."""

    profile: str = "paper"
    """`paper` or `deepluq`."""
    threshold: Level = 0.5
    """IoU over which a pair can be a match."""
    alpha: Level = 0.05
    """Adjusted p-values of at most this kill."""
    p0: Level | None = None
    """Chance of a miss or ghost in a repetition without mutation; None: the bound from an unchanged second
    run where one is given, else 0.01."""
    repetitions: Positive | None = None
    """T to score; None: all there are, which must be the same in original and mutant."""
    semantics: str | None = None
    """What class rows are; None: what the logs say."""
    resamples: Positive = 1000
    """Of bootstrap and permutation."""
    level: Level = 0.95
    """Of intervals."""

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {self.profile!r}")
        for name, low, high in (("threshold", 0.0, 1.0), ("alpha", 0.0, 1.0), ("level", 0.0, 1.0)):
            if not low < getattr(self, name) < high:
                raise ValueError(f"{name} must lie between {low:g} and {high:g}, not {getattr(self, name)}")
        if self.semantics is not None and self.semantics not in SEMANTICS:
            raise ValueError(f"semantics must be one of {', '.join(SEMANTICS)}, not {self.semantics!r}")
        if self.p0 is not None and not 0.0 < self.p0 < 1.0:
            raise ValueError(f"p0 must lie between 0 and 1, not {self.p0}")
        if not 1 <= self.resamples <= MOST_RESAMPLES:
            raise ValueError(f"resamples must be from 1 to {MOST_RESAMPLES:,}, not {self.resamples}")
        if self.repetitions is not None and self.repetitions < 1:
            raise ValueError(f"repetitions must be at least 1, not {self.repetitions}")
        if self.profile == "deepluq" and (self.threshold, self.p0) not in ((0.5, None), (0.5, 0.01)):
            raise ValueError(
                "profile deepluq has threshold 0.5 and p0 0.01; choose profile paper to change them"
            )


Trio = Mapping[str, float]
"""By miss, ghost, mg."""


@dataclass(frozen=True)
class MutantScores:
    """The scores of one mutant over all images."""

    model: str = field(default="", kw_only=True)
    """Whose mutant it is, where scores of several models stand together."""
    key: str
    """Names it everywhere."""
    operator: str
    """What made it."""
    rate: float
    """Injected rate; NaN where the operator has none."""
    block: int | None
    """Block size; None where the operator has none."""
    images: int
    """Images scored."""
    img_killed: Mapping[str, bool]
    """Whether the adjusted p kills; by miss, ghost, mg."""
    img_killed_any: Mapping[str, bool]
    """The legacy rule: whether any repetition of any image holds one."""
    img_p: Trio
    """Smallest of the images' Holm-adjusted p-values, with one repetition the test's over the images; NaN without a
    scorable image."""
    img_p_adjusted: Trio
    """`img_p` by Benjamini-Hochberg over the mutants."""
    img_kills: Mapping[str, int]
    """Images whose own Holm-adjusted p is at most alpha; with one repetition, images that hold one."""
    obj_ms: Trio
    """Micro: from sums over images and repetitions."""
    obj_ms_ci: Mapping[str, Interval]
    """By bootstrap over images."""
    obj_ms_macro: Trio
    """Mean over images of the image's own ratio, undefined ones left out."""
    obj_p: Trio
    """One-sided paired permutation of per-image Obj-MS against the unchanged second run; NaN without one."""
    ms_iou: float
    """Mean 1 - IoU of the matched pairs; NaN without one."""
    ms_iou_ci: Interval
    """By bootstrap over images."""
    rates: Mapping[str, float]
    """Mean rate of the objects of each set: match, miss, ghost."""
    ua: Mapping[str, Mapping[str, float]]
    """UA-MS by set (match, miss, ghost) and metric (vr, ie, mi, var, ps)."""
    miss_confidence: float
    """Mean `conf` of the missed objects; NaN in profile `deepluq`."""
    undefined: Mapping[str, int]
    """Images that a score leaves out because it is undefined there; `ua_*` count objects."""
    unscorable: int = 0
    """Images that profile `deepluq` cannot score: a repetition has no original object."""
    invalid_rows: int = 0
    """Class rows that profile `deepluq` scored although they are no probabilities."""


@dataclass(frozen=True)
class GroupScores:
    """Means over the mutants of one operator, or of one rate or block of it."""

    model: str = field(default="", kw_only=True)
    """As in `MutantScores`."""
    operator: str
    """What made them."""
    rate: float | None
    """None: over all rates."""
    block: int | None
    """None: over all blocks, or the operator has none."""
    mutants: int
    """How many there are."""
    img_ms: Trio
    """Share of killed mutants."""
    obj_ms: Trio
    """Mean of their micro scores."""
    ms_iou: float
    """Mean of their scores."""
    ua: Mapping[str, Mapping[str, float]]
    """Means of their scores."""


@dataclass(frozen=True)
class Trend:
    """Rank correlation (Spearman) of every score with the injected rate over the mutants of one operator."""

    model: str = field(default="", kw_only=True)
    """As in `MutantScores`."""
    operator: str
    """What made the mutants."""
    mutants: int
    """How many there are."""
    spearman: Mapping[str, float]
    """By score, such as `obj_ms_miss` or `ua_match_ie`; NaN with under three mutants or a constant score."""

    @property
    def obj_ms_miss_spearman(self) -> float:
        """The one to look at first: Obj-MS of misses should rise with the rate."""
        return self.spearman["obj_ms_miss"]


@dataclass(frozen=True)
class ScoreSummary:
    """The scores of a test suite: over all mutants."""

    img_ms: Trio
    """Share of killed mutants, by miss, ghost, mg."""
    img_ms_ci: Mapping[str, Interval]
    """By bootstrap over images."""
    img_ms_ci_mutants: Mapping[str, Interval]
    """Wilson's, over mutants."""
    img_ms_any: Trio
    """Share of mutants killed by the legacy any-rule."""
    obj_ms: Trio
    """Mean of the mutants' micro scores."""
    obj_ms_ci: Mapping[str, Interval]
    """By bootstrap over images."""
    ms_iou: float
    """Mean of the mutants' scores."""
    ms_iou_ci: Interval
    """By bootstrap over images."""


@dataclass(frozen=True)
class Suite:
    """A named list of images, and the mutants that it kills."""

    model: str = field(default="", kw_only=True)
    """As in `MutantScores`."""
    operators: tuple[str, ...] = field(default=(), kw_only=True)
    """Of the mutants that it was scored on, where sets of scores stand together."""
    name: str
    """What it is called."""
    n: int
    """Images."""
    killed: Mapping[str, tuple[str, ...]]
    """Keys of the mutants it kills, by miss, ghost, mg."""


@dataclass(frozen=True)
class SuiteScores(ScoreSummary, Suite):
    """The scores of a suite, behind what it is."""


@dataclass(frozen=True)
class SuiteDifference:
    """One score of suite `a` minus that of suite `b`."""

    model: str = field(default="", kw_only=True)
    """As in `Suite`."""
    operators: tuple[str, ...] = field(default=(), kw_only=True)
    """As in `Suite`."""
    a: str
    """Name of the first suite."""
    b: str
    """Name of the second."""
    score: str
    """Such as `obj_ms_miss`."""
    difference: float
    """Of the means over the mutants."""
    ci: Interval
    """By bootstrap over the images of both, drawn together."""
    p_value: float
    """Two-sided paired permutation (sign flips) over the mutants."""


@dataclass(frozen=True)
class DetectionScores:
    """Everything about M mutants on N images."""

    settings: ScoreSettings
    p0: NoiseFloor | float
    """What the image tests were made against."""
    images: tuple[str, ...]
    summary: ScoreSummary
    mutants: tuple[MutantScores, ...]
    operators: tuple[GroupScores, ...]
    """Each operator, then its rates, then its blocks."""
    trend: tuple[Trend, ...]
    suites: tuple[SuiteScores, ...]
    suite_differences: tuple[SuiteDifference, ...]
    kills: NDArray[np.bool_] = field(repr=False)
    """(M, N, 3): the kill matrix: whether the image kills the mutant, by miss, ghost, mg: its Holm-adjusted p is at
    most alpha, or with one repetition, it holds one."""
    objects: ObjectTable = field(repr=False)
    rows: tuple[ImageRows, ...] = field(repr=False)
    """Profile `deepluq`: the 38 columns, a mutant each; empty otherwise."""
    notes: tuple[str, ...] = ()
    """What a reader should know about the data."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the mutants, in their order."""
        return tuple(mutant.key for mutant in self.mutants)

    def write_objects(self, path: Path) -> None:
        """Write the object table as Parquet."""
        write_objects(self.objects, self.keys, self.images, path)

    def write_columns(self, folder: Path, names: Sequence[str] | None = None) -> tuple[Path, ...]:
        """Write the 38 columns of each mutant as `mutant_{name}.csv`; names are the keys unless given."""
        told = self.keys if names is None else names
        paths = tuple(folder / f"mutant_{safe_name(name, 'mutant')}.csv" for name in told)
        for rows, path in zip(self.rows, paths if self.rows else (), strict=True):
            write_csv(rows, path)
        return paths if self.rows else ()
