"""The sampling designs: hand-worked estimates, unbiasedness and coverage by seeded simulation, and fallbacks."""

from __future__ import annotations

import numpy as np
import pytest

from app.errors import UserError
from app.estimation import (
    CSS,
    LURE,
    SRSWOR,
    SRSWR,
    Adaptive,
    ArrayOracle,
    DeepEST,
    ModelAssistedSRS,
    Population,
    Reason,
    StratifiedNeyman,
)
from app.estimation.stratified import allocate
from app.estimation.weighted import lure_weights

RNG = np.random.default_rng


def made(size=500, seed=0, *, slope=0.6, shift=0.0):
    """A population with overconfident predictions and a distance that tells a little."""
    rng = RNG(seed)
    odds = rng.normal(-2.5, 2, size)
    failures = rng.random(size) < 1 / (1 + np.exp(-(slope * odds + shift)))
    columns = {
        "confidence": 1 / (1 + np.exp(odds)),
        "dsa": rng.gamma(3, 1, size) + failures,
        "lsa": rng.normal(size=size),
    }
    return Population("made", np.arange(size).astype(str), columns), failures


def simulate(estimator, population, failures, budget, runs):
    truth = 1 - failures.mean()
    estimates = [
        estimator.run(population, ArrayOracle(failures), budget, RNG([5, run])) for run in range(runs)
    ]
    errors = np.array([estimate.value - truth for estimate in estimates])
    covered = np.mean([estimate.interval().covers(truth) for estimate in estimates])
    return errors, float(covered), estimates


CLAIMING = [
    SRSWR(),
    SRSWOR(),
    CSS(),
    StratifiedNeyman(),
    DeepEST(),
    DeepEST("dsa"),
    DeepEST("lsa", tau=1.0),
    DeepEST("combined"),
    LURE(),
    LURE(power=1.0, control=False),
    ModelAssistedSRS(),
    Adaptive("accuracy"),
    Adaptive("balanced"),
    Adaptive("hunt"),
    Adaptive(waves=2),
]


@pytest.mark.parametrize("estimator", CLAIMING, ids=lambda e: f"{e.name}")
def test_estimates_are_unbiased_and_standard_errors_are_about_right(estimator):
    population, failures = made()
    errors, covered, estimates = simulate(estimator, population, failures, 40, 200)
    assert all(estimate.unbiased for estimate in estimates)
    assert abs(errors.mean()) <= 4 * errors.std(ddof=1) / np.sqrt(len(errors))
    claimed = np.sqrt(np.mean([estimate.se**2 for estimate in estimates]))
    assert 0.75 < claimed / errors.std() < 1.8
    assert covered >= 0.85 or any("covers less often" in note for note in estimates[0].notes)


@pytest.mark.parametrize("mode", ["accuracy", "balanced"])
@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (0.4, 0.0), (1.5, -2.0), (0.0, -2.0)])
def test_adaptive_intervals_cover_whether_confidence_can_be_trusted_or_not(mode, slope, shift):
    population, failures = made(1500, 3, slope=slope, shift=shift)
    _, covered, _ = simulate(Adaptive(mode), population, failures, 60, 150)
    assert covered >= 0.90  # 0.95 claimed; below 0.90 has probability 0.5 % with 150 runs


def test_adaptive_beats_simple_random_sampling_and_finds_more():
    population, failures = made(2000, 4)
    srs = np.sqrt(failures.mean() * (1 - failures.mean()) / 80 * (1 - 80 / 2000))
    errors, _, accuracy = simulate(Adaptive("accuracy"), population, failures, 80, 120)
    assert np.sqrt((errors**2).mean()) < 0.95 * srs
    _, _, hunt = simulate(Adaptive("hunt"), population, failures, 80, 30)
    simple = 80 * failures.mean()
    means = [np.mean([len(estimate.failures) for estimate in found]) for found in (accuracy, hunt)]
    assert simple * 1.2 < means[0] < means[1]


def test_srswor_worked_by_hand():
    population = Population("p", np.array(list("abcdef")))
    failures = np.array([True, False, False, True, False, False])
    estimate = SRSWOR().run(population, ArrayOracle(failures), 4, RNG(0))
    share = failures[estimate.sampled].mean()
    assert estimate.value == pytest.approx(1 - share)
    assert estimate.se == pytest.approx(np.sqrt(share * (1 - share) / 4 * (6 - 4) / (6 - 1)))
    assert estimate.trace.values[0] == 1 - failures[estimate.sampled[0]]
    assert set(estimate.reasons) == {Reason.UNIFORM}


def test_srswr_may_draw_a_case_twice_and_pays_once():
    population, failures = made(5)
    estimate = SRSWR().run(population, ArrayOracle(failures), 4, RNG(1))
    assert len(estimate.sampled) == 4
    assert estimate.cost == len(set(estimate.sampled.tolist())) < 4


def test_deepest_is_des_raj_worked_by_hand():
    # N = 4, beliefs 0.6, 0.5 live (tau 0.3), d = 0.8. Case 2 first (uniform), then 0, then 1.
    population = Population("p", np.array(list("abcd")), {"confidence": [0.4, 0.5, 0.9, 0.95]})
    failures = np.array([True, False, True, False])
    seeds = (
        s
        for s in range(500)
        if DeepEST().run(population, ArrayOracle(failures), 3, RNG(s)).sampled.tolist() == [2, 0, 1]
    )
    estimate = DeepEST().run(population, ArrayOracle(failures), 3, RNG(next(seeds)))
    q2 = 0.8 * 0.6 / 1.1 + 0.2 / 3
    q3 = 0.8 * 0.5 / 0.5 + 0.2 / 2
    z = np.array([1.0, (1 + 1 / q2) / 4, (2 + 0 / q3) / 4])
    assert estimate.value == pytest.approx(1 - z.mean())
    assert estimate.se == pytest.approx(np.sqrt(((z - z.mean()) ** 2).sum() / 6))
    first = DeepEST(variance_centre="first").run(population, ArrayOracle(failures), 3, RNG(0))
    same = DeepEST().run(population, ArrayOracle(failures), 3, RNG(0))
    assert first.se >= same.se


def test_deepest_thresholds_follow_the_paper():
    population, _ = made()
    dsa, lsa = population.column("dsa"), population.column("lsa")
    assert DeepEST("dsa").threshold(population) == pytest.approx(dsa.mean() + 2 * dsa.std(ddof=1))
    assert DeepEST("lsa").threshold(population) == pytest.approx(lsa.mean() + lsa.var(ddof=1))
    assert DeepEST("combined").threshold(population) == pytest.approx(0.3)
    assert DeepEST("lsa", tau={"made": 2.0}).threshold(population) == 2.0
    assert DeepEST("lsa", tau={"other": 2.0}).threshold(population) == pytest.approx(
        lsa.mean() + lsa.var(ddof=1)
    )


def test_deepest_without_weights_is_simple_random_and_says_so():
    population, failures = made()
    estimate = DeepEST(tau=2.0).run(population, ArrayOracle(failures), 20, RNG(0))
    assert "no case has confidence beyond τ = 2" in estimate.notes[0]
    assert set(estimate.reasons) == {Reason.UNIFORM}
    assert estimate.value == pytest.approx(
        1
        - np.mean(
            [
                (failures[estimate.sampled[:k]].sum() + failures[c] * (500 - k)) / 500
                for k, c in enumerate(estimate.sampled)
            ]
        )
    )


def test_deepest_goes_on_uniformly_once_weights_run_out():
    population, failures = made()
    tau = np.sort(1 - population.column("confidence"))[-4]
    estimate = DeepEST(tau=float(tau)).run(population, ArrayOracle(failures), 60, RNG(0))
    assert estimate.reasons.count(Reason.WEIGHT) <= 3
    assert "only 3 cases have a weight" in estimate.notes[1]


def test_lure_equals_the_formula_of_the_paper():
    population, failures = made(60)
    estimate = LURE().run(population, ArrayOracle(failures), 25, RNG(2))
    belief = 1 - population.column("confidence")
    weights = np.sqrt(0.9 * belief + 0.1 * belief.mean())
    total, size, correction = 0.0, 60, 0.0
    left = set(range(60))
    for m, case in enumerate(estimate.sampled.tolist(), start=1):
        q = 0.9 * weights[case] / weights[list(left)].sum() + 0.1 / len(left)
        v = 1 + (size - 25) / (size - m) * (1 / ((size - m + 1) * q) - 1)
        total += v * (failures[case] - belief[case])
        correction += v
        left.remove(case)
    assert estimate.value == pytest.approx(1 - (belief.mean() + total / 25))
    assert lure_weights(25, 60).sum() == pytest.approx(1.0)


def test_model_assisted_worked_by_hand_and_tuned():
    population, failures = made(40)
    belief = 1 - population.column("confidence")
    plain = ModelAssistedSRS().run(population, ArrayOracle(failures), 10, RNG(0))
    drawn = plain.sampled
    assert plain.value == pytest.approx(1 - belief.mean() - (failures[drawn] - belief[drawn]).mean())
    zero = ModelAssistedSRS(weight=0.0).run(population, ArrayOracle(failures), 10, RNG(0))
    assert zero.value == pytest.approx(1 - failures[drawn].mean())
    tuned = ModelAssistedSRS(weight=None).run(population, ArrayOracle(failures), 10, RNG(0))
    assert not tuned.unbiased
    assert "small bias" in tuned.notes[0]


def test_css_worked_by_hand():
    population, failures = made(100)
    estimate = CSS().run(population, ArrayOracle(failures), 50, RNG(0))
    order = np.argsort(population.column("confidence"), kind="stable")
    expected = 0.0
    for part, count in ((order[:10], 10), (order[10:20], 10), (order[20:], 30)):
        inside = np.intersect1d(part, estimate.sampled)
        assert len(inside) == count  # 40/40/20 % cut at the size of a stratum, the rest to the others
        expected += len(part) / 100 * failures[inside].mean()
    assert estimate.value == pytest.approx(1 - expected)


@pytest.mark.parametrize(
    ("shares", "sizes", "budget", "counts"),
    [
        ([0.4, 0.4, 0.2], [100, 100, 800], 200, [80, 80, 40]),
        ([0.4, 0.4, 0.2], [10, 100, 800], 50, [10, 27, 13]),
        ([1.0, 0.0, 0.0], [50, 50, 50], 10, [8, 1, 1]),
        ([1.0, 1.0], [2, 3], 5, [2, 3]),
        ([0.0, 0.0], [5, 5], 4, [2, 2]),
    ],
)
def test_allocation_respects_shares_and_sizes(shares, sizes, budget, counts):
    assert allocate(np.array(shares), np.array(sizes), budget).tolist() == counts


def test_more_strata_than_labels_are_merged_and_said():
    population, failures = made(50)
    for estimator in (CSS(), StratifiedNeyman()):
        estimate = estimator.run(population, ArrayOracle(failures), 2, RNG(0))
        assert estimate.cost == 2
        assert "merged" in estimate.notes[0]


EVERY = [*CLAIMING, ModelAssistedSRS(weight=None), Adaptive(target_width=0.2), LURE(target_width=0.2)]


@pytest.mark.parametrize("estimator", EVERY, ids=lambda e: e.name)
@pytest.mark.parametrize("constant", ["confidence", "dsa", "both"])
def test_constant_auxiliary_variables_are_survived(estimator, constant):
    population, failures = made(60)
    columns = dict(population.columns)
    for name in ("confidence", "dsa", "lsa") if constant == "both" else (constant,):
        columns[name] = np.full(60, 0.8)
    flat = Population("flat", population.ids, columns)
    estimate = estimator.run(flat, ArrayOracle(failures), 20, RNG(0))
    assert np.isfinite(estimate.value)
    assert 0 <= estimate.interval().low <= estimate.interval().high <= 1


@pytest.mark.parametrize("estimator", EVERY, ids=lambda e: e.name)
@pytest.mark.parametrize(("size", "budget"), [(2, 1), (3, 2), (12, 1), (12, 11), (30, 7)])
@pytest.mark.parametrize("kind", ["some", "none", "all"])
def test_tiny_populations_and_budgets_work(estimator, size, budget, kind):
    population, failures = made(size, 9)
    failures = {"some": failures, "none": np.zeros(size, bool), "all": np.ones(size, bool)}[kind]
    estimate = estimator.run(population, ArrayOracle(failures), budget, RNG(0))
    assert np.isfinite(estimate.value)
    interval = estimate.interval()
    assert 0 <= interval.low <= interval.high <= 1
    assert interval.covers(1 - failures.mean()) or kind == "some"


@pytest.mark.parametrize("estimator", EVERY, ids=lambda e: e.name)
def test_budgets_out_of_range_are_refused(estimator):
    population, failures = made(20)
    for budget in (0, 20, 21):
        with pytest.raises(UserError, match="choose 1 to 19 labels"):
            estimator.run(population, ArrayOracle(failures), budget, RNG(0))


def test_missing_columns_are_named_or_noted():
    population, failures = made(30)
    bare = Population("bare", population.ids, {"margin": RNG(0).random(30)})
    for estimator in (CSS(), DeepEST(), DeepEST("combined"), LURE(), StratifiedNeyman(), ModelAssistedSRS()):
        with pytest.raises(UserError, match="no column 'confidence'; it has: margin"):
            estimator.run(bare, ArrayOracle(failures), 10, RNG(0))
    estimate = Adaptive(columns=["margin", "dsa"]).run(bare, ArrayOracle(failures), 10, RNG(0))
    assert "confidence is missing" in estimate.notes[0]
    assert "column 'dsa' is missing" in estimate.notes[1]
    with pytest.raises(UserError, match="'dsa' cannot be a failure probability"):
        LURE("dsa").run(population, ArrayOracle(failures), 5, RNG(0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DeepEST(weighted_share=1.0), "from 0 to below 1"),
        (lambda: DeepEST(variance_centre="median"), "'mean' or 'first'"),
        (lambda: DeepEST(tau=float("nan")), "tau is a finite number"),
        (lambda: LURE(uniform_share=0.0), "would not be unbiased"),
        (lambda: LURE(power=-1), "power lies between 0 and 4"),
        (lambda: CSS(strata=[0.5, 0.6]), "sum to 1"),
        (lambda: CSS(strata=[0.5, 0.5]), "2 strata need 2 allocations"),
        (lambda: StratifiedNeyman(strata=0), "at least 1"),
        (lambda: ModelAssistedSRS(weight=2), "from 0 to 1"),
        (lambda: Adaptive("fast"), "accuracy, balanced, hunt"),
        (lambda: Adaptive(balance=-1), "balance is at least 0"),
        (lambda: Adaptive(waves=0), "waves is a count"),
        (lambda: SRSWOR(target_width=2), "0.02 is ± 1 point"),
        (lambda: Adaptive(target_width=0.1, wave=0), "at least 1"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_estimators_without_honest_numbers_say_so():
    population, failures = made(60)
    estimate = CSS().run(population, ArrayOracle(failures), 20, RNG(0))
    with pytest.raises(ValueError, match="css has no always-valid sequence"):
        estimate.sequence()
