"""Why a model does not run on images as they come: one line with what to set."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from app.errors import UserError

_MODES = {1: "L", 3: "RGB"}
"""Colour modes by their channels."""
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


def refused(module: nn.Module, batch: Tensor, error: Exception) -> UserError:
    """One line about a model that does not run on a batch of preprocessed images.

    Args:
        module: the model.
        batch: (B, C, H, W) what it was given.
        error: what it raised.
    """
    given = next((each.dtype for each in module.parameters() if each.is_floating_point()), batch.dtype)
    if given != batch.dtype:
        kind, wanted = (str(each).removeprefix("torch.") for each in (given, batch.dtype))
        return UserError(
            f"the model's weights are {kind}, but images come as {wanted}: give it as {wanted} "
            "(module.float() where it is built or saved)"
        )
    told = _at_layer(module, batch)
    if told is not None:
        return UserError(told)
    line = " ".join(str(error).split())[:200] or type(error).__name__
    return UserError(
        f"the model cannot run on preprocessed images of shape {tuple(batch.shape[1:])}: {line}; "
        "check model.preprocess"
    )


def _at_layer(module: nn.Module, batch: Tensor) -> str | None:
    """What is wrong with the images at the layer where the model stopped; None if that is not it."""
    entered: list[tuple[str, nn.Module, Tensor]] = []

    def note(name: str) -> Callable[[nn.Module, Any], None]:
        def hook(layer: nn.Module, inputs: Any) -> None:
            if inputs and isinstance(inputs[0], Tensor) and isinstance(layer, (nn.Linear, *_CONVOLUTIONS)):
                entered.append((name, layer, inputs[0]))

        return hook

    hooks = [
        layer.register_forward_pre_hook(note(name))
        for name, layer in module.named_modules()
        if not isinstance(layer, torch.jit.ScriptModule)
    ]
    try:
        with torch.no_grad(), suppress(Exception):  # it raised before, too
            module(batch.clone())
    finally:
        for hook in hooks:
            hook.remove()
    if not entered:
        return None
    name, layer, x = entered[-1]
    name = name or "the model"
    if isinstance(layer, _CONVOLUTIONS):
        return _channels(name, layer.in_channels, batch) if len(entered) == 1 and x.dim() == 4 else None
    assert isinstance(layer, nn.Linear)  # noqa: S101 - narrows the type
    if not x.dim() or x.shape[-1] == layer.in_features:
        return None
    height, width = batch.shape[2:]
    first = len(entered) == 1
    return (
        f"layer {name} takes {layer.in_features} numbers and gets {x.shape[-1]} from images of {height}x{width} pixels "
        f"and mode {_MODES.get(batch.shape[1], batch.shape[1])}: set resize, crop and mode in model.preprocess to "
        f"those of training{_guess(layer.in_features) if first else ''}"
    )


def _channels(name: str, wanted: int, batch: Tensor) -> str | None:
    """About a first layer that takes images of other channels than come."""
    come = batch.shape[1]
    if wanted == come:
        return None
    remedy = (
        f"set mode: {_MODES[wanted]} in model.preprocess, with mean and std of {wanted} number{'s' * (wanted > 1)}"
        if wanted in _MODES
        else "images are given as mode: RGB (3 channels) or L (1)"
    )
    return (
        f"the model's first layer {name} takes {wanted} channel{'s' * (wanted > 1)}, but images come with {come} "
        f"(mode {_MODES.get(come, come)}): {remedy}"
    )


def _guess(numbers: int) -> str:
    """The square images that have as many numbers, if there are such."""
    for channels, mode in _MODES.items():
        side = math.isqrt(numbers // channels)
        if side > 1 and side * side * channels == numbers:
            return f", such as resize: [{side}, {side}] and mode: {mode}"
    return ""
