"""What a `_target_` takes: names, annotations, defaults and words, read from the source where it is ours.

To import a model's code takes PyTorch and seconds; to read how its function begins takes a millisecond, so that a
mistake is said at once. What others wrote is imported and asked.
"""

from __future__ import annotations

import ast
import collections.abc
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import app
from app import limits

_ROOT = Path(app.__file__).parent
_KNOWN = {"typing": typing, "collections.abc": collections.abc, "app.limits": limits}
"""Modules whose annotations are taken as they are: they cost nothing."""
_BUILTIN = {each.__name__: each for each in (int, float, str, bool, bytes, list, tuple, dict, set, object)}
_NOTHING = inspect.Parameter.empty


class Unread(Exception):  # noqa: N818 - never seen by a user
    """The source does not say it in a way that is understood here: import it and ask."""


@dataclass(frozen=True)
class Parameter:
    """One argument."""

    hint: Any
    """Its annotation; Any where there is none. A class that is not imported has a stand-in of its name."""
    required: bool
    default: Any = None
    """Where it is a plain value."""


@dataclass(frozen=True)
class Signature:
    """What a class or function takes."""

    parameters: Mapping[str, Parameter]
    open_ended: bool
    """Whether it takes any other name too."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What the docstring says of an argument."""


def of_source(target: str) -> Signature:
    """The signature of a class or function of ours, from its source.

    Raises:
        Unread: it is not ours, or too clever.
    """
    module, _, name = target.rpartition(".")
    file, node = _definition(module, name)
    if isinstance(node, ast.ClassDef):
        return _of_class(file, node)
    return _of_function(file, node, skip=0)


def of_object(target: Callable[..., Any]) -> Signature:
    """The signature of what has been imported.

    Raises:
        ValueError: Python does not know it, as with some that are written in C.
        TypeError: it cannot be called.
    """
    parameters = inspect.signature(target).parameters
    function = target.__init__ if inspect.isclass(target) and not is_dataclass(target) else target
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        hints = {}
    kinds = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    return Signature(
        {
            name: Parameter(hints.get(name, Any), each.default is _NOTHING)
            for name, each in parameters.items()
            if each.kind not in kinds
        },
        any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()),
    )


@dataclass(frozen=True, eq=False)
class _File:
    """A module of ours, not imported."""

    names: Mapping[str, ast.AST]
    """What is defined at its top: classes, functions, assigned values."""
    imported: Mapping[str, tuple[str, str]]
    """Names from elsewhere: their module and what they are called there."""


@cache
def _read(module: str) -> _File:
    if module != "app" and not module.startswith("app."):
        raise Unread(module)
    place = _ROOT.joinpath(*module.split(".")[1:])
    path = place / "__init__.py" if place.is_dir() else place.with_name(f"{place.name}.py")
    if not path.is_file():
        raise Unread(module)
    names: dict[str, ast.AST] = {}
    imported: dict[str, tuple[str, str]] = {}
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            names[node.target.id] = node.value
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {each.asname or each.name: (node.module, each.name) for each in node.names}
        elif isinstance(node, ast.Import):
            imported |= {each.asname or each.name: ("", each.name) for each in node.names}
    return _File(names, imported)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those at the top, and those that only type checkers read."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements(node.body)
        else:
            yield node


def _definition(module: str, name: str) -> tuple[_File, ast.ClassDef | ast.FunctionDef]:
    file = _read(module)
    found = file.names.get(name)
    if isinstance(found, ast.ClassDef | ast.FunctionDef):
        return file, found
    if name in file.imported and file.imported[name][0]:
        return _definition(*file.imported[name])
    raise Unread(f"{module}.{name}")


def _of_class(file: _File, node: ast.ClassDef) -> Signature:
    if any("dataclass" in ast.unparse(each) for each in node.decorator_list):
        return _of_dataclass(file, node)
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            found = _of_function(file, each, skip=1)
            return Signature(found.parameters, found.open_ended, {**_arguments(node), **found.words})
    for base in _bases(file, node):
        return _of_class(*base)
    if node.bases:
        raise Unread(node.name)
    return Signature({}, open_ended=False)


def _bases(file: _File, node: ast.ClassDef) -> Iterator[tuple[_File, ast.ClassDef]]:
    for base in node.bases:
        name = base.id if isinstance(base, ast.Name) else ""
        place = (file, file.names[name]) if name in file.names else None
        if place is None and name in file.imported and file.imported[name][0].startswith("app."):
            place = _definition(*file.imported[name])
        if place is not None and isinstance(place[1], ast.ClassDef):
            yield place[0], place[1]


def _of_dataclass(file: _File, node: ast.ClassDef) -> Signature:
    parameters: dict[str, Parameter] = {}
    words: dict[str, str] = {}
    for base in _bases(file, node):
        inherited = _of_class(*base)
        parameters |= inherited.parameters
        words |= inherited.words
    for each, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        name, annotation = each.target.id, ast.unparse(each.annotation)
        if annotation.startswith("ClassVar") or (
            each.value is not None and "init=False" in ast.unparse(each.value)
        ):
            continue
        parameters[name] = Parameter(_hint(file, each.annotation), each.value is None, _plain(each.value))
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            words[name] = _sentence(str(after.value.value))
    return Signature(parameters, open_ended=False, words={**_arguments(node), **words})


def _of_function(file: _File, node: ast.FunctionDef, *, skip: int) -> Signature:
    if any(ast.unparse(each).startswith(("overload", "property")) for each in node.decorator_list):
        raise Unread(node.name)
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positional) - len(given.defaults)), *given.defaults]
    pairs = [*zip(positional, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    parameters = {
        each.arg: Parameter(
            Any if each.annotation is None else _hint(file, each.annotation), default is None, _plain(default)
        )
        for each, default in pairs[skip:]
    }
    return Signature(parameters, given.kwarg is not None, _arguments(node))


def _plain(node: ast.expr | None) -> Any:
    try:
        return None if node is None else ast.literal_eval(node)
    except ValueError:
        return None


def _hint(file: _File, node: ast.AST) -> Any:
    """What an annotation means; a stand-in for a class that would have to be imported."""
    result: Any
    match node:
        case ast.Constant(value=None):
            result = None
        case ast.Constant(value=str(text)):
            result = _hint(file, ast.parse(text, mode="eval").body)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            result = typing.Union[_hint(file, left), _hint(file, right)]  # noqa: UP007 - of values
        case ast.Name(id=name):
            result = _named(file, name)
        case ast.Attribute(attr=name):
            result = type(name, (), {})
        case ast.Subscript(value=value, slice=inner):
            result = _subscripted(file, _hint(file, value), inner)
        case _:
            raise Unread(ast.unparse(node))
    return result


def _subscripted(file: _File, outer: Any, inner: ast.expr) -> Any:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if outer is typing.Literal:
        return typing.Literal[tuple(ast.literal_eval(each) for each in parts)]
    if outer in {collections.abc.Callable, typing.Callable} or _is_stand_in(outer):
        return outer
    inside = [
        ... if isinstance(each, ast.Constant) and each.value is ... else _hint(file, each) for each in parts
    ]
    return outer[tuple(inside)] if len(inside) > 1 else outer[inside[0]]


def _named(file: _File, name: str) -> Any:
    found = file.names.get(name)
    module, original = file.imported.get(name, ("", name))
    result: Any = type(name, (), {})  # a class that would have to be imported
    if name in _BUILTIN:
        result = _BUILTIN[name]
    elif found is not None and not isinstance(found, ast.ClassDef):  # an alias: Output = Literal["auto", ...]
        result = _hint(file, found)
    elif module in _KNOWN:
        result = getattr(_KNOWN[module], original)
    elif (module, original) == ("pathlib", "Path"):
        result = Path
    elif found is None and module.startswith("app."):
        result = _named(_read(module), original)
    return result


def _is_stand_in(value: Any) -> bool:
    return isinstance(value, type) and value.__module__ == __name__


def _arguments(node: ast.ClassDef | ast.FunctionDef) -> dict[str, str]:
    """What the section `Args:` of a docstring says of each argument."""
    text = (ast.get_docstring(node) or "") + "\n"
    section = re.search(r"^Args:\n((?:(?:    .*)?\n)+)", text, re.MULTILINE)
    found = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section[1] if section else "", re.MULTILINE)
    return {name: _sentence(words) for name, words in found}


def _sentence(words: str) -> str:
    words = " ".join(words.split())
    return re.sub(r"\bNone\b", "null", words[:1].upper() + words[1:])
