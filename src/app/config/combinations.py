"""Keys that only go together, or never do: told before a model is loaded, and never passed over in silence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omegaconf import DictConfig

from app.config.reading import task_name
from app.config.schema import option
from app.errors import UserError

_ONE_OF: Mapping[str, tuple[str, ...]] = {"autopsy": ("model", "probs"), "estimate": ("model", "population")}
"""Of what a task can start from, one at least must be given."""
_EXAMPLES = {
    "autopsy": "a model and its data, model=NAME dataset=NAME, or what a model said, probs=FILE labels=FILE",
    "estimate": "a table or a folder of tables, population=PATH, or a model and its data, model=NAME dataset=NAME",
}
_INSTEAD = {"autopsy": ("probs", "labels")}
"""What stands in for a model."""
_PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "autopsy": {
        "probs": ("class_names", "name", "output"),
        "model": ("layer", "gradcam_layer"),
    },
    "estimate": {
        "population": ("columns",),
        "model": ("layer", "training_classes", "decoders", "batch_size"),
    },
}
"""Keys of a task that are about one thing it can start from."""


def check(config: DictConfig) -> None:
    """Refuse keys that would have no effect beside the others, or lack what they need.

    Raises:
        UserError: there is such a key.
    """
    task = task_name(config)
    if task == "contaminate":
        _check_contaminate(config.task)
    if task == "checkup" and config.labels is not None and config.task.get("stream") is None:
        raise UserError("labels are of operational data: give dataset@task.stream=NAME too")
    if task not in _ONE_OF:
        return
    if all(config[key] is None for key in _ONE_OF[task]):
        raise UserError(f"task={task} needs {_EXAMPLES[task]}")
    model, dataset = config.model is not None, config.dataset is not None
    if model and not dataset:
        raise UserError(f"task={task} needs a dataset beside the model: give dataset=NAME")
    if task == "estimate" and dataset and not model:
        raise UserError("dataset was given without model: give model=NAME too, or leave it out")
    defaults = option("task", task)
    for key in _INSTEAD.get(task, ()) if model else ():
        if config[key] is not None:
            raise UserError(f"{key} stands in for a model: leave out {key} or model")
    if task == "autopsy" and model and config.on_invalid != "error":
        raise UserError("on_invalid is for probs=…, which is not given: leave it out")
    for source, keys in _PARTS[task].items():
        for key in keys if config[source] is None else ():
            if _plain(config.task.get(key)) != defaults[key]:
                raise UserError(f"task.{key} is for {source}=…, which is not given: leave it out")


def _check_contaminate(task: DictConfig) -> None:
    if not task.get("splits"):
        raise UserError(
            "contamination needs splits: give +task.splits.train=DIR +task.splits.test=DIR, the training split first"
        )
    near, weak = task.get("near_distance"), task.get("weak_distance")
    if isinstance(near, int) and isinstance(weak, int) and near > weak:
        raise UserError(f"task.near_distance must be at most task.weak_distance, {weak}, not {near}")


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) or value is None else list(value)
