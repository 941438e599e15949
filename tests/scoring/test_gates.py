"""The promises of the statistical verdict, by seeded simulation."""

from pathlib import Path

import numpy as np
import yaml

from app.records import Predictions
from app.scoring import Rule, Thresholds, judge
from app.scoring.discordance import Discordance
from app.scoring.multiplicity import benjamini_hochberg
from app.scoring.paired import measure

SEEDS = 200


def significant(discordance, q=0.05, p0=0.01):
    suite = np.ones((1, discordance.cases), dtype=np.uint8)
    return benjamini_hochberg(measure(discordance, suite, p0).p_value[0]) <= q


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


def test_outcomes_swapped_at_random_are_not_killed_in_95_percent_of_seeds():
    with_kill = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        mutants, cases = int(rng.integers(1, 60)), int(rng.integers(20, 300))
        original = rng.random(cases) < rng.uniform(0.5, 0.99)
        # A noisy copy of the original; then each pair is swapped or not, so that neither side is the better one.
        flips = rng.random((mutants, cases)) < rng.choice([0.02, 0.1, 0.4])
        first, second = np.broadcast_to(original, flips.shape), original ^ flips
        swapped = rng.random(flips.shape) < 0.5
        before, after = np.where(swapped, second, first), np.where(swapped, first, second)
        found = Discordance(
            original,
            (before & ~after).astype(np.uint8),
            (~before & after).astype(np.uint8),
            np.ones(mutants, dtype=np.int64),
        )
        with_kill += bool(significant(found).any())
    assert with_kill / SEEDS <= 0.05


def test_stochastic_noise_at_p0_is_not_killed_in_95_percent_of_seeds():
    with_kill = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        mutants, cases, times = 20, 200, int(rng.choice([5, 10, 30]))
        right = rng.random(cases) < 0.9
        lost = rng.binomial(times, 0.01, size=(mutants, cases)) * right
        found = Discordance(
            right, lost.astype(np.uint8), np.zeros_like(lost, dtype=np.uint8), np.full(mutants, times)
        )
        with_kill += bool(significant(found).any())
    assert with_kill / SEEDS <= 0.05


def test_a_larger_suite_takes_back_the_kills_of_at_most_1_percent_of_mutants():
    cases, mutants, sizes = 1400, 400, np.array([50, 100, 200, 400, 800, 1400])
    nested = (np.arange(cases) < sizes[:, None]).astype(np.uint8)
    by_test, by_effect = [], []
    for seed in range(10):
        # A case is right while its margin is above 0; mutants blur the margins, most of them without an effect on
        # accuracy that 50 cases could show.
        rng = np.random.default_rng(seed)
        margin = rng.normal(1.6, 1.0, size=cases)
        noise = rng.choice([0.05, 0.1, 0.2, 0.4, 0.8, 1.6], size=(mutants, 1))
        right, kept = margin > 0, margin + noise * rng.normal(size=(mutants, cases)) > 0
        lost, gained = (right & ~kept).astype(np.uint8), (~right & kept).astype(np.uint8)
        found = measure(Discordance(right, lost, gained, np.ones(mutants, dtype=np.int64)), nested, p0=0.01)
        for taken_back, killed in (
            (by_test, benjamini_hochberg(found.p_value) <= 0.05),
            (by_effect, found.effect >= 0.02),
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
