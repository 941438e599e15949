"""The model of failure and the inclusion probabilities made from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from app.estimation import Population
from app.estimation.adaptive import wave_sizes
from app.estimation.failure_model import FailureModel
from app.estimation.inclusion import inclusion


def made(size=400, seed=0):
    rng = np.random.default_rng(seed)
    confidence = 1 - expit(rng.normal(-2, 1.5, size))
    columns = {"confidence": confidence, "dsa": rng.gamma(2, 1, size), "flat": np.ones(size)}
    return Population("p", np.arange(size).astype(str), columns)


def test_before_any_label_it_says_what_confidence_says():
    population = made()
    model = FailureModel(population, ["dsa", "flat", "none"])
    assert model.used == ("dsa",)
    assert model.predict() == pytest.approx(1 - population.column("confidence"), abs=1e-4)


def test_it_finds_the_posterior_mode():
    population = made()
    model = FailureModel(population, ["dsa"])
    rng = np.random.default_rng(1)
    cases = rng.permutation(400)[:80]
    outcomes = (rng.random(80) < 0.4).astype(float)
    model.fit(cases, outcomes)
    features = np.stack([np.ones(400), logit(1 - population.column("confidence")), population.scores("dsa")])[
        :, cases
    ]
    mean, sd = np.array([0, 1, 0]), np.array([0.7, 0.25, 0.25])

    def loss(beta):
        eta = beta @ features
        return (np.logaddexp(0, eta) - outcomes * eta).sum() + (((beta - mean) / sd) ** 2).sum() / 2

    assert model.coefficients == pytest.approx(minimize(loss, mean).x, abs=1e-3)


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_labels_of_one_kind_leave_it_finite(outcome):
    model = FailureModel(made(), ["dsa"])
    before = model.predict().mean()
    model.fit(np.arange(200), np.full(200, outcome))
    after = model.predict()
    assert np.isfinite(after).all()
    assert (after.mean() > before) == (outcome == 1.0)


def test_certainty_does_not_break_it():
    population = Population("p", np.array(["a", "b", "c"]), {"confidence": [1.0, 0.0, 0.5]})
    model = FailureModel(population)
    assert model.predict() == pytest.approx([1e-4, 1 - 1e-4, 0.5])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(1e-6, 1 - 1e-6), min_size=2, max_size=80),
    st.floats(0, 5),
    st.data(),
)
def test_inclusion_probabilities_sum_to_the_budget(beliefs, balance, data):
    belief = np.asarray(beliefs)
    smooth = 0.95 * belief + 0.05 * belief.mean()
    budget = data.draw(st.integers(1, len(beliefs)))
    plan = inclusion(belief, smooth * (1 - smooth), budget, balance)
    assert plan.probabilities.sum() == pytest.approx(budget)
    assert (plan.probabilities > 0).all()
    assert (plan.probabilities <= 1).all()
    assert (plan.certain == (plan.probabilities >= 1)).all()


def test_without_balance_it_is_neyman_and_with_it_the_price_is_kept():
    rng = np.random.default_rng(0)
    belief = expit(rng.normal(-3, 2, 3000))
    smooth = 0.95 * belief + 0.05 * belief.mean()
    variance = smooth * (1 - smooth)

    def predicted(plan):
        return (variance * (1 / plan.probabilities - 1)).sum()

    neyman = inclusion(belief, variance, 60, 0.0)
    assert neyman.kappa == 0
    assert neyman.probabilities == pytest.approx(60 * np.sqrt(variance) / np.sqrt(variance).sum())
    found = [(neyman.probabilities * belief).sum()]
    for balance in (0.2, 1.0, 4.0):
        plan = inclusion(belief, variance, 60, balance)
        assert predicted(plan) <= predicted(neyman) * (1 + balance) * 1.01
        assert predicted(plan) >= predicted(neyman) * (1 + 0.7 * balance)
        found.append((plan.probabilities * belief).sum())
    assert found == sorted(found)


def test_equal_beliefs_and_a_census_are_survived():
    belief = np.full(50, 0.2)
    plan = inclusion(belief, belief * 0.8, 7, 1.0)
    assert plan.probabilities == pytest.approx(np.full(50, 7 / 50))
    assert inclusion(belief, belief * 0.8, 50, 1.0).certain.all()


@pytest.mark.parametrize("budget", [1, 2, 9, 10, 50, 200, 799])
@pytest.mark.parametrize("waves", [1, 2, 5])
def test_waves_spend_the_budget(budget, waves):
    sizes = wave_sizes(budget, waves)
    assert sum(sizes) == budget
    assert min(sizes) >= 1
    assert len(sizes) <= waves
    assert sizes[0] == min(sizes)
