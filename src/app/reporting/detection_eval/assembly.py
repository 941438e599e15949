"""The report of a detector's evaluation put together from what the diagnosis found."""

from __future__ import annotations

from collections import Counter
from typing import cast

import numpy as np

from app.diagnosis.detection import DetectionEvaluation, EvaluationSet
from app.diagnosis.headline import Measured
from app.report.lineage import Run, Subject
from app.reporting.detection_eval import report as r
from app.scoring.mutant_results import Interval

RECALLS = np.linspace(0.0, 1.0, 101)
"""Where curves are read."""
PAIRS = 20
"""Confusions that are listed."""


def detection_report(
    data: EvaluationSet,
    found: DetectionEvaluation,
    run: Run,
    subject: Subject,
    settings: r.Settings,
) -> r.DetectionReport:
    """The report.

    Args:
        data: Ground truth and detections.
        found: What their evaluation found.
        run: Where the report comes from.
        subject: What was evaluated.
        settings: What was chosen.
    """
    return r.DetectionReport(
        run=run,
        subject=subject,
        settings=settings,
        summary=_summary(found),
        classes=tuple(
            r.ClassScore(
                name=each.name,
                truth=each.truth,
                detections=each.detections,
                ap=each.ap,
                coco_ap=each.coco_ap,
                precision=_measured(each.precision),
                recall=_measured(each.recall),
            )
            for each in found.classes
        ),
        errors=tuple(
            r.ErrorKind(kind, found.operating_errors[kind], found.errors[kind])  # type: ignore[arg-type]  # the names are the literal's
            for kind in found.errors
        ),
        confusions=_confusions(data, found),
        reliability=_bins(found),
        curves=_curves(found),
        false_positives=tuple(
            r.FalsePositive(
                image=each.image,
                kind=each.kind,
                label=each.label,
                score=each.score,
                box=cast("r.Box", each.box),
                iou=each.iou,
                true_label=each.true_label,
            )
            for each in found.false_positives
        ),
        false_negatives=tuple(
            r.FalseNegative(each.image, each.label, cast("r.Box", each.box), each.missed)
            for each in found.false_negatives
        ),
        suspects=tuple(
            r.Suspect(each.reason, each.image, each.box, each.label, each.suggested, each.score)
            for each in found.suspects
        ),
    )


def _summary(found: DetectionEvaluation) -> r.Summary:
    coco = found.coco
    return r.Summary(
        images=found.images,
        truth=found.truth,
        detections=found.detections,
        mean_ap=_measured(found.mean_ap),
        coco=None
        if coco is None
        else r.Coco(
            ap=coco.ap,
            ap50=coco.ap50,
            ap75=coco.ap75,
            ap_small=coco.ap_small,
            ap_medium=coco.ap_medium,
            ap_large=coco.ap_large,
            ar_1=coco.ar_1,
            ar_10=coco.ar_10,
            ar=coco.ar,
        ),
        operating_score=found.operating_score,
        precision=_measured(found.precision),
        recall=_measured(found.recall),
        f1=found.f1,
        ece=found.ece,
        gap_ci=_ends(found.signed_gap.low, found.signed_gap.high),
        suspects=len(found.suspects),
    )


def _measured(value: Measured) -> r.Measured:
    return r.Measured(value.value, _ends(value.low, value.high))


def _ends(low: float, high: float) -> Interval:
    return (low, high) if np.isfinite([low, high]).all() else None


def _confusions(data: EvaluationSet, found: DetectionEvaluation) -> tuple[r.Confusion, ...]:
    """Classification errors from the operating score on, by pair of classes."""
    detail = found.detail
    rows = np.flatnonzero(detail.of("classification") & (data.found.score >= found.operating_score))
    pairs = Counter(
        zip(data.truth.label[detail.about[rows]].tolist(), data.found.label[rows].tolist(), strict=True)
    )
    most = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:PAIRS]
    names = data.class_names
    return tuple(r.Confusion(names[true], names[claimed], n) for (true, claimed), n in most)


def _bins(found: DetectionEvaluation) -> tuple[r.Bin, ...]:
    bars = found.reliability
    edges = np.linspace(0.0, 1.0, len(bars.counts) + 1).round(10).tolist()
    return tuple(
        r.Bin(
            low=edges[place],
            high=edges[place + 1],
            n=int(bars.counts[place]),
            score=float(bars.confidence[place]) if bars.counts[place] else float("nan"),
            right=float(bars.accuracy[place]) if bars.counts[place] else float("nan"),
        )
        for place in range(len(bars.counts))
    )


def _curves(found: DetectionEvaluation) -> tuple[r.Curve, ...]:
    drawn = []
    for number, each in enumerate(found.classes):
        if not each.truth:
            continue
        curve = found.curve(number)
        best = np.maximum.accumulate(curve.precision[::-1])[::-1]
        place = np.searchsorted(curve.recall, RECALLS - 1e-12, side="left")
        precision = np.append(best, 0.0)[place]
        drawn.append(r.Curve(each.name, each.ap, tuple(precision.round(6).tolist())))
    return tuple(drawn)
