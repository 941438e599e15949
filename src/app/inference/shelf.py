"""Images of a batch, of which no more are held decoded at a time than memory has room for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from PIL import Image

from app import machine

ROOM = 2**29
"""Bytes of decoded images that one process holds of a batch."""


def room(workers: int) -> int:
    """Bytes of decoded images that a batch may hold where so many processes each prepare two of them ahead."""
    has = machine.memory()
    return ROOM if not workers or has is None else max(has // 4 // (2 * workers + 1), 2**28)


class Shelf(Sequence[Image.Image]):
    """Images, decoded in their order while there is room; those behind are decoded whenever they are asked for.

    Args:
        load: gives an image of a case.
        cases: the cases, in order.
        room: bytes of decoded images that are held.
    """

    def __init__(self, load: Callable[[int], Image.Image], cases: Sequence[int], room: int = 0) -> None:
        self._cases = [int(case) for case in cases]
        self._held: list[Image.Image] = []
        for case in self._cases:
            if room <= 0:
                break
            self._held.append(load(case))
            room -= _bytes(self._held[-1])
        # what is complete is sent between processes without what it came from
        self._load = None if len(self._held) == len(self._cases) else load

    def __len__(self) -> int:
        return len(self._cases)

    @overload
    def __getitem__(self, place: int) -> Image.Image: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Image.Image]: ...
    def __getitem__(self, place: int | slice) -> Image.Image | Sequence[Image.Image]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return (
            self._held[place]
            if self._load is None or place < len(self._held)
            else self._load(self._cases[place])
        )

    def __iter__(self) -> Iterator[Image.Image]:
        return map(self.__getitem__, range(len(self)))  # whatever a loader raises, IndexError too, comes out


def _bytes(image: Image.Image) -> int:
    """Pillow keeps a pixel of colour in four bytes."""
    return image.width * image.height * (1 if image.mode == "L" else 4)
