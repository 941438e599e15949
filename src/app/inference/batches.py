"""Test cases in batches that stay the same whatever ranks, resumed runs or mutants share them.

A loader's item is a whole batch, so devices share batches and not cases: a batch has the same rows, and so the same
bits, on any number of devices, and an interrupted run goes on with the batches it lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

from app import machine
from app.errors import UserError
from app.inference.shelf import Shelf, room

PROBE_SIZE = 16
"""Noise images that follow the test cases: a mutant that moves no output on both changes nothing."""


def limits_of(module: nn.Module) -> tuple[int, int | None]:
    """The fewest and the most images that a model takes at once; None for no upper limit.

    An exported program may have such limits; they lie on its module as `batch_limits`.
    """
    low, high = vars(module).get("batch_limits", (1, None))
    return low, high


def fitting(wanted: int, cases: int, limits: tuple[int, int | None]) -> int:
    """The largest batch size up to the wanted one with which every batch of the test cases is within the limits.

    Args:
        wanted: test cases a batch.
        cases: number of test cases.
        limits: of the model.

    Raises:
        UserError: there are fewer test cases than the model takes at least, or no batch size fits.
    """
    low, high = limits
    most = wanted if high is None else min(wanted, high)
    if low <= 1:
        return most
    for size in range(min(max(most, low), cases if high is None else min(cases, high)), low - 1, -1):
        if cases % size == 0 or cases % size >= low:
            return size
    raise UserError(
        f"the exported program takes {low}{'' if high is None else f' to {high}'} images at once, and no batch size of "
        f"that kind fits {cases} test cases: export it with dynamic_shapes=({{0: torch.export.Dim('batch')}},), or "
        "choose another dataset.max_samples"
    )


def noise_images(limits: tuple[int, int | None]) -> int:
    """How many noise images make up the last batch."""
    low, high = limits
    return max(PROBE_SIZE if high is None else min(PROBE_SIZE, high), low)


class Images(Protocol):
    """Where images come from."""

    def __len__(self) -> int:
        """Number of test cases."""
        ...

    def load(self, index: int, /) -> Image.Image:
        """The decoded image of a test case."""
        ...


@dataclass(frozen=True)
class Batch:
    """One batch as the loader hands it out."""

    number: int
    """Which batch of the plan; -1 for filling up when there are fewer batches than ranks."""
    cases: NDArray[np.int64]
    """(B,) indices; those from N on are the noise images."""
    images: Sequence[Image.Image]
    """B decoded images."""


class Batches(Dataset[Batch]):
    """The batches that are still to do.

    Args:
        images: the test cases.
        size: test cases a batch.
        todo: numbers of the batches to hand out; None for all.
        ranks: hand out at least so many, empty ones if need be, since each rank wants one.
        noise: how many noise images the last batch has.
    """

    def __init__(
        self,
        images: Images,
        size: int,
        todo: Sequence[int] | None = None,
        ranks: int = 1,
        noise: int = PROBE_SIZE,
    ) -> None:
        self.images = images
        self.size = size
        self.noise = noise
        self.todo = list(range(self.count(len(images), size)) if todo is None else todo)
        self.todo += [-1] * (ranks - len(self.todo))
        self._room = room(0)
        self._noise_shape: tuple[int, ...] | None = None

    @staticmethod
    def count(cases: int, size: int) -> int:
        """How many batches there are: those of the test cases, and one of noise."""
        return -(-cases // size) + 1

    def __len__(self) -> int:
        return len(self.todo)

    def __getitem__(self, index: int) -> Batch:
        number, cases = self.todo[index], len(self.images)
        if number < 0:
            return Batch(-1, np.empty(0, dtype=np.int64), [])
        last = self.count(cases, self.size) - 1
        first, stop = (
            (cases, cases + self.noise) if number == last else (number * self.size, (number + 1) * self.size)
        )
        chosen = np.arange(first, stop if number == last else min(stop, cases))
        return Batch(number, chosen, Shelf(self._load, chosen.tolist(), self._room))

    def _load(self, case: int) -> Image.Image:
        if case < len(self.images):
            return self.images.load(case)
        if self._noise_shape is None:
            like = self.images.load(0)
            bands = [] if like.mode == "L" else [len(like.getbands())]
            self._noise_shape = (like.height, like.width, *bands)
        rng, shape = np.random.default_rng([0x5EED, case - len(self.images)]), self._noise_shape
        return Image.fromarray(rng.integers(0, 256, size=shape, dtype=np.uint8))

    def loader(self, workers: int = 0) -> DataLoader[Batch]:
        """A loader whose items are batches; no more processes decode them than there are cores and batches."""
        used = machine.helpers(workers, len(self))
        self._room = room(used)
        return DataLoader(self, batch_size=1, collate_fn=_only, num_workers=used)


def _only(items: list[Batch]) -> Batch:
    return items[0]
