import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.diagnosis import calibration, metrics, scoring_rules
from app.diagnosis.resampled_metrics import calibration_interval, calibration_noise, resample
from app.stats.bootstrap import case_weights, percentile

from .models import sound_model


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 40))
def test_every_sample_equals_the_numbers_of_its_repeated_cases(seed, classes, cases):
    rows, labels, _ = sound_model(np.random.default_rng(seed), cases, classes, sharp=1)
    found = resample(rows, labels, np.random.default_rng(seed), resamples=4)
    counts = case_weights(cases, 4, np.random.default_rng(seed))
    for sample in range(4):
        chosen = np.repeat(np.arange(cases), counts[sample])
        p, y = rows[chosen], labels[chosen]
        top1, sure = p.argmax(axis=1), p.max(axis=1)
        matrix = metrics.confusion(top1, y, classes)
        bars = calibration.reliability(sure, top1 == y)
        expected = {
            "macro_f1": metrics.macro_f1(matrix),
            "macro_recall": metrics.balanced_accuracy(matrix),
            "macro_precision": metrics.macro(metrics.precision(matrix), matrix),
            "weighted_f1": metrics.weighted_f1(matrix),
            "weighted_precision": metrics.weighted(metrics.precision(matrix), matrix),
            "ece": bars.ece,
            "mce": bars.mce,
            "classwise_ece": calibration.classwise_ece(p, y),
            "log_loss": scoring_rules.log_losses(p, y).mean(),
            "brier": scoring_rules.brier_scores(p, y).mean(),
        }
        for name, value in expected.items():
            assert found[name][sample] == pytest.approx(float(value), abs=1e-9), name


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    # Truth: the same model on very many cases.
    rows, labels, _ = sound_model(np.random.default_rng(9), 200_000, 3, sharp=2)
    matrix = metrics.confusion(rows.argmax(axis=1), labels, 3)
    truth = {
        "macro_f1": float(metrics.macro_f1(matrix)),
        "log_loss": float(scoring_rules.log_losses(rows, labels).mean()),
        "brier": float(scoring_rules.brier_scores(rows, labels).mean()),
    }
    inside = dict.fromkeys(truth, 0)
    for seed in range(150):
        chosen = np.arange(1000 * seed, 1000 * seed + 250)
        drawn = resample(rows[chosen], labels[chosen], np.random.default_rng(seed), resamples=200)
        for name, value in truth.items():
            ends = percentile(drawn[name])
            inside[name] += ends.low <= value <= ends.high
    # Within three standard errors of 0.95 (0.018), and a little for the bootstrap's own roughness.
    assert all(0.89 <= count / 150 <= 0.995 for count in inside.values()), inside


def test_the_interval_of_a_calibration_error_takes_its_noise_off():
    hits = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows, labels, _ = sound_model(rng, 400, 3, sharp=2)
        sure, right = rows.max(axis=1), rows.argmax(axis=1) == labels
        ece = float(calibration.reliability(sure, right).ece)
        noise = calibration_noise(sure, rng)
        draws = resample(rows, labels, rng, resamples=50)["ece"]
        ends = calibration_interval(ece, draws, noise=noise["ece"])
        assert ends.low <= ece <= ends.high
        hits += ends.low == 0
    assert hits >= 56


def test_calibration_noise_is_the_error_of_a_calibrated_model():
    rng = np.random.default_rng(5)
    sure = rng.uniform(0.4, 1, 300)
    noise = calibration_noise(sure, rng, draws=2000)
    drawn = []
    for _ in range(400):
        right = rng.random(300) < sure
        bars = calibration.reliability(sure, right)
        drawn.append((bars.ece, bars.mce, calibration.adaptive_ece(sure, right)))
    below = (np.array(drawn) <= [noise[name] for name in ("ece", "mce", "adaptive_ece")]).mean(axis=0)
    assert ((below > 0.945) & (below <= 1)).all(), below
    assert calibration_noise(np.array([1.0]), rng) == {"ece": 0, "mce": 0, "adaptive_ece": 0}


def test_adaptive_ece_is_resampled_around_its_value():
    rng = np.random.default_rng(4)
    rows, labels, _ = sound_model(rng, 2000, 3, sharp=2)
    rows = rows**3 / (rows**3).sum(axis=1, keepdims=True)
    value = calibration.adaptive_ece(rows.max(axis=1), rows.argmax(axis=1) == labels)
    drawn = resample(rows, labels, rng, resamples=100)["adaptive_ece"]
    assert abs(np.median(drawn) - value) < 0.01
    assert 0.002 < drawn.std() < 0.02


def test_too_many_probabilities_leave_the_classwise_ece_without_an_interval(monkeypatch):
    monkeypatch.setattr("app.diagnosis.resampled_metrics.MOST_NUMBERS", 10)
    rng = np.random.default_rng(0)
    rows, labels, _ = sound_model(rng, 40, 3)
    drawn = resample(rows, labels, rng, resamples=20)
    assert not calibration_interval(0.1, drawn["classwise_ece"]).known
    assert calibration_interval(0.1, drawn["ece"]).known


def test_a_calibration_error_lies_between_nothing_and_all():
    draws = np.array([0.2, 0.4, 0.6])
    found = calibration_interval(0.1, draws)
    assert (found.low, found.high) == (0.0, 0.1)  # reflected, -0.39 to -0.01; widened to hold it; cut at 0
    found = calibration_interval(0.9, draws)
    assert (found.low, found.high) == (0.9, 1.0)
    assert calibration_interval(0.5, draws, noise=0.5).low == 0.0
