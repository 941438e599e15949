"""Dropout of square blocks of a feature map that stays on: T stochastic passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from app.mutation import grid, masks
from app.mutation.mc_dropout import RATES
from app.mutation.mutant import Mutant
from app.mutation.operator import Choice, StochasticOperator
from app.mutation.sites import block_place
from app.mutation.targets import Layers, Targets


class McDropBlock(StochasticOperator):
    """Sets square blocks of activations to zero and scales the rest up; one mutant for each rate and block.

    Args:
        rates: shares of elements to drop, in [0, 1); 0 makes a mutant that changes nothing.
        blocks: odd edge lengths; each shrinks to the largest odd size that fits the map.
        repetitions: T, stochastic passes of each mutant.
        site: `auto` for the output of the last convolution; or the outputs of modules by name, pattern, or
            several of them. A tensor that is no map gets dropout of single elements.
    """

    name: ClassVar[str] = "mc_dropblock"

    def __init__(
        self,
        rates: float | Sequence[float] = RATES,
        blocks: int | Sequence[int] = (1, 3, 5, 7, 9),
        repetitions: int = 10,
        site: Layers = "auto",
    ) -> None:
        self.rates = grid.numbers("rates", rates, lambda rate: 0 <= rate < 1, "give rates from 0 to below 1")
        self.blocks = grid.whole_numbers(
            "blocks", blocks, lambda block: block > 0 and block % 2 == 1, "give odd sizes of at least 1"
        )
        super().__init__(count=len(self.rates) * len(self.blocks))
        self._repetitions = grid.count("repetitions", repetitions)
        self.site = site

    @property
    def repetitions(self) -> int:
        """T of each planned mutant."""
        return self._repetitions

    def choices(self, targets: Targets) -> list[Choice]:
        """Every rate by every block size."""
        place = block_place(targets, self.site)
        return [
            Choice({"rate": rate, "block": block, **place.params}, place.label, place.sites)
            for rate in self.rates
            for block in self.blocks
        ]

    def perturb(
        self, mutant: Mutant, tensor: Tensor, *, site: str, call: int, cases: Tensor, repetitions: Tensor
    ) -> Tensor:
        """The tensor after DropBlock."""
        keys = masks.row_keys(mutant.seed, site, call, cases, repetitions).to(tensor.device)
        return masks.drop_block(tensor, keys, float(mutant.params["rate"]), int(mutant.params["block"]))
