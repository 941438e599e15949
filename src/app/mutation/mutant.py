"""A mutant: one configured use of an operator, and the key that names it everywhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.mutation.operator import Operator

Kind = Literal["weight", "module", "stochastic", "input"]
Value = float | int | str | bool

INPUT = "(input)"
"""The pseudo-layer of operators that change the image before preprocessing."""
ALL = "(all)"
"""The pseudo-layer of mutants that change every weighted layer at once."""
ROOT = "(model)"
"""How a report shows the model itself where it is its own only layer (its dotted name is empty)."""

_PSEUDO = {INPUT: "input", ALL: ".all", ROOT: ".model"}  # no dotted name starts with a dot
_CLEAN = re.compile(r"[A-Za-z0-9._+]+")
_LONGEST = 120


@dataclass(frozen=True)
class Mutant:
    """One configured use of an operator; equal when operator name, parameters, target and seed are."""

    operator: Operator
    """What makes it and applies it."""
    params: Mapping[str, Value] = field(hash=False)
    """What was chosen from the operator's grid, by name."""
    target: str
    """What a report shows as its layer: a dotted module name, `(input)`, or the label of a group."""
    sites: tuple[str, ...]
    """Dotted names of the modules it touches, as in `named_modules()`; empty for inputs."""
    seed: int
    """Seed of everything random in its application; unique in its plan."""
    repetitions: int = 1
    """T, the number of stochastic passes."""

    @property
    def kind(self) -> Kind:
        """The kind of its operator."""
        return self.operator.kind

    @property
    def random(self) -> bool:
        """Whether applying it draws random values, so that its seed is part of what it is."""
        return self.operator.randomised(self.params)

    @property
    def key(self) -> str:
        """Its name in runs, files and reports: letters, digits and `. _ - +` only, at most 120 characters.

        Operator, parameters and target in reading form, then the seed where the application is random. What
        cannot be written that way (other characters, great length) is cut and told apart by a digest.
        """
        target = _PSEUDO.get(self.target, self.target)
        parts = [f"{name}{_shown(value)}" for name, value in self.params.items()]
        words = [self.operator.name, target, *self.params]
        words += [value for value in self.params.values() if isinstance(value, str)]
        exact = all(_CLEAN.fullmatch(word) for word in words)
        seed = f"-s{self.seed:08x}" if self.random else ""
        text = "-".join([self.operator.name, *parts, target])
        if exact and len(text) + len(seed) <= _LONGEST:
            return text + seed
        raw = repr([self.operator.name, [(k, repr(v)) for k, v in self.params.items()], self.target])
        digest = hashlib.blake2b(raw.encode(), digest_size=5).hexdigest()
        text = re.sub(r"[^A-Za-z0-9._+-]", "_", text)[: _LONGEST - len(seed) - len(digest) - 2]
        return f"{text}-x{digest}{seed}"


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
