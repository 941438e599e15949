import numpy as np
import pytest

from app.records import Predictions
from app.scoring import SIGNALS, Rule, Verdict, judge, threshold_verdict
from app.scoring.survivors import needed_losses, survivors

CASES = 100
LABELS = np.zeros(CASES, dtype=np.int64)
STILL = dict.fromkeys(SIGNALS, 0.0)


def losing(count, times=1):
    top1 = np.array([[1] * count + [0] * (CASES - count)] * times, dtype=np.int32)
    return Predictions(top1, np.full(top1.shape, 0.5, np.float32), np.ones(top1.shape, np.float32))


def judged(mutants, **rule):
    options = Rule(**({"resamples": 10} | rule))
    return judge(losing(0), mutants, LABELS, classes=2, rng=np.random.default_rng(0), rule=options)


def test_hardest_first_and_killed_ones_left_out():
    judgement = judged([losing(1), losing(60), losing(2), losing(3), None])
    thresholds = [
        threshold_verdict(STILL | {"accuracy_drop": 0.016}),
        threshold_verdict(STILL | {"accuracy_drop": 0.6}),
        threshold_verdict(STILL | {"recall_drop": 0.02}),
        threshold_verdict(STILL | {"ece_rise": 0.025}),
        threshold_verdict(None),
    ]
    found = survivors(judgement, thresholds, "abcde")
    assert [each.key for each in found] == ["c", "d", "a"]
    assert [each.nearness for each in found] == ["far", "middle", "near miss"]
    assert [each.distance for each in found] == pytest.approx([0.2, 0.5, 0.8])
    assert [each.closest_signal for each in found] == ["recall_drop", "ece_rise", "accuracy_drop"]
    assert found[2].needed == (
        f"{needed_losses(judgement, 0)} By thresholds alone: if the accuracy fell by 2.0 points (now by 1.6)."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"new_causes": 1.0}, "killed, 1 new kinds of causes were found."),
        ({"autopsy_score_drop": 3.125}, "if the autopsy score fell by 5.0 points (now by 3.12)."),
        ({"ece_rise": 0.0501}, "killed, the calibration error rose by 5.01 points."),
        ({"accuracy_drop": -0.004}, "if the accuracy fell by 2.0 points (now by −0.4)."),
    ],
)
def test_needed_by_threshold(changes, words):
    found = survivors(judged([losing(1)]), [threshold_verdict(STILL | changes)], ["m"])
    assert found[0].needed.endswith(f" By thresholds alone: {words}")


@pytest.mark.parametrize("delta", [0.01, 0.12])
def test_needed_losses_are_the_fewest_that_kill(delta):
    others = [losing(50), losing(40), losing(1)]
    text = needed_losses(judged([losing(2), *others], delta=delta), 0)
    needed = int(text.split()[2])
    assert text == (
        f"Killed if {needed} test cases turned from right to wrong (now 2 did, and 0 the other way)."
    )
    assert judged([losing(needed), *others], delta=delta).verdicts[0].verdict is Verdict.KILLED
    assert judged([losing(needed - 1), *others], delta=delta).verdicts[0].verdict is not Verdict.KILLED


def test_needed_repetitions_are_the_fewest_that_make_it_significant():
    def one_case_lost(times):
        top1 = np.zeros((10, CASES), dtype=np.int32)
        top1[:times, 0] = 1
        return Predictions(top1, np.full(top1.shape, 0.5, np.float32), np.ones(top1.shape, np.float32))

    text = needed_losses(judged([one_case_lost(1)]), 0)
    needed = int(text.split("to wrong in ")[1].split()[0])
    assert text == (
        f"Killed if one test case turned from right to wrong in {needed} of 10 repetitions (now in 1 at most) "
        "and the mean accuracy fell by 1.0 points (now by 0.1)."
    )
    assert judged([one_case_lost(needed)]).verdicts[0].p_adjusted <= 0.05
    assert judged([one_case_lost(needed - 1)]).verdicts[0].p_adjusted > 0.05


def test_a_suite_that_can_never_kill_says_so():
    few = judge(
        losing(0).take(np.arange(3)),
        [losing(1).take(np.arange(3))],
        LABELS[:3],
        classes=2,
        rng=np.random.default_rng(0),
        rule=Rule(resamples=10),
    )
    assert needed_losses(few, 0) == ("Never killed: 3 test cases are too few (1 turned from right to wrong).")
    assert needed_losses(judged([losing(0, times=2)], p0=0.3), 0) == (
        "Never killed: 2 repetitions are too few for 100 test cases."
    )
