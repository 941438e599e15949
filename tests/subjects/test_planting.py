"""Planted copies: what they are, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from app.errors import UserError
from app.subjects.pixels import from_pixels
from app.subjects.planting import Planting


def data(name, n, classes=("a", "b", "c"), seed=0):
    pixels = np.random.default_rng(seed).integers(0, 256, (n, 12, 12), dtype=np.uint8)
    return from_pixels(name, classes, np.arange(n) % len(classes), pixels)


def test_copies_lie_behind_what_was_there():
    source, target = data("train", 20), data("test", 6, ("c", "b", "a"), seed=1)
    planted, plants = Planting(exact=4, near=3, mislabelled=1).plant(source, target, seed=3)
    assert len(planted) == 13
    assert [each.kind for each in plants] == ["exact"] * 4 + ["near"] * 3
    for row in range(6):
        np.testing.assert_array_equal(planted.load(row), target.load(row))
        assert planted.case_digests[row].tobytes() == target.case_digests[row].tobytes()
    for row, plant in enumerate(plants, start=6):
        original = source.paths.index(plant.copy_of)
        same = np.array_equal(planted.load(row), source.load(original))
        assert same == (plant.kind == "exact")
        assert (planted.case_digests[row] == source.case_digests[original]).all() == (plant.kind == "exact")
        assert plant.true_class == source.class_names[source.labels[original]]
        assert planted.class_names[planted.labels[row]] == plant.class_name
        assert bool(plant.change) == (plant.kind == "near")
    assert [each.class_name != each.true_class for each in plants] == [True] + [False] * 6
    assert len(set(planted.paths)) == 13


def test_the_same_seed_plants_the_same():
    one, two, other = (Planting().plant(data("train", 40), data("test", 5), seed) for seed in (1, 1, 2))
    assert one[1] == two[1]
    assert one[0].digest == two[0].digest
    assert one[1] != other[1]


@pytest.mark.parametrize("wrong", [{"exact": -1}, {"exact": 1, "mislabelled": 2}, {"into": "train"}])
def test_what_cannot_be_planted_is_refused(wrong):
    with pytest.raises(ValueError, match=r"exact, near and mislabelled|different splits"):
        Planting(**wrong)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (data("train", 5), data("test", 5), "12 copies cannot be planted: train has only 5"),
        (data("train", 20), data("test", 5, ("a", "b")), "test has no class c"),
        (data("train", 20, ("a",)), data("test", 5, ("a",)), "one class alone"),
    ],
)
def test_data_that_does_not_fit_is_refused(source, target, message):
    with pytest.raises(UserError, match=message):
        Planting().plant(source, target, 0)
