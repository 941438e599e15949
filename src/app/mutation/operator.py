"""What an operator is: a plan of mutants, and one way per kind to apply them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from app.mutation import grid
from app.mutation.mutant import Kind, Mutant, Value

if TYPE_CHECKING:
    from PIL import Image
    from torch import Tensor, nn

    from app.mutation.targets import Targets

Weights = dict[tuple[str, str], "Tensor"]
"""New parameter values by (site, parameter name)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One combination an operator may draw: a point of its grid on one target."""

    params: Mapping[str, Value]
    target: str
    sites: tuple[str, ...] = ()
    log_weight: float = 0.0
    """Logarithm of its probability to be drawn, up to a constant."""


class Operator(ABC):
    """A way to make mutants; operators compare by name.

    Subclasses set `name`, `kind` and `random` and list their `choices`.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind]
    random: ClassVar[bool] = False
    """Whether applying a mutant draws random values."""

    def __init__(self, count: int = 20) -> None:
        self.count = grid.count("count", count)

    @property
    def repetitions(self) -> int:
        """T of each planned mutant."""
        return 1

    def randomised(self, params: Mapping[str, Value]) -> bool:  # noqa: ARG002 - subclasses look at them
        """Whether applying a mutant with these parameters draws random values."""
        return self.random

    @abstractmethod
    def choices(self, targets: Targets) -> Sequence[Choice]:
        """Every distinct combination of parameters and target this operator may use on a model.

        Raises:
            UserError: a layer name or pattern that matches nothing, or a model without any fitting target.
        """

    def plan(self, targets: Targets, seed: int) -> list[Mutant]:
        """Mutants for a model: up to `count`, drawn by weight; the first k are the same for every count >= k.

        The draw of mutant i depends on (seed, operator name, i) only. Combinations whose application is
        random may come again, under another seed; the others come once, and when they run out the plan ends.

        Args:
            targets: the layers of the model.
            seed: a non-negative whole number.
        """
        choices = self.choices(targets)
        log_weights = np.array([choice.log_weight for choice in choices], dtype=float)
        open_ = np.ones(len(choices), dtype=bool)
        mutants: list[Mutant] = []
        while len(mutants) < self.count and open_.any():
            index = len(mutants)
            # the largest of log weight + Gumbel noise is a draw with those weights (Gumbel-max)
            noise = _generator(seed, self.name, index).gumbel(size=len(choices))
            best = int(np.argmax(np.where(open_, log_weights + noise, -np.inf)))
            choice = choices[best]
            open_[best] = self.randomised(choice.params)
            mutants.append(self._mutant(choice, mutant_seed(seed, self.name, index)))
        return mutants

    def _mutant(self, choice: Choice, seed: int) -> Mutant:
        return Mutant(self, choice.params, choice.target, choice.sites, seed, self.repetitions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operator) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"


class WeightOperator(Operator):
    """Mutants are new values of some parameters."""

    kind: ClassVar[Kind] = "weight"

    @abstractmethod
    def weights(self, mutant: Mutant, modules: Mapping[str, nn.Module]) -> Weights:
        """New values by (site, parameter name), each of the same shape, dtype and device as the old.

        Pure: nothing is changed in place, and the values do not depend on device or global random state.

        Args:
            mutant: one of this operator's plan.
            modules: `dict(model.named_modules())`.
        """


class ModuleOperator(Operator):
    """Mutants put another function in a module's place."""

    kind: ClassVar[Kind] = "module"

    @abstractmethod
    def forward(self, mutant: Mutant, site: str) -> Callable[[Tensor], Tensor]:
        """What stands in for the forward of the module at this site; it never works in place."""


class StochasticOperator(Operator):
    """Mutants perturb activations at random, differently in each repetition."""

    kind: ClassVar[Kind] = "stochastic"
    random: ClassVar[bool] = True

    def position(self, mutant: Mutant) -> Literal["output", "input"]:
        """Whether the tensor is what goes into a site or what comes out of it."""
        return "input" if mutant.params.get("position") == "input" else "output"

    @abstractmethod
    def perturb(
        self, mutant: Mutant, tensor: Tensor, *, site: str, call: int, cases: Tensor, repetitions: Tensor
    ) -> Tensor:
        """The perturbed tensor, a new one; row b depends on its own case and repetition only.

        Args:
            mutant: one of this operator's plan.
            tensor: (B, ...), floating point.
            site: dotted name of the module.
            call: how many tensors this site has given before in this forward.
            cases: (B,) whole numbers, the test case of each row.
            repetitions: (B,) whole numbers, the repetition of each row.
        """

    def plan(self, targets: Targets, seed: int) -> list[Mutant]:
        """One mutant per choice, in the order of the grid."""
        return [
            self._mutant(choice, mutant_seed(seed, self.name, index))
            for index, choice in enumerate(self.choices(targets))
        ]


class InputOperator(Operator):
    """Mutants are images changed before preprocessing."""

    kind: ClassVar[Kind] = "input"

    @abstractmethod
    def apply(self, mutant: Mutant, image: Image.Image, case: int) -> Image.Image:
        """A new image of the same size and mode.

        Args:
            mutant: one of this operator's plan.
            image: raw pixels, as loaded.
            case: index of the test case, for what differs from image to image.
        """


def mutant_seed(seed: int, name: str, index: int) -> int:
    """Seed of mutant `index` of an operator, in [0, 2^32); no two indices of one operator share one."""
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=4).digest()
    value = (int.from_bytes(digest, "little") + index) & 0xFFFFFFFF
    # the finaliser of MurmurHash3 is a bijection of 32-bit words, so distinct indices stay distinct
    value = ((value ^ (value >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    value = ((value ^ (value >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return value ^ (value >> 16)


def _generator(seed: int, name: str, index: int) -> np.random.Generator:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "little"), index])
