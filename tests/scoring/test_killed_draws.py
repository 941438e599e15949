import numpy as np

from app.scoring.discordance import Discordance
from app.scoring.paired import measure
from app.scoring.suites import difference
from app.scoring.verdict import Rule, decide, killed_draws
from app.stats.bootstrap import case_weights, widened

CASES, MUTANTS = 200, 40


def campaign(rng, cases=CASES, fragile=0.4):
    """Mutants without effect and mutants of growing effect; fragile cases fall to many mutants."""
    rates = np.concatenate([np.zeros(MUTANTS // 2), np.linspace(0, 0.2, MUTANTS - MUTANTS // 2)])
    right = rng.random(cases) < 0.9
    fragility = rng.beta(fragile, fragile, size=cases)
    lost = (rng.random((MUTANTS, cases)) < 2 * rates[:, None] * fragility + 0.01) & right
    gained = (rng.random((MUTANTS, cases)) < 0.1) & ~right
    return Discordance(
        right, lost.astype(np.uint8), gained.astype(np.uint8), np.ones(MUTANTS, dtype=np.int64)
    )


def score(discordance, rule):
    suite = np.ones((1, discordance.cases), dtype=np.uint8)
    return float(decide(measure(discordance, suite, rule.p0), rule).killed.mean())


def test_the_same_generator_gives_the_same_draws():
    d, rule = campaign(np.random.default_rng(1)), Rule(resamples=50)
    one, two = (killed_draws(d, case_weights(CASES, 50, np.random.default_rng(9)), rule) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_draws_equal_judging_each_resample_on_its_own():
    d, rule = campaign(np.random.default_rng(2)), Rule(resamples=20)
    weights = case_weights(CASES, 20, np.random.default_rng(3))
    alone = [score(d.take(np.repeat(np.arange(CASES), drawn)), rule) for drawn in weights]
    np.testing.assert_allclose(killed_draws(d, weights, rule).mean(axis=1), alone)


def test_interval_covers_the_expected_score_of_such_suites():
    rng, rule = np.random.default_rng(4), Rule(resamples=200)
    expected = np.mean([score(campaign(rng), rule) for _ in range(200)])
    covered = []
    for _ in range(80):
        d = campaign(rng)
        draws = killed_draws(d, case_weights(CASES, rule.resamples, rng), rule).mean(axis=1)
        covered.append(expected in widened(score(d, rule), draws, rule.level))
    assert np.mean(covered) >= 0.90


def test_difference_of_equal_scores_is_nothing():
    draws = np.random.default_rng(5).random(100)
    found = difference(0.5, 0.5, draws, draws, 0.95)
    assert (found.value, found.p_value, found.ci.low, found.ci.high) == (0, 1, 0, 0)


def test_p_of_a_difference_is_uniform_without_one_and_small_with_one():
    rng, rule = np.random.default_rng(6), Rule(resamples=100)

    def p_value(second_cases):
        first, second = campaign(rng), campaign(rng, cases=second_cases)
        draws = [killed_draws(d, case_weights(d.cases, 100, rng), rule).mean(axis=1) for d in (first, second)]
        return difference(score(first, rule), score(second, rule), *draws, 0.95).p_value

    assert np.mean([p_value(CASES) <= 0.05 for _ in range(60)]) <= 0.10
    assert np.mean([p_value(40) <= 0.05 for _ in range(20)]) >= 0.9
