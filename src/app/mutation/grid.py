"""The values an operator draws from, checked where they are given."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T", int, float, str)


def numbers(
    name: str, values: float | Sequence[float], allowed: Callable[[float], bool], sentence: str
) -> tuple[float, ...]:
    """A grid of floats without repeats, in the order given; one number stands for a grid of one.

    Raises:
        ValueError: the grid is empty, or a value is no finite number or not allowed; `sentence` says what is.
    """
    given = [values] if isinstance(values, int | float) else values
    return tuple(float(value) for value in _checked(name, given, _is_number(allowed), sentence))


def whole_numbers(
    name: str, values: int | Sequence[int], allowed: Callable[[int], bool], sentence: str
) -> tuple[int, ...]:
    """A grid of ints without repeats, in the order given; one number stands for a grid of one.

    Raises:
        ValueError: the grid is empty, or a value is no whole number or not allowed; `sentence` says what is.
    """
    given = [values] if isinstance(values, int) else values
    return tuple(_checked(name, given, lambda value: type(value) is int and allowed(value), sentence))


def words(
    name: str, values: str | Sequence[str], allowed: Callable[[str], bool], sentence: str
) -> tuple[str, ...]:
    """A grid of words without repeats, in the order given; one word stands for a grid of one.

    Raises:
        ValueError: the grid is empty, or a word is not allowed; `sentence` says which are.
    """
    given = [values] if isinstance(values, str) else values
    return tuple(_checked(name, given, lambda value: isinstance(value, str) and allowed(value), sentence))


MOST = 10_000
"""Mutants of one operator, or passes of one mutant: more is a slip of the finger, and would take days."""


def count(name: str, value: int) -> int:
    """A whole number from 1 to `MOST`.

    Raises:
        ValueError: it is not.
    """
    if type(value) is not int or not 1 <= value <= MOST:
        raise ValueError(f"{name} must be a whole number from 1 to {MOST:,}, not {value!r}")
    return value


def _checked(name: str, values: Iterable[T], allowed: Callable[[T], bool], sentence: str) -> list[T]:
    grid = list(dict.fromkeys(values))
    if not grid:
        raise ValueError(f"{name} is empty; {sentence}")
    for value in grid:
        if not allowed(value):
            raise ValueError(f"{name} holds {value!r}; {sentence}")
    return grid


def _is_number(allowed: Callable[[float], bool]) -> Callable[[float], bool]:
    return lambda value: type(value) in {int, float} and math.isfinite(value) and allowed(value)
