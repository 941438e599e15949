import numpy as np
import pytest

from app.records import Predictions
from app.scoring import Rule, Verdict, judge, threshold_verdict
from app.scoring.breakdown import breakdown
from app.stats.proportions import wilson

LABELS = np.zeros(60, dtype=np.int64)


def losing(count):
    top1 = np.array([[1] * count + [0] * (60 - count)], dtype=np.int32)
    return Predictions(top1, np.full(top1.shape, 0.5, np.float32), np.ones(top1.shape, np.float32))


JUDGEMENT = judge(
    losing(0),
    [losing(30), losing(1), None, losing(29), losing(2), None],
    LABELS,
    classes=2,
    rng=np.random.default_rng(0),
    rule=Rule(resamples=100),
)
NAMES = ["noise", "zeroing", "noise", "noise", "zeroing", "freezing"]


def test_groups_add_up_to_the_campaign():
    groups = breakdown(JUDGEMENT, NAMES)
    assert [group.name for group in groups] == ["noise", "zeroing", "freezing"]
    assert [group.members for group in groups] == [(0, 2, 3), (1, 4), (5,)]
    for verdict in Verdict:
        assert sum(group.summary.counts[verdict] for group in groups) == JUDGEMENT.summary.counts[verdict]


def test_scores_and_intervals_by_hand():
    noise, zeroing, freezing = breakdown(JUDGEMENT, NAMES)
    assert (noise.summary.mutation_score, noise.weak) == (1, False)
    assert (zeroing.summary.mutation_score, zeroing.weak) == (0, True)
    assert noise.summary.mutation_score_ci_mutants == wilson(2, 2)
    assert (noise.summary.mutation_score_ci.low, noise.summary.mutation_score_ci.high) == (1, 1)
    assert np.isnan(freezing.summary.mutation_score)
    assert not freezing.weak
    assert np.isnan(noise.mutation_score_thresholds)


def test_scores_of_profile_thresholds():
    thresholds = [
        threshold_verdict(None if i in {2, 5} else {"accuracy_drop": 0.1 * (i == 0)}) for i in range(6)
    ]
    noise, zeroing, freezing = breakdown(JUDGEMENT, NAMES, thresholds)
    assert (noise.mutation_score_thresholds, zeroing.mutation_score_thresholds) == (0.5, 0)
    assert np.isnan(freezing.mutation_score_thresholds)


def test_any_name_will_do():
    cells = breakdown(JUDGEMENT, [("conv1", name) for name in NAMES])
    assert cells[0].name == ("conv1", "noise")


def test_one_name_a_mutant():
    with pytest.raises(ValueError, match="name"):
        breakdown(JUDGEMENT, NAMES[:-1])
    with pytest.raises(ValueError, match="verdict"):
        breakdown(JUDGEMENT, NAMES, [])
