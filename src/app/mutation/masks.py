"""Random masks that depend on what they are for, and on nothing else.

A value is a hash of (mutant seed, site, call, test case, repetition, element): the same whatever the batch
size, the order of the rows, the number of workers, the memory layout or the device. Everything is wrap-around
integer arithmetic, which is exact everywhere. Elements count in logical (C, H, W) order.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

_MULTIPLIERS: Final = (-1640531535, 2146121005, -2073254261)  # odd: 2^32 / golden ratio, and two of lowbias32
_SIXTY_FOUR: Final = (
    -7046029254386353131,
    -4658895280553007687,
    -7723592293110705685,
)  # SplitMix64's constants
_BLOCK = {
    "cpu": 1 << 17,
    "cuda": 1 << 26,
}  # elements hashed at once: what a core's cache, or a fair share, holds


def row_keys(seed: int, site: str, call: int, cases: Tensor, repetitions: Tensor) -> Tensor:
    """(B, 2) int32: two hash words for each row, from all that names it.

    Args:
        seed: of the mutant.
        site: dotted module name.
        call: how many tensors of this site came before.
        cases: (B,) whole numbers.
        repetitions: (B,) whole numbers.
    """
    digest = hashlib.blake2b(f"{seed}:{call}:{site}".encode(), digest_size=8).digest()
    key = _mix(cases.to(torch.int64) * _SIXTY_FOUR[0] + int.from_bytes(digest, "little", signed=True))
    key = _mix(key ^ _mix(repetitions.to(torch.int64) * _SIXTY_FOUR[0] + 1))
    low = (key << 32) >> 32  # sign-extended, so that the narrowing keeps the value
    return torch.stack([low, key >> 32], dim=1).to(torch.int32)


def uniforms(keys: Tensor, count: int) -> Tensor:
    """(B, count) float32 in [0, 1): multiples of 2^-24, one for each row and element."""
    values = torch.empty((len(keys), count), dtype=torch.float32, device=keys.device)
    for rows, columns, elements in _blocks(len(keys), count, keys.device):
        words = _words(keys[rows], elements)
        values[rows, columns] = words.bitwise_right_shift_(8).bitwise_and_(0xFFFFFF) * 2.0**-24
    return values


def bernoulli(keys: Tensor, count: int, probability: float) -> Tensor:
    """(B, count) bool: true with a probability, for each row and element on its own."""
    hits = torch.empty((len(keys), count), dtype=torch.bool, device=keys.device)
    threshold = round(probability * 2**32) - 2**31
    if threshold >= 2**31:
        return hits.fill_(True)
    for rows, columns, elements in _blocks(len(keys), count, keys.device):
        hits[rows, columns] = _words(keys[rows], elements) < threshold
    return hits


def dropout(tensor: Tensor, keys: Tensor, rate: float) -> Tensor:
    """A copy with each element set to 0 with probability `rate` and the others divided by 1 - rate.

    Args:
        tensor: (B, ...).
        keys: (B, 2) from `row_keys`.
        rate: in [0, 1).
    """
    dropped = bernoulli(keys, math.prod(tensor.shape[1:]), rate).view(tensor.shape)
    return (tensor * (1 / (1 - rate))).masked_fill_(dropped, 0)


def drop_block(tensor: Tensor, keys: Tensor, rate: float, block: int) -> Tensor:
    """A copy with square blocks set to 0 in each channel, and the rest of each row scaled up.

    DropBlock (Ghiasi et al. 2018, algorithm 1 and equation 1), where each row is scaled by its own number of
    elements over those kept. The block shrinks to the largest odd size that fits the map. A tensor that is no
    map, (B, C) or (B, N, C), gets `dropout`.

    Args:
        tensor: (B, C, H, W).
        keys: (B, 2) from `row_keys`.
        rate: share of elements to drop, in [0, 1).
        block: odd edge length.
    """
    if tensor.dim() != 4 or 0 in tensor.shape:
        return dropout(tensor, keys, rate)
    batch, channels, height, width = tensor.shape
    fits = min(block, height, width)
    block = fits - (fits + 1) % 2
    inner = (height - block + 1, width - block + 1)
    gamma = min(1.0, rate * height * width / (block**2 * inner[0] * inner[1]))
    centres = bernoulli(keys, channels * inner[0] * inner[1], gamma).view(batch, channels, *inner)
    dropped = _grown(centres, block)
    count = channels * height * width
    kept = count - dropped.flatten(1).sum(dim=1)
    scale = torch.where(kept > 0, count / kept.clamp(min=1).double(), 0.0).to(tensor.dtype)
    return (tensor * scale.view(batch, 1, 1, 1)).masked_fill_(dropped, 0)


def _grown(centres: Tensor, block: int) -> Tensor:
    """(B, C, H, W) bool: the first corner of every block, grown to the whole block along each axis.

    By doubling, on bytes: with a maximum pool of floats instead, `drop_block` takes four times as long on a CPU.
    """
    grown = functional.pad(centres, (0, block - 1, 0, block - 1))
    for axis in (2, 3):
        reach = 1
        while reach < block:
            step = min(reach, block - reach)
            length = grown.shape[axis] - step
            wider = grown.clone()
            wider.narrow(axis, step, length).logical_or_(grown.narrow(axis, 0, length))
            grown = wider
            reach += step
    return grown


def _mix(words: Tensor) -> Tensor:
    """SplitMix64's finaliser on int64 words."""
    words = (words ^ ((words >> 30) & 0x3FFFFFFFF)) * _SIXTY_FOUR[1]
    words = (words ^ ((words >> 27) & 0x1FFFFFFFFF)) * _SIXTY_FOUR[2]
    return words ^ ((words >> 31) & 0x1FFFFFFFF)


def _elements(span: slice, device: torch.device) -> Tensor:
    """(n,) int32: the element numbers of a span, each scrambled (lowbias32 of C. Wellons, a bijection)."""
    words = torch.arange(span.start, span.stop, dtype=torch.int32, device=device)
    for shift, keep, factor in ((16, 0xFFFF, _MULTIPLIERS[1]), (15, 0x1FFFF, _MULTIPLIERS[2])):
        words = (words ^ ((words >> shift) & keep)) * factor
    return words ^ ((words >> 16) & 0xFFFF)


def _words(keys: Tensor, elements: Tensor) -> Tensor:
    """(B, n) int32 hash words: two rounds of multiply, add a key word, fold the high half down; in place."""
    words = torch.add(keys[:, :1], elements, alpha=_MULTIPLIERS[0])
    folded = (words >> 16).bitwise_and_(0xFFFF)
    words.bitwise_xor_(folded)
    torch.add(keys[:, 1:], words, alpha=_MULTIPLIERS[1], out=words)
    torch.bitwise_right_shift(words, 15, out=folded).bitwise_and_(0x1FFFF)
    return words.bitwise_xor_(folded).mul_(_MULTIPLIERS[2])


def _blocks(batch: int, count: int, device: torch.device) -> Iterator[tuple[slice, slice, Tensor]]:
    """Rows, columns and scrambled element numbers of blocks that cover (batch, count)."""
    size = _BLOCK.get(device.type, _BLOCK["cuda"])
    for left in range(0, count, size):
        columns = slice(left, min(left + size, count))
        elements = _elements(columns, device)
        high = max(1, size // len(elements))
        for top in range(0, batch, high):
            yield slice(top, min(top + high, batch)), columns, elements
