"""Some weights of one layer set to zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import nn

from app.mutation import grid
from app.mutation.layer import Array, layer_at, like, numbers
from app.mutation.mutant import Mutant, Value
from app.mutation.operator import Choice, WeightOperator, Weights
from app.mutation.targets import Layers, Targets

_STRATEGIES = ("random", "largest_magnitude", "smallest_magnitude")


class WeightZeroing(WeightOperator):
    """Sets a share of a layer's weights to zero: round(ratio · size) of them, at least one.

    Args:
        ratios: shares to draw from, in (0, 1].
        strategies: `random`, `largest_magnitude`, `smallest_magnitude`; of equal weights the first.
        count: how many mutants.
        layers: which layers: None for all, a name, a pattern, or several.
    """

    name: ClassVar[str] = "weight_zeroing"
    random: ClassVar[bool] = True

    def __init__(
        self,
        ratios: float | Sequence[float] = (0.001, 0.01, 0.05, 0.1),
        strategies: str | Sequence[str] = _STRATEGIES,
        count: int = 20,
        layers: Layers = None,
    ) -> None:
        super().__init__(count)
        self.ratios = grid.numbers(
            "ratios", ratios, lambda ratio: 0 < ratio <= 1, "give shares above 0 and up to 1"
        )
        self.strategies = grid.words(
            "strategies", strategies, _STRATEGIES.__contains__, f"choose from {', '.join(_STRATEGIES)}"
        )
        self.layers = layers

    def randomised(self, params: Mapping[str, Value]) -> bool:
        """Only the random strategy draws anything."""
        return params["strategy"] == "random"

    def choices(self, targets: Targets) -> list[Choice]:
        """Every ratio by every strategy on every layer."""
        layers = targets.weighted(self.layers)
        chance = targets.log_weights(layers, by_product=True)
        return [
            Choice({"ratio": ratio, "strategy": strategy}, layer.label, (layer.name,), chance[layer.name])
            for layer in layers
            for ratio in self.ratios
            for strategy in self.strategies
        ]

    def weights(self, mutant: Mutant, modules: Mapping[str, nn.Module]) -> Weights:
        """The layer's weight with zeros."""
        (site,) = mutant.sites
        layer, module = layer_at(modules, site)
        weight = numbers(module, layer.weight)
        flat = weight.reshape(-1)
        number = max(1, round(float(mutant.params["ratio"]) * flat.size))
        strategy = mutant.params["strategy"]
        if strategy == "random":
            generator = np.random.default_rng(mutant.seed)
            zeroed = generator.choice(flat.size, number, replace=False, shuffle=False)
        else:
            size = np.abs(flat)
            zeroed = _smallest(-size if strategy == "largest_magnitude" else size, number)
        flat[zeroed] = 0
        return {(site, layer.weight): like(flat.reshape(weight.shape), module, layer.weight)}


def _smallest(values: Array, number: int) -> NDArray[np.intp]:
    """Indices of the smallest values; of equal ones the first (a partition alone would leave that open)."""
    last = np.partition(values, number - 1)[number - 1]
    below = np.flatnonzero(values < last)
    return np.concatenate([below, np.flatnonzero(values == last)[: number - len(below)]])
