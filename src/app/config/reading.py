"""Which keys of the root a task reads, and that it is given no other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from app.config.schema import DEFAULTS, option
from app.errors import UserError

SHARED = frozenset({"task", "output", "tracking"})
"""Root keys that every task is given, whether it refers to them or not."""
_REFERENCE = re.compile(r"\$\{\.*(with_model:)?([A-Za-z_][A-Za-z0-9_]*)")
_UNSET = {"scoring": "default", "trainer": "cpu"}
"""Groups that always have an option, and which."""


def task_name(config: DictConfig) -> str:
    """What the task is called on a command line."""
    return str(config.task.get("_target_", "")).rpartition(".")[0].rpartition(".")[2]


def keys(config: DictConfig) -> frozenset[str]:
    """Root keys that the task refers to, also through the groups it refers to."""
    content = OmegaConf.to_container(config, resolve=False)
    assert isinstance(content, dict)  # noqa: S101 - narrows the type
    found: set[str] = set()
    queue = ["task"]
    while queue:
        for with_model, name in _references(content.get(queue.pop())):
            if name not in found and name in content and not (with_model and content["model"] is None):
                found.add(name)
                queue.append(name)
    return frozenset(found)


def refuse_unread(config: DictConfig, used: frozenset[str]) -> None:
    """Refuse a key of the root that is set and not read: it would have no effect, without a word.

    Raises:
        UserError: there is one.
    """
    for name, value in config.items_ex(resolve=False):
        key = str(name)
        if key in used or key in SHARED or value is None or _is_default(key, value):
            continue
        without = " without a model" if key in _named_in(config) else ""
        raise UserError(
            f"task={task_name(config)} does not read {key!r}{without}: leave it out; it reads {', '.join(sorted(used))}"
        )


def _is_default(key: str, value: Any) -> bool:
    if key in DEFAULTS:
        return bool(type(value) is type(DEFAULTS[key]) and value == DEFAULTS[key])
    if key in _UNSET:
        return bool(OmegaConf.to_container(value, resolve=False) == option(key, _UNSET[key]))
    return key in {"model", "dataset", "operators", "estimators"} and not value


def _named_in(config: DictConfig) -> set[str]:
    """What the task would read if it had a model."""
    return {name for _, name in _references(OmegaConf.to_container(config.task, resolve=False))}


def _references(node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        yield from _REFERENCE.findall(node)
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, Sequence):
        for value in node:
            yield from _references(value)
