"""From saved detections of an original and its mutants to all scores: the entry of the room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from app.detections import DetectionLog
from app.errors import UserError
from app.scoring.detection.campaign import Campaign, noise_floor, positions, run_campaign
from app.scoring.detection.objects import METRICS, SETS
from app.scoring.detection.overlap import Reals
from app.scoring.detection.results import DetectionScores, MutantScores, ScoreSettings, Strength
from app.scoring.detection.significance import KILLS, NoiseFloor
from app.scoring.detection.suites import Summarised, suite_differences, suite_scores, summarise
from app.scoring.detection.trend import groups, trends
from app.stats.paired_tests import sign_flips

DEFAULT_P0 = 0.01


def score_logs(
    original: DetectionLog,
    mutants: Mapping[str, DetectionLog],
    *,
    settings: ScoreSettings | None = None,
    strengths: Mapping[str, Strength] | None = None,
    suites: Mapping[str, Sequence[str]] | None = None,
    unchanged: DetectionLog | None = None,
    seed: int = 0,
) -> DetectionScores:
    """All scores of some mutants of one original.

    Args:
        original: What the unchanged model said; its images are the ones scored.
        mutants: What each mutant said, by key. The mapping may load a log when asked for it.
        settings: Profile, thresholds, resamples.
        strengths: Operator, rate and block of each key; a key without one is its own operator.
        suites: Named lists of images to score and compare; the whole is always scored.
        unchanged: A second run of the unchanged model; it sets p0 and is what Obj-MS is tested against.
        seed: Of bootstrap and permutation.

    Raises:
        UserError: When logs do not fit each other, a class row cannot be scored, or a suite names an unknown image.
    """
    chosen = settings or ScoreSettings()
    if chosen.repetitions is not None:
        original = original.first(chosen.repetitions)
    baseline = _baseline(original, unchanged, chosen)
    null: NoiseFloor | float = DEFAULT_P0 if chosen.p0 is None else chosen.p0
    if baseline is not None and chosen.p0 is None:
        null = noise_floor(baseline, level=chosen.level)
    p0 = null.p0 if isinstance(null, NoiseFloor) else np.full(len(KILLS), null)
    campaign = run_campaign(original, mutants, chosen, p0)
    named = {name: positions(images, original.images, name) for name, images in (suites or {}).items()}
    rng = np.random.default_rng(seed)
    everything = np.arange(len(original.images), dtype=np.int64)
    whole = summarise(campaign, everything, chosen, rng)
    told = [(strengths or {}).get(key, Strength(key, float("nan"))) for key in campaign.keys]
    values = {name: ratio.values() for name, ratio in campaign.tallies.ratios.items()}
    tests = _against(baseline, campaign, chosen, rng)
    return DetectionScores(
        settings=chosen,
        p0=null,
        images=original.images,
        summary=whole.summary,
        mutants=tuple(
            _mutant(
                campaign,
                index,
                strength=strength,
                values=values,
                whole=whole,
                tests=tests[index],
            )
            for index, strength in enumerate(told)
        ),
        operators=groups(told, values, whole.kills.mutants),
        trend=trends(told, {name: score for name, score in values.items() if name != "miss_confidence"}),
        suites=tuple(suite_scores(campaign, name, images, chosen, rng) for name, images in named.items()),
        suite_differences=suite_differences(campaign, named, chosen, rng),
        kills=whole.kills.images,
        objects=campaign.table,
        rows=campaign.rows,
        notes=campaign.notes,
    )


def _baseline(
    original: DetectionLog, unchanged: DetectionLog | None, settings: ScoreSettings
) -> Campaign | None:
    if unchanged is None:
        return None
    if settings.profile == "deepluq":
        raise UserError("profile deepluq takes no second run of the original; choose profile paper")
    return run_campaign(original, {"unchanged": unchanged}, settings, np.full(len(KILLS), DEFAULT_P0))


def _against(
    baseline: Campaign | None, campaign: Campaign, settings: ScoreSettings, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Per mutant: p of per-image Obj-MS being above the unchanged run's, by miss, ghost, mg."""
    tests = [dict.fromkeys(KILLS, float("nan")) for _ in campaign.keys]
    if baseline is None:
        return tests
    for kind in KILLS:
        name = f"obj_ms_{kind}"
        floor = baseline.tallies.ratios[name].per_image()[0]
        for index, scores in enumerate(campaign.tallies.ratios[name].per_image()):
            tests[index][kind] = sign_flips(scores - floor, rng, settings.resamples, two_sided=False)
    return tests


def _mutant(
    campaign: Campaign,
    index: int,
    *,
    strength: Strength,
    values: Mapping[str, Reals],
    whole: Summarised,
    tests: Mapping[str, float],
) -> MutantScores:
    def value(name: str) -> float:
        return float(values[name][index])

    kills = whole.kills
    counts = campaign.tallies.counts[index]
    undefined = {
        name: int(campaign.tallies.ratios[name].undefined()[index])
        for name in ("obj_ms_miss", "obj_ms_ghost", "obj_ms_mg", "ms_iou")
    } | {name: int(lost[index]) for name, lost in campaign.tallies.ua_undefined.items()}
    return MutantScores(
        key=campaign.keys[index],
        operator=strength.operator,
        rate=strength.rate,
        block=strength.block,
        images=len(counts),
        img_killed={kind: bool(kills.mutants[index, i]) for i, kind in enumerate(KILLS)},
        img_killed_any={kind: bool(counts[:, i].any()) for i, kind in enumerate(KILLS)},
        img_p={kind: float(kills.p[index, i]) for i, kind in enumerate(KILLS)},
        img_p_adjusted={kind: float(kills.adjusted[index, i]) for i, kind in enumerate(KILLS)},
        img_kills={kind: int(kills.images[index, :, i].sum()) for i, kind in enumerate(KILLS)},
        obj_ms={kind: value(f"obj_ms_{kind}") for kind in KILLS},
        obj_ms_ci={kind: whole.intervals[f"obj_ms_{kind}"][index] for kind in KILLS},
        obj_ms_macro={kind: value(f"obj_ms_macro_{kind}") for kind in KILLS},
        obj_p=tests,
        ms_iou=value("ms_iou"),
        ms_iou_ci=whole.intervals["ms_iou"][index],
        rates={name: value(f"rate_{name}") for name in SETS},
        ua={name: {metric: value(f"ua_{name}_{metric}") for metric in METRICS} for name in SETS},
        miss_confidence=value("miss_confidence"),
        undefined=undefined,
        unscorable=campaign.rows[index].unscorable if campaign.rows else 0,
        invalid_rows=campaign.invalid_rows[index] if campaign.invalid_rows else 0,
    )
