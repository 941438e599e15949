"""What the trainer may be told about devices, in the words of the configuration rather than of Lightning."""

from __future__ import annotations

import re
from typing import Any

from omegaconf import DictConfig, ListConfig

from app.config.schema import option
from app.config.values import shown
from app.errors import UserError

LIGHTNING = "pytorch_lightning.Trainer"
ACCELERATORS = ("auto", "cpu", "gpu", "cuda", "mps", "tpu")
STRATEGIES = (
    "auto",
    "ddp",
    "ddp_spawn",
    "ddp_fork",
    "ddp_notebook",
    "fsdp",
    "deepspeed",
    "single_device",
    "xla",
)
"""Strategies, or how their names begin."""
PRECISIONS = ("32-true", "64-true", "16-true", "bf16-true", "16-mixed", "bf16-mixed")
_SHORT = {"16", "32", "64", "bf16", "transformer-engine", "transformer-engine-float16"}


def check(trainer: DictConfig) -> None:
    """Refuse what Lightning's Trainer would refuse in words of its own, and what would lose test cases.

    Raises:
        UserError: a value is impossible; the sentence names the key.
    """
    if trainer.get("inference_mode"):
        raise UserError("trainer.inference_mode must be false: recorded activations need version counters")
    if trainer.get("limit_predict_batches") not in {None, 1.0}:
        raise UserError("trainer.limit_predict_batches would lose test cases: use dataset.max_samples")
    if trainer.get("_target_") != LIGHTNING:
        return  # of the user's own, which may take what it likes
    _one_of(trainer, "accelerator", ACCELERATORS)
    strategy = trainer.get("strategy", "auto")
    if not isinstance(strategy, DictConfig):
        known = isinstance(strategy, str) and strategy.lower() in STRATEGIES
        if not known and not re.fullmatch(
            rf"({'|'.join(STRATEGIES[1:])})_[a-z0-9_]+|xla_debug|single_(xla|tpu)", str(strategy)
        ):
            raise UserError(f"trainer.strategy must be one of {', '.join(STRATEGIES)}, not {shown(strategy)}")
    if str(trainer.get("precision", "32-true")) not in _SHORT:
        _one_of(trainer, "precision", PRECISIONS)
    nodes = trainer.get("num_nodes", 1)
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
        raise UserError(f"trainer.num_nodes must be a number of machines of at least 1, not {shown(nodes)}")
    devices = trainer.get("devices", "auto")
    if not _are_devices(devices):
        raise UserError(
            "trainer.devices must be how many (1 or more), -1 or auto for all, or a list of their numbers, "
            f"not {shown(devices)}"
        )


def is_plain(trainer: DictConfig) -> bool:
    """Whether it has no key that only Lightning knows, which would have to be imported."""
    return trainer.get("_target_") == LIGHTNING and {str(each) for each in trainer} <= set(
        option("trainer", "default")
    )


def refused(trainer: DictConfig, message: str) -> str:
    """What Lightning's refusal means for the one who configures it."""
    if re.search(
        r"can not run on your system|No supported gpu backend|accelerator is not available", message
    ):
        return (
            f"trainer.accelerator={trainer.get('accelerator')}: this machine has none that PyTorch can use; "
            "give trainer=cpu"
        )
    there = re.search(r"You requested gpu: \[?(.*?)\]? But your machine only has: \[?(.*?)\]?$", message)
    if there:
        return f"trainer.devices={shown(trainer.get('devices'))}: this machine has only the GPUs {there[2]}"
    return f"trainer: {message}"


def _one_of(trainer: DictConfig, key: str, allowed: tuple[str, ...]) -> None:
    value: Any = trainer.get(key, allowed[0])
    if not isinstance(value, DictConfig) and value not in allowed:
        raise UserError(f"trainer.{key} must be one of {', '.join(allowed)}, not {shown(value)}")


def _are_devices(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return value >= 1 or value == -1
    if isinstance(value, ListConfig):
        numbers = list(value)
        whole = all(isinstance(each, int) and not isinstance(each, bool) for each in numbers)
        return (
            whole
            and bool(numbers)
            and (numbers == [-1] or (min(numbers) >= 0 and len(set(numbers)) == len(numbers)))
        )
    if isinstance(value, str):
        return value in {"auto", "-1"} or bool(
            re.fullmatch(r"0*[1-9]\d*|\d+(,\s*\d+)+,?|\d+,", value.strip())
        )
    return False
