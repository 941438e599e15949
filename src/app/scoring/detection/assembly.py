"""The result of a detector's mutation testing put together from one or several sets of scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from app.scoring.detection.mutation_result import (
    Counts,
    DetectorMutationResult,
    Part,
    Profile,
    Settings,
    Summary,
    TopImage,
    Trends,
)
from app.scoring.detection.objects import METRICS, SETS
from app.scoring.detection.results import DetectionScores, MutantScores, ScoreSummary
from app.scoring.detection.significance import KILLS, NoiseFloor
from app.stats import Interval
from app.stats.proportions import wilson

TOP_IMAGES = 20
"""Images listed as those that kill most."""


@dataclass(frozen=True)
class ScoredModel:
    """One model's mutants that were scored together."""

    model: str
    """Its name."""
    scores: DetectionScores
    """What scoring found."""
    repetitions: tuple[int, ...]
    """The numbers of repetitions T that its images have."""
    semantics: str = "softmax_background"
    """What its class rows are."""

    @property
    def operators(self) -> tuple[str, ...]:
        """What made its mutants."""
        return tuple(dict.fromkeys(each.operator for each in self.scores.mutants))


def detector_mutation_result(scored: Sequence[ScoredModel]) -> DetectorMutationResult:
    """The result of one or several sets of scores.

    Args:
        scored: at least one; all with the same settings.

    Raises:
        ValueError: nothing was scored.
    """
    if not scored:
        raise ValueError("a result needs at least one set of scores")
    own = [tuple(replace(mutant, model=each.model) for mutant in each.scores.mutants) for each in scored]
    mutants = tuple(mutant for each in own for mutant in each)
    parts = tuple(_part(each, mine) for each, mine in zip(scored, own, strict=True))
    level = scored[0].scores.settings.level
    return DetectorMutationResult(
        counts=_counts(scored, mutants),
        summary=parts[0].summary if len(parts) == 1 else _pooled([part.summary for part in parts], level),
        trend=_trends(scored),
        parts=parts,
        by_operator=tuple(
            replace(group, model=each.model) for each in scored for group in each.scores.operators
        ),
        mutants=mutants,
        top_images=_top_images(scored),
        never_killed=_never_killed(mutants),
        suites=tuple(
            replace(suite, model=each.model, operators=each.operators)
            for each in scored
            for suite in each.scores.suites
        ),
        suite_differences=tuple(
            replace(gap, model=each.model, operators=each.operators)
            for each in scored
            for gap in each.scores.suite_differences
        ),
    )


def settings_of(
    scored: Sequence[ScoredModel],
    *,
    seed: int,
    engine: str = "",
    predictions_digest: str = "",
    config_digest: str = "",
) -> Settings:
    """What was chosen for these scores.

    Args:
        scored: at least one set; all with the same settings.
        seed: of bootstrap and permutation.
        engine: how a detector was run; empty for saved detections.
        predictions_digest: of the saved detections; empty if a detector was run.
        config_digest: of the configuration.
    """
    chosen = scored[0].scores.settings
    source: Literal["default", "given", "unchanged run"] = "default" if chosen.p0 is None else "given"
    if any(isinstance(each.scores.p0, NoiseFloor) for each in scored):
        source = "unchanged run"
    return Settings(
        seed=seed,
        profile=cast("Profile", chosen.profile),
        threshold=chosen.threshold,
        alpha=chosen.alpha,
        p0_from=source,
        repetitions=tuple(sorted({t for each in scored for t in each.repetitions})),
        semantics=" and ".join(dict.fromkeys(each.semantics for each in scored)),
        resamples=chosen.resamples,
        level=chosen.level,
        engine=engine,
        predictions_digest=predictions_digest,
        config_digest=config_digest,
    )


def _mean(values: Sequence[float], weights: Sequence[int] | None = None) -> float:
    """Weighted mean without NaN; NaN where nothing is left."""
    told = [
        (value, weight)
        for value, weight in zip(values, weights or [1] * len(values), strict=True)
        if not math.isnan(value) and weight
    ]
    total = sum(weight for _, weight in told)
    return sum(value * weight for value, weight in told) / total if total else math.nan


def _mean_ua(
    rows: Sequence[MutantScores | Summary], weights: Sequence[int] | None = None
) -> Mapping[str, Mapping[str, float]]:
    return {
        kind: {name: _mean([row.ua[kind][name] for row in rows], weights) for name in METRICS}
        for kind in SETS
    }


def _part(scored: ScoredModel, mutants: Sequence[MutantScores]) -> Part:
    scores = scored.scores
    p0 = scores.p0.p0.tolist() if isinstance(scores.p0, NoiseFloor) else [scores.p0] * len(KILLS)
    return Part(
        model=scored.model,
        operators=scored.operators,
        images=len(scores.images),
        p0=dict(zip(KILLS, p0, strict=True)),
        summary=Summary(
            mutants=len(mutants),
            killed={kind: sum(each.img_killed[kind] for each in mutants) for kind in KILLS},
            ua=_mean_ua(mutants),
            **vars(scores.summary),
        ),
    )


def _pooled(rows: Sequence[Summary], level: float) -> Summary:
    """The summary over several parts, as `Summary` describes it."""
    sizes = [row.mutants for row in rows]
    killed = {kind: sum(row.killed[kind] for row in rows) for kind in KILLS}

    def means(values: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
        return {kind: _mean([each[kind] for each in values], sizes) for kind in KILLS}

    def mean_ends(found: Sequence[Interval]) -> Interval:
        told = [(each, size) for each, size in zip(found, sizes, strict=True) if each.known and size]
        if not told:
            return Interval.unknown(level)
        weights = [size for _, size in told]
        return Interval(
            _mean([each.low for each, _ in told], weights),
            _mean([each.high for each, _ in told], weights),
            level,
        )

    def intervals(found: Sequence[Mapping[str, Interval]]) -> Mapping[str, Interval]:
        return {kind: mean_ends([each[kind] for each in found]) for kind in KILLS}

    scores = ScoreSummary(
        img_ms=means([row.img_ms for row in rows]),
        img_ms_ci=intervals([row.img_ms_ci for row in rows]),
        img_ms_ci_mutants={kind: wilson(killed[kind], sum(sizes), level) for kind in KILLS},
        img_ms_any=means([row.img_ms_any for row in rows]),
        obj_ms=means([row.obj_ms for row in rows]),
        obj_ms_ci=intervals([row.obj_ms_ci for row in rows]),
        ms_iou=_mean([row.ms_iou for row in rows], sizes),
        ms_iou_ci=mean_ends([row.ms_iou_ci for row in rows]),
    )
    return Summary(mutants=sum(sizes), killed=killed, ua=_mean_ua(rows, sizes), **vars(scores))


def _trends(scored: Sequence[ScoredModel]) -> Trends:
    rows = tuple(replace(trend, model=each.model) for each in scored for trend in each.scores.trend)
    names = list(dict.fromkeys(name for row in rows for name in row.spearman))
    means = {name: _mean([row.spearman[name] for row in rows if name in row.spearman]) for name in names}
    return Trends(means.get("obj_ms_miss", math.nan), means, rows)


def _counts(scored: Sequence[ScoredModel], mutants: Sequence[MutantScores]) -> Counts:
    undefined: Counter[str] = Counter()
    objects = dict.fromkeys(SETS, 0)
    for mutant in mutants:
        undefined.update(mutant.undefined)
    for each in scored:
        for kind, rows in zip(SETS, np.bincount(each.scores.objects.kind, minlength=len(SETS)), strict=True):
            objects[kind] += int(rows)
    return Counts(
        images=len({image for each in scored for image in each.scores.images}),
        mutants=len(mutants),
        objects=objects,
        undefined=dict(undefined),
        unscorable=sum(mutant.unscorable for mutant in mutants),
        invalid_rows=sum(mutant.invalid_rows for mutant in mutants),
    )


def _top_images(scored: Sequence[ScoredModel]) -> tuple[TopImage, ...]:
    kills: dict[tuple[str, str], list[int]] = {}
    for each in scored:
        counts = each.scores.kills.sum(axis=0).tolist()
        for image, row in zip(each.scores.images, counts, strict=True):
            total = kills.setdefault((each.model, image), [0] * (len(KILLS) + 1))
            for place, value in enumerate([*row, len(each.scores.mutants)]):
                total[place] += value
    best = sorted((item for item in kills.items() if item[1][2]), key=lambda item: (-item[1][2], item[0]))
    return tuple(
        TopImage(model, image, dict(zip(KILLS, row, strict=False)), row[3])
        for (model, image), row in best[:TOP_IMAGES]
    )


def _never_killed(mutants: Sequence[MutantScores]) -> tuple[str, ...]:
    several = len({each.model for each in mutants}) > 1
    return tuple(
        f"{each.model}/{each.key}" if several else each.key for each in mutants if not each.img_kills["mg"]
    )
