"""A batch holds decoded images while there is room, and gives the same ones whether it holds them or not."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from PIL import Image

from app import machine
from app.inference import batches, shelf
from app.inference.batches import PROBE_SIZE, Batches
from app.inference.shelf import Shelf


class Pictures:
    """Seeded images of two sizes that count how often they are decoded."""

    def __init__(self) -> None:
        self.decoded: list[int] = []

    def __len__(self) -> int:
        return 5

    def load(self, case: int) -> Image.Image:
        self.decoded.append(case)
        levels = np.random.default_rng(case).integers(0, 256, (8, 8 + 4 * (case == 3), 3), dtype=np.uint8)
        return Image.fromarray(levels)


@pytest.mark.parametrize(("room", "held"), [(0, 0), (1, 1), (8 * 8 * 4 * 2, 2), (2**20, 5)])
def test_images_are_the_same_held_or_not(room, held):
    pictures = Pictures()
    found = Shelf(pictures.load, range(5), room)
    assert pictures.decoded == list(range(held))
    again = Pictures()
    for _ in range(2):
        assert [image.tobytes() for image in found] == [again.load(case).tobytes() for case in range(5)]
    assert len(pictures.decoded) == held + 2 * (5 - held)
    assert (len(found), found[-1].size, [each.size for each in found[2:4]]) == (5, (8, 8), [(8, 8), (12, 8)])
    assert [each.tobytes() for each in pickle.loads(pickle.dumps(found))] == [
        each.tobytes() for each in found
    ]


def test_a_loader_that_fails_is_heard():
    def load(case: int) -> Image.Image:
        raise IndexError(f"no case {case}")

    with pytest.raises(IndexError, match="no case 0"):
        list(Shelf(load, range(3)))


def test_batches_without_room_are_equal(monkeypatch):
    whole = [each.tobytes() for batch in range(3) for each in Batches(Pictures(), 3)[batch].images]
    monkeypatch.setattr(shelf, "ROOM", 0)
    pictures = Pictures()
    tight = Batches(pictures, 3)
    assert [each.tobytes() for batch in range(3) for each in tight[batch].images] == whole
    assert len(whole) == 5 + PROBE_SIZE
    assert len(pictures.decoded) == 5 + 1  # noise has the size of the first image, which is looked at once


def test_many_workers_share_the_memory(monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: 36 * 2**30)
    assert shelf.room(0) == shelf.ROOM
    assert shelf.room(4) == 2**30
    monkeypatch.setattr(machine, "cores", lambda: 2)
    assert Batches(Pictures(), 1).loader(999).num_workers == 2
    assert Batches(Pictures(), 1, [0]).loader(999).num_workers == 1
    assert batches.Batches(Pictures(), 1).loader(0).num_workers == 0
