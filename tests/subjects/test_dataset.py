"""Data sets: digests, parts and samples."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from app.errors import UserError
from app.subjects.dataset import ImageDataset, stratified
from app.subjects.pixels import from_pixels


def make(n: int = 10, names: tuple[str, ...] = ("a", "b"), name: str = "toy") -> ImageDataset:
    pixels = np.random.default_rng(0).integers(0, 256, (n, 4, 5)).astype(np.uint8)
    return from_pixels(name, names, np.arange(n) % len(names), pixels)


def test_equal_data_has_an_equal_digest_wherever_it_lies():
    assert make().digest == make(name="other").digest
    assert len(make().digest) == 64


def test_the_digest_does_not_depend_on_how_classes_are_numbered():
    data = make()
    pixels = np.stack([np.asarray(data.load(i)) for i in range(len(data))])
    assert from_pixels("toy", ("b", "a"), 1 - data.labels, pixels).digest == data.digest


def test_the_digest_sees_pixels_labels_and_order():
    data = make()
    pixels = np.stack([np.asarray(data.load(i)) for i in range(len(data))])
    changed = pixels.copy()
    changed[3, 2, 1] ^= 1
    relabelled = data.labels.copy()
    relabelled[0] = 1
    others = [
        from_pixels("toy", ("a", "b"), data.labels, changed),
        from_pixels("toy", ("a", "b"), relabelled, pixels),
        from_pixels("toy", ("a", "c"), data.labels, pixels),
        from_pixels("toy", ("a", "b"), data.labels, pixels.reshape(10, 5, 4)),
        data.subset(np.arange(10)[::-1]),
        data.subset(np.arange(9)),
    ]
    assert len({data.digest, *(other.digest for other in others)}) == len(others) + 1


def test_a_subset_keeps_everything_together():
    data = make()
    part = data.subset([7, 2], name="part")
    assert (part.name, len(part), part.paths) == ("part", 2, ("case-00007", "case-00002"))
    assert part.labels.tolist() == [1, 0]
    np.testing.assert_array_equal(np.asarray(part.load(0)), np.asarray(data.load(7)))
    assert part.subset([1]).digest == data.subset([2]).digest
    assert len(data.subset([])) == 0


@pytest.mark.parametrize("indices", [[10], [-1], [0.5], [[1]]])
def test_bad_indices(indices):
    with pytest.raises(ValueError, match="indices must be"):
        make().subset(indices)


def test_it_can_go_to_worker_processes():
    data = pickle.loads(pickle.dumps(make()))
    assert data.digest == make().digest
    np.testing.assert_array_equal(np.asarray(data.load(1)), np.asarray(make().load(1)))


@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    size=st.integers(1, 70),
    seed=st.integers(0, 9),
)
def test_a_stratified_sample_keeps_proportions(labels, size, seed):
    array = np.array(labels)
    chosen = stratified(array, size, seed)
    assert len(chosen) == min(size, len(labels))
    assert (np.diff(chosen) > 0).all()
    for c in set(labels):
        exact = labels.count(c) * len(chosen) / len(labels)
        assert abs((array[chosen] == c).sum() - exact) < 1
    np.testing.assert_array_equal(chosen, stratified(array, size, seed))


@pytest.mark.parametrize("name", ["", "a@b"])
def test_names_are_half_of_a_subjects(name):
    with pytest.raises(UserError, match="name must not be empty nor hold '@'"):
        make(name=name)


def test_samples_differ_by_seed_and_need_a_case():
    data = make(100)
    assert data.sample(None).digest == data.digest
    assert data.sample(10, seed=1).digest != data.sample(10, seed=2).digest
    with pytest.raises(UserError, match="max_samples must be at least 1 or null, not 0"):
        data.sample(0)


@pytest.mark.parametrize(
    ("image", "mode", "pixel"),
    [
        (Image.new("RGBA", (4, 4), (0, 0, 0, 0)), "RGB", (255, 255, 255)),
        (Image.new("LA", (4, 4), (0, 0)), "L", 255),
        (Image.fromarray(np.full((4, 4), 257 * 9, np.uint16)), "L", 9),
        (Image.new("P", (4, 4)), "RGB", (0, 0, 0)),
    ],
)
def test_a_loader_of_ones_own_may_give_any_mode_with_a_white(image, mode, pixel):
    class Own:
        def load(self, row: int) -> Image.Image:
            return image

    one = make(1, ("a",))
    found = replace(one, source=Own()).load(0)
    assert (found.mode, found.getpixel((0, 0))) == (mode, pixel)


def test_a_loader_of_ones_own_without_a_white_is_one_line():
    class Own:
        def load(self, row: int) -> Image.Image:
            return Image.new("F", (4, 4))

    one = make(1, ("a",))
    with pytest.raises(UserError, match=r"an image of mode F holds real numbers .*must give modes L or RGB"):
        replace(one, source=Own()).load(0)
