"""Exported programs (.pt2): checked before they are loaded, since loading one can run code hidden in it.

Four things in such an archive can run code or touch files: pickles, native libraries, operators such as
`aten::from_file`, and strings in the graph's JSON that torch looks up, evaluates, or writes Python with. The check
reads the archive with the reader that loads it, and refuses what it does not know.
"""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from app.errors import UserError
from app.subjects.formats import MAX_GIGABYTES
from app.subjects.operators import is_pure
from app.subjects.weights import check_written_out

_TEXTS = re.compile(r"archive_(format|version)|byteorder|\.data/.*|version|extra/.*")
"""Records that are read as plain text or not at all."""
_PAYLOADS = re.compile(r"(data/(?:weights|constants)/)[^/]+_config\.json")
_RAW_TENSOR = re.compile(r"(weight|tensor)_\d+")
_TARGET = re.compile(
    r"torch\.ops\.(?:higher_order\.[a-z]\w*|[a-z]\w*\.\w+\.[A-Za-z]\w*)|torch\._?sym_\w+|math\.[a-z]\w*|"
    r"_operator\.(?:getitem|add|sub|mul|truediv|floordiv|mod|pow|neg|pos|abs|eq|ne|lt|le|gt|ge|and_|or_|not_|xor)"
)
_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*)|(?P<other>'\w+'|\d+(?:\.\d+)?(?:e-?\d+)?|[-+*/%(),<>=!&|~]))"
)
_SYMBOL = re.compile(
    r"[a-z]{1,2}\d+|True|False|oo|int_oo|positive|integer|real|nonnegative|nonzero|negative|finite"
)
_FUNCTION = re.compile(
    r"Symbol|Integer|Float|Rational|Max|Min|Eq|Ne|Lt|Le|Gt|Ge|And|Or|Not|Pow|Mul|Add|Abs|floor|ceiling|sqrt|Mod|"
    r"PythonMod|FloorDiv|CleanDiv|CeilDiv|IntTrueDiv|FloatTrueDiv|FloatPow|PowByNatural|ModularIndexing|Where|"
    r"[LR]Shift|(Ceil|Floor|Trunc|Round)ToInt|TruncToFloat|ToFloat|RoundDecimal|Identity|"
    r"IsNonOverlappingAndDenseIndicator"
)
_NAME = re.compile(r"[\w.:-]*")
"""Names in the graph; torch writes Python with them."""
_DESCRIPTION = re.compile(
    r"stack_trace|nn_module_stack|torch_fn|source_fn_stack|from_node|custom|torch_version|guards_code|as_strings?"
)
"""Keys of free text, which is shown, quoted or only split; guards run in `ExportedProgram.module`, unused here."""
_CALLED = {"target", "as_operator"}
"""Keys of operators: what a node calls, and what it hands to an operator that calls it."""
_CONTAINERS = {
    *(
        "builtins.tuple",
        "builtins.list",
        "builtins.dict",
        "collections.OrderedDict",
        "collections.namedtuple",
    ),
}
"""Of inputs and outputs; for others torch imports modules of the file's choice."""
_POWER = re.compile(r"\*\*|(?:Pow|PowByNatural|FloatPow|LShift)\((?!.*, (?:Integer\()?-?\d{1,2}\)+$)")
"""Towers of powers, which would be evaluated for ever."""


def load_exported(
    path: Path, allow_unsafe_load: bool = False, max_gigabytes: float = MAX_GIGABYTES
) -> tuple[nn.Module, tuple[str, ...]]:
    """The module tree of an exported program and notes about it.

    The program is unflattened, so that its modules are found by their names and can be replaced one by one.

    Raises:
        UserError: the archive is damaged, holds what can run code and that was not allowed, or was exported
            in training mode or for one fixed batch size above one.
    """
    if not allow_unsafe_load:
        offending = list(_offences(path))
        if offending:
            rest = f" and {len(offending) - 3} more" if len(offending) > 3 else ""
            raise UserError(
                f"{path} holds what can run code when it is loaded ({'; '.join(offending[:3])}{rest}): "
                "export the program again without it, or set allow_unsafe_load=true if you trust its origin"
            )
    try:
        with path.open("rb") as file, _silent():
            program = torch.export.load(file)
            check_written_out(
                path, (*program.state_dict.values(), *program.constants.values()), max_gigabytes
            )
            module = torch.export.unflatten(program)
    except UserError:
        raise
    except Exception as error:  # whatever a foreign graph makes torch's own loader raise
        line = str(error).strip().partition("\n")[0] or type(error).__name__
        raise UserError(f"{path} is an exported program that torch cannot load ({line})") from None
    _check_evaluation(path, program)
    low, high = _batch_limits(path, program)
    vars(module)["batch_limits"] = (low, high)  # `inference.batches.limits_of` reads them
    return module, _batch_notes(low, high)


@contextmanager
def _silent() -> Iterator[None]:
    """Keeps torch from printing a trace before it raises: what is wrong is said in one line."""
    loggers = [logging.getLogger(name) for name in ("torch.export", "torch._export")]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)


def _check_evaluation(path: Path, program: torch.export.ExportedProgram) -> None:
    """Refuses a program recorded in training mode: `eval` cannot change its dropout and batch norms."""
    for node in program.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        names = [argument.name for argument in schema.arguments] if schema else []
        given = dict(zip(names, node.args, strict=False)) | node.kwargs
        if given.get("train") is True or given.get("training") is True:
            raise UserError(
                f"{path} was exported in training mode ({node.target} is random or adapts): call "
                "model.eval() before torch.export.export"
            )


def _batch_limits(path: Path, program: torch.export.ExportedProgram) -> tuple[int, int | None]:
    """The fewest and the most images that the program takes at once; None for no upper limit."""
    inputs = program.graph_signature.user_inputs
    shapes = [tuple(node.meta["val"].shape) for node in program.graph.nodes if node.name in inputs]
    if len(shapes) != 1 or len(shapes[0]) != 4:
        raise UserError(f"{path} must take one batch of pictures (B, C, H, W), not inputs of shape {shapes}")
    batch = shapes[0][0]
    if isinstance(batch, int):
        if batch > 1:
            raise UserError(
                f"{path} was exported for batches of exactly {batch}: export it again with "
                "dynamic_shapes=({0: torch.export.Dim('batch')},)"
            )
        return 1, 1
    stated = program.range_constraints.get(batch.node.expr)
    if stated is None:
        return 1, None
    low, high = str(stated.lower), str(stated.upper)  # infinity has a name of its own
    return max(int(low), 1) if low.isdigit() else 1, int(high) if high.isdigit() else None


def _batch_notes(low: int, high: int | None) -> tuple[str, ...]:
    if high == 1:
        return ("the program was exported for one image at a time: it runs so, which is slow",)
    if high is None and low == 1:
        return ()
    most = "" if high is None else f" and at most {high}"
    return (f"the program was exported for at least {low}{most} images at a time: batches are made to fit",)


def _offences(path: Path) -> Iterator[str]:
    """What in an archive can run code when the program is loaded or run, in words."""
    try:
        reader = torch._C.PyTorchFileReader(str(path))
        records = [name for name in reader.get_all_records() if not name.endswith("/")]
    except RuntimeError as error:
        raise UserError(f"{path} is cut off or damaged ({str(error).partition(chr(10))[0]})") from None
    if len({name.lower() for name in records}) < len(records):
        yield "two records of one name"  # the reader ignores case, so a check of one could load the other
    raw: set[str] = set()
    pickled: set[str] = set()
    unread = []
    for name in records:
        payload = _PAYLOADS.fullmatch(name)
        if not (payload or name.startswith("models/")):
            unread += [] if _TEXTS.fullmatch(name) else [name]
            continue
        try:
            content = json.loads(reader.get_record(name))
        except (ValueError, RecursionError):
            yield f"{name} is not JSON"
            continue
        if not isinstance(content, dict):
            yield f"{name} is not as torch writes it"
            continue
        if payload:
            for folder, entry in ((payload[1], entry) for entry in content.get("config", {}).values()):
                plain = entry.get("use_pickle") is False and _RAW_TENSOR.fullmatch(
                    str(entry.get("path_name"))
                )
                (raw if plain else pickled).add(f"{folder}{entry.get('path_name')}".lower())
        else:
            yield from _graph_offences(content)
    for name in unread:
        if name.lower() not in raw or name.lower() in pickled:
            yield from _pickle_offences(name, reader.get_record(name))


def _pickle_offences(name: str, content: bytes) -> Iterator[str]:
    """Globals that a record needs beyond tensors and plain containers; no other content is known."""
    if not content:
        return
    try:
        unsafe = sorted(torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(content)))
    except Exception:  # the scan fails in many ways on what is not a plain torch.save file
        yield f"{name} is not a readable pickle of tensors"
        return
    yield from (f"{name} needs {global_name}" for global_name in unsafe)
    if not unsafe:
        try:
            torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        except Exception:  # as above
            yield f"{name} is not a readable pickle of tensors"


def _graph_offences(node: Any, key: str = "") -> Iterator[str]:
    """What in a graph torch would look up or evaluate, but for operators and shapes."""
    if isinstance(node, dict):
        for inner, value in node.items():
            if not (_NAME.fullmatch(inner) or _is_arithmetic(inner)):
                yield f"the graph has the name {inner!r}"
            yield from _graph_offences(value, inner)
    elif isinstance(node, list):
        for value in node:
            yield from _graph_offences(value, key)
    elif isinstance(node, str):
        if key in _CALLED:
            yield from _target_offences(node)
        elif key == "expr_str" and not _is_arithmetic(node):
            yield f"the graph evaluates {node!r}"
        elif key in {"in_spec", "out_spec"} and not _is_plain(node):
            yield "the graph takes or gives more than plain containers, for which modules are imported"
        elif not (
            _DESCRIPTION.fullmatch(key) or key in {"expr_str", "in_spec", "out_spec"} or _NAME.fullmatch(node)
        ):
            yield f"the graph has the name {node!r}"


def _target_offences(target: str) -> Iterator[str]:
    """What is wrong with what a node calls."""
    if not _TARGET.fullmatch(target):
        yield f"the graph calls {target!r}"
    elif target.startswith("torch.ops."):
        space, name, *overload = target.removeprefix("torch.ops.").split(".")
        if not is_pure(space, name, *overload):
            yield f"the graph calls {space}::{name}, which is not known to do no more than compute"


def _is_plain(spec: str) -> bool:
    """Whether a description of nested inputs or outputs holds plain containers only."""
    try:
        protocol, tree = json.loads(spec)
        return protocol == 1 and _is_container(tree)
    except (ValueError, TypeError, RecursionError):
        return False


def _is_container(tree: Any) -> bool:
    if not isinstance(tree, dict) or set(tree) != {"type", "context", "children_spec"}:
        return False
    kind, context, children = tree["type"], tree["context"], tree["children_spec"]
    if kind is None:
        return context is None and children == []
    if kind not in _CONTAINERS or not isinstance(children, list):
        return False
    if kind != "collections.namedtuple":  # its context names a class that the process knows
        keys = json.loads(context)
        if keys is not None and not (
            isinstance(keys, list) and all(isinstance(key, str | int) for key in keys)
        ):
            return False
    return all(map(_is_container, children))


def _is_arithmetic(expression: str) -> bool:
    """Whether an expression is made of numbers, symbols such as s0, and known functions only."""
    if len(expression) > 4096 or _POWER.search(expression):
        return False
    position, text = 0, expression.rstrip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            return False
        position = token.end()
        name = token["name"]
        if name and not (
            _SYMBOL.fullmatch(name) or (_FUNCTION.fullmatch(name) and text[position : position + 1] == "(")
        ):
            return False
    return True
