"""Whether a configured value fits the annotation of what it is given to, and how both are put into words."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from omegaconf import DictConfig, ListConfig, OmegaConf

from app.limits import Limit, Made, Place

_PLAIN: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    Path: "a path",
}
_PLAIN[Made] = "a node with a _target_"


def accepts(value: Any, hint: Any) -> bool:
    """Whether a configured value is of the type of an annotation.

    Annotations beyond plain values accept whatever a `_target_` or a mapping may become, and no plain value.
    """
    origin = get_origin(hint)
    result = True
    if hint is Any or isinstance(hint, str | typing.TypeVar) or _is_made(value):
        result = True
    elif origin is Annotated:
        result = accepts(value, get_args(hint)[0])
    elif origin in {Union, types.UnionType}:
        result = any(accepts(value, option) for option in get_args(hint))
    elif origin is Literal:
        result = not isinstance(value, DictConfig | ListConfig | dict | list) and any(
            value == option and isinstance(value, bool) is isinstance(option, bool)
            for option in get_args(hint)
        )
    elif hint in {None, type(None)}:
        result = value is None
    elif hint is bool:
        result = isinstance(value, bool)
    elif hint is int:
        result = isinstance(value, int) and not isinstance(value, bool)
    elif hint is float:
        result = isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
    elif hint in {str, Path}:
        result = isinstance(value, str)
    elif origin in {list, tuple, Sequence}:
        options = [option for option in get_args(hint) if option is not Ellipsis]
        result = isinstance(value, ListConfig | list | tuple) and all(
            any(accepts(item, option) for option in options) for item in value
        )
    elif origin in {Mapping, dict}:
        inner = get_args(hint)[1]
        result = isinstance(value, DictConfig | dict) and all(accepts(each, inner) for each in value.values())
    else:
        result = value is not None and not isinstance(value, str | int | float | bool | ListConfig)
    return result


def _is_made(value: Any) -> bool:
    """Whether a `_target_` makes the value: its class is not known here."""
    return isinstance(value, DictConfig | dict) and "_target_" in value


def worded(value: Any, hint: Any) -> Any:
    """The word that is meant by a value which YAML reads as true or false, where one of the words is called so."""
    if not isinstance(value, bool):
        return value
    options = [option for each in _options(hint) if get_origin(each) is Literal for option in get_args(each)]
    word = str(value).lower()
    return word if word in options else value


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)


def problems(value: Any, hint: Any, key: str, *, empty: bool = False, places: bool = True) -> Iterator[str]:
    """What an annotation forbids beyond types, in sentences about the key.

    Args:
        value: of a type that the annotation accepts.
        hint: the annotation.
        key: of the value.
        empty: whether the value may be empty text, and a list of it too.
        places: whether paths must lead somewhere.
    """
    if isinstance(value, str) and not value.strip() and not empty:
        yield f"{key} must not be empty: leave it out, or give it a value"
        return
    fitting = [option for option in _options(hint) if accepts(value, option)]
    narrow = [
        option for option in fitting if get_origin(option) is Annotated
    ]  # beside Path, for other callers
    found = [
        list(_problems_of(value, option, key, empty=empty, places=places)) for option in narrow or fitting
    ]
    if found and all(found):
        yield from found[0]


def _problems_of(value: Any, hint: Any, key: str, *, empty: bool, places: bool) -> Iterator[str]:
    origin, inner = get_origin(hint), get_args(hint)
    if _is_made(value):
        return
    if origin is Annotated:
        said = (
            each.problem(value)
            for each in inner[1:]
            if isinstance(each, Limit) and (places or not isinstance(each, Place))
        )
        yield from (f"{key}{each}" for each in said if each is not None)
    elif origin in {Mapping, dict} and isinstance(value, DictConfig | dict):
        for name, each in value.items():
            yield from problems(each, inner[1], f"{key}.{name!s}", empty=empty, places=places)
    elif origin in {list, tuple, Sequence} and isinstance(value, ListConfig | list | tuple):
        for index, each in enumerate(value):
            yield from problems(each, inner[0], f"{key}[{index}]", empty=empty, places=places)
    elif isinstance(value, DictConfig | dict):
        for name, each in value.items():
            if isinstance(each, str):
                yield from problems(each, Any, f"{key}.{name!s}", empty=empty, places=places)


def misfit(value: Any, hint: Any, key: str) -> str:
    """The sentence about a value that an annotation does not accept; of a mapping, about what is in it."""
    for option in _options(hint):
        if get_origin(option) in {Mapping, dict} and isinstance(value, DictConfig | dict):
            name = next((name for name in value if not accepts(value[name], get_args(option)[1])), None)
            if name is not None:
                return misfit(value[name], get_args(option)[1], f"{key}.{name!s}")
    if any(get_origin(each) is not None or each in _PLAIN for each in _options(hint)):
        return f"{key} must be {described(hint)}, not {shown(value)}"
    return f"{key} must have a _target_ that makes {described(hint)}, not {shown(value)}"


def described(hint: Any) -> str:
    """An annotation in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kinds = [f"the path of a {each.kind}" for each in inner[1:] if isinstance(each, Place)]
        words = kinds[0] if kinds else described(inner[0])
    elif origin in {Union, types.UnionType}:
        literals = [value for each in inner if get_origin(each) is Literal for value in get_args(each)]
        named = [described(Literal[tuple(literals)])] if literals else []
        rest = [described(each) for each in inner if get_origin(each) is not Literal]
        words = " or ".join(dict.fromkeys(named + rest))
    elif origin is Literal:
        words = "one of " + ", ".join(dict.fromkeys(map(str, inner)))
    elif origin in {Mapping, dict}:
        words = "a mapping"
    elif origin in {list, tuple, Sequence}:
        items = [described(each) for each in inner if each is not Ellipsis]
        words = f"a list of ({', '.join(dict.fromkeys(items))})"
    elif hint in {None, type(None)}:
        words = "null"
    else:
        name = str(getattr(hint, "__name__", hint))
        words = _PLAIN.get(hint, f"{'an' if name[0] in 'AEIOU' else 'a'} {name}")
    return words


def shown(value: Any) -> str:
    """A configured value in words."""
    if isinstance(value, ListConfig | DictConfig):
        value = OmegaConf.to_container(value, resolve=True)
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
