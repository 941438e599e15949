"""What is drawn: one specification a kind of chart, in the units of the data. `svg` and `png` draw the same.

Values of unit `share` are fractions and shown per cent. Colours are names that both back ends know: `0` to `5` tell
series apart, `good`, `bad`, `mid` and `none` mean something, `ink` stands out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.report.words import defined

Colour: TypeAlias = Literal["0", "1", "2", "3", "4", "5", "good", "bad", "mid", "none", "ink"]
SERIES: tuple[Colour, ...] = ("0", "1", "2", "3", "4", "5")
"""Of series that mean nothing by themselves."""
DASHES = ("", "7 4", "2 4")
"""Line styles, so that the seventh series differs from the first."""


@dataclass(frozen=True)
class Axis:
    """One axis."""

    name: str = ""
    """What is on it."""
    unit: Literal["share", "points", "number", "count"] = "number"
    """`share` and `points` (differences of shares) are fractions shown per cent."""
    low: float | None = None
    """Where it begins; by the data if None."""
    high: float | None = None
    """Where it ends; by the data if None."""
    ticks: tuple[tuple[float, str], ...] | None = None
    """Labels and where they stand; round numbers if None."""


@dataclass(frozen=True)
class Point:
    """A number on a line."""

    x: float
    """Along."""
    y: float
    """Up."""
    interval: tuple[float, float] | None = None
    """Of y."""
    label: str = ""
    """What it says when it is pointed at."""


@dataclass(frozen=True)
class Line:
    """One line."""

    name: str
    """What the legend says."""
    points: tuple[Point, ...]
    """From left to right; a point whose y is NaN is a gap."""
    colour: Colour = "0"
    """Its colour."""
    dash: int = 0
    """Its style, an index into DASHES."""
    bold: bool = False
    """Whether it is wider than the others."""


@dataclass(frozen=True)
class Mark:
    """A place of a chart that stands out."""

    x: float
    """Along."""
    y: float
    """Up."""
    look: Literal["dot", "ring", "small"] = "dot"
    """How it is drawn."""
    colour: Colour = "ink"
    """Its colour."""
    label: str = ""
    """What it says when it is pointed at."""


@dataclass(frozen=True)
class Rule:
    """An upright line through a chart."""

    x: float
    """Where."""
    colour: Colour = "none"
    """Its colour."""
    head: bool = False
    """Whether an arrow stands above it, as for a change; without it the line is dashed."""


@dataclass(frozen=True)
class Rug:
    """Ticks below the axis."""

    name: str
    """What they are."""
    places: tuple[float, ...]
    """Where."""
    colour: Colour
    """Their colour."""


@dataclass(frozen=True)
class Lines:
    """Lines over a common axis."""

    title: str
    """What is drawn."""
    lines: tuple[Line, ...]
    """They."""
    x: Axis
    """Along."""
    y: Axis
    """Up."""
    spread: Literal["whisker", "band", "none"] = "whisker"
    """How intervals are drawn."""
    dots: bool = True
    """Whether each number is a dot."""
    marks: tuple[Mark, ...] = ()
    """Numbers that stand out."""
    rules: tuple[Rule, ...] = ()
    """Upright lines."""
    levels: tuple[tuple[float, float, float], ...] = ()
    """Level lines: from x, to x, at y."""
    rugs: tuple[Rug, ...] = ()
    """Ticks below the axis."""
    diagonal: bool = False
    """Whether the line of equal x and y is drawn."""
    small: bool = False
    """Whether it stands beside others."""
    legend: bool = True
    """Whether it has a legend of its own."""
    heading: bool = False
    """Whether the page shows the title in the drawing."""


@dataclass(frozen=True)
class BarRow:
    """One bar."""

    name: str
    """What it is."""
    value: float | None
    """Its length; None is said in words."""
    interval: tuple[float, float] | None = None
    """Its whisker."""
    weak: bool = False
    """Whether it has the colour of what is bad."""
    mark: float | None = None
    """Where a diamond stands."""
    shown: str = ""
    """The number in words."""


@dataclass(frozen=True)
class Bars:
    """Bars beside names, from 0 to the end of the axis."""

    title: str
    """What is drawn."""
    rows: tuple[BarRow, ...]
    """From the top."""
    axis: Axis = Axis(unit="share", low=0.0, high=1.0)
    """Along."""
    subtitle: str = ""
    """A line below the title."""
    thin: bool = False
    """Whether they are drawn low, among text."""
    none: str = "none could be judged"
    """What stands for a bar without a value."""


@dataclass(frozen=True)
class ForestMark:
    """A value with its interval."""

    value: float
    """It."""
    interval: tuple[float, float] | None = None
    """Its interval."""
    look: Literal["dot", "ring", "diamond"] = "dot"
    """How it is drawn."""
    colour: Colour = "good"
    """Its colour."""
    label: str = ""
    """What it says when it is pointed at."""


@dataclass(frozen=True)
class ForestRow:
    """A name with its values."""

    name: str
    """What it is."""
    marks: tuple[ForestMark, ...]
    """One below the other."""
    shown: str = ""
    """The numbers in words."""


@dataclass(frozen=True)
class Forest:
    """Values with intervals on one axis, a row each."""

    title: str
    """What is drawn."""
    rows: tuple[ForestRow, ...]
    """From the top."""
    axis: Axis
    """Along."""
    rule: float | None = None
    """Where an upright line stands: the truth, or no difference."""
    heading: bool = False
    """Whether the page shows the title in the drawing."""
    subtitle: str = ""
    """A line below the title."""


@dataclass(frozen=True)
class Cloud:
    """Points of one kind."""

    name: str
    """What the legend says."""
    points: tuple[tuple[float, float], ...]
    """Where they are."""
    colour: Colour
    """Their colour."""
    pale: bool = False
    """Whether they stand back."""


@dataclass(frozen=True)
class Dot:
    """A point with a number in it, which a legend explains."""

    x: float
    """Along."""
    y: float
    """Up."""
    text: str
    """The number in it."""
    full: bool
    """Whether it is filled."""
    label: str = ""
    """What it says when it is pointed at."""


@dataclass(frozen=True)
class Scatter:
    """Points in the plane."""

    title: str
    """What is drawn."""
    clouds: tuple[Cloud, ...] = ()
    """Many small points."""
    dots: tuple[Dot, ...] = ()
    """Few numbered ones."""
    circled: tuple[tuple[float, float], ...] = ()
    """Places with a ring around them."""
    path: tuple[tuple[float, float], ...] = ()
    """A line through some of them."""
    curve: tuple[tuple[float, float], ...] = ()
    """A fitted line."""
    x: Axis | None = None
    """Along; positions without meaning if None."""
    y: Axis | None = None
    """Up."""
    rule: float | None = None
    """Where an upright line stands."""
    small: bool = False
    """Whether it stands beside others."""


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map."""

    text: str
    """What stands in it."""
    step: int | None
    """Its colour, 0 to 10: 0 is bad, 5 neutral, 10 good; None for a cell without a value."""
    label: str = ""
    """What it says when it is pointed at."""


@dataclass(frozen=True)
class Heat:
    """A grid of coloured cells."""

    title: str
    """What is drawn."""
    rows: tuple[str, ...]
    """Names of its rows."""
    columns: tuple[str, ...]
    """Names of its columns."""
    cells: tuple[tuple[HeatCell | None, ...], ...]
    """(rows, columns): None where there is nothing."""
    corner: str = ""
    """What the rows are."""
    across: str = ""
    """What the columns are."""
    little: bool = False
    """Whether it stands beside others."""
    caption: str = ""
    """What stands above it among others."""
    subtitle: str = ""
    """A line below the title of a picture."""
    most: int = 120
    """Rows drawn."""


@dataclass(frozen=True)
class Bin:
    """A bin of a reliability diagram."""

    low: float
    """Lower edge, of the confidence."""
    high: float
    """Upper edge."""
    confidence: float
    """Mean confidence in it."""
    accuracy: float
    """Share that is right."""
    interval: tuple[float, float] | None
    """Of the accuracy."""
    weight: float
    """Predictions in it, over those of the fullest bin."""
    label: str = ""
    """What it says when it is pointed at."""


@dataclass(frozen=True)
class Reliability:
    """Accuracy over confidence."""

    title: str
    """What is drawn."""
    bins: tuple[Bin, ...]
    """Those that hold predictions."""
    x: str = "confidence, %"
    """Name of the axis along."""
    y: str = "right, %"
    """Name of the axis up."""


@dataclass(frozen=True)
class Column:
    """A column of a histogram."""

    x: float
    """Where it stands."""
    height: float
    """Its height."""
    colour: Colour
    """Its colour."""
    label: str = ""
    """What it says when it is pointed at."""


@dataclass(frozen=True)
class Histogram:
    """Columns side by side."""

    title: str
    """What is drawn."""
    columns: tuple[Column, ...]
    """From the left."""
    x: Axis
    """Along."""
    logarithmic: bool = False
    """Whether heights are shown by their logarithm."""


@dataclass(frozen=True)
class Spark:
    """A series as a small line inside a table, on a scale of its own."""

    title: str
    """What is drawn."""
    values: tuple[float, ...]
    """A step each; NaN is a gap."""
    rules: tuple[int, ...] = ()
    """Where it changes."""


@dataclass(frozen=True)
class Panels:
    """Charts of one kind side by side under one title; lines, the same ones in every chart, share one legend."""

    title: str
    """What is drawn."""
    charts: tuple[Lines, ...] | tuple[Heat, ...]
    """In rows, from the left."""
    columns: int = 2
    """Charts a row."""
    note: str = ""
    """A line about what is left out."""


Spec: TypeAlias = Lines | Bars | Forest | Scatter | Heat | Reliability | Histogram | Spark | Panels


def shade(score: float) -> int:
    """The step of the colour scale for a fraction, 0 to 10; 5 stands for one half."""
    return min(10, max(0, int(10 * score + 0.5)))


def ends(interval: Sequence[float] | None) -> tuple[float, float] | None:
    """An interval both of whose ends are numbers; None otherwise."""
    if interval is None or not (defined(interval[0]) and defined(interval[1])):
        return None
    return interval[0], interval[1]
