"""The check that a composed configuration is one that its task can use, before any work begins.

It goes from what costs nothing to what costs seconds: keys and types by the source of what takes them, then ranges
and places, and only then is what others wrote imported.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import hydra.utils
from omegaconf import DictConfig, ListConfig, OmegaConf, open_dict, read_write

from app.config import combinations, devices, reading
from app.config.schema import GROUPS, choices
from app.config.signatures import Signature, Unread, of_object, of_source
from app.config.values import accepts, misfit, problems, worded
from app.errors import UserError
from app.import_path import hidden_by

logging.getLogger("hydra.utils").setLevel(logging.CRITICAL)  # what it says comes with the exception too


def drop_unchosen(config: DictConfig) -> None:
    """Take out what an experiment sets of operators or estimators that the command line then did not choose."""
    for group in ("operators", "estimators"):
        node = config.get(group)
        for name in list(node) if isinstance(node, DictConfig) else ():
            if isinstance(node[name], DictConfig) and "_target_" not in node[name] and name in choices(group):
                with read_write(config), open_dict(config):
                    del node[name]


def take_words(config: DictConfig) -> None:
    """Make the word `true` of what YAML has read as a truth value, where a key has a choice of that name."""
    for each in _targets(config.task, "task"):
        if _is_ours(each.node):
            _take_words(each.node, _signature(each.node["_target_"]))


def _take_words(node: DictConfig, signature: Signature) -> None:
    for key in signature.parameters:
        if key in node and isinstance(node[key], bool):
            word = worded(node[key], signature.parameters[key].hint)
            if word is not node[key]:
                with read_write(node), open_dict(node):
                    node[key] = word


@dataclass(frozen=True)
class _Call:
    """A node with a `_target_`."""

    path: str
    """Where a user sets it."""
    node: DictConfig
    origins: Mapping[str, str]
    """Where a user sets each of its keys."""


def check(config: DictConfig, *, places: bool = True) -> None:
    """Refuse a composed configuration that its task could not use.

    Args:
        config: what Hydra has composed.
        places: whether paths must lead somewhere.

    Raises:
        UserError: a key is missing, unknown, of a wrong type, impossible, or not read by the task; a path leads
            nowhere. The sentence names it.
    """
    for key in ("model", "dataset"):
        if isinstance(config[key], str):
            raise UserError(f"{key}={config[key]} is no choice; allowed: {', '.join(choices(key))}")
    if config.seed < 0:
        raise UserError(f"seed must be 0 or more, not {config.seed}")
    if not config.output.strip():
        raise UserError("output must not be empty: give a folder, or leave it out")
    if not isinstance(config.task, DictConfig) or "_target_" not in config.task:
        raise UserError("task must have a _target_ that makes a task: give task=NAME")
    used = reading.keys(config)
    reading.refuse_unread(config, used)
    combinations.check(config)
    _refuse_lacking(config, used)
    if isinstance(config.trainer, DictConfig) and "trainer" in used:
        devices.check(config.trainer)
    calls = sorted(
        _targets(config.task, "task"), key=lambda each: each.path == "trainer"
    )  # what takes longest last
    ours = [(each, _signature(each.node["_target_"])) for each in calls if _is_ours(each.node)]
    for call, signature in ours:
        _take_words(call.node, signature)
        _check_names(call, signature)
    for call, signature in ours:
        _check_values(call, signature, places=places)
    for call in calls:
        if not _is_ours(call.node) and not devices.is_plain(call.node):
            target = _imported(call.path, call.node["_target_"])
            if not callable(target):
                raise UserError(f"{call.path}._target_={call.node['_target_']} must be a class or function")
            try:
                signature = of_object(target)
            except (TypeError, ValueError):
                continue
            _check_names(call, signature)


def _refuse_lacking(config: DictConfig, used: frozenset[str]) -> None:
    """Refuse a task without what it needs."""
    task = OmegaConf.to_container(config.task, resolve=False)
    for key in sorted(used):
        if key in config and not config[key] and _required(task, key, config[key]):
            if key not in GROUPS:
                raise UserError(f"{key} must be given: {key}=PATH")
            article, value = ("", "[NAME,...]") if key.endswith("s") else ("a ", "NAME")
            options = f", of {', '.join(choices(key))}" if choices(key) else ""
            raise UserError(
                f"task={reading.task_name(config)} needs {article}{key}: give {key}={value}{options}"
            )
    missing = [key for key in OmegaConf.missing_keys(config) if key.split(".")[0] in used | reading.SHARED]
    if missing:
        raise UserError(f"{missing[0]} must be given: {missing[0]}=VALUE")


def _required(task: Any, key: str, value: Any) -> bool:
    """Whether the task's constructor does not take this value for what a root key fills: null, or nothing chosen."""
    parameters = _signature(task["_target_"]).parameters
    names = [name for name, reference in task.items() if reference == f"${{{key}}}"]
    if value is not None:  # an empty list of choices
        return isinstance(value, ListConfig | DictConfig) and bool(choices(key)) and key in parameters
    return any(name in parameters and not accepts(None, parameters[name].hint) for name in names)


def _is_ours(node: Mapping[Any, Any]) -> bool:
    """Whether the source of what is called is at hand."""
    try:
        of_source(str(node["_target_"]))
    except Unread:
        return False
    return True


def _signature(target: str) -> Signature:
    try:
        return of_source(target)
    except Unread:
        return of_object(_imported("task", target))


def _imported(where: str, name: str) -> Any:
    """What a `_target_` names."""
    try:
        return hydra.utils.get_object(name)
    except Exception as error:
        cause = error.__cause__ or error
        kind = "" if isinstance(cause, ImportError | AttributeError) else f"{type(cause).__name__}: "
        raise UserError(
            f"{where}._target_={name} cannot be imported: {kind}{_line(cause)}{hidden_by(name)}"
        ) from None


def _targets(node: Any, path: str) -> Iterator[_Call]:
    """Every node with a `_target_` below a resolved configuration node, with the root key it came from."""
    if isinstance(node, DictConfig):
        origins = {str(key): _origin(raw, f"{path}.{key!s}") for key, raw in node.items_ex(resolve=False)}
        for key in node:
            yield from _targets(node[key], origins[str(key)])
        if "_target_" in node:
            yield _Call(path, node, origins)
    elif isinstance(node, ListConfig):
        for index, item in enumerate(node):
            yield from _targets(item, f"{path}[{index}]")


def _origin(raw: Any, place: str) -> str:
    """The key as a user sets it: what it refers to, or its own place."""
    reference = re.fullmatch(r"\$\{(?:with_model:)?([\w.]+)\}", raw) if isinstance(raw, str) else None
    return reference[1] if reference else place


def _given(node: DictConfig) -> list[str]:
    return [str(key) for key in node if not (str(key).startswith("_") and str(key).endswith("_"))]


def _check_names(call: _Call, signature: Signature) -> None:
    path, node = call.path, call.node
    parameters = signature.parameters
    for key in _given(node):
        if key in parameters:
            hint, value = parameters[key].hint, node[key]
            if not accepts(value, hint):
                raise UserError(misfit(value, hint, call.origins[key]))
        elif not signature.open_ended:
            close = difflib.get_close_matches(key, parameters, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise UserError(f"{path}.{key} is unknown: {hint}allowed: {', '.join(parameters) or 'nothing'}")
    if node.get("_partial_") or "_args_" in node:
        return
    lacking = next((key for key, each in parameters.items() if each.required and key not in node), None)
    if lacking is not None:
        raise UserError(f"{path}.{lacking} must be given: {path}.{lacking}=VALUE")


def _check_values(call: _Call, signature: Signature, *, places: bool) -> None:
    node = call.node
    for key in _given(node):
        parameter = signature.parameters.get(key)
        if parameter is not None:
            where, may_be_empty = call.origins[key], parameter.default == ""
            found = problems(node[key], parameter.hint, where, empty=may_be_empty, places=places)
            problem = next(found, None)
            if problem is not None:
                raise UserError(problem)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
