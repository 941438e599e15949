"""One output channel or unit of a layer silenced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from torch import nn

from app.mutation.layer import layer_at, like, numbers
from app.mutation.mutant import Mutant
from app.mutation.operator import Choice, WeightOperator, Weights
from app.mutation.targets import Layers, Targets


class NeuronAblation(WeightOperator):
    """Sets the weights and the bias of one output channel or unit to zero.

    A layer is drawn first, then a channel of it: even, or by saliency.

    Args:
        count: how many mutants.
        layers: which layers: None for all, a name, a pattern, or several.
    """

    name: ClassVar[str] = "neuron_ablation"

    def __init__(self, count: int = 20, layers: Layers = None) -> None:
        super().__init__(count)
        self.layers = layers

    def choices(self, targets: Targets) -> list[Choice]:
        """Every channel of every layer."""
        layers = targets.weighted(self.layers)
        chance = targets.log_weights(layers, by_product=True)
        return [
            Choice({"channel": channel}, layer.label, (layer.name,), chance[layer.name] + share)
            for layer in layers
            for channel, share in enumerate(targets.channel_log_weights(layer))
        ]

    def weights(self, mutant: Mutant, modules: Mapping[str, nn.Module]) -> Weights:
        """The layer's weight and bias without the channel."""
        (site,) = mutant.sites
        layer, module = layer_at(modules, site)
        channel = int(mutant.params["channel"])
        weight = numbers(module, layer.weight)
        layer.channel(weight, channel)[...] = 0
        new = {(site, layer.weight): like(weight, module, layer.weight)}
        if layer.bias is not None:
            bias = numbers(module, layer.bias)
            bias[channel] = 0
            new[site, layer.bias] = like(bias, module, layer.bias)
        return new
