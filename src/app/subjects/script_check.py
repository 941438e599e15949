"""TorchScript archives: their sources are checked before torch compiles them, since they run at load and at every call.

The sources look like Python and are read here by Python's own parser, under restrictions that keep both parsers to one
reading: printable ASCII, no comments, no strings over several lines. Then every name that could reach an operator is
looked at, called or not: attributes of `torch` and of `ops`, methods of any value, and names inside `getattr`. Neither
`torch` nor `ops` may be handed on under another name. Loading runs parts of the sources already (default values of
arguments); what torch has made of them, the graphs, is looked at once more before they run.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch

from app.errors import UserError
from app.subjects.operators import is_pure

CLASSES = re.compile(r"__torch__\.torch\.classes\.(?!quantized\.)")
"""Classes written in C++; those of quantised weights are torch's own and check what they hold."""
_PICKLED_CLASSES = re.compile(rb"torch[.\n]+classes[.\n]+(?!quantized[.\n])")
_ROOTS = {"torch", "ops", "__torch__"}
"""Where names of operators, and of what a file defines, begin."""
_WAYS = re.compile(r"(?:torch|ops)(?:\..*)?|__torch__(?:\.torch(?:\.classes(?:\..*)?)?)?")
"""Ways to operators and to classes written in C++; those to the file's own functions are looked at anyway."""
_STRUCTURE = frozenset(
    f"prim::{name}"
    for name in (
        *(
            "CallFunction",
            "CallMethod",
            "Constant",
            "CreateObject",
            "GetAttr",
            "HasAttr",
            "If",
            "Loop",
            "SetAttr",
        ),
        *(
            "DictConstruct",
            "Enter",
            "Exit",
            "ListConstruct",
            "ListUnpack",
            "Print",
            "TupleConstruct",
            "TupleSlice",
        ),
        *("ImplicitTensorToNum", "ConstantChunk", "ChunkSizes", "BroadcastSizes", "shape"),
    )
)
"""Nodes of a graph that are no operators; what they call is the file's own and looked at too."""
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
        if name.lower().endswith(".pkl") and _PICKLED_CLASSES.search(reader.get_record(name)):
            yield f"{name} holds an object of a class written in C++"
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


def graph_offences(unit: Any) -> Iterator[str]:
    """What the functions of a loaded file do more than compute, in words.

    Args:
        unit: torch's compilation unit that the file was loaded into.
    """
    seen: set[str] = set()
    # looking at a function may bring in those that it calls
    while added := [each for each in unit.get_functions() if each.qualified_name not in seen]:
        for function in added:
            seen.add(function.qualified_name)
            for node in _nodes(function.graph):
                space, _, name = node.kind().partition("::")
                known = is_pure(space, name) or (space == "aten" and is_pure("scalars", name))
                if not (known or node.kind() in _STRUCTURE):
                    yield f"{function.qualified_name} calls {node.kind()}"
                if any(CLASSES.search(f"{each.type().str()}.") for each in (*node.inputs(), *node.outputs())):
                    yield f"{function.qualified_name} has an object of a class written in C++"


def _nodes(block: Any) -> Iterator[Any]:
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from _nodes(inner)


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
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        yield from _handed_on(node, inner)
        if isinstance(node, ast.Attribute):
            yield from _attribute(node.value, node.attr, methods)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            if len(node.args) < 2 or not isinstance(node.args[1], ast.Constant):
                yield "getattr of a name that is computed"
            elif (_dotted(node.args[0]) or "").partition(".")[0] in _ROOTS:
                yield f"getattr of {_dotted(node.args[0])}"
            else:
                yield from _attribute(node.args[0], str(node.args[1].value), methods)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield "an import"
        elif isinstance(node, ast.Name) and node.id in {"fork", "awaitable", "eval", "exec", "open"}:
            yield f"a call of {node.id}"


def _handed_on(node: ast.AST, inner: set[int]) -> Iterator[str]:
    """Where operators go under a name that is not looked at."""
    whole = _dotted(node.value) if isinstance(node, ast.Assign) else None
    if whole is not None and _WAYS.fullmatch(whole):
        yield f"another name for {whole}"
    elif id(node) in inner:
        return
    elif isinstance(node, ast.Name) and node.id in {"torch", "ops"} and isinstance(node.ctx, ast.Load):
        yield f"{node.id} as a value"
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ops":
        yield f"ops.{node.attr} as a value"


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
