"""What of a model can be mutated: weighted layers and activations, and how names and patterns find them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import torch
from torch import nn

from app.errors import UserError
from app.mutation.layer import Layer, layer_of
from app.mutation.mutant import ROOT

if TYPE_CHECKING:
    from app.mutation.saliency import Saliency

Layers = str | Sequence[str] | None
"""Which layers: all (None), a dotted name, an fnmatch pattern, or several of these."""

_ACTIVATIONS: tuple[type[nn.Module], ...] = (
    *(nn.CELU, nn.ELU, nn.GELU, nn.SELU, nn.SiLU, nn.Mish, nn.Softplus, nn.LogSigmoid, nn.Sigmoid, nn.Tanh),
    *(nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.PReLU, nn.RReLU, nn.Threshold, nn.Hardtanh, nn.Hardsigmoid),
    *(nn.Hardswish, nn.Hardshrink, nn.Softshrink, nn.Softsign, nn.Tanhshrink),
)
_SHOWN = 6


class Targets:
    """The layers of one model that mutants can touch.

    Args:
        module: the model; only looked at.
        saliency: how much each layer matters (from `app.mutation.saliency.measure`); when given, layers and
            channels are drawn by it instead of evenly.
    """

    def __init__(self, module: nn.Module, saliency: Saliency | None = None) -> None:
        self.module = module
        self.saliency = saliency
        self.modules: dict[str, nn.Module] = dict(module.named_modules())
        names: dict[int, str] = {id(submodule): name for name, submodule in self.modules.items()}
        self._every: dict[str, str] = {  # every name, of shared modules too, to the module's first
            name: names[id(submodule)]
            for name, submodule in module.named_modules(remove_duplicate=False)
            if id(submodule) in names
        }
        found = (layer_of(name, submodule) for name, submodule in self.modules.items())
        self._layers = {layer.name: layer for layer in found if layer is not None}

    @property
    def scripted(self) -> bool:
        """Whether the model is TorchScript, or holds some."""
        return any(isinstance(module, torch.jit.ScriptModule) for module in self.modules.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Layers that cannot be targets, each with the reason."""
        return tuple(
            f"{name or ROOT}: its weight is computed by a parametrisation, so it is not a target"
            for name, module in self.modules.items()
            if "weight" not in module._parameters
            and ("weight_v" in module._parameters or "weight" in getattr(module, "parametrizations", ()))
        )

    def weighted(self, layers: Layers = None) -> list[Layer]:
        """Weighted layers in the model's order; a weight tied between layers comes once.

        Raises:
            UserError: a pattern matches no weighted layer, or the model has none.
        """
        if not self._layers:
            raise UserError("the model has no layer with a weight of two or more dimensions to mutate")
        seen: set[int] = set()
        chosen = []
        for name in self.resolve(layers, self._layers, "weighted layer"):
            layer = self._layers[name]
            identity = id(getattr(self.modules[name], layer.weight))
            if identity not in seen:
                seen.add(identity)
                chosen.append(layer)
        return chosen

    def activations(self, layers: Layers = None) -> list[str]:
        """Dotted names of activation modules in the model's order.

        Raises:
            UserError: the model is TorchScript, a pattern matches no activation module, or there are none.
        """
        self.refuse_script("activation modules")
        names = [name for name, module in self.modules.items() if is_a(module, *_ACTIVATIONS)]
        if not names:
            raise UserError(
                "the model has no activation module to replace (those called as functions cannot be reached)"
            )
        return self.resolve(layers, names, "activation module")

    def refuse_script(self, what: str) -> None:
        """Raise UserError where the model is TorchScript, whose modules cannot be replaced or watched."""
        if self.scripted:
            raise UserError(
                f"{what} of a TorchScript model cannot be mutated: compiled code calls its modules without "
                "Python; use weight or input operators, or load the model as a Python module"
            )

    def resolve(self, layers: Layers, among: Iterable[str], what: str) -> list[str]:
        """The names among some that a name or pattern (or any of several) matches, in the model's order.

        Raises:
            UserError: a name or pattern matches none of them.
        """
        allowed = list(among)
        if layers is None:
            return allowed
        patterns = [layers] if isinstance(layers, str) else list(layers)
        found: set[str] = set()
        for pattern in patterns:
            wanted = "" if pattern == ROOT else pattern
            hits = {
                first for name, first in self._every.items() if name == wanted or fnmatchcase(name, wanted)
            }
            hits &= set(allowed)
            if not hits:
                shown = ", ".join(name or ROOT for name in allowed[:_SHOWN])
                more = f" and {len(allowed) - _SHOWN} more" if len(allowed) > _SHOWN else ""
                raise UserError(f"no {what} matches {pattern!r}; the model has {shown or 'none'}{more}")
            found |= hits
        return [name for name in allowed if name in found]

    def log_weights(self, layers: Sequence[Layer], *, by_product: bool) -> dict[str, float]:
        """Logarithm of each layer's chance to be drawn, by name: by saliency where there is one, else even.

        Args:
            layers: the layers to draw from.
            by_product: whether the measure is |weight x gradient| (what vanishes) or |gradient| (what moves).
        """
        even = -math.log(max(len(layers), 1))
        if self.saliency is None:
            return {layer.name: even for layer in layers}
        return self.saliency.log_weights([layer.name for layer in layers], by_product=by_product)

    def channel_log_weights(self, layer: Layer) -> list[float]:
        """Logarithm of the chance of each output channel of a layer, once that layer is drawn."""
        if self.saliency is None:
            return [-math.log(layer.channels)] * layer.channels
        return self.saliency.channel_log_weights(layer.name)


def is_a(module: nn.Module, *types: type[nn.Module]) -> bool:
    """Whether a module is of one of these types, or was before it went through an exported program."""
    before = getattr(module, "type_name", None)  # of torch.export.unflatten's modules
    name = before() if callable(before) else None
    return isinstance(module, types) or (
        isinstance(name, str) and name.rsplit(".", 1)[-1] in {kind.__name__ for kind in types}
    )
