"""Estimates and evaluations of estimators in two runs."""

import numpy as np
import pytest
from scipy import stats

from app.comparison import Side, compare_all

from .bodies import changed, estimate


def test_estimates_are_independent():
    before, after = estimate(0.90, [0.86, 0.94]), estimate(0.80, [0.74, 0.86])
    found = compare_all(Side(before), Side(after))
    half = (0.04**2 + 0.06**2) ** 0.5
    assert found.delta("estimated_accuracy").ci == pytest.approx((-0.1 - half, -0.1 + half))
    assert (found.verdict, found.decision.key) == ("regressed", "estimated_accuracy")
    close = compare_all(Side(before), Side(estimate(0.87, [0.82, 0.92])))
    assert (close.verdict, close.within_noise) == ("unchanged", True)
    asked = {
        "state": "labels needed",
        "asked": [{"case": 3}, {"case": 5}],
        "next_command": "run labels=x.csv",
    }
    waiting = compare_all(Side(before), Side(changed(before, estimates=[], labelling=asked)))
    assert waiting.verdict == "unknown"
    [section] = waiting.comparability.skipped_sections
    assert section.name == "after"
    assert section.reason == (
        "the labels of 2 cases are missing; give them, run `run labels=x.csv` and compare again"
    )


def test_a_known_truth_decides_and_not_its_estimate():
    luck = [estimate(value, [value - 0.02, value + 0.02], use="evaluation") for value in (0.95, 0.75)]
    found = compare_all(*map(Side, luck))  # of one population, far apart by chance
    assert found.delta("estimated_accuracy").judgement == "worse"
    assert (found.verdict, found.decision.key) == ("unchanged", "accuracy")


def test_estimators_by_their_errors():
    before = estimate(0.9, None, use="evaluation", ratios=(0.8, 1.0))
    after = estimate(0.9, None, use="evaluation", ratios=(0.6, 0.75))
    found = compare_all(Side(before), Side(after))
    assert (found.verdict, found.decision.key) == ("improved", "rmse_ratio")
    assert found.delta("rmse_ratio").after / found.delta("rmse_ratio").before == pytest.approx(0.75)
    few = [
        estimate(0.9, None, use="evaluation", ratios=each, repetitions=20)
        for each in ((0.8, 1.0), (0.75, 0.9))
    ]
    close = compare_all(Side(few[0]), Side(few[1]))
    assert (close.verdict, close.within_noise) == ("unchanged", True)


def test_a_reported_standard_error_of_the_ratio_is_used():
    """0.80 against 0.74: beyond chance by the repetitions alone, within it by the errors of the reports."""
    sides = [estimate(0.9, None, use="evaluation", ratios=(each,)) for each in (0.80, 0.74)]
    assert compare_all(*map(Side, sides)).verdict == "improved"
    for each in sides:
        each["results"][0]["rmse_ratio_srs_se"] = 0.04
    found = compare_all(*map(Side, sides)).delta("rmse_ratio")
    assert found.judgement == "within noise"
    z = np.log(0.74 / 0.80) / np.hypot(0.04 / 0.80, 0.04 / 0.74)
    assert found.p_value == pytest.approx(2 * stats.norm.cdf(z))


def populations(before, after, n=100, data="d1"):
    sides = [estimate(0.9, None, use="evaluation") for _ in range(2)]
    for side, accuracy in zip(sides, (before, after), strict=True):
        side["populations"][0] |= {"n": n, "accuracy": accuracy}
    return Side(sides[0]), Side(changed(sides[1], subject__data_digest=data))


def test_other_populations_are_samples():
    found = compare_all(*populations(0.90, 0.88, data="d2"))
    assert (found.verdict, found.within_noise) == ("unchanged", True)
    assert found.delta("accuracy").method == "intervals"
    assert compare_all(*populations(0.90, 0.88, data="")).within_noise
    assert compare_all(*populations(0.90, 0.60, data="d2")).verdict == "regressed"


def test_the_accuracy_of_one_known_population_is_a_fact():
    found = compare_all(*populations(0.90, 0.88))
    assert (found.verdict, found.decision.rule) == ("regressed", "a fact")
    small = compare_all(*populations(0.900, 0.895, n=1000))
    assert (small.verdict, small.decision.rule) == ("unchanged", "too small")
