"""Oracles and the ledger: labels are asked for once, in waves, and replay goes on where it stopped."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from app.errors import UserError
from app.estimation import (
    CES,
    CSS,
    LURE,
    SRSWOR,
    SRSWR,
    Adaptive,
    ArrayOracle,
    DeepEST,
    LabelsNeeded,
    ModelAssistedSRS,
    PartialOracle,
    Population,
    Reason,
    StratifiedNeyman,
)
from app.estimation.oracle import Ledger

ESTIMATORS = [
    SRSWR(),
    SRSWOR(),
    SRSWOR(target_width=0.3),
    CSS(),
    StratifiedNeyman(),
    CES(start=5, groups=10),
    DeepEST(),
    DeepEST(target_width=0.3),
    LURE(),
    LURE(target_width=0.3),
    ModelAssistedSRS(),
    Adaptive(),
    Adaptive("accuracy"),
    Adaptive("hunt"),
    Adaptive(target_width=0.3),
]


def labelled(size: int = 300, seed: int = 0) -> tuple[Population, np.ndarray]:
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 1, size)
    failures = rng.random(size) > confidence
    columns = {"confidence": confidence, "dsa": rng.gamma(2, 1, size) + failures}
    return Population(
        "demo", np.arange(size).astype(str), columns, neurons=rng.normal(size=(size, 4))
    ), failures


class CountingOracle:
    def __init__(self, failures: np.ndarray) -> None:
        self.failures = failures
        self.asked: list[int] = []

    def ask(self, cases: np.ndarray) -> np.ndarray:
        self.asked += cases.tolist()
        return self.failures[cases]


@pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda e: f"{e.name}-{getattr(e, 'target_width', None)}"
)
def test_no_label_is_asked_for_twice_and_the_budget_is_kept(estimator):
    population, failures = labelled()
    oracle = CountingOracle(failures)
    estimate = estimator.run(population, oracle, 40, np.random.default_rng(3))
    assert len(set(oracle.asked)) == len(oracle.asked) == estimate.cost <= 40
    assert set(estimate.sampled.tolist()) == set(oracle.asked)
    assert len(estimate.reasons) == len(estimate.sampled) == len(estimate.outcomes)
    assert sorted(estimate.failures.tolist()) == sorted(set(estimate.sampled[estimate.outcomes].tolist()))
    assert failures[estimate.failures].all()
    assert estimate.trace.values[-1] == pytest.approx(estimate.value, abs=1e-12)


def attempt(estimator, population, failures, known):
    """The estimate, or None after labelling a few of the cases asked for."""
    try:
        return estimator.run(population, PartialOracle(known), 30, np.random.default_rng(8))
    except LabelsNeeded as caught:
        needed = caught
    assert (known[needed.items] == -1).all()
    assert len(needed.reasons) == len(needed.items) > 0
    assert needed.spent <= (known >= 0).sum()
    known[needed.items[:7]] = failures[needed.items[:7]]
    return None


@pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda e: f"{e.name}-{getattr(e, 'target_width', None)}"
)
def test_labelling_a_few_at_a_time_comes_to_the_same_estimate(estimator):
    population, failures = labelled(seed=1)
    at_once = estimator.run(population, ArrayOracle(failures), 30, np.random.default_rng(8))
    known = np.full(population.size, -1)
    later, rounds = None, 0
    while later is None:
        later = attempt(estimator, population, failures, known)
        rounds += 1
        assert rounds < 200
    assert later.value == at_once.value
    assert later.se == at_once.se or (np.isnan(later.se) and np.isnan(at_once.se))
    assert later.sampled.tolist() == at_once.sampled.tolist()
    assert (known >= 0).sum() == at_once.cost


def test_an_unfinished_wave_asks_for_the_rest_with_reasons():
    outcomes = np.full(10, -1)
    outcomes[[2, 5]] = 1, 0
    ledger = Ledger(PartialOracle(outcomes), 10)
    with pytest.raises(LabelsNeeded, match="2 cases need a label") as caught:
        ledger.ask(np.array([2, 7, 5, 4]), [Reason.CERTAIN, Reason.WEIGHT, Reason.WEIGHT, Reason.UNIFORM])
    assert caught.value.items.tolist() == [7, 4]
    assert caught.value.reasons == (Reason.WEIGHT, Reason.UNIFORM)
    assert caught.value.spent == ledger.spent == 0
    assert caught.value.answered == 2
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.items.tolist() == [7, 4]
    assert (again.reasons, again.answered) == (caught.value.reasons, 2)


def test_a_case_drawn_twice_is_labelled_once():
    oracle = CountingOracle(np.array([True, False, True]))
    ledger = Ledger(oracle, 3)
    assert ledger.ask(np.array([2, 2, 0]), Reason.UNIFORM).tolist() == [1, 1, 1]
    assert ledger.ask(np.array([0, 1]), Reason.UNIFORM).tolist() == [1, 0]
    assert oracle.asked == [2, 0, 1]
    assert ledger.spent == 3
    assert ledger.failures_known == 2
    assert ledger.unseen.tolist() == []


@pytest.mark.parametrize("oracle", [ArrayOracle, PartialOracle])
def test_outcomes_must_be_zero_or_one(oracle):
    with pytest.raises(UserError, match="outcomes must be one row"):
        oracle([0, 1, 2])


def test_an_oracle_that_answers_too_few_is_named():
    class Short:
        def ask(self, cases: np.ndarray) -> np.ndarray:
            return np.zeros(1, dtype=bool)

    with pytest.raises(ValueError, match=r"\(1,\) answers to \(2,\)"):
        Ledger(Short(), 5).ask(np.array([1, 2]), Reason.UNIFORM)
