"""From blocks to one self-contained HTML file: no script, nothing from the network, everything escaped.

`static/page.html.j2` is the frame, `static/blocks.html.j2` has one macro a block, `static/style.css` the looks of all.
"""

from __future__ import annotations

import base64
import io
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from PIL import Image

from app.report import svg, words
from app.report.blocks import (
    Badge,
    Block,
    Break,
    Link,
    Meter,
    Page,
    Piece,
    Section,
    Span,
    Table,
    Text,
    Track,
    Whisker,
)
from app.report.blocks import Image as InlineImage
from app.report.charts import BarRow
from app.report.schema import write_bytes
from app.report.svg.element import tag
from app.report.svg.rows import track
from app.visible import visible

_STARTS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
LONGEST = 4000
"""Characters of a piece of text that a page shows."""


@cache
def environment() -> Environment:
    """Jinja2 with the templates of this package, everything escaped, unknown names refused."""
    made = Environment(
        loader=PackageLoader("app.report", "static"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "block": block,
        "text": text,
        "cell": cell,
        "draw": svg.draw,
        "picture": _picture,
        "count": words.count,
        "short": words.short,
        "number": words.number,
        "plural": words.plural,
    }
    return made


def page(shown: Page, document: Any) -> str:
    """A page as text; equal documents give equal pages, and characters that nobody would see are escapes.

    Args:
        shown: what it says.
        document: the document it is of: its `schema`, `run` and `subject`.
    """
    style = (Path(__file__).parent / "static" / "style.css").read_text(encoding="utf-8")
    whole = {"page": shown, "document": document, "style": Markup(style)}  # noqa: S704 - ours
    return visible(environment().get_template("page.html.j2").render(**whole))


def write_page(shown: Page, document: Any, path: Path) -> Path:
    """Writes a page, whole or not at all; characters that UTF-8 cannot hold become their escapes.

    Raises:
        UserError: the file cannot be written.
    """
    return write_bytes(page(shown, document).encode("utf-8", "backslashreplace"), path)


def image_uri(image: Image.Image) -> str:
    """An image as a data URI."""
    content = io.BytesIO()
    image.save(content, "PNG")
    return data_uri(content.getvalue())


def data_uri(content: bytes) -> str:
    """The bytes of an image's file as a data URI.

    Raises:
        ValueError: they are no PNG, JPEG, GIF or WebP.
    """
    kind = next((name for start, name in _STARTS.items() if content.startswith(start)), None)
    if kind is None:
        raise ValueError("a thumbnail's bytes are no PNG, JPEG, GIF or WebP file")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


@cache
def _macros() -> Any:
    return environment().get_template("blocks.html.j2").module


def block(shown: Block | Section) -> Markup:
    """One block by the macro of its name."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(shown).__name__).lower()
    if isinstance(shown, Table):
        return _table(shown)
    made: Markup = getattr(_macros(), name)(shown)
    return made


def text(shown: Text) -> Markup:
    """Text with its pieces, escaped."""
    pieces = shown if isinstance(shown, tuple) else (shown,)
    return Markup("").join(_piece(each) for each in pieces)


def _piece(piece: Piece) -> Markup:  # noqa: PLR0911 - a return a kind of piece
    match piece:
        case str():
            return escape(words.nbsp(words.short(piece, LONGEST)))
        case Span("", _, _):
            return Markup("")
        case Span(said, "mono", most):
            return tag("span", words.breakable(words.short(said, most)), class_="mono")
        case Span(said, look, most):
            kind = "b" if look == "strong" else "span"
            return tag(kind, escape(words.nbsp(words.short(said, most))), class_=look)
        case Badge(said, look):
            kind = f"badge b-{look}" if look else "badge"
            return tag("span", escape(words.short(said, 60)), class_=kind)
        case Link(said, to):
            return tag("a", escape(words.short(said, 90)), href=_address(to))
        case Meter(value, weak):
            if not words.defined(value):
                return Markup("")
            style = f"width:{100 * min(max(value or 0.0, 0.0), 1.0):.1f}%"
            fill = tag("i", Markup(" "), class_="weak" if weak else None, style=style)
            return tag("span", fill, class_="meter", aria_hidden="true")
        case InlineImage(source, alt):
            shown = _picture(source)
            said = words.short(alt, 80)
            return tag("img", class_="thumb", src=shown, alt=said, loading="lazy") if shown else escape(said)
        case Break():
            return Markup("<br>")


def _address(to: str) -> str:
    """A relative path or a place of this page; nothing that runs or leads outside by a scheme other than the web's."""
    return to if re.match(r"(#|https?://|[^:]*$)", to) else "#"


def _picture(source: str) -> str:
    """The source of a picture that is in the page itself; nothing for any other."""
    return source if re.match(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$", source) else ""


def cell(shown: Any) -> Markup:
    """What stands in a cell of a table."""
    if isinstance(shown, Track):
        label = (
            shown.label or f"{words.percent(shown.value)}, interval {words.percent_interval(shown.interval)}"
        )
        row = BarRow(label, shown.value, shown.interval, shown.weak, shown.mark)
        return track(row, rule=shown.rule)
    if isinstance(shown, Whisker):
        return _whisker(shown)
    if isinstance(shown, str | tuple | Span | Badge | Link | Meter | InlineImage | Break):
        return text(shown)
    return svg.draw(shown)


def _whisker(shown: Whisker) -> Markup:
    drawn = []
    if shown.interval is not None:
        low, high = (min(max(end, 0.0), 1.0) for end in shown.interval)
        kind = "span cut" if shown.cut else "span"
        drawn.append(
            tag("i", Markup(" "), class_=kind, style=f"left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%")
        )
    drawn.append(tag("i", Markup(" "), class_="dot", style=f"left:{100 * min(max(shown.at, 0.0), 1.0):.1f}%"))
    return tag("div", *drawn, class_=f"forest j-{shown.look or 'none'}", aria_hidden="true")


def _table(shown: Table) -> Markup:
    """A table, its later rows folded, and a line that says where the rest is."""
    rows = shown.items[: shown.most]
    first = len(rows) if shown.first is None else min(shown.first, len(rows))
    made: Markup = _macros().table(shown, rows[:first])
    if first < len(rows):
        made += _macros().more_rows(shown, rows[first:])
    total = len(shown.items) if shown.total is None else shown.total
    said: Markup = _macros().rest(total, len(rows), shown.rest)
    return made + said
