"""Several copies of a batch side by side: how the values inside a model grow with it.

A classifier's values have one row an image, so each tensor is repeated along its first dimension. A detector mixes
lists with one entry an image, lists with one entry a pyramid level, tensors with one row an image and tensors with
one row a proposal. Which is which is learned by comparing a pass of a batch with a pass of two copies of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor
from torch.utils._pytree import SUPPORTED_NODES

from app.inference.calls import map_tensors

Each = Callable[[Tensor, int], Tensor]
"""A new tensor with so many copies of the rows of another."""


@dataclass(frozen=True)
class Growth:
    """How a value grows with the number of copies."""

    kind: Literal["rows", "items", "same", "parts"]
    """The first dimension of a tensor; the length of a list; not at all; each part in its own way."""
    parts: tuple[Growth, ...] = ()
    """Of a container's children in order."""


ROWS, ITEMS, SAME = Growth("rows"), Growth("items"), Growth("same")


def learn(once: Any, twice: Any) -> Growth:
    """How a value grows.

    Args:
        once: as it is for some batch.
        twice: as it is for two copies of that batch, one after the other.

    Raises:
        ValueError: it grows in another way than any `Growth`.
    """
    if type(once) is not type(twice):
        raise ValueError(f"{type(once).__name__} became {type(twice).__name__}")
    if isinstance(once, Tensor):
        return _rows(once, twice)
    if isinstance(once, list) and once and len(twice) == 2 * len(once):
        return ITEMS
    if type(once) in SUPPORTED_NODES:
        flatten = SUPPORTED_NODES[type(once)].flatten_fn
        children, others = flatten(once)[0], flatten(twice)[0]
        if len(children) != len(others):
            raise ValueError(f"{len(children)} parts became {len(others)}")
        return Growth(
            "parts", tuple(learn(child, other) for child, other in zip(children, others, strict=True))
        )
    if once != twice:
        raise ValueError(f"{once!r} became {twice!r}")
    return SAME


def _rows(once: Tensor, twice: Tensor) -> Growth:
    if once.dim() != twice.dim() or once.shape[1:] != twice.shape[1:]:
        raise ValueError(f"shape {tuple(once.shape)} became {tuple(twice.shape)}")
    if once.dim() == 0 or (once.shape[0] == twice.shape[0] > 0):
        return SAME
    # about twice: the number of proposals may move by a few with the last bits
    if not 1.5 * once.shape[0] <= twice.shape[0] <= 2.5 * once.shape[0]:
        raise ValueError(f"{once.shape[0]} rows became {twice.shape[0]}")
    return ROWS


def spread(value: Any, growth: Growth | None, copies: int, each: Each) -> Any:
    """A value as it is for several copies of its batch; containers are always new.

    Args:
        value: as recorded.
        growth: how it grows; None repeats the rows of every tensor.
        copies: how many.
        each: makes the tensors.

    Raises:
        ValueError: the value has other parts than when its growth was learned.
    """
    if growth is None:
        return map_tensors(lambda tensor: each(tensor, copies), value)
    if growth.kind == "parts":
        node = SUPPORTED_NODES[type(value)]
        children, context = node.flatten_fn(value)
        parts = [
            spread(child, part, copies, each) for child, part in zip(children, growth.parts, strict=True)
        ]
        return node.unflatten_fn(parts, context)
    if growth.kind == "items":
        return [spread(item, None, 1, each) for _ in range(copies) for item in value]
    return map_tensors(lambda tensor: each(tensor, copies if growth.kind == "rows" else 1), value)


def tile(tensor: Tensor, copies: int) -> Tensor:
    """Copies of a batch, one after the other along the first dimension."""
    return tensor.repeat(copies, *[1] * (tensor.dim() - 1)) if tensor.dim() else tensor


def blank(value: float) -> Each:
    """Makes tensors of the right shape and type without memory, for whoever only passes them on."""

    def make(tensor: Tensor, copies: int) -> Tensor:
        if not tensor.is_floating_point() or tensor.dim() == 0:
            return tile(tensor, copies)
        return tensor.new_full((1,), value).expand(tensor.shape[0] * copies, *tensor.shape[1:])

    return make
