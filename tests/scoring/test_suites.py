import numpy as np
import pytest

from app.records import Predictions
from app.scoring import Rule, judge, score_suites

CASES = 400
LABELS = np.zeros(CASES, dtype=np.int64)
RULE = Rule(resamples=300)


def predictions(wrong, shift=1.0):
    top1 = np.asarray(wrong, dtype=np.int32)[None]
    return Predictions(top1, np.full(top1.shape, 0.5, np.float32), np.full(top1.shape, shift, np.float32))


def campaign(seed=0):
    """Twenty mutants that lose 1 to 20 % of the cases, one equivalent and one that could not be run."""
    rng = np.random.default_rng(seed)
    mutants = [predictions(rng.random(CASES) < rate) for rate in np.linspace(0.01, 0.2, 20)]
    mutants += [predictions(np.zeros(CASES), shift=0.0), None]
    original = predictions(np.zeros(CASES), shift=0.0)
    return (
        original,
        mutants,
        judge(original, mutants, LABELS, classes=2, rng=np.random.default_rng(1), rule=RULE),
    )


def test_a_suite_is_judged_like_a_campaign_of_its_own():
    original, mutants, judgement = campaign()
    part = np.arange(0, CASES, 4)
    found = score_suites(judgement, {"part": part}, np.random.default_rng(2)).suites[0]
    scored = [mutant.take(part) for mutant in mutants[:20]]
    alone = judge(
        original.take(part), scored, LABELS[part], classes=2, rng=np.random.default_rng(3), rule=RULE
    )
    assert found.killed == tuple(np.flatnonzero(alone.killed).tolist())
    assert found.mutation_score == pytest.approx(alone.killed.sum() / 20)
    assert found.cases == 100
    assert found.mutation_score_ci.low == pytest.approx(alone.summary.mutation_score_ci.low, abs=0.1)
    assert found.mutation_score_ci.high == pytest.approx(alone.summary.mutation_score_ci.high, abs=0.1)


def test_the_whole_suite_has_the_score_and_the_interval_of_the_campaign():
    judgement = campaign()[2]
    found = score_suites(judgement, {"all": np.arange(CASES)}, np.random.default_rng(1)).suites[0]
    assert found.mutation_score == judgement.summary.mutation_score
    assert found.mutation_score_ci == judgement.summary.mutation_score_ci


def test_differences_between_all_pairs():
    judgement = campaign()[2]
    suites = {"small": range(30), "large": range(CASES), "same": range(CASES)}
    found = score_suites(judgement, suites, np.random.default_rng(4))
    small, large, same = found.suites
    assert [(each.first, each.second) for each in found.differences] == [
        ("small", "large"),
        ("small", "same"),
        ("large", "same"),
    ]
    gap = found.differences[0].difference
    assert gap.value == pytest.approx(small.mutation_score - large.mutation_score)
    assert gap.ci.low <= gap.value <= gap.ci.high < 0
    assert gap.p_value < 0.05
    assert (found.differences[2].difference.value, found.differences[2].difference.p_value) == (0, 1)
    assert large.mutation_score == same.mutation_score


def test_pairing_narrows_the_difference_of_suites_that_share_cases():
    judgement = campaign()[2]
    halves = {
        "odd": range(1, CASES, 2),
        "even": range(0, CASES, 2),
        "all but ten": range(10, CASES),
        "all": range(CASES),
    }
    widths = {
        (each.first, each.second): each.difference.ci.high - each.difference.ci.low
        for each in score_suites(judgement, halves, np.random.default_rng(5)).differences
    }
    assert widths["all but ten", "all"] < widths["odd", "even"]


def test_an_empty_suite_kills_nothing():
    found = score_suites(campaign()[2], {"none": []}, np.random.default_rng(6)).suites[0]
    assert (found.mutation_score, found.killed, found.cases) == (0, (), 0)


def test_no_suite_and_no_scored_mutant():
    judgement = campaign()[2]
    assert score_suites(judgement, {}, np.random.default_rng(7)).suites == ()
    original = predictions(np.zeros(CASES), shift=0.0)
    nothing = judge(original, [None], LABELS, classes=2, rng=np.random.default_rng(8), rule=RULE)
    found = score_suites(nothing, {"a": [0], "b": [1]}, np.random.default_rng(9))
    assert np.isnan(found.suites[0].mutation_score)
    assert np.isnan(found.differences[0].difference.p_value)


@pytest.mark.parametrize("cases", [[0, CASES], [-1], [3, 3]])
def test_bad_suites_are_refused(cases):
    with pytest.raises(ValueError, match="suite bad"):
        score_suites(campaign()[2], {"bad": cases}, np.random.default_rng(0))
