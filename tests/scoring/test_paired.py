import numpy as np
import pytest
from scipy import stats

from app.scoring import paired
from app.scoring.discordance import Discordance
from app.stats.multiplicity import holm


def discordance(right, lost, gained, repetitions):
    return Discordance(
        np.array(right, dtype=bool),
        np.array(lost, np.uint8),
        np.array(gained, np.uint8),
        np.array(repetitions),
    )


def random(rng, mutants=6, cases=40):
    right = rng.random(cases) < 0.7
    times = rng.choice([1, 1, 10], size=mutants)
    moved = rng.binomial(times[:, None], rng.beta(1, 3, size=(mutants, cases)))
    return discordance(right, moved * right, moved * ~right, times)


def test_repetition_tail_equals_binomtest():
    expected = [stats.binomtest(k, 10, 0.03, alternative="greater").pvalue for k in range(11)]
    np.testing.assert_allclose(paired.repetition_tail(10, 0.03), expected, rtol=1e-10)


def test_suite_by_hand():
    # Mutant 0: 3 lost, 1 gained: P(Bin(4, 1/2) >= 3) = 5/16. Mutant 1: a case lost in 2 of 2 repetitions, p0².
    found = paired.measure(
        discordance([1, 1, 1, 0], [[1, 1, 1, 0], [0, 2, 1, 0]], [[0, 0, 0, 1], [0, 0, 0, 2]], [1, 2]),
        np.ones((1, 4), dtype=np.uint8),
        p0=0.1,
    )
    assert found.p_value[0] == pytest.approx([5 / 16, 3 * 0.01])
    assert found.effect[0] == pytest.approx([2 / 4, 0.5 / 4])


def test_weights_equal_repeated_cases():
    rng = np.random.default_rng(3)
    d = random(rng)
    weights = rng.integers(0, 4, size=(20, d.cases)).astype(np.uint8)
    found = paired.measure(d, weights, p0=0.01)
    for row, drawn in enumerate(weights):
        repeated = d.take(np.repeat(np.arange(d.cases), drawn))
        alone = paired.measure(repeated, np.ones((1, repeated.cases), dtype=np.uint8), p0=0.01)
        np.testing.assert_allclose(found.p_value[row], alone.p_value[0])
        np.testing.assert_allclose(found.effect[row], alone.effect[0])


def test_blocks_change_nothing(monkeypatch):
    d = random(np.random.default_rng(4), mutants=11)
    weights = np.random.default_rng(5).integers(0, 3, size=(9, d.cases)).astype(np.uint8)
    whole = paired.measure(d, weights, p0=0.01)
    monkeypatch.setattr(paired, "MUTANT_BLOCK", 3)
    monkeypatch.setattr(paired, "RESAMPLE_BLOCK", 2)
    monkeypatch.setattr(paired, "WORST_CASES", 1)
    blocks = paired.measure(d, weights, p0=0.01)
    np.testing.assert_array_equal(whole.p_value, blocks.p_value)
    np.testing.assert_array_equal(whole.effect, blocks.effect)


def test_stochastic_p_is_the_smallest_holm_p_over_the_cases_the_original_gets_right():
    d = random(np.random.default_rng(6), mutants=30)
    found = paired.measure(d, np.ones((1, d.cases), dtype=np.uint8), p0=0.05).p_value[0]
    kills = paired.killing_cases(d, q=0.05, p0=0.05)
    for mutant in np.flatnonzero(d.repetitions > 1):
        raw = [
            stats.binomtest(int(k), 10, 0.05, alternative="greater").pvalue for k in d.lost[mutant, d.right]
        ]
        assert found[mutant] == pytest.approx(holm(raw).min())
        assert kills[mutant, d.right].tolist() == (holm(raw) <= 0.05).tolist()
        assert not kills[mutant, ~d.right].any()


def test_deterministic_kills_are_the_lost_cases():
    d = discordance([1, 1, 0], [[1, 0, 0]], [[0, 0, 1]], [1])
    assert paired.killing_cases(d, q=0.05, p0=0.01).tolist() == [[True, False, False]]


def test_class_tests_by_hand():
    labels = np.array([0, 0, 0, 0, 1, 1, 2])
    lost, gained = np.zeros((2, 7)), np.zeros((2, 7))
    lost[:, :4], lost[:, 4], gained[:, 5] = 1, 1, 1
    found = paired.class_tests(discordance([1, 1, 1, 1, 1, 0, 1], lost, gained, [1, 4]), labels, 3)
    # Class 0 loses 4 of 4 pairs, 1/16 times 3; class 1 one of two, 3/4 times 2; class 2 has no pair.
    assert found[0].tolist() == [3 / 16, 1, 1]
    assert np.isnan(found[1]).all()


def test_no_weight_no_case_no_mutant():
    d = discordance([1, 0], [[1, 0], [3, 0]], [[0, 1], [0, 3]], [1, 3])
    nothing = paired.measure(d, np.zeros((1, 2), dtype=np.uint8), p0=0.01)
    assert nothing.p_value.tolist() == [[1, 1]]
    assert np.isnan(nothing.effect).all()
    empty = paired.measure(d.take(np.array([], dtype=int)), np.zeros((2, 0), dtype=np.uint8), p0=0.01)
    assert empty.p_value.tolist() == [[1, 1], [1, 1]]
    assert paired.measure(
        d.select(np.array([], dtype=int)), np.ones((2, 2), dtype=np.uint8), p0=0.01
    ).effect.shape == (2, 0)


def test_an_original_that_is_never_right_cannot_lose():
    d = discordance([0, 0], [[0, 0], [0, 0]], [[1, 0], [2, 0]], [1, 2])
    assert paired.measure(d, np.ones((1, 2), dtype=np.uint8), p0=0.01).p_value.tolist() == [[1, 1]]


def test_loss_rate_of_an_aa_run():
    d = discordance([1, 1, 1, 0], [[1, 0, 0, 0], [0, 0, 2, 0]], np.zeros((2, 4)), [10, 10])
    expected = stats.binomtest(3, 60).proportion_ci(0.9, method="exact").high
    assert paired.aa_loss_rate(d, level=0.95) == pytest.approx(expected)
    assert paired.aa_loss_rate(discordance([0], [[0]], [[1]], [1])) == 1
