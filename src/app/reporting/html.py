"""Pages: one self-contained HTML file a report, without scripts, and without anything from the network.

`environment` has the filters and the shared layout (`base.html.j2`, `macros.html.j2`, `style.css.j2`);
`render` fills a page that extends it. Everything is escaped, long text is cut, and a file stays below 2 MB.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from app.reporting import heatmap, text
from app.reporting.mutants import Interval
from app.reporting.schema import write_bytes
from app.visible import visible, visible_name

THUMBNAIL_BYTES = 900_000
"""All pictures of a page together, as they stand in it."""
_IMAGE_STARTS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}


@dataclass(frozen=True)
class Limits:
    """How much of a long list a page shows; the rest is in the JSON."""

    mutants: int = 500
    """Rows of the table of all mutants."""
    first: int = 15
    """Rows of a long table before the rest is folded."""
    survivors: int = 100
    """Rows of the table of survivors."""
    layers: int = 120
    """Rows of the heat map."""
    signals: int = 200
    """Rows of the signal coverage."""
    cases: int = 30
    """Test cases that kill most."""
    keys: int = 60
    """Keys in a list of mutants."""
    curves: int = 9
    """Curves in a plot."""
    causes: int = 12
    """Causes."""
    rows: int = 100
    """Rows of any other table."""


LIMITS = Limits()


@cache
def environment() -> Environment:
    """Jinja2 with the templates of this package, everything escaped, unknown names refused."""
    made = Environment(
        loader=PackageLoader("app.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "count": text.count,
        "plural": text.plural,
        "number": text.number,
        "per_cent": text.per_cent,
        "percent": text.percent,
        "percent_interval": text.percent_interval,
        "points": text.points,
        "points_interval": text.points_interval,
        "p_value": text.p_value,
        "short": text.short,
        "nbsp": nbsp,
        "breakable": breakable,
        "words": words,
        "cell_label": heatmap.cell_label,
        "css": css,
        "shade": heatmap.shade,
    }
    made.tests |= {"defined_number": text.defined, "defined_interval": _defined_interval}
    made.globals["limits"] = LIMITS
    return made


def render(template: str, **context: Any) -> str:
    """A page as text; characters that nobody would see in it are escapes, wherever they come from.

    Args:
        template: Name of a template that extends `base.html.j2`.
        **context: `report`, `kind`, `title`, and what the template names.
    """
    return visible(environment().get_template(template).render(**context))


def write_page(page: str, path: Path) -> Path:
    """Writes a page, whole or not at all; characters that UTF-8 cannot hold become their escapes.

    Raises:
        UserError: The file cannot be written.
    """
    return write_bytes(page.encode("utf-8", "backslashreplace"), path)


def data_uris(pictures: Mapping[int, bytes | str], order: list[int]) -> dict[int, str]:
    """Pictures as data URIs, in the given order until their share of the page is used up.

    Args:
        pictures: By test case: a PNG, JPEG, GIF or WebP file's bytes, or a data URI.
        order: The test cases wanted, the most important first.

    Raises:
        ValueError: Something else than a picture.
    """
    found: dict[int, str] = {}
    room = THUMBNAIL_BYTES
    for case in order:
        if case in pictures and case not in found:
            uri = data_uri(pictures[case])
            if len(uri) <= room:
                found[case] = uri
                room -= len(uri)
    return found


def data_uri(picture: bytes | str) -> str:
    """A picture as a data URI; one that is a data URI already comes back.

    Raises:
        ValueError: Something else than a picture.
    """
    if isinstance(picture, str):
        if not picture.startswith("data:image/"):
            raise ValueError(f"a thumbnail is the bytes of a picture or a data URI, not {picture[:40]!r}")
        return picture
    kind = next((name for start, name in _IMAGE_STARTS.items() if picture.startswith(start)), None)
    if kind is None:
        raise ValueError("a thumbnail's bytes are no PNG, JPEG, GIF or WebP file")
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"


def nbsp(value: str) -> str:
    """Keeps a number and its unit on one line."""
    return (
        value.replace(" %", "\u00a0%").replace(" to ", "\u00a0to\u00a0")
        if len(value) < 40
        else value.replace(" %", "\u00a0%")
    )


def breakable(value: str) -> Markup:
    """A name that may be broken over lines after a dot, dash, slash or underscore, not in a number; escaped."""
    value = visible_name(value)
    return Markup(re.sub(r"(?<=[._/+-])(?=[^\d._/+-])|(?<=[_/+-])(?=\d)", "<wbr>", str(escape(value))))  # noqa: S704 - escaped before


def words(name: object) -> str:
    """A name of the JSON in words: `accuracy_drop` is 'accuracy drop', `ece_rise` is 'ECE rise'."""
    return text.short(name, 60).replace("_", " ").replace("ece ", "ECE ")


def css(fraction: float | None) -> str:
    """A fraction as a CSS length in [0 %, 100 %]."""
    value = min(max(fraction or 0.0, 0.0), 1.0)
    return f"{100 * value:.1f}%"


def _defined_interval(interval: Interval) -> bool:
    return interval is not None and all(text.defined(end) for end in interval)
