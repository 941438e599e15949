"""Heat maps: a table whose cells are coloured, or squares where there are too many."""

from __future__ import annotations

from markupsafe import Markup, escape

from app.report.charts import Heat
from app.report.svg.element import label, tag, title
from app.report.words import breakable, short

SHORT = 5
"""Characters up to which the names of a little grid's columns stand in one line."""
NUMBERED = 16
"""Rows up to which the cells of a confusion matrix hold their numbers."""


def heat(spec: Heat) -> Markup:
    """A grid as a table: its numbers can be read, selected and printed."""
    little = " airy" if len(spec.columns) <= 10 else ""
    if spec.little:
        little = " little wide" if max(map(len, spec.columns), default=0) > SHORT else " little"
    head = [tag("th", tag("b", escape(spec.corner or "Row"), class_="vh"), scope="col")]
    for name in spec.columns:
        said = escape(short(name, 40))
        head.append(tag("th", said if spec.little else tag("span", said), scope="col", class_="col"))
    body = []
    for name, row in zip(spec.rows[: spec.most], spec.cells, strict=False):
        cells = [tag("th", breakable(short(name, 60)), scope="row", class_="mono")]
        for cell in row:
            if cell is None:
                cells.append(Markup("<td></td>"))
            else:
                look = "none" if cell.step is None else f"h{cell.step}"
                label = cell.label or None
                cells.append(
                    tag(
                        "td",
                        escape(cell.text) or Markup("&nbsp;"),
                        class_=look,
                        title=label,
                        aria_label=label,
                    )
                )
        body.append(tag("tr", *cells))
    parts = [tag("thead", tag("tr", *head)), tag("tbody", *body)]
    if spec.caption:
        parts.insert(0, tag("caption", escape(spec.caption)))
    if len(body) > 25:
        foot = [tag("td", tag("span", escape(short(name, 40))), class_="foot") for name in spec.columns]
        parts.append(tag("tfoot", tag("tr", Markup("<td></td>"), *foot), aria_hidden="true"))
    table = tag("table", *parts, class_=f"heat{little}")
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=spec.title)


def heat_squares(spec: Heat) -> Markup:
    """A grid of more classes than numbers have room for: coloured squares that say their numbers when pointed at."""
    room = 112.0
    cell = min(14.0, max(7.0, (952.0 - room) / max(len(spec.rows), 1)))
    side = room + cell * max(len(spec.rows), 1)
    drawn = [tag("rect", class_="frame", x=room, y=room, width=side - room, height=side - room)]
    for step in range(11):
        squares = [
            tag(
                "rect",
                title(each.label),
                x=room + cell * b,
                y=room + cell * a,
                width=cell - 1,
                height=cell - 1,
            )
            for a, row in enumerate(spec.cells)
            for b, each in enumerate(row)
            if each is not None and each.step == step
        ]
        if squares:
            drawn.append(tag("g", *squares, style=f"fill:var(--h{step})"))
    names = []
    for place, name in enumerate(spec.rows):
        at = round(room + cell * (place + 0.78), 1)
        names.append(label(room - 5, at, short(name, 24), "end"))
        names.append(
            tag("text", escape(short(name, 24)), transform=f"translate({at:g} {room - 5:g}) rotate(-90)")
        )
    drawn.append(tag("g", *names, style=f"font-size:{min(11.0, cell * 0.9):.1f}px"))
    svg = tag(
        "svg",
        *drawn,
        class_="matrix",
        width=side,
        height=side,
        viewBox=f"0 0 {side:g} {side:g}",
        role="img",
        aria_label=spec.title,
    )
    return tag("div", svg, class_="scroll", tabindex=0, role="region", aria_label=spec.title)
