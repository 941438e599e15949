"""What is said to whoever asks for help, or names a key or value that there is not."""

from __future__ import annotations

import difflib
import re
import typing
from dataclasses import fields
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from app.config.schema import Root, choices, conf_dir
from app.config.values import described, shown


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
    names = [each for each in names if each != "hydra" and not each.startswith("_")]
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
    return f"{key} must be {described(hint)}, not {shown(value)}"
