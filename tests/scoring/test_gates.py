"""The promises of the statistical verdict, by seeded simulation."""

from pathlib import Path

import numpy as np
import yaml

from app.records import Predictions
from app.scoring import Rule, Thresholds, judge

SEEDS = 200


BY_TEST = Rule(delta=0.0, resamples=1)
"""Killed by the test alone, however small the effect."""


def outcomes(right, rng):
    """Outcomes of a model that is right where `right`, (T, N), says so; the label is 0, and confidences differ."""
    top1 = np.where(np.atleast_2d(right), 0, 1).astype(np.int32)
    return Predictions(top1, rng.random(top1.shape, dtype=np.float32), np.full(top1.shape, 0.1, np.float32))


def judged(original, mutants, rng, rule=BY_TEST):
    """The product's verdicts on mutants, each (T, N) or (N,): whether they are right."""
    labels = np.zeros(original.size, dtype=np.int64)
    seen = [outcomes(each, rng) for each in mutants]
    found = judge(outcomes(original, rng), seen, labels, classes=2, rng=rng, rule=rule)
    assert found.scored.all()
    return found


def test_mutants_that_change_nothing_are_never_killed():
    rng = np.random.default_rng(0)
    for _ in range(20):
        labels = rng.integers(5, size=80)
        top1 = np.where(rng.random(80) < 0.85, labels, 0).astype(np.int32)[None]
        moved = np.full(top1.shape, 0.1, np.float32)
        mutants = [
            Predictions(
                np.repeat(top1, times, axis=0),
                rng.random((times, 80)).astype(np.float32),
                np.repeat(moved, times, 0),
            )
            for times in (1, 1, 1, 5)
        ]
        original = Predictions(top1, moved, np.zeros_like(moved))
        found = judge(original, mutants, labels, classes=5, rng=rng, rule=Rule(resamples=20))
        assert not found.killed.any()
        assert not found.draws.any()
        assert found.summary.mutation_score == 0


def test_pairs_swapped_at_random_are_not_killed_in_95_percent_of_seeds():
    with_kill = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        cases = int(rng.integers(20, 300))
        original = rng.random(cases) < rng.uniform(0.5, 0.99)
        # A noisy copy of the original; then each pair is swapped or not, so that neither side is the better one.
        copy = original ^ (rng.random(cases) < rng.choice([0.02, 0.1, 0.4]))
        swapped = rng.random(cases) < 0.5
        before, after = np.where(swapped, copy, original), np.where(swapped, original, copy)
        with_kill += bool(judged(before, [after], rng).killed.any())
    assert with_kill / SEEDS <= 0.05


def test_campaigns_of_models_as_good_as_the_original_kill_none_in_95_percent_of_seeds():
    with_kill = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        mutants, cases = int(rng.integers(1, 40)), int(rng.integers(20, 300))
        # Original and mutants are right on a case with one probability, easy or hard, each by its own chance.
        easy = rng.beta(8, 1, size=cases)
        original, *others = rng.random((mutants + 1, cases)) < easy
        with_kill += bool(judged(original, others, rng).killed.any())
    assert with_kill / SEEDS <= 0.05


def test_stochastic_noise_at_p0_is_not_killed_in_95_percent_of_seeds():
    with_kill = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        mutants, cases, times = 10, 100, int(rng.choice([5, 10, 30]))
        right = rng.random(cases) < 0.9
        kept = right & (rng.random((mutants, times, cases)) >= BY_TEST.p0)
        with_kill += bool(judged(right, kept, rng).killed.any())
    assert with_kill / SEEDS <= 0.05


def test_faults_are_killed_by_the_same_gates():
    rng = np.random.default_rng(0)
    right = rng.random(200) < 0.9
    broken = right & (rng.random((20, 200)) >= 0.1)
    flickering = right & (rng.random((20, 10, 200)) >= 0.3)
    assert judged(right, broken, rng).killed.all()
    assert judged(right, flickering, rng).killed.all()


def test_a_larger_suite_takes_back_the_kills_of_at_most_1_percent_of_mutants():
    cases, mutants, sizes = 1400, 400, (50, 100, 200, 400, 800, 1400)
    by_test, by_effect = [], []
    for seed in range(10):
        # A case is right while its margin is above 0; mutants blur the margins, most of them without an effect on
        # accuracy that 50 cases could show.
        rng = np.random.default_rng(seed)
        margin = rng.normal(1.6, 1.0, size=cases)
        noise = rng.choice([0.05, 0.1, 0.2, 0.4, 0.8, 1.6], size=(mutants, 1))
        kept = margin + noise * rng.normal(size=(mutants, cases)) > 0
        found = [judged(margin[:size] > 0, kept[:, :size], rng) for size in sizes]
        effect = np.array([[verdict.effect for verdict in each.verdicts] for each in found])
        for taken_back, killed in (
            (by_test, np.array([each.killed for each in found])),
            (by_effect, effect >= 0.02),
        ):
            taken_back.append((killed[:-1] & ~killed[1:]).mean(axis=1))
    assert (np.mean(by_test, axis=0) <= 0.01).all()
    assert (np.mean(by_effect, axis=0) > 0.02).all()


def test_the_configured_rule_is_the_default_rule():
    options = yaml.safe_load((Path(__file__).parents[2] / "conf" / "scoring" / "default.yaml").read_text())
    thresholds = options.pop("thresholds")
    numbers, limits = ({k: v for k, v in each.items() if k != "_target_"} for each in (options, thresholds))
    assert Rule(**numbers) == Rule()
    assert Thresholds(**limits) == Thresholds()
