from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.report import words as text


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.8, 0, "80 %"),
        (0.8049, 1, "80.5 %"),
        (1.0, 0, "100 %"),
        (0.0, 0, "0 %"),
        (0.997, 0, "99.7 %"),
        (0.9999, 0, "99.99 %"),
        (0.004, 0, "0.4 %"),
        (0.00004, 0, "0.004 %"),
        (-0.2, 0, "−20 %"),
        (None, 0, "–"),
        (math.nan, 1, "–"),
        (math.inf, 0, "–"),
    ],
)
def test_fractions_are_shown_as_per_cent(value: float | None, digits: int, shown: str) -> None:
    assert text.percent(value, digits) == shown


@settings(deadline=None)
@given(st.floats(0, 1))
def test_only_all_is_100_per_cent_and_only_nothing_is_0(value: float) -> None:
    shown = text.per_cent(value)
    if 0.00001 < value < 0.99999:
        assert shown != "100"
        assert float(shown) > 0
    assert float(shown) == pytest.approx(100 * value, abs=0.51)


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        ((0.77, 0.84), "77–84 %"),
        ((0.0, 1.0), "0–100 %"),
        ((-0.1, 0.2), "−10 to 20 %"),
        (None, "–"),
        ((math.nan, 0.5), "–"),
    ],
)
def test_intervals_are_shown_as_per_cent(interval: tuple[float, float] | None, shown: str) -> None:
    assert text.percent_interval(interval) == shown


def test_other_numbers() -> None:
    assert text.points(0.0213) == "+2.1"
    assert text.points(-0.0213) == "−2.1"
    assert text.points(0.0001) == "0.0"
    assert text.points(-0.0001) == "0.0"
    assert text.points(None) == "–"
    assert text.points_interval((-0.01, 0.02)) == "−1.0 to +2.0"
    assert text.points_interval(None) == "–"
    assert text.points(12.0) == "+1,200.0"
    assert text.number(1234.5, 1) == "1,234.5"
    assert text.number(-1234.5, 1) == "−1,234.5"
    assert text.number(math.nan) == "–"
    assert text.p_value(0.0004) == "< 0.001"
    assert text.p_value(0.04) == "0.040"
    assert text.p_value(None) == "–"
    assert text.plural(1, "fault") == "1 fault"
    assert text.plural(2000, "fault") == "2,000 faults"
    assert text.plural(0, "class", "classes") == "0 classes"
    assert text.parameters({"rate": 0.3, "block": 5}) == "rate 0.3, block 5"


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(2, 30))
def test_short_text_keeps_its_ends(value: str, longest: int) -> None:
    cut = text.short(value, longest)
    assert len(cut) <= longest
    if len(value) <= longest:
        assert cut == value
    else:
        assert "…" in cut
        assert value.startswith(cut.split("…")[0] if "…" not in value else "")
