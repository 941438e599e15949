"""The result of a detector's mutation testing: what the images kill of its mutants, over one or several sets of scores.

Scores, rates and intervals are fractions; a number that is not defined is NaN. Mappings are by `miss`, `ghost` and `mg`
(either) unless they say otherwise. The order of the fields is the order of the JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.measures import Value, value
from app.scoring.detection.objects import METRICS, SETS
from app.scoring.detection.results import (
    GroupScores,
    MutantScores,
    ScoreSummary,
    SuiteDifference,
    SuiteScores,
    Trend,
)

Profile: TypeAlias = Literal["paper", "deepluq"]


@dataclass(frozen=True)
class Settings:
    """What was chosen and changes the numbers, beside the detections."""

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
class Counts:
    """How much there was, and what the scores leave out; sums over mutants."""

    images: int
    """Different images."""
    mutants: int
    """How many mutants there are."""
    objects: Mapping[str, int]
    """Rows of the object table by set: match, miss, ghost."""
    undefined: Mapping[str, int]
    """Images (`ua_*`: objects) that a score leaves out because it is undefined there."""
    unscorable: int
    """Profile `deepluq`: rows of NaN."""
    invalid_rows: int
    """Profile `deepluq`: class rows that are no probabilities."""


@dataclass(frozen=True)
class Counted:
    """How many mutants there are, and how many are killed."""

    mutants: int
    """How many there are."""
    killed: Mapping[str, int]
    """How many the image tests kill."""


@dataclass(frozen=True)
class Summary(ScoreSummary, Counted):
    """The scores over all mutants, behind how many there are.

    Over several parts scores are means over all mutants, and the ends of bootstrap intervals are means of the parts'
    ends: wide enough whatever the parts have in common.
    """

    ua: Mapping[str, Mapping[str, float]]
    """Means of the mutants' UA-MS by set (match, miss, ghost) and metric (vr, ie, mi, var, ps)."""


@dataclass(frozen=True)
class Part:
    """Mutants that were scored together: one model, its original, and one family of tests."""

    model: str
    """The model."""
    operators: tuple[str, ...]
    """What made the mutants."""
    images: int
    """Images scored."""
    p0: Mapping[str, float]
    """Chance of a miss or ghost in a repetition without mutation."""
    summary: Summary
    """Its scores."""


@dataclass(frozen=True)
class Trends:
    """How scores go with the rate; means over operators, those without a number left out."""

    obj_ms_miss_spearman: float
    """Rank correlation of Obj-MS of misses with the rate: it should be near 1."""
    spearman: Mapping[str, float]
    """The same of every score."""
    by_operator: tuple[Trend, ...]
    """Of each model and operator."""


@dataclass(frozen=True)
class TopImage:
    """An image that kills many mutants."""

    model: str
    """Whose mutants they are."""
    image: str
    """Its name."""
    kills: Mapping[str, int]
    """Mutants that its own test kills."""
    mutants: int
    """Mutants it was tested on."""


@dataclass(frozen=True)
class DetectorMutationResult:
    """What the images kill of a detector's mutants."""

    counts: Counts
    """How much there was."""
    summary: Summary
    """The scores over all mutants."""
    trend: Trends
    """How scores go with the injected rate."""
    parts: tuple[Part, ...]
    """The sets of scores."""
    by_operator: tuple[GroupScores, ...]
    """Each operator, then its rates, then its blocks."""
    mutants: tuple[MutantScores, ...]
    """Every mutant."""
    top_images: tuple[TopImage, ...]
    """Those that kill most, the best first."""
    never_killed: tuple[str, ...]
    """Keys of mutants that no image's own test kills; `model/key` if there are several models."""
    suites: tuple[SuiteScores, ...] = ()
    """The named suites."""
    suite_differences: tuple[SuiteDifference, ...] = ()
    """Each pair of them, by score."""

    @property
    def operators(self) -> tuple[GroupScores, ...]:
        """Each model's operators, over all rates and blocks."""
        return tuple(each for each in self.by_operator if each.rate is None and each.block is None)

    def by_rate(self, operator: GroupScores) -> tuple[GroupScores, ...]:
        """The rates of an operator, over blocks."""
        return tuple(
            each
            for each in self.by_operator
            if (each.model, each.operator) == (operator.model, operator.operator)
            and each.rate is not None
            and each.block is None
        )

    def spearman(self, operator: GroupScores) -> Mapping[str, float]:
        """How the scores of an operator go with the rate."""
        whose = operator.model, operator.operator
        found = (each.spearman for each in self.trend.by_operator if (each.model, each.operator) == whose)
        return next(found, {})

    def measures(self) -> list[Value]:
        """The numbers over all mutants, and those of the operators."""
        summary, images = self.summary, self.counts.images
        scores = {
            "img_ms": (summary.img_ms, summary.img_ms_ci),
            "obj_ms": (summary.obj_ms, summary.obj_ms_ci),
        }
        return [
            *(
                value(f"{name}_{kind}", values[kind], ci[kind].ends, images, headline=kind == "mg")
                for name, (values, ci) in scores.items()
                for kind in ("mg", "miss", "ghost")
            ),
            value("ms_iou", summary.ms_iou, summary.ms_iou_ci.ends, images, headline=True),
            *(value(f"ua_{kind}_{metric}", summary.ua[kind][metric]) for kind in SETS for metric in METRICS),
            value("mutants", summary.mutants),
            value("killed", summary.killed["mg"]),
            *self._of_operators(),
            value("images", images),
        ]

    def _of_operators(self) -> Iterator[Value]:
        several = len({each.model for each in self.operators}) > 1
        for each in self.operators:
            name = f"{each.model}/{each.operator}" if several else each.operator
            yield value(f"img_ms_mg/{name}", each.img_ms["mg"], n=each.mutants)
            yield value(f"obj_ms_mg/{name}", each.obj_ms["mg"], n=each.mutants)
            yield value(f"ms_iou/{name}", each.ms_iou, n=each.mutants)
