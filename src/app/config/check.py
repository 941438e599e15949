"""The check that a composed configuration is one that its task can use, before any work begins."""

from __future__ import annotations

import difflib
import inspect
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import hydra.utils
from omegaconf import DictConfig, ListConfig, OmegaConf, open_dict, read_write

from app.config.schema import DEFAULTS, SHARED, choices
from app.config.values import accepts, described, hints_of, shown
from app.errors import UserError

logging.getLogger("hydra.utils").setLevel(logging.CRITICAL)  # what it says comes with the exception too
_REFERENCE = re.compile(r"\$\{\.*([A-Za-z_][A-Za-z0-9_]*)")


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
    hints = hints_of(_imported("task", task["_target_"]))
    names = [name for name, reference in task.items() if reference == f"${{{key}}}"]
    if value is not None:  # an empty list of choices
        return isinstance(value, ListConfig | DictConfig) and bool(choices(key)) and key in hints
    return any(name in hints and not accepts(None, hints[name]) for name in names)


def _imported(where: str, name: str) -> Any:
    """What a `_target_` names."""
    try:
        return hydra.utils.get_object(name)
    except Exception as error:
        cause = error.__cause__ or error
        kind = "" if isinstance(cause, ImportError | AttributeError) else f"{type(cause).__name__}: "
        raise UserError(f"{where}._target_={name} cannot be imported: {kind}{_line(cause)}") from None


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
    hints = hints_of(target)
    for key, value in given.items():
        if key not in parameters:
            if open_ended:
                continue
            close = difflib.get_close_matches(key, parameters, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            allowed = ", ".join(parameters) or "nothing"
            raise UserError(f"{path}.{key} is unknown: {hint}allowed: {allowed}")
        if key in hints and not isinstance(value, DictConfig) and not accepts(value, hints[key]):
            raise UserError(f"{_origin(node, key, path)} must be {described(hints[key])}, not {shown(value)}")
    if not node.get("_partial_"):
        for key, parameter in parameters.items():
            if parameter.kind in {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}:
                continue
            if parameter.default is inspect.Parameter.empty and key not in given and "_args_" not in node:
                raise UserError(f"{path}.{key} must be given: {path}.{key}=VALUE")


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
