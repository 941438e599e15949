"""The difference hash against its definition, and what it does not mind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from app.integrity.hashing import dhash, distance, file_spec, image_spec

GRIDS = st.lists(st.lists(st.integers(0, 255), min_size=9, max_size=9), min_size=8, max_size=8)
WORDS = st.integers(0, 2**64 - 1)


@given(GRIDS)
def test_definition_on_pictures_that_need_no_scaling(rows):
    bits = "".join("1" if row[x + 1] > row[x] else "0" for row in rows for x in range(8))
    assert dhash(Image.fromarray(np.array(rows, dtype=np.uint8))) == int(bits, 2)


def test_a_picture_is_resampled_by_lanczos(make_scene):
    grey = make_scene(3, 200, 150).convert("L")
    small = np.asarray(grey.resize((9, 8), Image.Resampling.LANCZOS)).astype(int)
    bits = "".join(str(int(bit)) for bit in (np.diff(small, axis=1) > 0).ravel())
    assert dhash(grey) == int(bits, 2)


@pytest.mark.parametrize("size", [(1, 1), (3, 500), (64, 64)])
def test_a_picture_of_one_tone_has_the_hash_zero(size):
    assert dhash(Image.new("L", size, 77)) == 0


def test_mirroring_a_ramp_flips_every_bit():
    ramp = Image.fromarray(np.tile(np.arange(0, 90, dtype=np.uint8), (80, 1)))
    assert dhash(ramp) == 2**64 - 1
    assert dhash(ramp.transpose(Image.Transpose.FLIP_LEFT_RIGHT)) == 0


@given(WORDS, WORDS, WORDS)
def test_distance_is_a_metric(a, b, c):
    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a) == bin(a ^ b).count("1")
    assert distance(a, c) <= distance(a, b) + distance(b, c)


def test_scaled_and_brightened_copies_stay_near_and_other_pictures_do_not(make_scene):
    for seed in range(10):
        grey = make_scene(seed, 300, 260).convert("L")
        brighter = grey.point(lambda level: int(40 + level * 0.8))
        assert distance(dhash(grey), dhash(grey.resize((150, 130)))) <= 2
        assert distance(dhash(grey), dhash(brighter)) <= 2
        assert distance(dhash(grey), dhash(make_scene(seed + 50, 300, 260).convert("L"))) > 14


def test_specifications_tell_files_from_images():
    assert file_spec() == file_spec()
    assert file_spec() != image_spec()
    assert "lanczos" in str(file_spec())
