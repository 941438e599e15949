"""The report of an autopsy put together from what diagnosis and integrity found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.diagnosis import causes as diagnosed
from app.diagnosis import label_noise
from app.diagnosis.autopsy import Autopsy
from app.diagnosis.calibration import CONFIDENT
from app.diagnosis.headline import Measured
from app.integrity.quality import Quality
from app.report.lineage import Run, Subject
from app.reporting.autopsy.parts import (
    ClassOrder,
    Embeddings,
    HardExample,
    LabelNoise,
    Leakage,
    Likeness,
    Lookalikes,
    Overlays,
    SliceScore,
    Suspect,
    Training,
)
from app.reporting.autopsy.report import (
    AutopsyReport,
    Bin,
    Calibration,
    ClassScore,
    ConfusedPair,
    Finding,
    Metric,
    Settings,
    Summary,
    Temperature,
)
from app.scoring.mutant_results import Interval
from app.stats.proportions import wilson

ALIKE = 20
"""Pairs of classes listed as most alike."""


@dataclass(frozen=True)
class Material:
    """All that was found, before it is a report."""

    autopsy: Autopsy
    """The diagnosis."""
    paths: Sequence[str]
    """(N,) names of the test cases as they were given, dropped ones too."""
    layer: str = ""
    """Where test cases were embedded, in words."""
    copies: Mapping[int, str] = field(default_factory=dict)
    """Copies of hard examples beside the report, by test case."""
    overlays: Overlays | None = None
    """Grad-CAM, if it was asked for."""
    quality: Quality | None = None
    """Of the images, if there are any."""
    lookalikes: Lookalikes | None = None
    """Near duplicates, if they were asked for."""
    training: Training | None = None
    """The training data, if it was given."""
    leakage: Leakage | None = None
    """Test cases in it."""


def autopsy_report(material: Material, run: Run, subject: Subject, settings: Settings) -> AutopsyReport:
    """The report of an autopsy."""
    found, names = material.autopsy, material.autopsy.probabilities.class_names
    return AutopsyReport(
        run=run,
        subject=subject,
        settings=settings,
        summary=_summary(found),
        sub_scores={name: _number(value) for name, value in found.score.sub_scores.items()},
        not_applicable=dict(found.not_applicable),
        metrics={
            name: Metric(_number(each.value), _ends(each), each.method)
            for name, each in found.metrics.items()
        },
        findings=tuple(
            Finding(
                cause_type=each.cause_type,
                severity=each.severity,
                confidence=each.confidence,
                impact=each.impact,
                evidence=dict(each.evidence),
                affected=each.affected,
                cases=each.cases or _confused_cases(each, found),
                recommendations=each.recommendations,
            )
            for each in found.findings
        ),
        per_class=tuple(
            ClassScore(
                name=each.name,
                support=each.support,
                predicted=each.predicted,
                recall=_number(each.recall.value),
                recall_ci=_ends(each.recall),
                precision=_number(each.precision.value),
                precision_ci=_ends(each.precision),
                f1=_number(each.f1),
                mean_confidence=_number(each.mean_confidence),
            )
            for each in found.classes
        ),
        calibration=_calibration(found),
        confusion=tuple(map(tuple, found.confusion.tolist())),
        confused=tuple(
            ConfusedPair(names[each.label], names[each.predicted], each.count, each.rate)
            for each in found.confused
        ),
        hard_examples=tuple(
            HardExample(
                kind=each.kind,
                severity=each.severity,
                case=each.case,
                path=material.paths[each.case],
                label=names[each.label],
                predicted=names[each.predicted],
                confidence=each.confidence,
                margin=each.margin,
                runner_up=names[each.runner_up],
                file=material.copies.get(each.case),
            )
            for each in found.examples.shown
        ),
        hard_example_counts=dict(found.examples.counts),
        label_noise=LabelNoise(
            share=found.label_noise.share,
            noisy=found.label_noise.noisy,
            suspects=_suspects(found.label_noise.suspects, names, material.paths),
            doubtful=_suspects(found.label_noise.doubtful, names, material.paths),
        ),
        class_order=ClassOrder(
            mismatch=found.class_order.mismatch,
            accuracy=found.class_order.accuracy,
            reordered_accuracy=found.class_order.reordered_accuracy,
            held_out_gain=found.class_order.held_out_gain,
            columns=tuple(names[k] for k in found.class_order.columns.tolist())
            if found.class_order.mismatch
            else (),
        ),
        slices=_slices(found),
        embeddings=_embeddings(found, material.layer),
        gradcam=material.overlays,
        dataset_quality=material.quality,
        near_duplicates=material.lookalikes,
        training=material.training,
        leakage=material.leakage,
    )


def _confused_cases(finding: diagnosed.Finding, found: Autopsy) -> tuple[int, ...]:
    """Test cases that show a confusion of two classes or confident errors, the surest errors first."""
    given = found.probabilities
    top1, confidence = given.rows.argmax(axis=1), given.rows.max(axis=1)
    if finding.cause_type in {"class_overlap", "class_confusion"}:
        a, b = map(given.class_names.index, finding.affected)
        wanted = (given.labels == a) & (top1 == b)
        if finding.cause_type == "class_overlap":
            wanted |= (given.labels == b) & (top1 == a)
    elif finding.cause_type == "representation_problem":
        wanted = (given.labels != top1) & (confidence >= CONFIDENT)
    else:
        return ()
    rows = np.flatnonzero(wanted)
    return tuple(given.cases[rows[np.argsort(-confidence[rows], kind="stable")]].tolist())


def interval(low: float, high: float) -> Interval:
    """An interval of a report; None where it is not defined."""
    return (float(low), float(high)) if np.isfinite([low, high]).all() else None


def _summary(found: Autopsy) -> Summary:
    accuracy, f1, ece = (found.metrics[name] for name in ("accuracy", "macro_f1", "ece"))
    return Summary(
        n=len(found.probabilities.labels),
        accuracy=_number(accuracy.value),
        accuracy_ci=_ends(accuracy),
        macro_f1=_number(f1.value),
        macro_f1_ci=_ends(f1),
        ece=_number(ece.value),
        ece_ci=_ends(ece),
        autopsy_score=_number(found.score.overall),
        health=found.health.label,
        health_reasons=found.health.reasons,
    )


def _calibration(found: Autopsy) -> Calibration:
    bars, edges = found.reliability, np.linspace(0.0, 1.0, found.reliability.counts.size + 1)
    confidence = found.probabilities.rows.max(axis=1)
    bins = []
    for place, count in enumerate(bars.counts.astype(int).tolist()):
        right = round(float(bars.accuracy[place]) * count)
        ends = wilson(right, count)
        bins.append(
            Bin(
                low=float(edges[place]),
                high=float(edges[place + 1]),
                n=count,
                confidence=float(bars.confidence[place]) if count else None,
                accuracy=float(bars.accuracy[place]) if count else None,
                accuracy_ci=interval(ends.low, ends.high),
            )
        )
    scaling = found.temperature
    mean = float(confidence.mean())
    return Calibration(
        **{
            name: _number(found.metrics[name].value)
            for name in ("ece", "mce", "adaptive_ece", "classwise_ece")
        },
        mean_confidence=mean,
        signed_gap=mean - found.metrics["accuracy"].value,
        signed_gap_ci=interval(found.signed_gap.low, found.signed_gap.high),
        temperature=Temperature(
            scaling.temperature,
            scaling.ece_before,
            scaling.ece_after,
            scaling.log_loss_before,
            scaling.log_loss_after,
        ),
        bins=tuple(bins),
    )


def _slices(found: Autopsy) -> tuple[SliceScore, ...]:
    names = found.probabilities.class_names
    return tuple(
        SliceScore(
            number=each.number,
            n=len(each.cases),
            errors=each.errors,
            expected=each.expected,
            error_rate=each.errors / len(each.cases),
            error_rate_ci=interval(each.error_rate.low, each.error_rate.high),
            rest_error_rate=_number(each.rest_error_rate),
            p_adjusted=each.p_adjusted,
            hidden=each.hidden,
            classes=tuple(names[k] for k in each.classes),
            cases=each.cases,
        )
        for each in found.slices
    )


def _embeddings(found: Autopsy, layer: str) -> Embeddings | None:
    if found.picture is None or found.similarity is None:
        return None
    names, cosine = found.probabilities.class_names, found.similarity
    first, second = np.triu_indices(len(names), k=1)
    order = np.argsort(-cosine[first, second], kind="stable")[:ALIKE]
    points = np.round(found.picture.points, 4)
    given = found.probabilities
    rows = np.searchsorted(given.cases, found.picture.cases)
    right = given.rows[rows].argmax(axis=1) == given.labels[rows]
    return Embeddings(
        layer=layer,
        method=found.picture.method,
        explained=_number(found.picture.explained),
        cases=tuple(found.picture.cases.tolist()),
        x=tuple(points[:, 0].tolist()),
        y=tuple(points[:, 1].tolist()),
        labels=tuple(given.labels[rows].tolist()),
        right=tuple(right.tolist()),
        alike=tuple(
            Likeness(names[first[k]], names[second[k]], float(cosine[first[k], second[k]]))
            for k in order.tolist()
        ),
    )


def _ends(measured: Measured) -> Interval:
    return interval(measured.low, measured.high)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _suspects(
    found: Sequence[label_noise.Suspect], names: Sequence[str], paths: Sequence[str]
) -> tuple[Suspect, ...]:
    return tuple(
        Suspect(
            case=each.case,
            path=paths[each.case],
            label=names[each.label],
            suggested=names[each.suggested],
            label_probability=each.label_probability,
            suggested_probability=each.suggested_probability,
        )
        for each in found
    )
