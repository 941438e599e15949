"""Typed reports from their JSON form: dataclasses built from plain dicts and lists, by their annotations."""

from __future__ import annotations

import math
import types
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from app.errors import UserError
from app.stats import Interval

T = TypeVar("T")


def missing(cls: type, body: Mapping[str, Any], where: str = "") -> list[str]:
    """Dotted names of the fields that `cls` needs and a JSON object lacks; nested objects are looked into.

    The first entry of a list or mapping stands for all: a report of an older version lacks a field in all or in none.
    """
    absent: list[str] = []
    for item in fields(cls):
        name = f"{where}{item.name}"
        if item.name not in body:
            if item.default is MISSING and item.default_factory is MISSING:
                absent.append(name)
            continue
        value, kind = body[item.name], _hints(cls)[item.name]
        if get_origin(kind) is tuple:
            if not isinstance(value, list) or not value:
                continue
            value, kind, name = value[0], get_args(kind)[0], f"{name}[0]"
        elif get_origin(kind) is Mapping:
            if not isinstance(value, dict) or not value:
                continue
            key, value = next(iter(value.items()))
            kind, name = get_args(kind)[1], f"{name}.{key}"
        inner = next((k for k in (kind, *get_args(kind)) if is_dataclass(k)), None)
        if isinstance(inner, type) and isinstance(value, dict):
            absent += missing(inner, value, f"{name}.")
    return absent


def from_plain(cls: type[T], body: Any, source: str) -> T:
    """A report's dataclass from what `json.loads` gave; the inverse of `schema.plain`.

    Lists become tuples, or an `Interval` (at its usual level, which the file does not say) where the field is one; null
    becomes None, NaN where the field is a plain float, an unknown interval. Keys that the dataclass does not know are
    ignored, and fields with a default may be absent.

    Args:
        cls: A dataclass annotated with dataclasses, tuples, mappings, unions, literals, and plain JSON types.
        body: The JSON object.
        source: What is read, for the error message.

    Raises:
        UserError: Something is missing or of another type; the sentence names all that is missing.
    """
    if not isinstance(body, Mapping):
        raise UserError(f"{source} holds {_name(body)} where an object is needed")
    absent = missing(cls, body)
    if absent:
        raise UserError(f"{source} lacks {', '.join(absent)}")
    value: T = _build(cls, body, source, "")
    return value


@cache
def _hints(cls: Hashable) -> dict[str, Any]:
    """The annotations of a class, resolved."""
    return get_type_hints(cls)


def _build(kind: Any, value: Any, source: str, where: str) -> Any:
    """The value as `kind`, whose place in the file is `where`."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _build_union(args, value, source, where)
    if origin is Literal:
        if value in args:
            return value
    elif is_dataclass(kind) and isinstance(kind, type) and kind is not Interval:
        if isinstance(value, Mapping):
            return _build_dataclass(kind, value, source, where)
    elif origin is tuple:
        if isinstance(value, list) and (args[-1] is Ellipsis or len(args) == len(value)):
            kinds = [args[0]] * len(value) if args[-1] is Ellipsis else args
            return tuple(
                _build(k, v, source, f"{where}[{i}]")
                for i, (k, v) in enumerate(zip(kinds, value, strict=True))
            )
    elif origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        if isinstance(value, Mapping):
            return {key: _build(args[1], item, source, f"{where}.{key}") for key, item in value.items()}
    else:
        return _build_leaf(kind, value, source, where)
    raise _mismatch(kind, value, source, where)


def _build_dataclass(kind: type, value: Mapping[str, Any], source: str, where: str) -> Any:
    hints, given = _hints(kind), {}
    for item in fields(kind):
        place = f"{where}.{item.name}" if where else item.name
        if item.name in value:
            given[item.name] = _build(hints[item.name], value[item.name], source, place)
        elif item.default is MISSING and item.default_factory is MISSING:
            raise UserError(f"{source} lacks {place}")
    return kind(**given)


def _build_union(args: tuple[Any, ...], value: Any, source: str, where: str) -> Any:
    """The first alternative that fits exactly, so that 1 stays an int in `float | int`."""
    if value is None and type(None) in args:
        return None
    leaves = [k for k in args if k in (bool, int, float, str)]
    if type(value) in leaves:
        return value
    others = [k for k in args if k is not type(None)]
    if len(others) == 1 or (leaves and len(leaves) == len(others)):
        return _build(float if float in leaves else others[0], value, source, where)
    raise _mismatch(args, value, source, where)


def _build_leaf(kind: Any, value: Any, source: str, where: str) -> Any:
    if kind is Any:
        return value
    if kind is Interval and (value is None or isinstance(value, list)):
        ends = [None, None] if value is None else value
        return Interval(*_build(tuple[float, float], ends, source, where))
    if kind is float and not isinstance(value, bool):
        if value is None:
            return math.nan
        if isinstance(value, (int, float)):
            return float(value)
    elif isinstance(value, kind) and isinstance(value, bool) == (kind is bool):
        return value
    raise _mismatch(kind, value, source, where)


def _name(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _mismatch(kind: Any, value: Any, source: str, where: str) -> UserError:
    if get_origin(kind) is Literal:
        shown = repr(value) if isinstance(value, str) else _name(value)
        return UserError(f"{source}: {where} is {shown}, not one of {', '.join(map(str, get_args(kind)))}")
    return UserError(f"{source}: {where or 'the report'} is {_name(value)}, which does not fit there")
