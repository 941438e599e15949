"""Where the configuration is, its root, and what a composed one comes to."""

from __future__ import annotations

import hashlib
import json
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

PLACE = frozenset({"trainer", "store", "resume", "workers", "decoders", "group_size"})
"""Keys, at any depth of a task, that change where and how it runs, but no number."""


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
    here = Path(__file__).resolve().parents[1]
    packaged = here / "conf"
    return str(packaged if packaged.is_dir() else here.parents[1] / "conf")


def choices(group: str) -> list[str]:
    """The options of a group."""
    return sorted(path.stem for path in Path(conf_dir(), group).glob("*.yaml"))


def option(group: str, name: str) -> Any:
    """What an option of a group comes to; of its defaults only the option that it differs from is followed."""
    content = yaml.safe_load(Path(conf_dir(), group, f"{name}.yaml").read_text(encoding="utf-8"))
    bases = (each for each in content.pop("defaults", ()) if isinstance(each, str) and each != "_self_")
    base = next(bases, None)
    return content if base is None else {**option(group, base), **content}


def plain(config: DictConfig) -> dict[str, Any]:
    """The configuration with every reference resolved, as plain containers."""
    content = OmegaConf.to_container(config, resolve=True)
    assert isinstance(content, dict)  # noqa: S101 - narrows the type
    return typing.cast("dict[str, Any]", content)


def digest(config: DictConfig) -> str:
    """SHA-256, in hex, of what a task computes from: not of where it runs, writes and remembers."""
    task = _computed_from(plain(config)["task"])
    return hashlib.sha256(json.dumps(task, sort_keys=True, default=str).encode()).hexdigest()


def _computed_from(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _computed_from(value) for key, value in node.items() if key not in PLACE}
    return [_computed_from(each) for each in node] if isinstance(node, list) else node
