"""Whether a configured value fits the annotation of what it is given to, and how both are put into words."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from omegaconf import DictConfig, ListConfig, OmegaConf


def hints_of(target: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of what a `_target_` calls; none where they cannot be read."""
    function = target.__init__ if inspect.isclass(target) else target
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError):
        return {}


def accepts(value: Any, hint: Any) -> bool:
    """Whether a configured value fits an annotation; annotations beyond plain values accept anything but None."""
    origin = get_origin(hint)
    result = True
    if hint is Any or isinstance(hint, str | typing.TypeVar):
        result = True
    elif origin in {Union, types.UnionType}:
        result = any(accepts(value, option) for option in get_args(hint))
    elif origin is Literal:
        result = value in get_args(hint)
    elif hint in {None, type(None)}:
        result = value is None
    elif hint is bool:
        result = isinstance(value, bool)
    elif hint is int:
        result = isinstance(value, int) and not isinstance(value, bool)
    elif hint is float:
        result = isinstance(value, int | float) and not isinstance(value, bool)
    elif hint in {str, Path}:
        result = isinstance(value, str)
    elif origin in {list, tuple, Sequence}:
        options = [option for option in get_args(hint) if option is not Ellipsis]
        result = isinstance(value, ListConfig | list | tuple) and all(
            any(accepts(item, option) for option in options) for item in value
        )
    else:
        result = value is not None and not isinstance(value, str | int | float | bool)
    return result


def described(hint: Any) -> str:
    """An annotation in words."""
    origin = get_origin(hint)
    if origin in {Union, types.UnionType}:
        options = get_args(hint)
        literals = [
            value for option in options if get_origin(option) is Literal for value in get_args(option)
        ]
        named = [described(Literal[tuple(literals)])] if literals else []
        rest = [described(option) for option in options if get_origin(option) is not Literal]
        return " or ".join(dict.fromkeys(named + rest))
    if origin is Literal:
        return "one of " + ", ".join(dict.fromkeys(map(str, get_args(hint))))
    if origin in {Mapping, dict}:
        return "a mapping"
    if origin in {list, tuple, Sequence}:
        inner = [described(option) for option in get_args(hint) if option is not Ellipsis]
        return f"a list of ({', '.join(dict.fromkeys(inner))})"
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false", Path: "a path"}
    if hint in {None, type(None)}:
        return "null"
    return words.get(hint, f"a {getattr(hint, '__name__', hint)}")


def shown(value: Any) -> str:
    """A configured value in words."""
    if isinstance(value, ListConfig | DictConfig):
        value = OmegaConf.to_container(value, resolve=True)
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
