"""Looking into a report's plain JSON without minding what an older version lacks, or what is of another kind there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Body: TypeAlias = Mapping[str, Any]
"""A report's JSON, or an object in it."""
LARGEST = 1e15
"""What is larger is no number of a report."""
UNSOUND = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What reading a report can raise if something in it is of another kind than it should be."""


def at(body: Any, *path: str | int) -> Any:
    """What lies at a path of keys and places in a report; None if nothing does."""
    for step in path:
        if isinstance(body, Mapping) and isinstance(step, str):
            body = body.get(step)
        elif isinstance(body, list | tuple) and isinstance(step, int) and step < len(body):
            body = body[step]
        else:
            return None
    return body


def block(body: Any, *path: str) -> Body:
    """The object at a path; an empty one if there is none."""
    found = at(body, *path)
    return found if isinstance(found, Mapping) else {}


def rows(body: Any, *path: str) -> list[Body]:
    """The objects of the list at a path; none if it is not there."""
    found = at(body, *path)
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list | tuple) else []


def number(value: Any) -> float | None:
    """A finite number, of at most `LARGEST`; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value)


def count(value: Any) -> int | None:
    """A whole number of 0 or more; None for anything else."""
    return value if isinstance(value, int) and number(value) is not None and value >= 0 else None


def texts(value: Any) -> tuple[str, ...]:
    """What a list holds, as texts, such as names of classes; none if it is no list."""
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def ends(value: Any) -> tuple[float, float] | None:
    """The two ends of an interval; None if both are not there."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    low, high = number(value[0]), number(value[1])
    return None if low is None or high is None else (low, high)
