"""Dropout that stays on: T stochastic passes through a model trained with or without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from app.mutation import grid, masks
from app.mutation.mutant import Mutant
from app.mutation.operator import Choice, StochasticOperator
from app.mutation.sites import dropout_place
from app.mutation.targets import Layers, Targets

RATES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


class McDropout(StochasticOperator):
    """Sets activations to zero with probability `rate` and divides the others by 1 - rate; one mutant a rate.

    Args:
        rates: dropout rates in [0, 1); 0 makes a mutant that changes nothing.
        repetitions: T, stochastic passes of each mutant.
        site: `auto` for the model's own dropout layers, or without any the input of its last linear layer; or
            the outputs of modules by name, pattern, or several of them.
    """

    name: ClassVar[str] = "mc_dropout"

    def __init__(
        self, rates: float | Sequence[float] = RATES, repetitions: int = 10, site: Layers = "auto"
    ) -> None:
        self.rates = grid.numbers("rates", rates, lambda rate: 0 <= rate < 1, "give rates from 0 to below 1")
        super().__init__(count=len(self.rates))
        self._repetitions = grid.count("repetitions", repetitions)
        self.site = site

    @property
    def repetitions(self) -> int:
        """T of each planned mutant."""
        return self._repetitions

    def choices(self, targets: Targets) -> list[Choice]:
        """Every rate."""
        place = dropout_place(targets, self.site)
        return [Choice({"rate": rate, **place.params}, place.label, place.sites) for rate in self.rates]

    def perturb(
        self, mutant: Mutant, tensor: Tensor, *, site: str, call: int, cases: Tensor, repetitions: Tensor
    ) -> Tensor:
        """The tensor after dropout."""
        keys = masks.row_keys(mutant.seed, site, call, cases, repetitions).to(tensor.device)
        return masks.dropout(tensor, keys, float(mutant.params["rate"]))
