"""Where the configuration is, its root schema, and the check that every value fits before any work begins."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import json
import logging
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import hydra.utils
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, ListConfig, OmegaConf, open_dict, read_write

from app.errors import UserError

logging.getLogger("hydra.utils").setLevel(logging.CRITICAL)  # what it says comes with the exception too
SHARED = frozenset({"task", "seed", "output", "tracking", "trainer"})
"""Root keys that any task may be given, whether it reads them or not."""
_REFERENCE = re.compile(r"\$\{\.*([A-Za-z_][A-Za-z0-9_]*)")


@dataclass
class Root:
    """Every key at the root of a configuration; groups hold whatever their options hold."""

    task: Any = None
    model: Any = None
    dataset: Any = None
    operators: Any = None
    estimators: Any = None
    scoring: Any = None
    trainer: Any = None
    tracking: Any = None
    seed: int = 0
    output: str = "outputs"
    resume: str | None = None
    engine: str = "bank"
    profile: str | None = None
    predictions: str | None = None
    probs: str | None = None
    on_invalid: str = "error"
    repetitions: int | None = None
    population: str | None = None
    labels: str | None = None
    detections: str | None = None
    ground_truth: str | None = None
    target_width: float | None = None
    before: str | None = None
    after: str | None = None
    fail_on: str | None = None
    allow_unsafe_load: bool = False


GROUPS = frozenset({"task", "model", "dataset", "operators", "estimators", "scoring", "trainer", "tracking"})
"""Root keys that are choices of a folder."""
DEFAULTS: Mapping[str, Any] = {each.name: each.default for each in fields(Root) if each.name not in GROUPS}
"""What plain root keys are when nobody sets them."""


def register() -> None:
    """Make the root schema known to Hydra, and `${with_model:KEY}`: a root key where there is a model, else null."""
    ConfigStore.instance().store(name="schema", node=Root)
    OmegaConf.register_new_resolver("with_model", _with_model, replace=True)


def _with_model(key: str, *, _root_: DictConfig) -> Any:
    """What only a model needs is not even imported for a task that got arrays or tables."""
    return _root_[key] if _root_.get("model") is not None else None


def conf_dir() -> str:
    """The folder of the configuration: inside the installed package, or beside the sources."""
    here = Path(__file__).resolve().parent
    packaged = here / "conf"
    return str(packaged if packaged.is_dir() else here.parents[1] / "conf")


def choices(group: str) -> list[str]:
    """The options of a group."""
    return sorted(path.stem for path in Path(conf_dir(), group).glob("*.yaml"))


def usage() -> str:
    """The help text: how to call, and every choice with the first line of its own description."""
    root = Path(conf_dir(), "config.yaml").read_text(encoding="utf-8")
    groups = sorted(re.findall(r"^  - (\w+): ", root, re.MULTILINE), key="task".__ne__)  # the task first
    lines = [
        "Assay: would your tests notice if the vision model broke?",
        "",
        "  python -m app +experiment=NAME [key=value ...]",
        "  python -m app task=NAME model=NAME dataset=NAME operators=[NAME,...] [key=value ...]",
        "",
        "Any key of a choice can be set (dataset.max_samples=500). -m sweeps over key=a,b; --cfg job shows",
        "the composed configuration; --config-dir DIR adds choices of yours; HYDRA_FULL_ERROR=1 shows stack traces.",
    ]
    for group in ("experiment", *groups):
        options = choices(group)
        width = max(map(len, options), default=0)
        lines += ["", f"+{group}=" if group == "experiment" else f"{group}="]
        lines += [f"  {option:{width}}  {_described_by(group, option)}".rstrip() for option in options]
    lines += ["", "Keys of the root:"]
    for line in root.splitlines():
        match = re.fullmatch(r"([a-z_]+): (\S+) +# (.*)", line)
        if match:
            lines.append(f"  {match[1]}={'' if match[2] == 'null' else match[2]}  {match[3]}")
    return "\n".join(lines)


def _described_by(group: str, option: str) -> str:
    for line in Path(conf_dir(), group, f"{option}.yaml").read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and "@package" not in line:
            return line.removeprefix("# ")
    return ""


def unknown(key: str, node: DictConfig | None) -> str:
    """The sentence about a key that its place does not have.

    Args:
        key: in full, such as dataset.max_sample.
        node: what the configuration has there; None is its root.
    """
    names = [each.name for each in fields(Root)] if node is None else [str(each) for each in node]
    names = [each for each in names if each not in {"hydra", "_target_"}]
    target = "" if node is None else str(node.get("_target_", ""))
    if not names and not target:
        return f"{key} is not there yet: a new key takes a plus, +{key}=VALUE"
    close = difflib.get_close_matches(key.rpartition(".")[2], names, 1)
    hint = f"did you mean {close[0]}? " if close else ""
    more = f"; any other argument of {target} takes a plus, +{key}=VALUE"
    return (
        f"{key} is unknown: {hint}allowed: {', '.join(names)}"
        f"{more if target and not target.startswith('app.') else ''}"
    )


def mistyped(key: str, value: Any) -> str:
    """The sentence about a value that a key of the root does not take."""
    hint = typing.get_type_hints(Root).get(key, Any)
    return f"{key} must be {_described(hint)}, not {_shown(value)}"


def drop_unchosen(config: DictConfig) -> None:
    """Take out what an experiment sets of operators or estimators that the command line then did not choose."""
    for group in ("operators", "estimators"):
        node = config.get(group)
        for name in list(node) if isinstance(node, DictConfig) else ():
            if isinstance(node[name], DictConfig) and "_target_" not in node[name] and name in choices(group):
                with read_write(config), open_dict(config):
                    del node[name]


def check(config: DictConfig) -> None:
    """Refuse a composed configuration that its task could not use.

    Raises:
        UserError: a key is missing, unknown, of a wrong type, or not read by the task; the sentence names it.
    """
    for key in ("model", "dataset"):
        if isinstance(config[key], str):
            raise UserError(f"{key}={config[key]} is no choice; allowed: {', '.join(choices(key))}")
    if config.seed < 0:
        raise UserError(f"seed must be 0 or more, not {config.seed}")
    used = _read(config)
    task = OmegaConf.to_container(config.task, resolve=False)
    name = str(config.task.get("_target_", "")).rpartition(".")[0].rpartition(".")[2]
    for name_of, value in config.items_ex(resolve=False):
        key = str(name_of)
        default = DEFAULTS.get(key)
        if key in used or key in SHARED or key == "scoring" or value in (None, default) or not value:
            continue
        raise UserError(
            f"task={name} does not read {key!r}: leave it out; it reads {', '.join(sorted(used))}"
        )
    for key in sorted(used):
        if key in config and not config[key] and _required(task, key, config[key]):
            article, value = ("", "[NAME,...]") if key.endswith("s") else ("a ", "NAME")
            options = f", of {', '.join(choices(key))}" if choices(key) else ""
            raise UserError(f"task={name} needs {article}{key}: give {key}={value}{options}")
    missing = [key for key in OmegaConf.missing_keys(config) if key.split(".")[0] in used | SHARED]
    if missing:
        raise UserError(f"{missing[0]} must be given: {missing[0]}=VALUE")
    for path, node in _targets(config.task, "task"):
        _check_call(path, node)
    if "trainer" in used and config.trainer is not None:
        if config.trainer.get("inference_mode"):
            raise UserError(
                "trainer.inference_mode must be false: recorded activations need version counters"
            )
        if config.trainer.get("limit_predict_batches") not in {None, 1.0}:
            raise UserError("trainer.limit_predict_batches would lose test cases: use dataset.max_samples")


def plain(config: DictConfig) -> dict[str, Any]:
    """The configuration with every reference resolved, as plain containers."""
    content = OmegaConf.to_container(config, resolve=True)
    assert isinstance(content, dict)  # noqa: S101 - narrows the type
    return typing.cast("dict[str, Any]", content)


def digest(config: DictConfig) -> str:
    """SHA-256, in hex, of what a task computes from: not of where it runs, writes and remembers."""
    task = {
        key: value
        for key, value in plain(config)["task"].items()
        if key not in {"trainer", "store", "resume", "workers", "group_size"}
    }
    return hashlib.sha256(json.dumps(task, sort_keys=True, default=str).encode()).hexdigest()


# -- what a task reads --------------------------------------------------------------------------------------------


def _read(config: DictConfig) -> frozenset[str]:
    """Root keys that the task refers to, also through the groups it refers to."""
    found: set[str] = set()
    queue = ["task"]
    while queue:
        node = OmegaConf.to_container(config, resolve=False)
        assert isinstance(node, dict)  # noqa: S101 - narrows the type
        for reference in _references(node.get(queue.pop())):
            if reference not in found and reference in config:
                found.add(reference)
                queue.append(reference)
    return frozenset(found)


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield from _REFERENCE.findall(node)
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, Sequence):
        for value in node:
            yield from _references(value)


def _required(task: Any, key: str, value: Any) -> bool:
    """Whether the task's constructor does not take this value for what a root key fills: null, or nothing chosen."""
    hints = _hints(_imported("task", task["_target_"]))
    names = [name for name, reference in task.items() if reference == f"${{{key}}}"]
    if value is not None:  # an empty list of choices
        return isinstance(value, ListConfig | DictConfig) and bool(choices(key)) and key in hints
    return any(name in hints and not _accepts(None, hints[name]) for name in names)


def _imported(where: str, name: str) -> Any:
    """What a `_target_` names."""
    try:
        return hydra.utils.get_object(name)
    except Exception as error:
        cause = error.__cause__ or error
        kind = "" if isinstance(cause, ImportError | AttributeError) else f"{type(cause).__name__}: "
        raise UserError(f"{where}._target_={name} cannot be imported: {kind}{_line(cause)}") from None


# -- types --------------------------------------------------------------------------------------------------------


def _targets(node: Any, path: str) -> Iterator[tuple[str, DictConfig]]:
    """Every node with a `_target_` below a resolved configuration node, with the root key it came from."""
    if isinstance(node, DictConfig):
        for key in node:
            yield from _targets(node[key], _origin(node, str(key), path))
        if "_target_" in node:
            yield path, node
    elif isinstance(node, ListConfig):
        for index, item in enumerate(node):
            yield from _targets(item, f"{path}[{index}]")


def _origin(node: DictConfig, key: str, path: str) -> str:
    """The key as a user sets it: what it refers to, or its own place."""
    raw = OmegaConf.to_container(node, resolve=False)
    assert isinstance(raw, dict)  # noqa: S101 - narrows the type
    reference = re.fullmatch(r"\$\{([\w.]+)\}", str(raw.get(key, "")))
    return reference[1] if reference else f"{path}.{key}"


def _check_call(path: str, node: DictConfig) -> None:
    target = _imported(path, node["_target_"])
    if not callable(target):
        raise UserError(f"{path}._target_={node['_target_']} must be a class or function")
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return
    given = {str(key): node[key] for key in node if not (str(key).startswith("_") and str(key).endswith("_"))}
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    hints = _hints(target)
    for key, value in given.items():
        if key not in parameters:
            if open_ended:
                continue
            close = difflib.get_close_matches(key, parameters, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            allowed = ", ".join(parameters) or "nothing"
            raise UserError(f"{path}.{key} is unknown: {hint}allowed: {allowed}")
        if key in hints and not isinstance(value, DictConfig) and not _accepts(value, hints[key]):
            raise UserError(
                f"{_origin(node, key, path)} must be {_described(hints[key])}, not {_shown(value)}"
            )
    if not node.get("_partial_"):
        for key, parameter in parameters.items():
            if parameter.kind in {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}:
                continue
            if parameter.default is inspect.Parameter.empty and key not in given and "_args_" not in node:
                raise UserError(f"{path}.{key} must be given: {path}.{key}=VALUE")


def _hints(target: Callable[..., Any]) -> dict[str, Any]:
    function = target.__init__ if inspect.isclass(target) else target
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError):
        return {}


def _accepts(value: Any, hint: Any) -> bool:
    """Whether a configured value fits an annotation; annotations beyond plain values accept anything but None."""
    origin = get_origin(hint)
    result = True
    if hint is Any or isinstance(hint, str | typing.TypeVar):
        result = True
    elif origin in {Union, types.UnionType}:
        result = any(_accepts(value, option) for option in get_args(hint))
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
            any(_accepts(item, option) for option in options) for item in value
        )
    else:
        result = value is not None and not isinstance(value, str | int | float | bool)
    return result


def _described(hint: Any) -> str:
    origin = get_origin(hint)
    if origin in {Union, types.UnionType}:
        options = get_args(hint)
        literals = [
            value for option in options if get_origin(option) is Literal for value in get_args(option)
        ]
        named = [_described(Literal[tuple(literals)])] if literals else []
        rest = [_described(option) for option in options if get_origin(option) is not Literal]
        return " or ".join(dict.fromkeys(named + rest))
    if origin is Literal:
        return "one of " + ", ".join(dict.fromkeys(map(str, get_args(hint))))
    if origin in {Mapping, dict}:
        return "a mapping"
    if origin in {list, tuple, Sequence}:
        inner = [_described(option) for option in get_args(hint) if option is not Ellipsis]
        return f"a list of ({', '.join(dict.fromkeys(inner))})"
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false", Path: "a path"}
    if hint in {None, type(None)}:
        return "null"
    return words.get(hint, f"a {getattr(hint, '__name__', hint)}")


def _shown(value: Any) -> str:
    if isinstance(value, ListConfig | DictConfig):
        value = OmegaConf.to_container(value, resolve=True)
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
