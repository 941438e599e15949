"""What is said to whoever asks for help, or names a key or value that there is not."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from app.config.described import read, rows, shown
from app.config.schema import GROUPS, Root, choices, conf_dir
from app.config.values import described
from app.config.values import shown as value_shown


def usage() -> str:
    """The help text: how to call, and every choice with the first line of its own description."""
    root = Path(conf_dir(), "config.yaml").read_text(encoding="utf-8")
    groups = sorted(re.findall(r"^  - (\w+): ", root, re.MULTILINE), key="task".__ne__)  # the task first
    lines = [
        "Assay: would your tests notice if the vision model broke?",
        "",
        "  python -m app +experiment=NAME [key=value ...]",
        "  assay TASK model=NAME dataset=NAME operators=[NAME,...] [key=value ...]",
        "",
        "assay and python -m app are the same. assay TASK is task=TASK; assay TASK --help shows the keys of a task.",
        "",
        "Any key of a choice can be set (dataset.max_samples=500). -m sweeps over key=a,b; --cfg job shows",
        "the composed configuration; --config-dir DIR adds choices of yours; --version shows the version;",
        "HYDRA_FULL_ERROR=1 shows stack traces.",
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


def task_usage(task: str) -> str:
    """What a task does, and every key that it reads, with its default and what it is."""
    root, file = read(Path(conf_dir(), "config.yaml")), read(Path(conf_dir(), "task", f"{task}.yaml"))
    told = [line for line in file.title if not line.startswith("  ")]
    calls = [
        line.strip().replace(f"task={task}", f"assay {task}") for line in file.title if line.startswith("  ")
    ]
    references = sorted(set(file.bare.values()))
    groups = [name for name in references if name in GROUPS and name != "tracking"]
    shared = [key for key in root.keys if key.path[0] in {*references, "output"} - GROUPS]
    lines = [f"assay {task}: {' '.join(told)}", "", *(f"  {call}" for call in calls or [_call(task, groups)])]
    lines += ["", "Choices, of which assay --help lists the options:"]
    lines += [f"  {_named(name)}" for name in (*groups, "tracking")]
    table = [(f"{key.path[0]}={shown(root.content[key.path[0]])}", key.comment) for key in shared]
    lines += ["", "Keys of the root that it reads, with their defaults:", *_table(table)]
    table = [
        (f"{name}={value}" if value else name, re.sub(r"[`]", "", words))
        for name, value, words in rows("task", file)
    ]
    if table:
        lines += ["", "Keys of its own:", *_table(table)]
    return "\n".join(lines)


def _call(task: str, groups: Sequence[str]) -> str:
    return " ".join(
        ["assay", task, *(_named(name) for name in groups if name in {"model", "dataset", "operators"})]
    )


def _named(group: str) -> str:
    return f"{group}=[NAME,...]" if group in {"operators", "estimators"} else f"{group}=NAME"


def _table(pairs: Sequence[tuple[str, str]]) -> list[str]:
    width = min(max((len(name) for name, _ in pairs), default=0), 40)
    return [f"  {name:{width}}  {' '.join(words.split())}".rstrip() for name, words in pairs]


def _described_by(group: str, option: str) -> str:
    for line in Path(conf_dir(), group, f"{option}.yaml").read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and "@package" not in line:
            return line.removeprefix("# ")
    return ""


def unknown(key: str, node: DictConfig | None, value: str | None = None) -> str:
    """The sentence about a key that its place does not have.

    Args:
        key: in full, such as dataset.max_sample.
        node: what the configuration has there; None is its root.
        value: what it was given; None if that is not known.
    """
    names = [each.name for each in fields(Root)] if node is None else [str(each) for each in node]
    names = [each for each in names if each != "hydra" and not each.startswith("_")]
    target = "" if node is None else str(node.get("_target_", ""))
    if node is not None and not target and "." in key:  # a mapping whose keys are the user's to choose
        close = difflib.get_close_matches(key.rpartition(".")[2], names, 1)
        hint = f"did you mean {close[0]}? " if close else ""
        return f"{key} is not there yet: {hint}a new key takes a plus, +{key}=VALUE"
    meant = _meant(key, node, names, value)
    hint = f"did you mean {meant}? " if meant else ""
    more = f"; any other argument of {target} takes a plus, +{key}=VALUE"
    return (
        f"{key} is unknown: {hint}allowed: {', '.join(names)}"
        f"{more if target and not target.startswith('app.') else ''}"
    )


def _meant(key: str, node: DictConfig | None, names: Sequence[str], value: str | None) -> str:
    """What there is instead: the same key elsewhere, or one that is spelled alike; empty if there is nothing."""
    name = key.rpartition(".")[2]
    at_root = "." not in key
    if node is not None and (at_root or key.startswith("task.")):
        task = node.get("task") if at_root else node
        group = _inner_groups(task).get(name)
        if group:
            return f"{group}@task.{name}={value or 'NAME'}"
    below = dict(_below(node, "")) if node is not None and at_root else {}
    there = sorted((path for path, last in below.items() if last == name), key=lambda path: path.count("."))
    if there:
        return " or ".join(path if value is None else f"{path}={value}" for path in there[:3])
    spelled = [*names, "experiment"] if at_root else names
    close = difflib.get_close_matches(name, [*spelled, *below.values()], 1)
    if not close:
        return ""
    if close[0] in spelled:
        return "+experiment" if at_root and close[0] == "experiment" else close[0]
    return next(path for path, last in below.items() if last == close[0])


def _below(node: DictConfig, path: str) -> Iterator[tuple[str, str]]:
    """Every key that can be set below the groups of a root, in full and by its last name."""
    for each in node:
        name = str(each)
        if name.startswith("_") or name == "hydra" or OmegaConf.is_interpolation(node, name):
            continue
        if path:
            yield f"{path}{name}", name
        if not OmegaConf.is_missing(node, name) and isinstance(node[name], DictConfig):
            yield from _below(node[name], f"{path}{name}.")


def _inner_groups(task: Any) -> dict[str, str]:
    """The keys of a task that are choices of a group themselves, such as train: dataset."""
    target = str(task.get("_target_", "")) if isinstance(task, DictConfig) else ""
    for path in Path(conf_dir(), "task").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        if target and f"\n_target_: {target}\n" in text:
            return {name: group for group, name in re.findall(r"^  - /(\w+)@(\w+): ", text, re.MULTILINE)}
    return {}


def mistyped(key: str, value: Any) -> str:
    """The sentence about a value that a key of the root does not take."""
    hint = typing.get_type_hints(Root).get(key, Any)
    return f"{key} must be {described(hint)}, not {value_shown(value)}"
