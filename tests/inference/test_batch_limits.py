"""Programs that take only so many images at once: batches fit, and the numbers are those of the free model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from app.errors import UserError
from app.inference.batches import fitting, limits_of, noise_images


@given(
    st.integers(1, 200), st.integers(1, 400), st.integers(1, 20), st.one_of(st.none(), st.integers(20, 90))
)
def test_every_batch_is_within_the_limits(wanted, cases, low, high):
    limits = low, high
    try:
        size = fitting(wanted, cases, limits)
    except UserError:
        possible = range(low, min(cases, cases if high is None else high) + 1)
        assert low > 1
        assert not any(
            cases % each == 0 or cases % each >= low for each in possible if each <= max(wanted, low)
        )
        return
    last = cases % size or size
    assert size <= max(wanted, low)
    assert high is None or size <= high
    assert low <= 1 or (size >= low and last >= low)
    assert low <= noise_images(limits)
    assert high is None or noise_images(limits) <= high


def test_a_usual_model_has_no_limits():
    module = nn.Linear(2, 2)
    assert limits_of(module) == (1, None)
    assert (fitting(128, 1000, limits_of(module)), noise_images(limits_of(module))) == (128, 16)


def test_too_few_test_cases_are_one_line():
    with pytest.raises(
        UserError, match="takes 4 to 8 images at once, and no batch size of that kind fits 3 test cases"
    ):
        fitting(128, 3, (4, 8))
