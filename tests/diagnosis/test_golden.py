"""The numbers of profile `original` equal those of the original tool, as rounded there."""

import json
from pathlib import Path

import numpy as np
import pytest

from app.diagnosis import autopsy_score, confusion, diagnose, find_causes, metrics, reliability
from app.diagnosis.calibration import confident_error_share
from app.diagnosis.signals import signals
from app.records import Predictions

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "autopsy"
CASES = ("balanced", "imbalanced", "logits", "overconfident", "overlap", "underfit")


def load(case):
    rows = np.load(GOLDEN / case / "probs.npy").astype(np.float64)
    labels = np.load(GOLDEN / case / "labels.npy")
    expected = json.loads((GOLDEN / case / "expected.json").read_text())
    if expected["output_type_used"] == "logits":
        rows = np.exp(rows - rows.max(axis=1, keepdims=True))
        rows /= rows.sum(axis=1, keepdims=True)
    names = json.loads((GOLDEN / case / "classes.json").read_text())
    return rows.argmax(axis=1), rows.max(axis=1), labels, names, expected


@pytest.mark.parametrize("case", CASES)
def test_rates(case):
    top1, _, labels, names, expected = load(case)
    matrix = confusion(top1, labels, len(names))
    overall, per_class = expected["overall_metrics"], expected["class_stats"]
    assert matrix.tolist() == expected["confusion_matrix"]
    assert metrics.accuracy(matrix) == pytest.approx(overall["accuracy"], abs=1e-12)
    assert metrics.balanced_accuracy(matrix) == pytest.approx(overall["macro_recall"], abs=1e-12)
    assert metrics.macro(metrics.precision(matrix), matrix) == pytest.approx(
        overall["macro_precision"], abs=1e-12
    )
    assert metrics.macro_f1(matrix) == pytest.approx(overall["macro_f1"], abs=1e-12)
    assert metrics.weighted_f1(matrix) == pytest.approx(overall["weighted_f1"], abs=1e-12)
    for key, rate in (("recall", metrics.recall), ("precision", metrics.precision), ("f1", metrics.f1)):
        np.testing.assert_allclose(rate(matrix), [row[key] for row in per_class], rtol=0, atol=1e-12)
    assert metrics.support(matrix).tolist() == [row["sample_count"] for row in per_class]


@pytest.mark.parametrize("case", CASES)
def test_calibration_and_score(case):
    top1, confidence, labels, names, expected = load(case)
    matrix, right = confusion(top1, labels, len(names)), top1 == labels
    ece = float(reliability(confidence, right).ece)
    share = confident_error_share(confidence, right)
    score = autopsy_score(matrix, ece=ece, confident_errors=share, profile="original")
    assert ece == pytest.approx(expected["ece"], abs=1e-12)
    assert score.overall == expected["autopsy_score"]["overall"]
    shown = {name: None if np.isnan(value) else value for name, value in score.sub_scores.items()}
    assert shown == expected["autopsy_score"]["sub_scores"]


@pytest.mark.parametrize("case", CASES)
def test_causes(case):
    top1, confidence, labels, names, expected = load(case)
    found = find_causes(confusion(top1, labels, len(names)), confidence, top1 == labels, class_names=names)
    shown = [
        {
            "cause_type": each.cause_type,
            "confidence": round(each.confidence, 2),
            "affected": list(each.affected) or None,
        }
        for each in found
    ]
    assert shown == expected["causes"]


@pytest.mark.parametrize("case", CASES)
def test_signals_of_single_precision_predictions(case):
    top1, confidence, labels, names, expected = load(case)
    predictions = Predictions(
        top1[None].astype(np.int32),
        confidence[None].astype(np.float32),
        np.zeros((1, labels.size), np.float32),
    )
    found = signals(predictions, labels, len(names), profile="original")
    assert found.accuracy == pytest.approx(expected["overall_metrics"]["accuracy"], abs=1e-12)
    assert found.ece == pytest.approx(expected["ece"], abs=1e-6)
    assert found.autopsy_score == expected["autopsy_score"]["overall"]
    assert found.causes == {cause["cause_type"] for cause in expected["causes"]}


@pytest.mark.parametrize("case", CASES)
def test_the_whole_autopsy(case):
    rows, labels = np.load(GOLDEN / case / "probs.npy"), np.load(GOLDEN / case / "labels.npy")
    _, _, _, names, expected = load(case)
    found = diagnose(rows, labels, names, profile="original", resamples=10)
    overall = expected["overall_metrics"]
    for name in ("accuracy", "macro_precision", "macro_recall", "macro_f1", "weighted_f1"):
        assert found.metrics[name].value == pytest.approx(overall[name], abs=1e-12)
    assert found.metrics["ece"].value == pytest.approx(expected["ece"], abs=1e-9)
    assert found.probabilities.output == expected["output_type_used"]
    assert found.confusion.tolist() == expected["confusion_matrix"]
    assert found.score.overall == expected["autopsy_score"]["overall"]
    shown = {name: None if np.isnan(value) else value for name, value in found.score.sub_scores.items()}
    assert shown == expected["autopsy_score"]["sub_scores"]
    assert set(found.not_applicable) == {name for name, value in shown.items() if value is None}
    causes = [(each.cause_type, round(each.confidence, 2), list(each.affected)) for each in found.findings]
    assert causes == [
        (each["cause_type"], each["confidence"], each["affected"] or []) for each in expected["causes"]
    ]
    for mine, theirs in zip(found.classes, expected["class_stats"], strict=True):
        assert (mine.name, mine.support) == (theirs["class_name"], theirs["sample_count"])
        numbers = mine.recall.value, mine.precision.value, mine.f1, mine.mean_confidence
        wanted = [theirs[key] for key in ("recall", "precision", "f1", "mean_confidence")]
        np.testing.assert_allclose(numbers, wanted, rtol=0, atol=1e-9)


def test_underfit_does_not_look_healthy():
    rows, labels = (np.load(GOLDEN / "underfit" / f"{name}.npy") for name in ("probs", "labels"))
    found = diagnose(rows, labels, load("underfit")[3], resamples=10)
    assert found.score.overall < 60
    assert found.health.label == "unhealthy"
    assert [each.cause_type for each in found.findings] == ["underfitting"]
