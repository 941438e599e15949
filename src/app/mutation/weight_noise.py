"""Normal noise on the weight of one layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from torch import nn

from app.mutation import grid
from app.mutation.layer import layer_at, like, numbers
from app.mutation.mutant import Mutant, Value
from app.mutation.operator import Choice, WeightOperator, Weights
from app.mutation.targets import Layers, Targets


class WeightNoise(WeightOperator):
    """Adds N(0, σ²) to every weight of a layer; its bias stays.

    Args:
        sigmas: standard deviations to draw from; 0 makes mutants that change nothing.
        count: how many mutants.
        layers: which layers: None for all, a name, a pattern, or several.
        relative: whether σ counts in standard deviations of the layer's own weight.
    """

    name: ClassVar[str] = "weight_noise"
    random: ClassVar[bool] = True

    def __init__(
        self,
        sigmas: float | Sequence[float] = (0.001, 0.005, 0.01, 0.05),
        count: int = 20,
        layers: Layers = None,
        *,
        relative: bool = False,
    ) -> None:
        super().__init__(count)
        self.sigmas = grid.numbers("sigmas", sigmas, lambda sigma: sigma >= 0, "give numbers of at least 0")
        self.layers = layers
        self.relative = relative

    def choices(self, targets: Targets) -> list[Choice]:
        """Every σ on every layer."""
        layers = targets.weighted(self.layers)
        chance = targets.log_weights(layers, by_product=False)
        unit: dict[str, Value] = {"relative": True} if self.relative else {}
        return [
            Choice({"sigma": sigma, **unit}, layer.label, (layer.name,), chance[layer.name])
            for layer in layers
            for sigma in self.sigmas
        ]

    def weights(self, mutant: Mutant, modules: Mapping[str, nn.Module]) -> Weights:
        """The layer's weight with noise."""
        (site,) = mutant.sites
        layer, module = layer_at(modules, site)
        weight = numbers(module, layer.weight)
        sigma = float(mutant.params["sigma"])
        if mutant.params.get("relative"):
            sigma *= float(weight.std(dtype=np.float64))
        noise = np.random.default_rng(mutant.seed).standard_normal(weight.shape, dtype=np.float32)
        return {(site, layer.weight): like(weight + noise * np.float32(sigma), module, layer.weight)}
