import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.diagnosis import scoring_rules


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(3, 7))
def test_equal_to_scikit_learn(seed, classes):
    from sklearn import metrics as oracle

    rng = np.random.default_rng(seed)
    rows, labels = rng.dirichlet(np.ones(classes), 40), rng.integers(classes, size=40)
    every = range(classes)
    losses, briers = scoring_rules.log_losses(rows, labels), scoring_rules.brier_scores(rows, labels)
    assert losses.mean() == pytest.approx(oracle.log_loss(labels, rows, labels=every))
    assert briers.mean() == pytest.approx(((rows - np.eye(classes)[labels]) ** 2).sum(axis=1).mean())
    for k in (1, 2):
        top = oracle.top_k_accuracy_score(labels, rows, k=k, labels=every)
        assert (scoring_rules.ranks(rows, labels) < k).mean() == pytest.approx(top)


def test_ties_go_to_the_lower_class_as_argmax_has_it():
    rows = np.array([[0.4, 0.4, 0.2]])
    assert [scoring_rules.ranks(rows, np.array([k]))[0] for k in range(3)] == [0, 1, 2]


def test_a_probability_of_zero_costs_much_and_not_everything():
    loss = scoring_rules.log_losses(np.array([[1.0, 0.0]]), np.array([1]))[0]
    assert loss == pytest.approx(-np.log(1e-15))
