"""The report of detector scores (artifact `assay.uamt`): what images notice of a detector's mutants.

`task=score` writes it from saved detections and `task=mutate` from a detector that it ran. Scores, rates and
intervals are fractions; a number that is not defined is NaN, written as null. By `miss`, `ghost` and `mg` (either).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain
from app.scoring.mutant_results import Interval

ARTIFACT, VERSION = "assay.uamt", 1
Profile: TypeAlias = Literal["paper", "deepluq"]


@dataclass(frozen=True)
class Trio:
    """A number for misses, for ghosts, and for either."""

    miss: float
    ghost: float
    mg: float


@dataclass(frozen=True)
class TrioInterval:
    """Intervals of a trio."""

    miss: Interval
    ghost: Interval
    mg: Interval


@dataclass(frozen=True)
class TrioCount:
    """Counts for misses, for ghosts, and for either."""

    miss: int
    ghost: int
    mg: int


@dataclass(frozen=True)
class TrioFlag:
    """Whether misses, ghosts, and either do it."""

    miss: bool
    ghost: bool
    mg: bool


@dataclass(frozen=True)
class Metrics:
    """The five uncertainties of one set of objects."""

    vr: float
    """Variation ratio."""
    ie: float
    """Entropy."""
    mi: float
    """Mutual information."""
    var: float
    """Total variance of the boxes."""
    ps: float
    """Prediction surface of the boxes."""


@dataclass(frozen=True)
class UaScores:
    """UA-MS of the three sets."""

    match: Metrics
    miss: Metrics
    ghost: Metrics


@dataclass(frozen=True)
class Settings:
    """What the scores depend on beside the detections."""

    seed: int
    """Of bootstrap and permutation."""
    profile: Profile
    """`paper` or `deepluq`."""
    threshold: float
    """IoU over which a pair can be a match."""
    alpha: float
    """Adjusted p-values of at most this kill."""
    p0_from: Literal["default", "given", "unchanged run"]
    """Where p0 comes from; its values stand at each part."""
    repetitions: tuple[int, ...]
    """The numbers of repetitions T that images have, in order."""
    semantics: str
    """What class rows are: softmax_background or sigmoid."""
    resamples: int
    """Of bootstrap and permutation."""
    level: float
    """Of intervals."""
    engine: str = ""
    """How a detector was run; empty for saved detections."""
    predictions_digest: str = ""
    """Digest of all the saved detections; empty if a detector was run."""
    config_digest: str = ""
    """Digest of the configuration."""


@dataclass(frozen=True)
class Summary:
    """The scores over all mutants.

    Over several parts scores are means over all mutants, and the ends of bootstrap intervals are means of the parts'
    ends: wide enough whatever the parts have in common.
    """

    mutants: int
    """How many there are."""
    killed: TrioCount
    """How many the image tests kill."""
    img_ms: Trio
    """Share of killed mutants."""
    img_ms_ci: TrioInterval
    """By bootstrap over images."""
    img_ms_ci_mutants: TrioInterval
    """Wilson's, over mutants."""
    img_ms_any: Trio
    """Share of mutants that the legacy any-rule kills."""
    obj_ms: Trio
    """Mean of the mutants' micro scores."""
    obj_ms_ci: TrioInterval
    """By bootstrap over images."""
    ms_iou: float
    """Mean of the mutants' scores."""
    ms_iou_ci: Interval
    """By bootstrap over images."""
    ua: UaScores
    """Means of the mutants' scores."""


@dataclass(frozen=True)
class Part:
    """Mutants that were scored together: one model, its original, and one family of tests."""

    model: str
    """The model."""
    operators: tuple[str, ...]
    """What made the mutants."""
    images: int
    """Images scored."""
    p0: Trio
    """Chance of a miss or ghost in a repetition without mutation."""
    summary: Summary
    """Its scores."""


@dataclass(frozen=True)
class MutantScore:
    """One mutant over all images."""

    model: str
    key: str
    """Names it everywhere."""
    operator: str
    rate: float | None
    """Injected rate; None where the operator has none."""
    block: int | None
    """Block size; None where the operator has none."""
    images: int
    """Images scored."""
    img_killed: TrioFlag
    """Whether the adjusted p kills."""
    img_killed_any: TrioFlag
    """The legacy rule: whether any repetition of any image holds one."""
    img_kills: TrioCount
    """Images whose own test kills it."""
    img_p: Trio
    """Smallest p of the images, by Holm."""
    img_p_adjusted: Trio
    """The same by Benjamini-Hochberg over the mutants."""
    obj_ms: Trio
    """Micro: from sums over images and repetitions."""
    obj_ms_ci: TrioInterval
    """By bootstrap over images."""
    obj_ms_macro: Trio
    """Mean over images."""
    obj_p: Trio
    """Against an unchanged second run; NaN without one."""
    ms_iou: float
    ms_iou_ci: Interval
    rates: Mapping[str, float]
    """Mean rate of the objects of each set: match, miss, ghost."""
    ua: UaScores
    miss_confidence: float
    """Mean confidence of the missed objects; NaN in profile `deepluq`."""
    undefined: Mapping[str, int]
    """Images (`ua_*`: objects) that a score leaves out because it is undefined there."""
    unscorable: int = 0
    """Profile `deepluq`: images with a row of NaN, because a repetition has no original object."""
    invalid_rows: int = 0
    """Profile `deepluq`: class rows that were scored although they are no probabilities."""


@dataclass(frozen=True)
class OperatorScore:
    """Means over the mutants of one operator, or of one rate or block of it."""

    model: str
    operator: str
    rate: float | None
    """None: over all rates."""
    block: int | None
    """None: over all blocks, or the operator has none."""
    mutants: int
    img_ms: Trio
    obj_ms: Trio
    ms_iou: float
    ua: UaScores


@dataclass(frozen=True)
class OperatorTrend:
    """How the scores of one operator's mutants go with the rate."""

    model: str
    operator: str
    mutants: int
    spearman: Mapping[str, float]
    """Rank correlation of each score with the rate; NaN under three mutants or for a constant score."""


@dataclass(frozen=True)
class Trend:
    """How scores go with the rate; means over operators, those without a number left out."""

    obj_ms_miss_spearman: float
    """Rank correlation of Obj-MS of misses with the rate: it should be near 1."""
    spearman: Mapping[str, float]
    """The same of every score."""
    by_operator: tuple[OperatorTrend, ...]


@dataclass(frozen=True)
class TopImage:
    """An image that kills many mutants."""

    model: str
    image: str
    kills: TrioCount
    """Mutants that its own test kills."""
    mutants: int
    """Mutants it was tested on."""


@dataclass(frozen=True)
class Suite:
    """A named list of images."""

    model: str
    operators: tuple[str, ...]
    """Of the part it was scored in."""
    name: str
    n: int
    """Images."""
    img_ms: Trio
    img_ms_ci: TrioInterval
    obj_ms: Trio
    obj_ms_ci: TrioInterval
    ms_iou: float
    ms_iou_ci: Interval
    killed: Mapping[str, tuple[str, ...]]
    """Keys of the mutants it kills, by miss, ghost, mg."""


@dataclass(frozen=True)
class SuiteDifference:
    """One score of suite `a` less that of suite `b`."""

    model: str
    operators: tuple[str, ...]
    a: str
    b: str
    score: str
    """Such as obj_ms_miss."""
    difference: float
    ci: Interval
    p_value: float
    """Two-sided, paired over the mutants."""


@dataclass(frozen=True)
class Counts:
    """How much there was, and what the scores leave out; sums over mutants."""

    images: int
    """Different images."""
    mutants: int
    objects: Mapping[str, int]
    """Rows of the object table by set: match, miss, ghost."""
    undefined: Mapping[str, int]
    """Images (`ua_*`: objects) that a score leaves out because it is undefined there."""
    unscorable: int
    """Profile `deepluq`: rows of NaN."""
    invalid_rows: int
    """Profile `deepluq`: class rows that are no probabilities."""


@dataclass(frozen=True)
class UamtReport:
    """What images notice of a detector's mutants."""

    schema: Schema = field(default=Schema(ARTIFACT, VERSION), kw_only=True)
    """What this is; nobody needs to give it."""
    run: Run
    """Where it comes from."""
    subject: Subject
    """What was tested."""
    settings: Settings
    """What was chosen."""
    counts: Counts
    """How much there was."""
    summary: Summary
    trend: Trend
    parts: tuple[Part, ...]
    by_operator: tuple[OperatorScore, ...]
    """Each operator, then its rates, then its blocks."""
    mutants: tuple[MutantScore, ...]
    top_images: tuple[TopImage, ...]
    """Those that kill most, the best first."""
    never_killed: tuple[str, ...]
    """Keys of mutants that no image's own test kills; `model/key` if there are several models."""
    suites: tuple[Suite, ...] = ()
    suite_differences: tuple[SuiteDifference, ...] = ()


def load(path: Path) -> UamtReport:
    """A report from its JSON file.

    Raises:
        UserError: It cannot be read, is another artifact or newer, or lacks something.
    """
    return from_plain(UamtReport, read_report(path, ARTIFACT, VERSION), str(path))
