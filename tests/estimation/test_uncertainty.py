"""Doubt of a classifier against hand-worked values and SciPy."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy

import app.estimation
from app.errors import UserError
from app.estimation.uncertainty import confidence, entropy, margin

PROBABILITIES = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])


def test_values_worked_by_hand():
    assert confidence(PROBABILITIES).tolist() == [0.5, 1.0, 0.5]
    assert margin(PROBABILITIES) == pytest.approx([0.25, 1.0, 0.2])
    assert entropy(PROBABILITIES) == pytest.approx(scipy_entropy(PROBABILITIES, axis=1))
    assert entropy(PROBABILITIES)[0] == pytest.approx(1.5 * np.log(2))


def test_one_class_and_no_cases():
    assert margin(np.ones((2, 1))).tolist() == [1.0, 1.0]
    assert entropy(np.ones((2, 1))).tolist() == [0.0, 0.0]
    for measure in (confidence, margin, entropy):
        assert measure(np.empty((0, 3))).tolist() == []


@pytest.mark.parametrize("measure", [confidence, margin, entropy])
def test_what_is_no_probability_is_refused(measure):
    with pytest.raises(UserError, match=r"must be \(N, K\)"):
        measure(np.ones(3))
    with pytest.raises(UserError, match="those of row 1 do not"):
        measure(np.array([[0.5, 0.5], [np.nan, 0.5]]))


def test_the_example_of_the_room_runs():
    assert doctest.testmod(app.estimation).failed == 0
