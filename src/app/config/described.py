"""What the files of the configuration say of themselves: each key, its default, and what it is.

What a key is stands in the comment above or beside it; where there is none, in the docstring of what the option makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from app.config.signatures import Unread, of_source

_KEY = re.compile(r"( *)([\w-]+):(?: +(.*?))?(?: +# (.*))?")
_GROUP = re.compile(r"  - /(\w+)@(\w+): null")
_REFERENCE = re.compile(r"\$\{(?:with_model:)?(\w+)\}")


@dataclass(frozen=True)
class Key:
    """One key of a file."""

    path: tuple[str, ...]
    """From the root of the file."""
    comment: str
    """What the file says about it."""
    open: bool
    """Whether its value stands in the lines below it."""


@dataclass(frozen=True)
class File:
    """One file of the configuration."""

    title: tuple[str, ...]
    """The comment at its top: description, then how to call it."""
    keys: tuple[Key, ...]
    """In order; the defaults list is left out."""
    groups: tuple[tuple[str, str], ...]
    """Further groups that can be chosen below it, such as dataset@task.train, with their comment."""
    content: dict[str, Any]
    """As YAML reads it."""

    @property
    def bases(self) -> list[str]:
        """Options that it differs from."""
        return [
            each for each in self.content.get("defaults", []) if isinstance(each, str) and each != "_self_"
        ]

    @property
    def bare(self) -> dict[str, str]:
        """Keys that hold nothing but a key of the root, and which one."""
        found = {name: _REFERENCE.fullmatch(str(value)) for name, value in self.content.items()}
        return {name: match[1] for name, match in found.items() if match}


def read(path: Path) -> File:
    """A file with its comments; what it does not say about a key, the option it differs from does."""
    lines = path.read_text(encoding="utf-8").splitlines()
    top = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    title = tuple(line[2:] for line in lines[:top] if "@package" not in line)
    keys: list[Key] = []
    groups: list[tuple[str, str]] = []
    above: list[str] = []
    parents: list[tuple[int, str]] = []
    for line in lines[top:]:
        if line.strip().startswith("#"):
            above.append(line.strip().removeprefix("# "))
            continue
        found, group = _KEY.fullmatch(line), _GROUP.fullmatch(line)
        if group:
            groups.append((f"{group[1]}@task.{group[2]}", " ".join(above)))
        elif found:
            depth = len(found[1])
            parents = [*(each for each in parents if each[0] < depth), (depth, found[2])]
            names = tuple(name for _, name in parents)
            if names[0] != "defaults":
                keys.append(Key(names, " ".join(above) or found[4] or "", not found[3]))
        above = []
    file = File(title, tuple(keys), tuple(groups), yaml.safe_load("\n".join(lines)) or {})
    said = {key.path: key.comment for base in _near(path, file) for key in read(base).keys}
    return replace(
        file, keys=tuple(replace(key, comment=key.comment or said.get(key.path, "")) for key in keys)
    )


def _near(path: Path, file: File) -> list[Path]:
    return [path.with_stem(base) for base in file.bases if path.with_stem(base).exists()]


def documented(target: str) -> Mapping[str, str]:
    """What the docstrings of a class or function of ours say about each argument, in the words of the command line."""
    try:
        return of_source(target).words
    except Unread:
        return {}


def value_at(content: Any, path: tuple[str, ...]) -> Any:
    """What stands at a path."""
    for name in path:
        content = content[name]
    return content


def shown(value: Any) -> str:
    """A value as one types it."""
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(each)}" for key, each in value.items()) + "}"
    return str(value) or '""'


def rows(group: str, file: File) -> Iterator[tuple[str, str, str]]:
    """Key, default and meaning of everything that can be set in an option."""
    for name, comment in file.groups:
        yield name, "null", comment
    parts: list[tuple[str, ...]] = []
    for key in file.keys:
        value, name = value_at(file.content, key.path), ".".join((group, *key.path))
        if key.path[0] in file.bare or any(key.path[: len(part)] == part for part in parts):
            continue
        if isinstance(value, dict) and value.get("_partial_"):
            parts.append(key.path)
            yield name, "", f"The keys of `task={key.path[-1]}`; null leaves this part out."
        elif not (value and isinstance(value, dict) and key.open) and not (
            name.endswith("._target_") and value != "???"
        ):
            yield name, shown(value), meaning(file, key)


def meaning(file: File, key: Key) -> str:
    """What a key is: by its comment, the docstring of the nearest `_target_`, or the comment of what it stands in."""
    if key.comment:
        return key.comment
    for depth in range(len(key.path) - 1, -1, -1):
        node = value_at(file.content, key.path[:depth])
        target = node.get("_target_", "???")
        if target != "???":
            said = documented(target).get(key.path[depth], "")
            if said and depth == len(key.path) - 1:
                return said
            break
    return next((each.comment for each in file.keys if len(key.path) > 1 and each.path == key.path[:-1]), "")
