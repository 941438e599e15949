"""Pieces of SVG and HTML: elements with escaped attributes, and the parts that all charts have."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from app.report.charts import Axis
from app.report.scales import Scale
from app.report.words import short

SHAPES = frozenset({"line", "circle", "polyline", "path", "rect", "polygon", "img"})
"""Elements without content that close themselves; HTML leaves any other open that does."""


def tag(name: str, *content: object, **attributes: object) -> Markup:
    """An element; attributes that are None are left out, a trailing underscore of a name too, and `_` is `-`."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(map(escape, content))
    closed = name in SHAPES and not inside
    return Markup(f"<{name}{shown}/>" if closed else f"<{name}{shown}>{inside}</{name}>")  # noqa: S704 - escaped above


def _number(value: object) -> str:
    return f"{round(value, 1):g}" if isinstance(value, float) else str(value)


def canvas(width: float, height: float, said: str, content: Iterable[Markup], kind: str = "plot") -> Markup:
    """A drawing of its own, which says in words what it shows."""
    return tag(
        "svg",
        *content,
        class_=kind,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=short(said, 160),
    )


def stroke(class_: str, x1: float, y1: float, x2: float, y2: float, **more: object) -> Markup:
    """A straight line."""
    return tag("line", class_=class_, x1=x1, y1=y1, x2=x2, y2=y2, **more)


def label(x: float, y: float, said: object, anchor: str = "start", **more: object) -> Markup:
    """Text that begins, ends or has its middle at a place."""
    return tag("text", escape(said), x=x, y=y, text_anchor=None if anchor == "start" else anchor, **more)


def title(said: str) -> Markup:
    """What an element says when it is pointed at; nothing where there is nothing to say."""
    return tag("title", escape(said)) if said else Markup("")


def spot(x: float, y: float, r: float, said: str = "", **more: object) -> Markup:
    """A circle."""
    return tag("circle", title(said), cx=x, cy=y, r=r, **more)


def grid_y(y: Scale, left: float, right: float) -> list[Markup]:
    """Lines across at the labels of the axis that goes up."""
    found = []
    for value, said in y.ticks:
        at = y(value)
        found += [stroke("grid", left, at, right, at), label(left - 7, at + 4, said, "end")]
    return found


def ticks_x(x: Scale, at: float, *, inside: bool = False) -> list[Markup]:
    """Labels of the axis that goes along; `inside` keeps the outer two within its ends."""
    last = len(x.ticks) - 1
    anchors = ["middle"] * (last + 1)
    if inside and last > 0:
        anchors[0], anchors[-1] = "start", "end"
    return [label(x(value), at, said, anchor) for (value, said), anchor in zip(x.ticks, anchors, strict=True)]


def axis_name(axis: Axis) -> str:
    """What is on an axis, with its unit."""
    return f"{axis.name}, %" if axis.unit == "share" and axis.name else axis.name
