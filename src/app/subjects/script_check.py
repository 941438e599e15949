"""TorchScript archives: their sources are checked before torch compiles them, since they run at load and at every call.

The sources look like Python and are read here by Python's own parser, under restrictions that keep both parsers to one
reading: printable ASCII, no comments, no strings over several lines. Then every name that could reach an operator is
looked at, called or not: attributes of `torch` and of `ops`, methods of any value, and names inside `getattr`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import torch

from app.errors import UserError
from app.subjects.operators import is_pure

CLASSES = re.compile(r"__torch__\.torch\.classes\.(?!quantized\.)")
"""Classes written in C++; those of quantised weights are torch's own and check what they hold."""
_PRINTABLE = re.compile(r"[\n\x20-\x7e]*")
_SOURCE = re.compile(r"code/.*\.py", re.IGNORECASE)
_STRING = re.compile(r"'(?:[^'\\\n]|\\[a-z0-7]|\\\")*'" + r'|"(?:[^"\\\n]|\\[a-z0-7]|\\\')*"')
"""Text that no parser can take to end elsewhere."""
_LEGACY = {"model.json", "attributes.pkl"}


def offences(path: Path) -> Iterator[str]:
    """What in a TorchScript archive can do more than compute, in words.

    Raises:
        UserError: the archive is damaged.
    """
    try:
        reader = torch._C.PyTorchFileReader(str(path))
        records = [name for name in reader.get_all_records() if not name.endswith("/")]
    except RuntimeError as error:
        raise UserError(f"{path} is cut off or damaged ({str(error).partition(chr(10))[0]})") from None
    if len({name.lower() for name in records}) < len(records):
        yield "two records of one name"
    if _LEGACY & {name.lower() for name in records}:
        yield "the form of an old torch"
    trees: dict[str, ast.AST] = {}
    for name in records:
        if not name.lower().startswith("code/") or name.lower().endswith(".debug_pkl"):
            continue
        if not _SOURCE.fullmatch(name):
            yield f"the record {name}"
            continue
        try:
            trees[name] = _parsed(reader.get_record(name))
        except ValueError as reason:
            yield f"{name} {reason}"
    methods = {
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for tree in trees.values():
        yield from _calls(tree, methods)


def _parsed(content: bytes) -> ast.AST:
    """The source as a tree.

    Raises:
        ValueError: it is written so that two parsers could read it in two ways, or by neither.
    """
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError:
        raise ValueError("holds letters that are no ASCII") from None
    if not _PRINTABLE.fullmatch(text):
        raise ValueError("holds control characters")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                raise ValueError("holds a comment")
            if token.type == tokenize.STRING and (
                token.start[0] != token.end[0] or not _STRING.fullmatch(token.string)
            ):
                raise ValueError("holds text of an unusual form")
        return ast.parse(text)
    except (SyntaxError, tokenize.TokenError, RecursionError, MemoryError) as error:
        raise ValueError(f"cannot be read ({type(error).__name__})") from None


def _calls(tree: ast.AST, methods: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield from _attribute(node.value, node.attr, methods)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            if len(node.args) < 2 or not isinstance(node.args[1], ast.Constant):
                yield "getattr of a name that is computed"
            else:
                yield from _attribute(node.args[0], str(node.args[1].value), methods)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield "an import"
        elif isinstance(node, ast.Name) and node.id in {"fork", "awaitable", "eval", "exec", "open"}:
            yield f"a call of {node.id}"


def _attribute(owner: ast.AST, name: str, methods: set[str]) -> Iterator[str]:
    """What is wrong with `owner.name`."""
    whole = _dotted(owner)
    if whole == "torch":
        if not _computes(name):
            yield f"a call of torch.{name}"
    elif whole is not None and whole.startswith("ops."):
        space = whole.removeprefix("ops.")
        if not (is_pure(space, name) or (space == "aten" and is_pure("scalars", name))):
            yield f"a call of {space}::{name}"
    elif whole == "ops":
        return  # a namespace: its operators are looked at where they are named
    elif whole is not None and whole.startswith("__torch__"):
        if CLASSES.match(f"{whole}.{name}."):
            yield f"the class {whole}.{name}"
    elif name in _built_in() and not _computes(name):
        yield f"a call of {name}" + (", whatever the file means by it" if name in methods else "")


def _computes(name: str) -> bool:
    return any(is_pure(space, name) for space in ("aten", "scalars", "prim"))


def _dotted(node: ast.AST) -> str | None:
    """`a.b.c` of attributes of a name; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


@cache
def _built_in() -> frozenset[str]:
    """Names of all operators that a method call on a value could reach."""
    names = (schema.name for schema in torch._C._jit_get_all_schemas())
    return frozenset(name.partition("::")[2] for name in names if name.partition("::")[0] in {"aten", "prim"})
