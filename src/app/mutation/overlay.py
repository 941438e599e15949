"""A mutant applied to a model for the length of a `with` block, and gone afterwards whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from app.mutation.mutant import Mutant
from app.mutation.operator import ModuleOperator, StochasticOperator, WeightOperator, Weights


@dataclass(frozen=True)
class Rows:
    """Which test case and which repetition each row of a batch is."""

    cases: Tensor
    """(B,) whole numbers."""
    repetitions: Tensor
    """(B,) whole numbers; zeros for deterministic mutants."""


@dataclass(frozen=True)
class Active:
    """What an overlay saw while it was on."""

    calls: dict[str, int] = field(default_factory=dict)
    """How often each site of a module or stochastic mutant ran. A site that stays at 0 was bypassed, and the
    mutant changed nothing. Empty for weight and input mutants."""


@contextmanager
def overlay(
    mutant: Mutant, module: nn.Module, rows: Rows | None = None, weights: Weights | None = None
) -> Iterator[Active]:
    """The model behaves as the mutant inside the block; afterwards it is the same, to the bit and the object.

    Input mutants change nothing here: their images are changed before preprocessing.

    Args:
        mutant: what to apply.
        module: the model its plan was made for.
        rows: the test case and repetition of each row; needed by stochastic mutants.
        weights: values from `WeightOperator.weights`, where the caller already has them.

    Raises:
        RuntimeError: from the forward, when a stochastic site's tensor has not one row for each of `rows`.
    """
    active = Active()
    with ExitStack() as undo:
        if isinstance(mutant.operator, WeightOperator):
            values = planned_weights(mutant, module) if weights is None else weights
            _swap(module, values, undo)
        elif isinstance(mutant.operator, ModuleOperator | StochasticOperator):
            for site in mutant.sites:
                submodule = module.get_submodule(site)
                active.calls[site] = 0
                stand_in(submodule, _forward(mutant, site, submodule.forward, rows, active), undo)
        yield active


def planned_weights(mutant: Mutant, module: nn.Module) -> Weights:
    """The parameter values of a weight mutant, for a caller that applies it more than once."""
    if not isinstance(mutant.operator, WeightOperator):
        raise TypeError(f"{mutant.key} is a {mutant.kind} mutant and has no weights")
    with torch.no_grad():
        return mutant.operator.weights(mutant, dict(module.named_modules()))


def changed(module: nn.Module, mutant: Mutant, weights: Weights | None = None) -> bool:
    """Whether any value of a weight mutant differs from the model's own (NaN where NaN was is no change)."""
    modules = dict(module.named_modules())
    values = planned_weights(mutant, module) if weights is None else weights
    return any(_differs(value, _own(modules, site, name).detach()) for (site, name), value in values.items())


def _differs(value: Tensor, own: Tensor) -> bool:
    if torch.equal(value, own):
        return False
    return not own.isnan().any() or bool(((value != own) & ~(value.isnan() & own.isnan())).any())


def _own(modules: Mapping[str, nn.Module], site: str, name: str) -> Tensor:
    value = getattr(modules[site], name)
    assert isinstance(value, Tensor)  # noqa: S101 - narrows the type; operators name parameters
    return value


def _swap(module: nn.Module, weights: Weights, undo: ExitStack) -> None:
    modules = dict(module.named_modules())
    for (site, name), value in weights.items():
        own = _own(modules, site, name)
        if isinstance(modules[site], torch.jit.ScriptModule):
            undo.callback(
                _copy, own, own.detach().clone()
            )  # TorchScript keeps its own table: values are copied
            _copy(own, value)
            continue
        mutated = nn.Parameter(value, requires_grad=False)
        for owner in modules.values():
            for key, parameter in list(owner._parameters.items()):
                if parameter is own:  # tied weights: every owner sees the mutant
                    undo.callback(owner._parameters.__setitem__, key, own)
                    owner._parameters[key] = mutated


def _copy(into: Tensor, values: Tensor) -> None:
    with torch.no_grad():
        into.copy_(values)


def stand_in(submodule: nn.Module, forward: Callable[..., Any], undo: ExitStack) -> None:
    """Give a module another forward until `undo` ends."""
    # An attribute, not a hook: hooks switch off the fast paths of attention and move the last bits.
    if "forward" in submodule.__dict__:
        undo.callback(submodule.__dict__.__setitem__, "forward", submodule.__dict__["forward"])
    else:
        undo.callback(submodule.__dict__.pop, "forward", None)
    submodule.__dict__["forward"] = forward


def _forward(
    mutant: Mutant, site: str, inner: Callable[..., Any], rows: Rows | None, active: Active
) -> Callable[..., Any]:
    operator = mutant.operator
    if isinstance(operator, ModuleOperator):
        replacement = operator.forward(mutant, site)

        def replaced(*args: Any, **kwargs: Any) -> Any:
            active.calls[site] += 1
            return replacement(args[0] if args else next(iter(kwargs.values())))

        return replaced

    if rows is None:
        raise ValueError(f"{mutant.key} needs the test case and repetition of each row")
    forward = perturbing(mutant, site, inner, lambda: rows)

    def counted(*args: Any, **kwargs: Any) -> Any:
        active.calls[site] += 1
        return forward(*args, **kwargs)

    return counted


def perturbing(
    mutant: Mutant, site: str, inner: Callable[..., Any], current: Callable[[], Rows]
) -> Callable[..., Any]:
    """A module's forward with a stochastic mutant's change to every floating tensor that it takes or gives.

    Args:
        mutant: of a stochastic operator.
        site: the module's dotted name.
        inner: the forward without the change.
        current: whose test case and repetition the rows of a tensor are, at the time of the call.

    Raises:
        TypeError: the mutant is of another kind.
    """
    operator = mutant.operator
    if not isinstance(operator, StochasticOperator):
        raise TypeError(f"{mutant.key} is a {mutant.kind} mutant and perturbs nothing")
    call = -1

    def perturb(value: Any) -> Any:
        nonlocal call
        if isinstance(value, tuple | list):
            parts = [perturb(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        if isinstance(value, dict):
            return type(value)((key, perturb(part)) for key, part in value.items())
        if not isinstance(value, Tensor) or not value.is_floating_point():
            return value
        rows = current()
        if value.dim() == 0 or len(value) != len(rows.cases):
            raise RuntimeError(
                f"{site} gives a tensor of shape {tuple(value.shape)} for a batch of {len(rows.cases)} rows: "
                "it keeps no row per test case, so it cannot be perturbed case by case"
            )
        call, mine = call + 1, call + 1
        return operator.perturb(
            mutant, value, site=site, call=mine, cases=rows.cases, repetitions=rows.repetitions
        )

    def on_output(*args: Any, **kwargs: Any) -> Any:
        return perturb(inner(*args, **kwargs))

    def on_input(*args: Any, **kwargs: Any) -> Any:
        for index, value in enumerate(args):
            if isinstance(value, Tensor):
                return inner(*args[:index], perturb(value), *args[index + 1 :], **kwargs)
        for name, value in kwargs.items():
            if isinstance(value, Tensor):
                return inner(*args, **{**kwargs, name: perturb(value)})
        return inner(*args, **kwargs)

    return on_input if operator.position(mutant) == "input" else on_output
