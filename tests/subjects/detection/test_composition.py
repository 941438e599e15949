from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.subjects.detection.composition import FEWEST, MAX_COVERED, MOST, SCALES, SIZE, Items, compose


def squares():
    """Item k is a bright rectangle of 8 by 4 (k + 1) pixels in the class k."""
    images = np.zeros((5, 28, 28), dtype=np.uint8)
    for k in range(5):
        images[k, 3 : 7 + 4 * k, 5:13] = 200 + k
    return Items(images, np.arange(5))


ITEMS = squares()
seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_boxes_are_the_items_extents(seed):
    scene = compose(ITEMS, np.random.default_rng(seed))
    assert scene.pixels.shape == (SIZE, SIZE, 3)
    assert scene.pixels.dtype == np.uint8
    assert FEWEST <= len(scene.labels) <= MOST
    assert (scene.boxes[:, :2] >= 0).all()
    assert (scene.boxes[:, 2:] <= SIZE).all()
    sides = scene.boxes[:, 2:] - scene.boxes[:, :2]
    own = np.stack([np.full(len(scene.items), 8), 4 * (scene.items + 1)], axis=1)
    assert (sides >= np.floor(own * SCALES[0])).all()
    assert (sides <= np.ceil(own * SCALES[1])).all()
    np.testing.assert_array_equal(scene.labels, scene.items)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_boxes_hardly_cover_each_other(seed):
    boxes = compose(ITEMS, np.random.default_rng(seed), most=30).boxes
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
            areas = [np.prod(each[2:] - each[:2]) for each in (one, other)]
            assert np.prod(np.clip(sides, 0, None)) <= MAX_COVERED * min(areas)


def test_items_are_drawn_where_their_boxes_are():
    # Black items on no texture at all are not possible; bright ones change the picture inside their boxes only.
    empty = Items(np.zeros((5, 28, 28), np.uint8), np.arange(5))
    assert empty.images.max() == 0
    inside, outside = [], []
    for seed in range(20):
        scene = compose(ITEMS, np.random.default_rng(seed))
        covered = np.zeros((SIZE, SIZE), dtype=bool)
        for x1, y1, x2, y2 in scene.boxes.astype(int):
            covered[y1:y2, x1:x2] = True
        inside.append(scene.pixels[covered].max(axis=-1).mean())
        outside.append(scene.pixels[~covered].max(axis=-1).mean())
    assert np.mean(inside) > 150
    assert np.mean(outside) < 100


def test_every_number_and_class_comes_up():
    scenes = [compose(ITEMS, np.random.default_rng(seed)) for seed in range(100)]
    assert {len(scene.labels) for scene in scenes} == set(range(FEWEST, MOST + 1))
    counts = np.bincount(np.concatenate([scene.labels for scene in scenes]), minlength=5)
    assert (counts > counts.sum() / 5 * 0.7).all()


def test_an_item_without_a_place_is_left_out():
    large = Items(np.full((1, 64, 64), 255, np.uint8), np.zeros(1, np.int64))
    counts = {len(compose(large, np.random.default_rng(seed), most=30).labels) for seed in range(10)}
    assert max(counts) <= 4
    assert min(counts) >= 1


def test_bad_items():
    with pytest.raises(ValueError, match="not empty"):
        Items(np.zeros((0, 28, 28), np.uint8), np.zeros(0, np.int64))
    with pytest.raises(ValueError, match=r"\(M, H, W\)"):
        Items(np.zeros((2, 28, 28), np.uint8), np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="at most 64 pixels"):
        Items(np.zeros((2, 65, 28), np.uint8), np.zeros(2, np.int64))
