"""Weights sent through a coarser number format and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import nn

from app.mutation import grid
from app.mutation.layer import Array, Layer, layer_at, like, numbers
from app.mutation.mutant import ALL, Mutant, Value
from app.mutation.operator import Choice, WeightOperator, Weights
from app.mutation.targets import Layers, Targets

_FLOATS = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Quantization(WeightOperator):
    """Rounds the weight of a layer to a number format and back.

    `int8` and its like are symmetric: scale = max|w| / (2^(n-1) - 1), w' = round(w / scale) · scale.

    Args:
        modes: formats to draw from: `fp16`, `bf16`, or `int2` to `int16`.
        per_channel: whether an int format has a scale for each output channel, not one for the layer; a list
            is a grid.
        scope: `layer` for one layer a mutant, `all` for mutants that round every layer among `layers`.
        count: how many mutants.
        layers: which layers: None for all, a name, a pattern, or several.
    """

    name: ClassVar[str] = "quantization"

    def __init__(
        self,
        modes: str | Sequence[str] = ("fp16", "int8"),
        per_channel: bool | Sequence[bool] = False,
        scope: Literal["layer", "all"] = "layer",
        count: int = 20,
        layers: Layers = None,
    ) -> None:
        super().__init__(count)
        allowed = "choose from fp16, bf16 and int2 to int16"
        self.modes = grid.words(
            "modes", modes, lambda mode: mode in _FLOATS or _bits(mode) is not None, allowed
        )
        self.per_channel = (
            [per_channel] if isinstance(per_channel, bool) else list(dict.fromkeys(per_channel))
        )
        if not self.per_channel or not all(isinstance(each, bool) for each in self.per_channel):
            raise ValueError(f"per_channel must be true, false or a list of both, not {per_channel!r}")
        if scope not in {"layer", "all"}:
            raise ValueError(f"scope must be layer or all, not {scope!r}")
        self.scope = scope
        self.layers = layers

    def choices(self, targets: Targets) -> list[Choice]:
        """Every format on every layer, or on all of them together."""
        layers = targets.weighted(self.layers)
        if self.scope == "all":
            sites = tuple(layer.name for layer in layers)
            return [Choice(params, ALL, sites) for params in self._formats()]
        chance = targets.log_weights(layers, by_product=False)
        return [
            Choice(params, layer.label, (layer.name,), chance[layer.name])
            for layer in layers
            for params in self._formats()
        ]

    def weights(self, mutant: Mutant, modules: Mapping[str, nn.Module]) -> Weights:
        """The rounded weights."""
        mode = str(mutant.params["mode"])
        bits = _bits(mode)
        new: Weights = {}
        for site in mutant.sites:
            layer, module = layer_at(modules, site)
            weight = numbers(module, layer.weight)
            if bits is None:
                rounded = torch.from_numpy(weight).to(_FLOATS[mode]).to(torch.float32).numpy()
            else:
                rounded = _rounded(weight, layer, bits, per_channel=bool(mutant.params["per_channel"]))
            new[site, layer.weight] = like(rounded, module, layer.weight)
        return new

    def _formats(self) -> list[dict[str, Value]]:
        return [
            {"mode": mode} if mode in _FLOATS else {"mode": mode, "per_channel": per_channel}
            for mode in self.modes
            for per_channel in (self.per_channel[:1] if mode in _FLOATS else self.per_channel)
        ]


def _bits(mode: str) -> int | None:
    match = re.fullmatch(r"int(\d+)", mode)
    return int(match[1]) if match and 2 <= int(match[1]) <= 16 else None


def _rounded(weight: Array, layer: Layer, bits: int, *, per_channel: bool) -> Array:
    parts = [layer.channel(weight, channel) for channel in range(layer.channels)] if per_channel else [weight]
    for part in parts:  # views: the weight is a copy already
        scale = np.abs(part).max() / (2 ** (bits - 1) - 1)
        if scale > 0:
            part[...] = np.round(part / scale) * scale
    return weight
