"""Charts: where axes put their labels, and where SVG and PNG put the values of a specification."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markupsafe import Markup
from matplotlib.axes import Axes
from PIL import Image

from app.report import png, render
from app.report.charts import (
    Axis,
    BarRow,
    Bars,
    Bin,
    Cloud,
    Colour,
    Column,
    Dot,
    Forest,
    ForestMark,
    ForestRow,
    Heat,
    HeatCell,
    Histogram,
    Line,
    Lines,
    Mark,
    Panels,
    Point,
    Reliability,
    Rug,
    Rule,
    Scatter,
    Spark,
    Spec,
    ends,
    shade,
)
from app.report.scales import Scale, scale, steps
from app.report.svg import draw
from app.report.svg.lines import MOST_COLUMNS
from tests.report.parsed import Parsed

NAN = math.nan
HALF = Axis("", "share", 0.0, 1.0)
STYLE = (Path(render.__file__).parent / "static" / "style.css").read_text(encoding="utf-8")


def marked(words: Sequence[tuple[float, str]]) -> list[str]:
    return [label for _, label in words]


# Axes


@settings(deadline=None)
@given(st.floats(-100, 0), st.floats(0.001, 100))
def test_steps_are_round_and_reach_both_ends(low: float, high: float) -> None:
    found = steps(low, high)
    step = found[1] - found[0]
    assert found[0] <= low + 1e-6 * step
    assert found[-1] >= high - 1e-6 * step
    assert 2 <= len(found) <= 8
    assert float(f"{step:.6g}".replace("0", "").replace(".", "").split("e")[0] or 0) in {1, 2, 5}


@pytest.mark.parametrize(
    ("low", "high", "about", "found"),
    [
        (0, 100, 5, [0, 20, 40, 60, 80, 100]),
        (0, 100, 4, [0, 50, 100]),
        (3, 17, 5, [0, 5, 10, 15, 20]),
        (-7, 12, 5, [-10, -5, 0, 5, 10, 15]),
        (0, 1000, 10, [100 * i for i in range(11)]),
    ],
)
def test_steps_by_hand(low: float, high: float, about: int, found: list[float]) -> None:
    assert steps(low, high, about) == pytest.approx(found)


@pytest.mark.parametrize(
    ("axis", "values", "low", "high", "labels"),
    [
        (HALF, [0.2], 0.0, 1.0, ["0", "20", "40", "60", "80", "100"]),
        (Axis(unit="share"), [0.62, 0.81], 0.6, 0.85, ["60", "65", "70", "75", "80", "85"]),
        (Axis(unit="points"), [-0.013, 0.021], -0.02, 0.03, ["−2", "−1", "0", "1", "2", "3"]),
        (Axis(unit="points"), [-0.0013, 0.0021], -0.002, 0.003, ["−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"]),
        (Axis(low=0.0), [3.0, 9.0, NAN], 0.0, 10.0, ["0", "2", "4", "6", "8", "10"]),
        (Axis(), [1200.0, 5200.0], 1000.0, 6000.0, ["1,000", "2,000", "3,000", "4,000", "5,000", "6,000"]),
        (Axis(unit="count", low=0.0), [2.0], 0.0, 2.0, ["0", "1", "2"]),
        (Axis(ticks=((1.0, "one"), (2.0, "two"))), [1.0, 2.0], 1.0, 2.0, ["one", "two"]),
        (Axis(ticks=((1.0, "one"), (9.0, "nine"))), [1.0, 2.0], 1.0, 2.0, ["one"]),
        (Axis(), [], 0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ],
)
def test_axes_by_hand(axis: Axis, values: list[float], low: float, high: float, labels: list[str]) -> None:
    found = scale(axis, values, 0.0, 1.0)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert marked(found.ticks) == labels
    if axis.ticks is None:
        factor = 100 if axis.unit in {"share", "points"} else 1
        numbers = [float(label.replace("−", "-").replace(",", "")) for label in labels]
        assert [factor * value for value, _ in found.ticks] == pytest.approx(numbers)


bound = st.none() | st.sampled_from([-1.0, 0.0, 0.5, 1.0])
units = st.sampled_from(["share", "points", "number", "count"])
magnitudes = (
    st.floats(-1e6, 1e6) | st.floats(-1.0, 1.0) | st.floats(0.0, 1e-9) | st.integers(-3, 3).map(float)
)


@settings(deadline=None, max_examples=300)
@given(
    st.builds(Axis, unit=units, low=bound, high=bound), st.lists(magnitudes, max_size=4), st.integers(2, 9)
)
def test_every_label_is_inside_and_said_once(axis: Axis, values: list[float], about: int) -> None:
    assume(axis.low is None or axis.high is None or axis.low < axis.high)
    found = scale(axis, values, 10.0, 110.0, about)
    assert found.low < found.high
    assert axis.low in {None, found.low}
    places, labels = [value for value, _ in found.ticks], marked(found.ticks)
    slack = 1e-5 * (found.high - found.low)
    assert all(found.low - slack <= value <= found.high + slack for value in places)
    assert len(set(labels)) == len(labels)
    assert places == sorted(places)
    assert len(labels) <= 3 * about + 2
    for each in values:
        inside = min(max(each, found.low), found.high)
        assert 10.0 <= found(each) <= 110.0
        assert found(each) == pytest.approx(
            10 + 100 * (inside - found.low) / (found.high - found.low), abs=0.06
        )
        if axis.low is None and axis.high is None:
            assert found.low - slack <= each <= found.high + slack


@pytest.mark.parametrize("unit", ["share", "points", "number", "count"])
@pytest.mark.parametrize("value", [0.0, 0.8, -0.25, 3.0, 1234567.0])
def test_one_value_has_an_axis_with_room(unit: str, value: float) -> None:
    found = scale(Axis(unit=unit), [value, value], 0.0, 100.0)  # type: ignore[arg-type]
    assert found.low <= value <= found.high
    assert len(found.ticks) >= (1 if unit == "count" else 2)
    assert all(len(label) <= 12 for label in marked(found.ticks)), marked(found.ticks)


def test_an_axis_places_values_and_keeps_others_at_its_ends() -> None:
    up = Scale(0.0, 2.0, 250.0, 32.0, ())
    assert [up(each) for each in (0.0, 1.0, 2.0, -5.0, 7.0)] == [250.0, 141.0, 32.0, 250.0, 32.0]


def test_shades_are_eleven_steps_with_one_half_in_the_middle() -> None:
    assert [shade(x) for x in (0.0, 0.04, 0.05, 0.5, 0.95, 1.0)] == [0, 0, 1, 5, 10, 10]
    assert [shade(x) for x in (-0.2, 1.7)] == [0, 10]


def test_only_intervals_of_numbers_have_ends() -> None:
    assert ends((0.1, 0.2)) == (0.1, 0.2)
    assert ends([0.1, 0.2]) == (0.1, 0.2)
    assert [ends(each) for each in (None, (NAN, 1.0), (0.0, math.inf))] == [None] * 3


# SVG


def drawn(spec: Spec) -> Parsed:
    return Parsed(str(draw(spec)))


def said(found: Parsed) -> str:
    """Its text, an element behind another."""
    return " ".join(" ".join(found.text).split())


def of(found: Parsed, tag: str, kind: str | None = None) -> list[dict[str, str | None]]:
    return [
        attrs
        for name, attrs in found.tags
        if name == tag and (kind is None or kind in (attrs.get("class") or "").split())
    ]


def numbers(found: Parsed, tag: str, names: str, kind: str | None = None) -> list[tuple[float, ...]]:
    return [tuple(float(attrs[name] or "") for name in names.split()) for attrs in of(found, tag, kind)]


def line(*values: float, **more: object) -> Line:
    return Line("a", tuple(Point(float(i), y) for i, y in enumerate(values)), **more)  # type: ignore[arg-type]


def lines(*drawn_lines: Line, **more: object) -> Lines:
    """Over 0 to 2, 0 to 100 %: on the canvas 60 to 736 and, upwards, 250 to 32."""
    return Lines("t", drawn_lines, Axis("x", low=0.0, high=2.0), replace(HALF, name="y"), **more)  # type: ignore[arg-type]


def test_lines_run_through_their_points() -> None:
    found = drawn(lines(line(0.0, 0.5, 1.0)))
    assert [each["points"] for each in of(found, "polyline")] == ["60,250 398,141 736,32"]
    assert numbers(found, "circle", "cx cy") == [(60, 250), (398, 141), (736, 32)]
    assert numbers(found, "line", "y1", "grid") == [(250,), (141,), (32,)]
    assert said(found) == "0 50 100 0.0 0.5 1.0 1.5 2.0 y, % x"
    assert of(found, "svg")[0]["aria-label"] == "t"
    assert "x" in said(found)
    assert "y, %" in said(found)


def test_whiskers_bands_and_marks_of_lines() -> None:
    points = (Point(0.0, 0.5, (0.25, 0.75)), Point(2.0, 0.5, (0.0, 1.0)))
    found = drawn(lines(Line("a", points), marks=(Mark(1.0, 0.25, "ring", "bad", "here"),)))
    assert numbers(found, "line", "x1 y1 x2 y2", "ends") == [(60, 195.5, 60, 86.5), (736, 250, 736, 32)]
    assert numbers(found, "circle", "cx cy r", "mark-ring") == [(398, 195.5, 5.6)]
    assert "here" in said(found)
    band = drawn(lines(Line("a", points), spread="band"))
    assert [each["points"] for each in of(band, "polygon")] == ["60,86.5 736,32 736,250 60,195.5"]
    assert not of(drawn(lines(Line("a", points), spread="none")), "line", "ends")


def test_rules_levels_rugs_and_the_diagonal_of_lines() -> None:
    found = drawn(
        lines(
            line(0.5, 0.5, 0.5),
            rules=(Rule(1.0), Rule(2.0, "bad", head=True)),
            levels=((0.0, 1.0, 0.5),),
            diagonal=True,
        )
    )
    assert numbers(found, "line", "x1 x2 y1 y2", "crossing") == [(398, 398, 32, 250)]
    assert numbers(found, "line", "x1 x2 y2", "change") == [(736, 736, 250)]
    assert numbers(found, "line", "x1 y1 x2 y2", "level") == [(60, 141, 398, 141)]
    assert numbers(found, "line", "x1 y1", "ideal") == [(60, 250)]
    rug = drawn(lines(line(0.5, 0.5, 0.5), rugs=(Rug("wrong", (0.0, 2.0), "bad"), Rug("none", (), "good"))))
    assert [each["d"] for each in of(rug, "path", "rug")] == ["M60 244v8M736 244v8"]


def test_a_number_that_is_not_there_is_a_gap() -> None:
    found = drawn(lines(line(0.0, NAN, 1.0)))
    assert [each["points"] for each in of(found, "polyline")] == ["60,250", "736,32"]
    assert numbers(found, "circle", "cx cy") == [(60, 250), (736, 32)], "one number alone is a dot"
    assert "nan" not in str(draw(lines(line(NAN, NAN, NAN))))


def test_one_point_is_a_dot() -> None:
    spec = Lines("t", (line(0.8),), Axis("x"), Axis("y", "share"), dots=False)
    found = drawn(spec)
    assert len(of(found, "circle")) == 1
    words = said(found).split()
    assert len(words) == len(set(words)), "no label stands twice"


def test_long_lines_keep_the_extremes_of_every_column() -> None:
    values = [0.5] * 20_000
    values[7_777], values[13_333] = 1.0, 0.0
    spec = Lines("t", (line(*values),), Axis("x"), HALF)
    [points] = [str(each["points"]).split() for each in of(drawn(spec), "polyline")]
    heights = {point.split(",")[1] for point in points}
    assert len(points) <= 2 * MOST_COLUMNS + 1
    assert {"250", "14", "132"} <= heights
    assert not of(drawn(spec), "circle"), "too many for a dot each"


def test_the_legend_tells_nine_lines_apart() -> None:
    many = [Line(f"line {i}", (Point(0.0, 0.1), Point(1.0, 0.2)), "012345"[i % 6], i // 6) for i in range(9)]  # type: ignore[arg-type]
    found = drawn(lines(*many))
    keys = [
        (each["class"], each.get("stroke-dasharray")) for each in of(found, "line") if "stroke-width" in each
    ]
    assert len(keys) == len(set(keys)) == 9
    assert all(f"line {i}" in said(found) for i in range(9))
    assert not of(drawn(lines(many[0])), "ul"), "one line needs none"
    assert not of(drawn(lines(*many, legend=False)), "ul")


def test_bars_are_as_long_as_their_values() -> None:
    rows = (
        BarRow("weak", 0.25, (0.1, 0.4), weak=True, mark=0.75, shown="25 %"),
        BarRow("strong", 1.0, shown="100 %"),
        BarRow("beyond", 1.5, shown="150 %"),
        BarRow("no score", None),
        BarRow("undefined", NAN, shown="–"),
    )
    found = drawn(Bars("t", rows))
    assert [each["style"] for each in of(found, "i", "fill")] == [
        "width:25.0%",
        "width:100.0%",
        "width:100.0%",
    ]
    assert [each["class"] for each in of(found, "i", "fill")] == ["fill weak", "fill", "fill"]
    assert [each["style"] for each in of(found, "i", "whisker")] == ["left:10.0%;width:30.0%"]
    assert [each["style"] for each in of(found, "i", "mark")] == ["left:75.0%"]
    assert "no score none could be judged" in said(found)
    assert "weak 25 % strong 100 %" in said(found)


def test_bars_of_counts_reach_the_end_of_their_axis() -> None:
    """An axis without an end has that of the longest bar, and every axis of bars begins at 0."""
    rows = (BarRow("a", 4.0, shown="4"), BarRow("b", 10.0, shown="10"))
    found = drawn(Bars("t", rows, Axis("images", "count")))
    assert [each["style"] for each in of(found, "i", "fill")] == ["width:40.0%", "width:100.0%"]
    [axes] = figure(Bars("t", rows, Axis("images", "count")))
    assert axes.get_xlim() == (0.0, 10.0)


def test_forests_stand_at_their_values() -> None:
    """From 0 to 1 on the canvas: 12 to 456."""
    rows = (
        ForestRow("first", (ForestMark(0.5, (0.25, 0.75)), ForestMark(1.0, None, "diamond", "bad")), "50 %"),
        ForestRow("second", (ForestMark(0.0, None, "ring", label="this"),)),
    )
    found = drawn(Forest("t", rows, HALF, rule=0.5))
    assert numbers(found, "circle", "cx cy", "solid") == [(234, 32)]
    assert [each["d"] for each in of(found, "path", "hollow")] == ["M456 40l6 6l-6 6l-6 -6z"]
    assert numbers(found, "circle", "cx cy", "hollow") == [(12, 88)]
    assert numbers(found, "line", "x1 y1 x2 y2", "span")[0] == (123, 32, 345, 32)
    assert numbers(found, "line", "x1 y1 y2", "truth") == [(234, 24, 40), (234, 38, 54), (234, 80, 96)]
    assert "first 50 %" in said(found)
    assert "this" in said(found)


def test_forests_without_ends_hold_every_interval() -> None:
    rows = (ForestRow("a", (ForestMark(0.02, (-0.013, 0.06)),)),)
    found = drawn(Forest("t", rows, Axis("difference", "points"), rule=0.0))
    [(low, high), *_] = numbers(found, "line", "x1 x2", "span")
    assert (low, high) == (pytest.approx(12 + 444 * 0.007 / 0.08, abs=0.06), 456)
    assert numbers(found, "circle", "cx") == [(pytest.approx(12 + 444 * 0.04 / 0.08),)]


def test_scatters_stand_at_their_values() -> None:
    """Over axes from 0 to 1: 42 to 466 and, upwards, 250 to 20."""
    spec = Scatter(
        "t",
        (Cloud("all", ((0.5, 0.5), (0.0, 1.0)), "good"),),
        (Dot(1.0, 0.0, "1", full=True, label="one"), Dot(0.25, 0.5, "2", full=False)),
        circled=((0.5, 0.5),),
        curve=((0.0, 0.0), (1.0, 1.0)),
        x=HALF,
        y=HALF,
        rule=0.5,
    )
    found = drawn(spec)
    assert [each["d"] for each in of(found, "path", "dots")] == ["M254 135h0M42 20h0"]
    assert numbers(found, "circle", "cx cy", "numbered") == [(466, 250), (148, 135)]
    assert [each["class"] for each in of(found, "g") if each.get("class") in {"on", "off"}] == ["on", "off"]
    assert numbers(found, "circle", "cx cy", "circled") == [(254, 135)]
    assert [each["points"] for each in of(found, "polyline")] == ["42,250 466,20"]
    assert numbers(found, "line", "x1 y1 x2 y2", "dashed") == [(254, 20, 254, 250)]
    bare = drawn(Scatter("t", (Cloud("all", ((3.0, 1.0), (7.0, 2.0)), "0", pale=True),)))
    assert [each["d"] for each in of(bare, "path", "pale")] == ["M10 420h0M750 10h0"]
    assert not of(bare, "text"), "places without meaning have no labels"


def test_reliability_bins_stand_at_accuracy_and_gap() -> None:
    """A square of 320 from (46, 10)."""
    bins = (
        Bin(0.4, 0.5, 0.45, 0.25, (0.0, 0.5), 1.0, "sure of itself"),
        Bin(0.9, 1.0, 0.95, 1.0, None, 0.01),
    )
    found = drawn(Reliability("t", bins))
    assert numbers(found, "rect", "x y width height", "acc") == [(175, 250, 30, 80), (335, 10, 30, 320)]
    assert numbers(found, "rect", "y height", "gap") == [(186, 64), (10, 16)]
    assert [each["class"] for each in of(found, "rect", "gap")] == ["gap", "gap under"]
    assert numbers(found, "line", "x1 y1 y2", "ends") == [(190, 330, 170)]
    assert [each["opacity"] for each in of(found, "g") if "opacity" in each] == ["0.6"]
    assert numbers(found, "line", "x1 y1 x2 y2", "ideal") == [(46, 330, 366, 10)]
    assert "sure of itself" in said(found)


def test_histograms_are_as_high_as_their_columns() -> None:
    """Up from 112 to 20, along from 4 to 336."""
    columns = (Column(1.0, 1.0, "good", "one"), Column(2.0, 3.0, "bad"))
    axis = Axis("size", ticks=((2.0, "two"), (5.0, "nowhere")))
    found = drawn(Histogram("t", columns, axis))
    assert numbers(found, "rect", "x y width height") == [(4, 81.3, 164, 30.7), (170, 20, 164, 92)]
    assert [each["class"] for each in of(found, "rect")] == ["k-good", "k-bad"]
    assert numbers(found, "text", "x") == [(4,), (253,), (336,)]
    assert "two" in said(found)
    assert "nowhere" not in said(found)
    logs = drawn(Histogram("t", columns, axis, logarithmic=True))
    assert numbers(logs, "rect", "height") == [(46,), (92,)], "log 2 is half of log 4"


def test_sparks_are_on_a_scale_of_their_own() -> None:
    """Along from 3 to 177, up from 22 to 4."""
    found = drawn(Spark("t", (0.0, 1.0, 0.5), rules=(1,)))
    assert [each["points"] for each in of(found, "polyline")] == ["3,22 90,4 177,13"]
    assert numbers(found, "circle", "cx cy", "end") == [(177, 13)]
    assert numbers(found, "line", "x1 x2", "change") == [(90, 90)]
    gap = drawn(Spark("t", (5.0, NAN, 6.0, NAN)))
    assert not of(gap, "polyline")
    assert numbers(gap, "circle", "cx cy") == [(3, 22), (119, 4), (119, 4)]
    flat = drawn(Spark("t", (7.0, 7.0)))
    assert [each["points"] for each in of(flat, "polyline")] == ["3,13 177,13"]
    assert numbers(drawn(Spark("t", (7.0,))), "circle", "cx cy", "end") == [(90, 13)]


def test_heat_maps_are_tables_of_their_numbers() -> None:
    cells = ((HeatCell("75", 8, "3 of 4"), None), (HeatCell("–", None), HeatCell("", 0)))
    found = drawn(Heat("t", ("conv", "fc"), ("noise", "blur"), cells, "Layer", caption="one of two"))
    assert [each.get("class") for each in of(found, "td")] == ["h8", None, "none", "h0"]
    assert of(found, "td")[0]["title"] == of(found, "td")[0]["aria-label"] == "3 of 4"
    assert said(found) == "one of two Layer noise blur conv 75 fc –"
    names = tuple(f"class {i}" for i in range(40))
    many = tuple(tuple(HeatCell("1", 5 if a != b else 10, f"{a},{b}") for b in names) for a in names)
    squares = drawn(Heat("t", names, names, many))
    assert len(of(squares, "rect")) == 1 + 40 * 40
    assert not of(squares, "table")
    cut = drawn(Heat("t", names, ("a",), tuple((HeatCell("1", 5),) for _ in names), most=30))
    assert len(of(cut, "td", "h5")) == 30
    assert len(of(cut, "tfoot")) == 1, "the names stand below a long one too"


# Every kind

EMPTY: tuple[Spec, ...] = (
    Lines("t", (), Axis(), Axis()),
    Bars("t", ()),
    Forest("t", (), Axis()),
    Scatter("t"),
    Heat("t", (), (), ()),
    Reliability("t", ()),
    Histogram("t", (), Axis()),
    Spark("t", ()),
    Panels("t", (Lines("t", (), Axis(), Axis()),)),
)
FULL: tuple[Spec, ...] = (
    lines(
        line(0.0, 0.5, NAN),
        line(1.0, 0.5, 0.2, colour="bad", bold=True),
        marks=(Mark(1.0, 0.5), Mark(1.0, 0.5, "small", "mid")),
        rules=(Rule(1.0, "mid", head=True), Rule(0.5)),
        levels=((0.0, 1.0, 0.5),),
        rugs=(Rug("r", (1.0,), "none"),),
        diagonal=True,
    ),
    lines(Line("a", (Point(0.0, 0.5, (0.2, 0.7)), Point(1.0, 0.4, (0.2, 0.7)))), spread="band", small=True),
    Bars(
        "t", (BarRow("a", 0.5, (0.1, 0.9), weak=True, mark=0.3), BarRow("b", None)), subtitle="s", thin=True
    ),
    Forest("t", (ForestRow("a", (ForestMark(0.5, (0.1, 0.9)), ForestMark(0.1, None, "ring"))),), HALF, 0.5),
    Scatter(
        "t", (Cloud("c", ((0.5, 0.5),), "2"),), (Dot(0.1, 0.2, "1", full=True),), x=HALF, y=HALF, rule=0.5
    ),
    Scatter("t", (Cloud("c", ((0.5, 0.5),), "2", pale=True),), circled=((0.5, 0.5),)),
    Heat("t", ("a", "b"), ("c",), ((HeatCell("1", 10),), (None,)), subtitle="s", little=True, caption="c"),
    Heat("t", tuple("abcdefghijklmnopqrst"), tuple("abcdefghijklmnopqrst"), ((HeatCell("1", 3),) * 20,) * 20),
    Reliability("t", (Bin(0.4, 0.5, 0.45, 0.25, (0.0, 0.5), 0.01),)),
    Histogram("t", (Column(1.0, 0.0, "5"), Column(2.0, 2.0, "ink")), Axis("x", ticks=((1.0, "1"),))),
    Spark("t", (1.0, NAN, 2.0, 3.0), (2,)),
    Panels("t", (lines(line(0.0, 0.5)), lines(line(1.0, 0.5))), note="n"),
)


def kinds(specs: Sequence[Spec]) -> list[str]:
    return [f"{type(spec).__name__}{i}" for i, spec in enumerate(specs)]


def test_every_kind_of_chart_is_tried() -> None:
    assert {type(spec) for spec in EMPTY} == {type(spec) for spec in FULL} == set(get_args(Spec))


@pytest.mark.parametrize("spec", EMPTY + FULL, ids=kinds(EMPTY + FULL))
def test_every_chart_is_well_formed_and_says_what_it_is(spec: Spec) -> None:
    found = drawn(spec)
    assert any(attrs.get("aria-label") == "t" for _, attrs in found.tags)
    text = str(draw(spec))
    assert not re.search(r"\b(nan|inf|None)\b", text)
    assert isinstance(draw(spec), Markup)


@pytest.mark.parametrize("spec", EMPTY + FULL, ids=kinds(EMPTY + FULL))
def test_every_chart_is_a_file(spec: Spec) -> None:
    image = Image.open(io.BytesIO(png.png(spec)))
    assert (image.format, image.mode) == ("PNG", "RGB")
    assert image.size[0] > 300


@pytest.mark.parametrize("spec", FULL, ids=kinds(FULL))
def test_colours_come_from_classes_alone(spec: Spec) -> None:
    """So that the page's style decides them, in light mode, in dark mode and on paper."""
    for tag, attrs in drawn(spec).tags:
        assert {attrs.get("fill"), attrs.get("stroke")} <= {None, "none"}, tag
        for part in (attrs.get("style") or "").split(";"):
            assert re.fullmatch(r"(width|left|font-size):[\d.]+(px|%)?|fill:var\(--h\d+\)|", part), part
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsl", str(draw(spec)))


def test_the_style_has_every_colour_in_both_modes() -> None:
    light, dark = (
        dict(re.findall(r"(--[\w-]+): *(#\w+)", STYLE[start : STYLE.index("}", start)]))
        for start in (STYLE.index(":root {"), STYLE.index(":root {", STYLE.index("dark) {")))
    )
    assert light.keys() == dark.keys()
    assert all(f".k-{each} {{ --k: var(--" in STYLE for each in get_args(Colour))
    used = {name for _, name in re.findall(r"(fill|stroke|background|color|--k):\s*var\((--[\w-]+)\)", STYLE)}
    assert used - {"--k", "--c", "--sans", "--mono"} <= light.keys()
    assert all(f".h{step} {{ background: var(--h{step}); }}" in STYLE for step in range(11))
    assert {f"--h{step}" for step in range(11)} <= light.keys()


def test_files_have_the_colours_of_the_pages_in_light_mode() -> None:
    assert set(png.COLOURS) == set(get_args(Colour))
    assert png.COLOURS["good"] in STYLE
    names = {"0": "s0", "1": "s1", "2": "s2", "3": "s3", "4": "s4", "5": "s5"}
    for colour, value in png.COLOURS.items():
        assert f"--{names.get(colour, colour)}: {value};" in STYLE, colour


# PNG


def figure(spec: Spec) -> list[Axes]:
    return list(png._figure([spec]).axes)


def shown(pairs: Sequence[tuple[float, str]]) -> list[str]:
    return [label for _, label in pairs]


@pytest.mark.parametrize(
    "spec",
    [
        lines(line(0.0, 0.5, 1.0)),
        Forest("t", (ForestRow("a", (ForestMark(0.5, (0.25, 0.75)),)),), HALF, rule=0.5),
    ],
    ids=["lines", "forest"],
)
def test_files_have_the_labels_of_the_page(spec: Lines | Forest) -> None:
    [axes] = figure(spec)
    along = spec.x if isinstance(spec, Lines) else spec.axis
    expected = scale(along, [], 0.0, 1.0).ticks
    assert [label.get_text() for label in axes.get_xticklabels()] == marked(expected)
    assert axes.get_xlim() == (along.low, along.high)


def test_lines_of_a_file_run_through_their_points() -> None:
    points = (Point(0.0, 0.25, (0.0, 0.5)), Point(1.0, NAN), Point(2.0, 1.0))
    [axes] = figure(lines(Line("a", points)))
    assert np.asarray(axes.lines[0].get_xdata()).tolist() == [0.0, 1.0, 2.0]
    np.testing.assert_array_equal(np.asarray(axes.lines[0].get_ydata()), [0.25, NAN, 1.0])
    whisker = axes.lines[1]
    assert (list(whisker.get_xdata()), list(whisker.get_ydata())) == ([0.0, 0.0], [0.0, 0.5])  # type: ignore[arg-type]


def test_forests_and_points_of_a_file_stand_at_their_values() -> None:
    [axes] = figure(Forest("t", (ForestRow("a", (ForestMark(0.5, (0.25, 0.75)),)),), HALF, rule=0.25))
    places = [np.asarray(each.get_xdata()).tolist() for each in axes.lines]
    assert places == [[0.25, 0.75], [0.5], [0.25, 0.25]]
    [axes] = figure(Scatter("t", (Cloud("all", ((0.5, 0.25), (0.0, 1.0)), "good"),), x=HALF, y=HALF))
    assert np.asarray(axes.collections[0].get_offsets()).tolist() == [[0.5, 0.25], [0.0, 1.0]]


def boxes(axes: Axes) -> list[tuple[float, float, float, float]]:
    """Left, bottom, width and height of the bars."""
    return [tuple(np.round(each.get_bbox().bounds, 6).tolist()) for each in axes.patches]  # type: ignore[attr-defined]


def test_bins_of_a_file_stand_at_accuracy_and_gap() -> None:
    [axes] = figure(Reliability("t", (Bin(0.4, 0.5, 0.45, 0.25, (0.0, 0.5), 1.0),)))
    assert boxes(axes) == [(0.403, 0.0, 0.094, 0.25), (0.403, 0.25, 0.094, 0.2)]
    [axes] = figure(
        Histogram("t", (Column(1.0, 1.0, "0"), Column(2.0, 3.0, "1")), Axis("x", ticks=((2.0, "two"),)))
    )
    assert [box[3] for box in boxes(axes)] == [1.0, 3.0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["two"]
