"""A weighted layer: which of a module's parameters are its weight and bias, and new values shaped like them.

New values are made with NumPy on the CPU wherever the model is, so that a mutant is the same on every device.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from app.mutation.mutant import ROOT

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Layer:
    """A module that owns a weight of at least two dimensions."""

    name: str
    """Dotted module name; empty for the model itself."""
    weight: str
    """Name of the weight: `weight`, or `in_proj_weight` of an attention module."""
    bias: str | None
    """Name of the bias that goes with it."""
    channels: int
    """How many output channels or units it has."""
    fan_in: int
    """How many inputs each output weighs: the product of all dimensions but the first."""
    transposed: bool = False
    """Whether the weight is (in, out / groups, ...), as in a transposed convolution."""

    @property
    def label(self) -> str:
        """What a report shows."""
        return self.name or ROOT

    def channel(self, weight: Array, channel: int) -> Array:
        """The part of a weight that makes one output channel; a view."""
        if not self.transposed:
            part: Array = weight[channel]
            return part
        per_group = weight.shape[1]
        inputs = weight.shape[0] * per_group // self.channels  # of one group
        group = channel // per_group
        return weight[group * inputs : (group + 1) * inputs, channel % per_group]


def layer_of(name: str, module: nn.Module) -> Layer | None:
    """The weighted layer a module is, or None."""
    own = dict(module.named_parameters(recurse=False))
    for weight, bias in (("weight", "bias"), ("in_proj_weight", "in_proj_bias")):
        parameter = own.get(weight)
        if parameter is None or not parameter.is_floating_point() or parameter.dim() < 2:
            continue
        transposed = bool(getattr(module, "transposed", False))
        channels = (
            parameter.shape[1] * int(getattr(module, "groups", 1)) if transposed else parameter.shape[0]
        )
        fan_in = math.prod(parameter.shape[1:])
        return Layer(name, weight, bias if bias in own else None, channels, fan_in, transposed)
    return None


def layer_at(modules: Mapping[str, nn.Module], site: str) -> tuple[Layer, nn.Module]:
    """The weighted layer at a site, and its module."""
    layer = layer_of(site, modules[site])
    if layer is None:
        raise ValueError(f"{site or ROOT} is no weighted layer")
    return layer, modules[site]


def numbers(module: nn.Module, name: str) -> Array:
    """A copy of a parameter as an array: float64 stays, every other type becomes float32."""
    parameter: Tensor = getattr(module, name)
    wide = torch.float64 if parameter.dtype == torch.float64 else torch.float32
    return np.array(parameter.detach().cpu().to(wide).numpy())


def like(values: Array, module: nn.Module, name: str) -> Tensor:
    """An array as a tensor of a parameter's type, device and memory layout.

    In memory of torch's own: NumPy aligns less, and matrix products differ in their last bits by alignment.
    """
    parameter: Tensor = getattr(module, name)
    return torch.empty_like(parameter, requires_grad=False).copy_(
        torch.from_numpy(np.ascontiguousarray(values))
    )
