import numpy as np
import pytest

from app.scoring.thresholds import SIGNALS, Thresholds, threshold_score, threshold_verdict
from app.scoring.verdict import Verdict

STILL = dict.fromkeys(SIGNALS, 0.0)


def judged(**changes):
    return threshold_verdict(STILL | changes)


@pytest.mark.parametrize(
    ("signal", "threshold"),
    [
        ("accuracy_drop", 0.02),
        ("recall_drop", 0.1),
        ("ece_rise", 0.05),
        ("autopsy_score_drop", 5.0),
        ("new_causes", 1),
    ],
)
def test_any_signal_at_its_threshold_kills(signal, threshold):
    at = judged(**{signal: threshold})
    assert (at.verdict, at.decided_by) == (Verdict.KILLED, signal)
    below = judged(**{signal: 0.99 * threshold if signal != "new_causes" else 0})
    assert (below.verdict, below.decided_by) == (Verdict.SURVIVED, None)


def test_rounding_does_not_save_a_mutant():
    assert 0.83 - 0.81 < 0.02
    assert judged(accuracy_drop=0.83 - 0.81).verdict is Verdict.KILLED


def test_the_signal_that_reached_furthest_decides():
    assert judged(accuracy_drop=0.03, recall_drop=0.3, ece_rise=0.06).decided_by == "recall_drop"


@pytest.mark.parametrize(
    ("changes", "score", "label"),
    [
        ({}, 0.0, "hard"),
        ({"accuracy_drop": -0.5}, 0.0, "hard"),
        ({"accuracy_drop": 0.0099}, 0.495, "hard"),
        ({"accuracy_drop": 0.01}, 0.5, "medium"),
        ({"recall_drop": 0.15}, 1.5, "easy"),
        ({"new_causes": 1}, 1.0, "medium"),
        ({"new_causes": 3}, 1.5, "easy"),
        ({"new_causes": 9}, 2.0, "easy"),
        ({"new_causes": 9, "accuracy_drop": 0.1}, 5.0, "easy"),
    ],
)
def test_difficulty(changes, score, label):
    difficulty = judged(**changes).difficulty
    assert difficulty.score == pytest.approx(score)
    assert difficulty.label == label


def test_a_signal_that_was_not_measured_does_not_fire():
    found = threshold_verdict({"accuracy_drop": 0.01, "ece_rise": float("nan")})
    assert [reading.measured for reading in found.readings] == [True, False, False, False, False]
    assert found.verdict is Verdict.SURVIVED
    assert found.closest.signal == "accuracy_drop"


def test_nothing_measured_and_invalid():
    nothing, invalid = threshold_verdict({}), threshold_verdict(None)
    assert nothing.verdict is Verdict.SURVIVED
    assert invalid.verdict is Verdict.INVALID
    assert np.isnan(nothing.difficulty.score)
    assert np.isnan(invalid.difficulty.score)
    assert nothing.difficulty.label is invalid.difficulty.label is None


def test_other_thresholds():
    strict = Thresholds(accuracy_drop=0.001, new_causes=2)
    assert threshold_verdict({"accuracy_drop": 0.001}, strict).verdict is Verdict.KILLED
    assert threshold_verdict({"new_causes": 1.0}, strict).verdict is Verdict.SURVIVED


@pytest.mark.parametrize("bad", [0, -0.1, float("inf"), float("nan")])
def test_bad_thresholds_are_refused(bad):
    with pytest.raises(ValueError, match="ece_rise"):
        Thresholds(ece_rise=bad)


def test_an_unknown_signal_is_refused():
    with pytest.raises(ValueError, match="luck"):
        threshold_verdict({"luck": 1.0})


def test_score():
    killed, survived, invalid = judged(accuracy_drop=1.0), judged(), threshold_verdict(None)
    assert threshold_score([killed, killed, survived, invalid]) == pytest.approx(2 / 3)
    assert np.isnan(threshold_score([invalid]))
    assert np.isnan(threshold_score([]))
