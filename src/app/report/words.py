"""Numbers and names as people read them. Only here do fractions become per cent."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from markupsafe import Markup, escape

from app.visible import visible_name

Interval: TypeAlias = Sequence[float] | None

UNDEFINED = "–"
"""Stands for a number that is not defined."""


def defined(value: float | None) -> bool:
    """Whether there is a number: neither None nor NaN nor infinite."""
    return value is not None and math.isfinite(value)


def has_ends(interval: Interval) -> bool:
    """Whether both ends of an interval are numbers."""
    return interval is not None and defined(interval[0]) and defined(interval[1])


def count(value: int) -> str:
    """A whole number with its thousands apart: 12,345."""
    return f"{value:,}"


def plural(value: int, one: str, many: str | None = None) -> str:
    """A count with its noun: 1 mutant, 2 mutants."""
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def number(value: float | None, digits: int = 2) -> str:
    """A number with fixed decimals and a true minus sign, a dash if undefined."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def per_cent(value: float | None, digits: int = 0) -> str:
    """A fraction as per cent without the sign: '80'.

    A number that is short of 100, or more than 0, never rounds to it: it gets the decimals that show so.
    """
    if value is None or not math.isfinite(value):
        return UNDEFINED
    text = number(100 * value, digits)
    hides = (value < 1 and text.startswith("100")) or (value > 0 and not text.strip("0."))
    return per_cent(value, digits + 1) if hides and digits < 3 else text


def percent(value: float | None, digits: int = 0) -> str:
    """A fraction as per cent: '80 %'."""
    text = per_cent(value, digits)
    return text if text == UNDEFINED else f"{text} %"


def percent_interval(interval: Interval, digits: int = 0) -> str:
    """An interval of fractions as per cent: '77–84 %'."""
    if interval is None or not has_ends(interval):
        return UNDEFINED
    low, high = per_cent(interval[0], digits), per_cent(interval[1], digits)
    return f"{low} to {high} %" if "−" in low + high else f"{low}–{high} %"


def points(value: float | None, digits: int = 1) -> str:
    """A difference of fractions as signed percentage points: '+2.1'."""
    text = number(None if value is None else 100 * value, digits)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.") else text


def points_interval(interval: Interval, digits: int = 1) -> str:
    """An interval of differences as percentage points: '+0.4 to +2.2'."""
    if interval is None or not has_ends(interval):
        return UNDEFINED
    return f"{points(interval[0], digits)} to {points(interval[1], digits)}"


def p_value(value: float | None) -> str:
    """A p-value: three decimals, or '< 0.001'."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def parameters(params: Mapping[str, object]) -> str:
    """Parameters in one line: 'rate 0.3, block 5'."""
    return ", ".join(f"{name} {value}" for name, value in params.items())


def short(value: object, longest: int = 80) -> str:
    """Text cut in its middle to at most so many characters."""
    shown = str(value)
    if len(shown) <= longest:
        return shown
    tail = (longest - 1) // 2
    return f"{shown[: longest - 1 - tail]}…{shown[len(shown) - tail :]}"


def name_words(name: object) -> str:
    """A name of the JSON in words: `accuracy_drop` is 'accuracy drop', `ece_rise` is 'ECE rise'."""
    return short(name, 60).replace("_", " ").replace("ece ", "ECE ")


def nbsp(value: str) -> str:
    """Keeps a number and its unit on one line."""
    shown = value.replace(" %", "\u00a0%").replace("p < ", "p\u00a0<\u00a0").replace(", p 0", ", p\u00a00")
    return shown.replace(" to ", "\u00a0to\u00a0") if len(value) < 40 else shown


def breakable(value: str) -> Markup:
    """A name that may be broken over lines after a dot, dash, slash or underscore, not in a number; escaped."""
    value = visible_name(value)
    return Markup(re.sub(r"(?<=[._/+-])(?=[^\d._/+-])|(?<=[_/+-])(?=\d)", "<wbr>", str(escape(value))))  # noqa: S704 - escaped before
