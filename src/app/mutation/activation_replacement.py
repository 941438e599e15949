"""Another function in the place of an activation module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from app.mutation import grid
from app.mutation.mutant import ROOT, Mutant
from app.mutation.operator import Choice, ModuleOperator
from app.mutation.targets import Layers, Targets, is_a

_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": torch.clone,  # a copy: what follows may work in place on it
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}
_SAME: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


class ActivationReplacement(ModuleOperator):
    """Replaces one activation module by identity, tanh or sigmoid.

    Args:
        replacements: functions to draw from: `identity`, `tanh`, `sigmoid`.
        count: how many mutants.
        layers: which activation modules: None for all, a name, a pattern, or several.
    """

    name: ClassVar[str] = "activation_replacement"

    def __init__(
        self,
        replacements: str | Sequence[str] = ("identity", "tanh", "sigmoid"),
        count: int = 20,
        layers: Layers = None,
    ) -> None:
        super().__init__(count)
        self.replacements = grid.words(
            "replacements", replacements, _FUNCTIONS.__contains__, f"choose from {', '.join(_FUNCTIONS)}"
        )
        self.layers = layers

    def choices(self, targets: Targets) -> list[Choice]:
        """Every function in the place of every activation that is another one."""
        return [
            Choice({"replacement": replacement}, name or ROOT, (name,))
            for name in targets.activations(self.layers)
            for replacement in self.replacements
            if replacement not in _SAME or not is_a(targets.modules[name], _SAME[replacement])
        ]

    def forward(self, mutant: Mutant, site: str) -> Callable[[Tensor], Tensor]:  # noqa: ARG002 - the same for all
        """The function that stands in."""
        return _FUNCTIONS[str(mutant.params["replacement"])]
