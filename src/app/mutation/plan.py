"""The mutants of a campaign: drawn from operators, and kept on disk so that every process has the same."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app import durable
from app.errors import UserError
from app.mutation.mutant import Mutant
from app.mutation.operator import Operator
from app.mutation.targets import Targets


@dataclass(frozen=True)
class Plan:
    """Mutants in the order of the report, cut into groups."""

    mutants: tuple[Mutant, ...]
    """All of them."""
    groups: tuple[int, ...]
    """How many each group holds."""


@dataclass(frozen=True)
class Drawn:
    """What operators came to on a model."""

    mutants: tuple[Mutant, ...]
    """Operator by operator."""
    notes: tuple[str, ...] = ()
    """The operators that do not fit the model, each with the reason."""


def draw(
    operators: Mapping[str, Operator], targets: Targets, seed: int, named: Collection[str] | None = None
) -> Drawn:
    """The mutants of several operators, operator by operator.

    Args:
        operators: by their keys in the configuration.
        targets: the layers of the model.
        seed: a non-negative whole number.
        named: keys of the operators that must fit the model; of the others those that do not are left out. None: all.

    Raises:
        UserError: a pattern that matches nothing, or a model without a fitting target for an operator that was named,
            or for any.
    """
    mutants: list[Mutant] = []
    unfit: dict[str, list[str]] = {}
    for key, operator in operators.items():
        try:
            mutants += operator.plan(targets, seed)
        except UserError as error:
            told = str(error)
            if named is None or key in named:
                raise UserError(told if operator.name in told else f"operators.{key}: {told}") from None
            unfit.setdefault(told, []).append(key)
    notes = tuple(_left_out(names, reason) for reason, names in unfit.items())
    if not mutants and notes:
        raise UserError(f"none of the operators fits the model: {'; '.join(notes)}")
    keys = [mutant.key for mutant in mutants]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UserError(f"two mutants are both {twice}: choose each operator once")
    return Drawn(tuple(mutants), notes)


def _left_out(names: Sequence[str], reason: str) -> str:
    if len(names) == 1:
        return f"operator {names[0]} was left out, it does not fit the model: {reason}"
    return f"operators {', '.join(names)} were left out, they do not fit the model: {reason}"


def write(plan: Plan, path: Path) -> None:
    """Keep a plan, whole or not at all."""
    content = {
        "groups": plan.groups,
        "mutants": [
            {
                "operator": mutant.operator.name,
                "params": dict(mutant.params),
                "target": mutant.target,
                "sites": mutant.sites,
                "seed": mutant.seed,
                "repetitions": mutant.repetitions,
            }
            for mutant in plan.mutants
        ],
    }
    durable.write(json.dumps(content).encode(), path)


def read(path: Path, operators: Sequence[Operator]) -> Plan | None:
    """A plan kept before, None if there is none.

    Raises:
        UserError: it has mutants of an operator that is not chosen now.
    """
    if not path.exists():
        return None
    content = json.loads(path.read_text())
    by_name = {operator.name: operator for operator in operators}
    mutants = []
    for each in content["mutants"]:
        if each["operator"] not in by_name:
            raise UserError(f"the run was planned with operator {each['operator']}, which is not chosen now")
        mutants.append(
            Mutant(
                by_name[each["operator"]],
                each["params"],
                each["target"],
                tuple(each["sites"]),
                each["seed"],
                each["repetitions"],
            )
        )
    return Plan(tuple(mutants), tuple(content["groups"]))
