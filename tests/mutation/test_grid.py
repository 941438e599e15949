"""Grids are checked where they are given."""

import math

import pytest

from app.mutation import grid


def test_numbers_come_as_floats_without_repeats_in_order():
    assert grid.numbers("x", [3, 1, 3.0, 2], lambda v: v > 0, "") == (3.0, 1.0, 2.0)
    assert grid.numbers("x", 0.5, lambda v: v > 0, "") == (0.5,)
    assert grid.whole_numbers("x", 5, lambda v: v > 0, "") == (5,)
    assert grid.words("x", "fp16", {"fp16"}.__contains__, "") == ("fp16",)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1, True, "1", None])
def test_what_is_no_allowed_number_is_named(bad):
    with pytest.raises(ValueError, match=r"rates holds .*; give shares"):
        grid.numbers("rates", [0.5, bad], lambda v: v >= 0, "give shares")


def test_empty_grids_are_refused():
    for make in (grid.numbers, grid.whole_numbers, grid.words):
        with pytest.raises(ValueError, match="sigmas is empty; give some"):
            make("sigmas", [], lambda _: True, "give some")


@pytest.mark.parametrize("bad", [1.0, True, "1"])
def test_whole_numbers_are_ints(bad):
    with pytest.raises(ValueError, match="blocks holds"):
        grid.whole_numbers("blocks", [bad], lambda _: True, "")
