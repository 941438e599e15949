"""The report of detector scores put together from what scoring found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from app import stats
from app.report.lineage import Run, Subject
from app.reporting.uamt import report as r
from app.scoring.detection.objects import SETS
from app.scoring.detection.results import DetectionScores, GroupScores, MutantScores, ScoreSummary
from app.scoring.detection.significance import KILLS, NoiseFloor
from app.scoring.mutant_results import Interval
from app.stats.proportions import wilson

TOP_IMAGES = 20
"""Images listed as those that kill most."""


@dataclass(frozen=True)
class Scored:
    """One model's mutants that were scored together."""

    model: str
    """Its name."""
    scores: DetectionScores
    """What scoring found."""
    repetitions: tuple[int, ...]
    """The numbers of repetitions T that its images have."""
    semantics: str = "softmax_background"
    """What its class rows are."""


def uamt_report(
    scored: Sequence[Scored],
    run: Run,
    subject: Subject,
    *,
    seed: int,
    engine: str = "",
    predictions_digest: str = "",
    config_digest: str = "",
) -> r.UamtReport:
    """The report of one or several sets of scores.

    Args:
        scored: At least one; all with the same settings.
        run: Where the report comes from.
        subject: What was tested.
        seed: Of bootstrap and permutation.
        engine: How a detector was run; empty for saved detections.
        predictions_digest: Of the saved detections; empty if a detector was run.
        config_digest: Of the configuration.

    Raises:
        ValueError: Nothing was scored.
    """
    if not scored:
        raise ValueError("a report needs at least one set of scores")
    mutants = tuple(_mutant(each, mutant) for each in scored for mutant in each.scores.mutants)
    parts = tuple(_part(each, mutants) for each in scored)
    return r.UamtReport(
        run=run,
        subject=subject,
        settings=_settings(
            scored,
            seed=seed,
            engine=engine,
            predictions_digest=predictions_digest,
            config_digest=config_digest,
        ),
        counts=_counts(scored, mutants),
        summary=parts[0].summary if len(parts) == 1 else _pooled(parts, scored[0].scores.settings.level),
        trend=_trend(scored),
        parts=parts,
        by_operator=tuple(_operator(each.model, group) for each in scored for group in each.scores.operators),
        mutants=mutants,
        top_images=_top_images(scored),
        never_killed=_never_killed(mutants),
        suites=tuple(suite for each in scored for suite in _suites(each)),
        suite_differences=tuple(gap for each in scored for gap in _differences(each)),
    )


def interval(found: stats.Interval) -> Interval:
    """An interval as reports have it; None where there was nothing to measure."""
    return (found.low, found.high) if found.known else None


def _settings(
    scored: Sequence[Scored], *, seed: int, engine: str, predictions_digest: str, config_digest: str
) -> r.Settings:
    chosen = scored[0].scores.settings
    source: Literal["default", "given", "unchanged run"] = "default" if chosen.p0 is None else "given"
    if any(isinstance(each.scores.p0, NoiseFloor) for each in scored):
        source = "unchanged run"
    return r.Settings(
        seed=seed,
        profile=cast("r.Profile", chosen.profile),
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


def _trio(values: Mapping[str, float]) -> r.Trio:
    return r.Trio(*(float(values[kind]) for kind in KILLS))


def _intervals(values: Mapping[str, stats.Interval]) -> r.TrioInterval:
    return r.TrioInterval(*(interval(values[kind]) for kind in KILLS))


def _ua(values: Mapping[str, Mapping[str, float]]) -> r.UaScores:
    return r.UaScores(*(r.Metrics(**values[kind]) for kind in SETS))


def _mean(values: Sequence[float], weights: Sequence[int] | None = None) -> float:
    """Weighted mean without NaN; NaN where nothing is left."""
    told = [
        (value, weight)
        for value, weight in zip(values, weights or [1] * len(values), strict=True)
        if not math.isnan(value) and weight
    ]
    total = sum(weight for _, weight in told)
    return sum(value * weight for value, weight in told) / total if total else math.nan


def _mean_ua(scores: Sequence[r.UaScores]) -> r.UaScores:
    def metrics(kind: str) -> r.Metrics:
        rows = [vars(getattr(each, kind)) for each in scores]
        return r.Metrics(**{name: _mean([row[name] for row in rows]) for name in r.Metrics.__annotations__})

    return r.UaScores(*(metrics(kind) for kind in SETS))


def _part(scored: Scored, mutants: Sequence[r.MutantScore]) -> r.Part:
    scores = scored.scores
    keys = set(scores.keys)
    own = [each for each in mutants if each.model == scored.model and each.key in keys]
    p0 = scores.p0.p0.tolist() if isinstance(scores.p0, NoiseFloor) else [scores.p0] * len(KILLS)
    return r.Part(
        model=scored.model,
        operators=tuple(dict.fromkeys(each.operator for each in scores.mutants)),
        images=len(scores.images),
        p0=r.Trio(*p0),
        summary=_summary(scores.summary, own),
    )


def _summary(found: ScoreSummary, mutants: Sequence[r.MutantScore]) -> r.Summary:
    return r.Summary(
        mutants=len(mutants),
        killed=r.TrioCount(*(sum(getattr(each.img_killed, kind) for each in mutants) for kind in KILLS)),
        img_ms=_trio(found.img_ms),
        img_ms_ci=_intervals(found.img_ms_ci),
        img_ms_ci_mutants=_intervals(found.img_ms_ci_mutants),
        img_ms_any=_trio(found.img_ms_any),
        obj_ms=_trio(found.obj_ms),
        obj_ms_ci=_intervals(found.obj_ms_ci),
        ms_iou=found.ms_iou,
        ms_iou_ci=interval(found.ms_iou_ci),
        ua=_mean_ua([each.ua for each in mutants]),
    )


def _pooled(parts: Sequence[r.Part], level: float) -> r.Summary:
    """The summary over several parts, as `Summary` describes it."""
    rows = [part.summary for part in parts]
    sizes = [row.mutants for row in rows]
    total = sum(sizes)
    killed = {kind: sum(getattr(row.killed, kind) for row in rows) for kind in KILLS}

    def trio(name: str) -> r.Trio:
        return r.Trio(*(_mean([getattr(getattr(row, name), kind) for row in rows], sizes) for kind in KILLS))

    def ends(found: Sequence[Interval]) -> Interval:
        told = [(each, size) for each, size in zip(found, sizes, strict=True) if each is not None and size]
        if not told:
            return None
        weights = [size for _, size in told]
        low, high = (_mean([each[end] for each, _ in told], weights) for end in (0, 1))
        return low, high

    def trio_ends(name: str) -> r.TrioInterval:
        return r.TrioInterval(*(ends([getattr(getattr(row, name), kind) for row in rows]) for kind in KILLS))

    ua = {
        kind: r.Metrics(
            **{
                name: _mean([getattr(getattr(row.ua, kind), name) for row in rows], sizes)
                for name in r.Metrics.__annotations__
            }
        )
        for kind in SETS
    }
    return r.Summary(
        mutants=total,
        killed=r.TrioCount(**killed),
        img_ms=trio("img_ms"),
        img_ms_ci=trio_ends("img_ms_ci"),
        img_ms_ci_mutants=r.TrioInterval(*(interval(wilson(killed[kind], total, level)) for kind in KILLS)),
        img_ms_any=trio("img_ms_any"),
        obj_ms=trio("obj_ms"),
        obj_ms_ci=trio_ends("obj_ms_ci"),
        ms_iou=_mean([row.ms_iou for row in rows], sizes),
        ms_iou_ci=ends([row.ms_iou_ci for row in rows]),
        ua=r.UaScores(**ua),
    )


def _mutant(scored: Scored, mutant: MutantScores) -> r.MutantScore:
    return r.MutantScore(
        model=scored.model,
        key=mutant.key,
        operator=mutant.operator,
        rate=None if math.isnan(mutant.rate) else mutant.rate,
        block=mutant.block,
        images=len(scored.scores.images),
        img_killed=r.TrioFlag(**mutant.img_killed),
        img_killed_any=r.TrioFlag(**mutant.img_killed_any),
        img_kills=r.TrioCount(**mutant.img_kills),
        img_p=_trio(mutant.img_p),
        img_p_adjusted=_trio(mutant.img_p_adjusted),
        obj_ms=_trio(mutant.obj_ms),
        obj_ms_ci=_intervals(mutant.obj_ms_ci),
        obj_ms_macro=_trio(mutant.obj_ms_macro),
        obj_p=_trio(mutant.obj_p),
        ms_iou=mutant.ms_iou,
        ms_iou_ci=interval(mutant.ms_iou_ci),
        rates={kind: mutant.rates[kind] for kind in SETS},
        ua=_ua(mutant.ua),
        miss_confidence=mutant.miss_confidence,
        undefined=dict(mutant.undefined),
        unscorable=mutant.unscorable,
        invalid_rows=mutant.invalid_rows,
    )


def _operator(model: str, group: GroupScores) -> r.OperatorScore:
    return r.OperatorScore(
        model=model,
        operator=group.operator,
        rate=group.rate,
        block=group.block,
        mutants=group.mutants,
        img_ms=_trio(group.img_ms),
        obj_ms=_trio(group.obj_ms),
        ms_iou=group.ms_iou,
        ua=_ua(group.ua),
    )


def _trend(scored: Sequence[Scored]) -> r.Trend:
    rows = tuple(
        r.OperatorTrend(each.model, trend.operator, trend.mutants, dict(trend.spearman))
        for each in scored
        for trend in each.scores.trend
    )
    names = list(dict.fromkeys(name for row in rows for name in row.spearman))
    means = {name: _mean([row.spearman[name] for row in rows if name in row.spearman]) for name in names}
    return r.Trend(means.get("obj_ms_miss", math.nan), means, rows)


def _counts(scored: Sequence[Scored], mutants: Sequence[r.MutantScore]) -> r.Counts:
    undefined: Counter[str] = Counter()
    objects = dict.fromkeys(SETS, 0)
    for mutant in mutants:
        undefined.update(mutant.undefined)
    for each in scored:
        for kind, rows in zip(SETS, np.bincount(each.scores.objects.kind, minlength=len(SETS)), strict=True):
            objects[kind] += int(rows)
    return r.Counts(
        images=len({image for each in scored for image in each.scores.images}),
        mutants=len(mutants),
        objects=objects,
        undefined=dict(undefined),
        unscorable=sum(mutant.unscorable for mutant in mutants),
        invalid_rows=sum(mutant.invalid_rows for mutant in mutants),
    )


def _top_images(scored: Sequence[Scored]) -> tuple[r.TopImage, ...]:
    kills: dict[tuple[str, str], list[int]] = {}
    for each in scored:
        counts = each.scores.kills.sum(axis=0).tolist()
        for image, row in zip(each.scores.images, counts, strict=True):
            total = kills.setdefault((each.model, image), [0] * (len(KILLS) + 1))
            for place, value in enumerate([*row, len(each.scores.mutants)]):
                total[place] += value
    best = sorted((item for item in kills.items() if item[1][2]), key=lambda item: (-item[1][2], item[0]))
    return tuple(
        r.TopImage(model, image, r.TrioCount(*row[:3]), row[3]) for (model, image), row in best[:TOP_IMAGES]
    )


def _never_killed(mutants: Sequence[r.MutantScore]) -> tuple[str, ...]:
    several = len({each.model for each in mutants}) > 1
    return tuple(
        f"{each.model}/{each.key}" if several else each.key for each in mutants if not each.img_kills.mg
    )


def _suites(scored: Scored) -> list[r.Suite]:
    operators = tuple(dict.fromkeys(each.operator for each in scored.scores.mutants))
    return [
        r.Suite(
            model=scored.model,
            operators=operators,
            name=suite.name,
            n=suite.n,
            img_ms=_trio(suite.summary.img_ms),
            img_ms_ci=_intervals(suite.summary.img_ms_ci),
            obj_ms=_trio(suite.summary.obj_ms),
            obj_ms_ci=_intervals(suite.summary.obj_ms_ci),
            ms_iou=suite.summary.ms_iou,
            ms_iou_ci=interval(suite.summary.ms_iou_ci),
            killed={kind: tuple(suite.killed[kind]) for kind in KILLS},
        )
        for suite in scored.scores.suites
    ]


def _differences(scored: Scored) -> list[r.SuiteDifference]:
    operators = tuple(dict.fromkeys(each.operator for each in scored.scores.mutants))
    return [
        r.SuiteDifference(scored.model, operators, d.a, d.b, d.score, d.difference, interval(d.ci), d.p_value)
        for d in scored.scores.suite_differences
    ]
