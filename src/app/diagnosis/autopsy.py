"""The autopsy of a classifier from its predictions alone: what is wrong, how sure that is, what to do.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> labels = rng.integers(3, size=300)
>>> probs = np.full((300, 3), 0.05) + 0.85 * np.eye(3)[np.where(rng.random(300) < 0.9, labels, 0)]
>>> autopsy = diagnose(probs, labels, ["cat", "dog", "owl"])
>>> bool(autopsy.metrics["accuracy"].low < 0.93 < autopsy.metrics["accuracy"].high)
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from app.diagnosis import calibration, metrics, probabilities
from app.diagnosis.causes import Finding
from app.diagnosis.class_order import ClassOrder, class_order
from app.diagnosis.confidence_gap import signed_gap
from app.diagnosis.data_faults import LeakageCounts, QualityCounts
from app.diagnosis.embeddings import Picture
from app.diagnosis.examples import HardExamples, hard_examples
from app.diagnosis.headline import ClassResult, Measured, headline, per_class
from app.diagnosis.health import Health, health
from app.diagnosis.hidden_slices import Slice
from app.diagnosis.hypotheses import Evidence
from app.diagnosis.label_noise import LabelNoise, Suspect, label_noise
from app.diagnosis.metrics import Matrix
from app.diagnosis.probabilities import Probabilities
from app.diagnosis.score import PROFILES, AutopsyScore, autopsy_score
from app.diagnosis.space import embedding_space
from app.diagnosis.temperature import TemperatureScaling, cross_fit
from app.errors import UserError
from app.stats import Interval

MISSING = {
    "class_balance": "no class has a test case",
    "generalization": "no accuracy on training data is known",
    "dataset_quality": "no image was scanned",
}
"""Why a sub-score is N/A."""


@dataclass(frozen=True)
class Confused:
    """One cell of the confusion matrix off the diagonal."""

    label: int
    """The class."""
    predicted: int
    """The class it was taken for."""
    count: int
    """How often."""
    rate: float
    """Share of the class's test cases."""


@dataclass(frozen=True)
class Autopsy:
    """The whole diagnosis of one classifier on N test cases.

    Test cases are numbered as in the given arrays, also where rows were dropped.
    """

    profile: str
    """`assay` or `original`."""
    probabilities: Probabilities
    """The checked predictions; says what the output was and which rows were dropped."""
    metrics: Mapping[str, Measured]
    """Headline numbers with 95 % intervals, by name, in the order in which they are shown."""
    classes: tuple[ClassResult, ...]
    """Results of each class."""
    confusion: Matrix
    """(K, K): labels in rows, predictions in columns; whole."""
    confused: tuple[Confused, ...]
    """Every confusion that occurred, largest rate first."""
    reliability: calibration.Reliability
    """The bins of the reliability diagram."""
    signed_gap: Interval
    """95 % interval of mean confidence minus accuracy."""
    temperature: TemperatureScaling
    """What temperature scaling would do."""
    score: AutopsyScore
    """The autopsy score and its sub-scores."""
    not_applicable: Mapping[str, str]
    """Why a sub-score is N/A, by name."""
    findings: tuple[Finding, ...]
    """Diagnosed causes with evidence and recommendations, most confident first."""
    health: Health
    """The diagnosis in one word."""
    examples: HardExamples
    """Test cases worth looking at."""
    label_noise: LabelNoise
    """The suspects are listed whether or not they are enough for a finding."""
    class_order: ClassOrder
    """The best renaming of the columns."""
    slices: tuple[Slice, ...]
    """Clusters of the embeddings, most suspicious first; empty without embeddings."""
    picture: Picture | None
    """The embeddings in the plane; None without embeddings."""
    similarity: NDArray[np.float64] | None
    """(K, K): cosine between the classes' centroids; None without embeddings."""


def diagnose(
    probs: ArrayLike,
    labels: ArrayLike,
    classes: Sequence[str],
    *,
    output: str = "auto",
    on_invalid: str = "error",
    train_accuracy: float | None = None,
    embeddings: ArrayLike | None = None,
    embedding_cases: ArrayLike | None = None,
    picture: str = "pca",
    quality_counts: QualityCounts | None = None,
    leakage_counts: LeakageCounts | None = None,
    profile: str = "assay",
    weights: Mapping[str, float] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Autopsy:
    """The autopsy of a classifier.

    Args:
        probs: (N, K) probabilities or logits of the test cases.
        labels: (N,) true classes in 0..K-1.
        classes: K names in training order, the order of the columns.
        output: what `probs` holds: `auto`, `probs` or `logits`.
        on_invalid: `error` refuses rows with NaN or infinity, `drop` leaves them out.
        train_accuracy: accuracy on training data, if known.
        embeddings: (M, D) what a layer makes of M test cases, if known.
        embedding_cases: (M,) which test cases these are; all of them by default.
        picture: how embeddings are pictured, `pca` or `tsne`.
        quality_counts: what the scan of the images counted, if there was one.
        leakage_counts: test cases that are in the training data, if that was looked for.
        profile: `assay`, or `original` for exactly the score and causes of the original tool.
        weights: weights of the sub-scores.
        resamples: bootstrap samples.
        seed: of everything drawn; equal arguments give equal results.

    Raises:
        UserError: if an argument does not hold what is said here.
    """
    _check(profile, train_accuracy, resamples)
    given = probabilities.check(probs, labels, classes, output=output, on_invalid=on_invalid)
    metrics_rng, temperature_rng, noise_rng, order_rng, space_rng = np.random.default_rng(seed).spawn(5)
    rows, true = given.rows, given.labels
    top1, confidence = rows.argmax(axis=1), rows.max(axis=1)
    matrix = metrics.confusion(top1, true, len(given.class_names))
    space = None
    if embeddings is not None:
        centred = profile != "original"
        space = embedding_space(
            embeddings, embedding_cases, given, space_rng, method=picture, centred=centred
        )
    evidence = Evidence(
        matrix=matrix,
        confidence=confidence,
        right=top1 == true,
        class_names=given.class_names,
        noise=label_noise(rows, true, noise_rng),
        order=class_order(top1, true, len(given.class_names), order_rng),
        space=space,
        train_accuracy=train_accuracy,
        quality=quality_counts,
        leakage=leakage_counts,
    )
    score = _score(evidence, profile, weights)
    findings = tuple(replace(each, cases=_original(each.cases, given)) for each in evidence.findings(profile))
    return Autopsy(
        profile=profile,
        probabilities=given,
        metrics=headline(rows, true, metrics_rng, resamples=resamples),
        classes=per_class(matrix, confidence, true, given.class_names),
        confusion=matrix,
        confused=_confused(matrix),
        reliability=calibration.reliability(confidence, evidence.right),
        signed_gap=signed_gap(confidence, evidence.right),
        temperature=cross_fit(rows, true, temperature_rng),
        score=score,
        not_applicable={name: MISSING[name] for name, value in score.sub_scores.items() if np.isnan(value)},
        findings=findings,
        health=health(score, findings),
        examples=_numbered(hard_examples(rows, true), given),
        label_noise=replace(
            evidence.noise,
            suspects=_numbered_suspects(evidence.noise.suspects, given),
            doubtful=_numbered_suspects(evidence.noise.doubtful, given),
        ),
        class_order=evidence.order,
        slices=tuple(replace(each, cases=_original(each.cases, given)) for each in space.slices)
        if space
        else (),
        picture=replace(space.picture, cases=given.cases[space.picture.cases]) if space else None,
        similarity=space.similarity if space else None,
    )


def _check(profile: str, train_accuracy: float | None, resamples: int) -> None:
    if profile not in PROFILES:
        raise UserError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
    if train_accuracy is not None and not 0 <= train_accuracy <= 1:
        raise UserError(f"the accuracy on training data must be from 0 to 1, not {train_accuracy}")
    if resamples < 1:
        raise UserError(f"resamples must be at least 1, not {resamples}")


def _score(evidence: Evidence, profile: str, weights: Mapping[str, float] | None) -> AutopsyScore:
    confidence, right = evidence.confidence, evidence.right
    try:
        return autopsy_score(
            evidence.matrix,
            ece=float(calibration.reliability(confidence, right).ece),
            confident_errors=calibration.confident_error_share(confidence, right),
            accuracy_gap=evidence.accuracy_gap,
            quality_faults=None if evidence.quality is None else evidence.quality.faults(profile),
            weights=weights,
            profile=profile,
        )
    except ValueError as error:
        raise UserError(str(error)) from error


def _confused(matrix: Matrix) -> tuple[Confused, ...]:
    rates = metrics.confusion_rates(matrix)
    label, predicted = np.nonzero(rates)
    order = np.argsort(-rates[label, predicted], kind="stable")
    return tuple(
        Confused(a, b, int(matrix[a, b]), float(rates[a, b]))
        for a, b in zip(label[order].tolist(), predicted[order].tolist(), strict=True)
    )


def _original(cases: Sequence[int], given: Probabilities) -> tuple[int, ...]:
    """Test cases as numbered in the given arrays."""
    return tuple(given.cases[list(cases)].tolist())


def _numbered_suspects(suspects: tuple[Suspect, ...], given: Probabilities) -> tuple[Suspect, ...]:
    return tuple(replace(each, case=int(given.cases[each.case])) for each in suspects)


def _numbered(examples: HardExamples, given: Probabilities) -> HardExamples:
    shown = tuple(replace(each, case=int(given.cases[each.case])) for each in examples.shown)
    return replace(examples, shown=shown)
