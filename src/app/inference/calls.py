"""The calls that a model's modules make during one forward pass, in order, and what may be handed back of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_unflatten

SMALL = 4096
"""Numbers in a list of tensors that are compared rather than its identity."""
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
    sizes: dict[int, int] = field(default_factory=dict)
    """Bytes of each call's output, where it was looked at."""
    work: dict[int, int] = field(default_factory=dict)
    """Multiplications of each call of a convolution or linear layer, where it was looked at."""

    def look(self, call: int, module: nn.Module, output: Any) -> None:
        """Note what a call made."""
        self.sizes[call] = sum(tensor.nbytes for tensor in tensors(output))
        self.work[call] = work_of(module, output)

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


def work_of(module: nn.Module, output: Any) -> int:
    """Multiplications that a convolution or linear layer does for its output; 0 for any other module."""
    weight = module._parameters.get("weight")
    if weight is None or weight.dim() < 2 or not isinstance(output, Tensor):
        return 0
    channels = getattr(module, "out_channels", getattr(module, "out_features", None))
    return output.numel() * weight.numel() // channels if channels else 0


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
        self._shapes = {Tensor.shape.__get__, Tensor.dtype.__get__, Tensor.device.__get__}  # type: ignore[attr-defined]  # getters
        self._shapes |= {Tensor.size, Tensor.dim, Tensor.numel, Tensor.__len__, Tensor.is_floating_point}
        self._views = {torch.flatten, torch.reshape, Tensor.flatten, Tensor.reshape, Tensor.view}

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
        """Note the uses, then call through. Asking for a shape is no use, and what is reshaped is watched on."""
        entries = [self.watched.get(id(tensor)) for tensor in tensors((args, kwargs or {}))]
        calls = [entry[0] for entry in entries if entry is not None]
        if func in self._shapes:
            calls = []
        output = func(*args, **(kwargs or {}))
        if calls and func in self._views:
            self.watch(calls[0], output)
        else:
            self.used.update(calls)
        return output


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
                prints[name, key] = (_content(value) or id(value), len(value) if sized else 0)
    return prints


def _content(value: Any) -> int:
    """A hash of the numbers in a short list of tensors, which may be made anew without being another; else 0."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, Tensor) for item in value):
        return 0
    if sum(item.numel() for item in value) > SMALL:
        return 0
    numbers = tuple((tuple(item.shape), item.detach().cpu().double().numpy().tobytes()) for item in value)
    return hash((type(value), numbers))
