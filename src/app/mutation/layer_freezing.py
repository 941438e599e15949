"""One layer thrown back to where it might have started, as if its training had been frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from torch import nn

from app.mutation.layer import layer_at, like, numbers
from app.mutation.mutant import Mutant
from app.mutation.operator import Choice, WeightOperator, Weights
from app.mutation.targets import Layers, Targets


class LayerFreezing(WeightOperator):
    """Draws the weight and the bias of a layer anew from U(-1/√fan_in, 1/√fan_in).

    Args:
        count: how many mutants; the same layer may come again with other values.
        layers: which layers: None for all, a name, a pattern, or several.
    """

    name: ClassVar[str] = "layer_freezing"
    random: ClassVar[bool] = True

    def __init__(self, count: int = 20, layers: Layers = None) -> None:
        super().__init__(count)
        self.layers = layers

    def choices(self, targets: Targets) -> list[Choice]:
        """Every layer."""
        layers = targets.weighted(self.layers)
        chance = targets.log_weights(layers, by_product=False)
        return [Choice({}, layer.label, (layer.name,), chance[layer.name]) for layer in layers]

    def weights(self, mutant: Mutant, modules: Mapping[str, nn.Module]) -> Weights:
        """New weight and bias of the layer."""
        (site,) = mutant.sites
        layer, module = layer_at(modules, site)
        generator = np.random.default_rng(mutant.seed)
        bound = 1 / math.sqrt(layer.fan_in)
        return {
            (site, name): like(generator.uniform(-bound, bound, numbers(module, name).shape), module, name)
            for name in (layer.weight, layer.bias)
            if name is not None
        }
