"""Points in the plane."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from app.report.charts import Axis, Scatter
from app.report.scales import Scale, scale
from app.report.svg.element import axis_name, canvas, grid_y, label, spot, stroke, tag, ticks_x, title


def scatter(spec: Scatter) -> Markup:
    """Points; numbered dots over axes, or clouds whose places mean nothing by themselves."""
    wide, high = (300, 200) if spec.small else (480, 300) if spec.x is not None else (760, 430)
    bare = spec.x is None
    left, right, top, bottom = (
        (10.0, wide - 10.0, 10.0, high - 10.0) if bare else (42.0, wide - 14.0, 20.0, high - 50.0)
    )
    everything = [
        *(p for cloud in spec.clouds for p in cloud.points),
        *((dot.x, dot.y) for dot in spec.dots),
        *spec.curve,
    ]
    x = _plane(spec.x, [p[0] for p in everything], left, right)
    y = _plane(spec.y, [p[1] for p in everything], bottom, top)
    drawn: list[Markup] = []
    if spec.x is not None and spec.y is not None:
        drawn += grid_y(y, left, right) + ticks_x(x, bottom + 18, inside=spec.small)
        drawn += [label(left, 12, axis_name(spec.y)), label(right, high - 8.0, axis_name(spec.x), "end")]
    if spec.rule is not None:
        drawn.append(stroke("axis dashed", x(spec.rule), top, x(spec.rule), bottom))
    for path in (spec.path, spec.curve):
        if path:
            points = " ".join(f"{x(a):g},{y(b):g}" for a, b in path)
            drawn.append(tag("g", tag("polyline", class_="curve front", points=points), class_="k-0"))
    for cloud in spec.clouds:
        dots = "".join(f"M{x(a):g} {y(b):g}h0" for a, b in cloud.points)
        kind = "dots pale" if cloud.pale else "dots"
        drawn.append(tag("path", class_=f"{kind} k-{cloud.colour}", d=dots or "M0 0"))
    for dot in spec.dots:
        drawn.append(
            tag(
                "g",
                title(dot.label),
                spot(x(dot.x), y(dot.y), 9, class_="numbered"),
                label(x(dot.x), y(dot.y) + 4, dot.text, "middle", class_="in"),
                class_="on" if dot.full else "off",
            )
        )
    drawn += [spot(x(a), y(b), 6, class_="circled") for a, b in spec.circled]
    return canvas(wide, high, spec.title, drawn, "plot small" if not bare else "plot scatter")


def _plane(axis: Axis | None, values: Sequence[float], start: float, stop: float) -> Scale:
    if axis is None:
        low, high = min(values, default=0.0), max(values, default=1.0)
        return Scale(low, high if high > low else low + 1.0, start, stop, ())
    return scale(axis, values, start, stop, 4)
