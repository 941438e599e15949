"""The calls that a model's modules make during one forward pass, in order, and what may be handed back of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_unflatten

PLAIN = (int, float, bool, str, type(None), torch.dtype, torch.device, torch.Size)


@dataclass
class CallTree:
    """Module calls numbered in the order in which they began (pre-order)."""

    names: list[str] = field(default_factory=list)
    """The dotted name of the called module."""
    after: list[int] = field(default_factory=list)
    """The number of the first call that began after this one ended: a call j has ended before call i began
    exactly when after[j] <= i."""
    opaque: set[int] = field(default_factory=set)
    """Calls whose output holds something else than tensors and plain values, which can't be handed out safely."""

    def first(self, name: str) -> int | None:
        """The number of the first call of a module, None if it was never called."""
        return self.names.index(name) if name in self.names else None

    def outermost(self, limit: int, *, skip: frozenset[int] = frozenset()) -> Iterator[int]:
        """The outermost calls that ended before call `limit` began, without those in `skip`, in order.

        What is skipped or opaque is opened instead: its inner calls are taken.
        """
        call = 0
        while call < limit:
            if self.after[call] <= limit and call not in skip and call not in self.opaque:
                yield call
                call = self.after[call]
            else:
                call += 1


def tensors(value: Any) -> list[Tensor]:
    """All tensors in nested tuples, lists and dicts."""
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, Tensor)]


def is_opaque(value: Any) -> bool:
    """Whether a module's output holds something that could be changed behind our back."""
    return any(not isinstance(leaf, (Tensor, *PLAIN)) for leaf in tree_flatten(value)[0])


def map_tensors(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """The same nesting with every tensor replaced; containers are always new."""
    leaves, spec = tree_flatten(value)
    return tree_unflatten([function(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves], spec)


def same(a: Any, b: Any) -> bool:
    """Whether two outputs hold equal tensors, bit for bit but for the kind of NaN."""
    left, right = tensors(a), tensors(b)
    return len(left) == len(right) and all(
        x.shape == y.shape and x.dtype == y.dtype and bool(((x == y) | ((x != x) & (y != y))).all())  # noqa: PLR0124
        for x, y in zip(left, right, strict=True)
    )


def similar(a: Any, b: Any) -> bool:
    """Whether two outputs are equal within the rounding of another batch size."""
    left, right = tensors(a), tensors(b)
    return len(left) == len(right) and all(
        x.shape == y.shape and torch.allclose(x.double(), y.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
        for x, y in zip(left, right, strict=True)
    )


class Uses(TorchFunctionMode):
    """Notes which of the watched tensors reach a torch function while the mode is active.

    A tensor that is only passed on to a module whose own output is handed back needs no values at all.
    """

    def __init__(self) -> None:
        super().__init__()
        self.watched: dict[int, tuple[int, Tensor]] = {}
        self.used: set[int] = set()

    def watch(self, call: int, output: Any) -> None:
        """Watch the output of a call; the tensors are kept alive, so that their ids stay theirs."""
        for tensor in tensors(output):
            self.watched[id(tensor)] = (call, tensor)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Note the uses, then call through."""
        for tensor in tensors((args, kwargs or {})):
            entry = self.watched.get(id(tensor))
            if entry is not None:
                self.used.add(entry[0])
        return func(*args, **(kwargs or {}))


def state_of(module: nn.Module) -> dict[tuple[str, str], tuple[int, int]]:
    """A fingerprint of every attribute of every module: what differs afterwards was changed by the forward pass."""
    prints: dict[tuple[str, str], tuple[int, int]] = {}
    for name, child in module.named_modules():
        for key, value in vars(child).items():
            if key in ("_parameters", "_buffers"):
                for entry, tensor in value.items():
                    version = -1 if tensor is None else cast("int", tensor._version)
                    prints[name, f"{key}.{entry}"] = (id(tensor), version)
            elif key == "_modules":
                prints[name, key] = (hash(tuple(map(id, value.values()))), len(value))
            else:
                sized = isinstance(value, list | dict | set | tuple)
                prints[name, key] = (id(value), len(value) if sized else 0)
    return prints
