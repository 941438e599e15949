"""Exact groups and near duplicates inside a split."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from app.integrity import near_duplicates
from app.integrity.duplicates import diluted, exact_groups


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=30))
def test_groups_against_a_dictionary(rows):
    digests = np.zeros((len(rows), 32), dtype=np.uint8)
    digests[:, 31] = [content for content, _ in rows]  # differ in the last byte only
    readable = np.array([ok for _, ok in rows], dtype=np.bool_)
    expected: dict[int, list[int]] = {}
    for row, (content, ok) in enumerate(rows):
        if ok:
            expected.setdefault(content, []).append(row)
    found = [group.tolist() for group in exact_groups(digests, readable)]
    assert found == [group for group in expected.values() if len(group) > 1]


def test_copies_and_blanks_are_out_and_the_rest_is_counted(scanned, make_scene):
    scenes = [make_scene(seed) for seed in range(4)]
    lighter = scenes[0].point(lambda level: min(level + 3, 255))
    blanks = [Image.new("L", (80, 70), tone) for tone in (3, 90, 200)]
    scan = scanned("train", [*scenes, lighter, scenes[3], *blanks])
    found = near_duplicates(scan)
    assert (found.n, found.exact, found.near_empty) == (4, 2, 3)
    hashes = [int(scan.hashes[row]) for row in (0, 1, 2, 4)]
    expected = [bin(a ^ b).count("1") for a, b in itertools.combinations(hashes, 2)]
    assert found.histogram == tuple(np.bincount(expected, minlength=65).tolist())
    assert found.near == 1
    assert found.weak == sum(5 < d <= 14 for d in expected)
    assert not found.signal_diluted


def test_blank_pictures_of_one_content_count_once_as_copies(scanned):
    found = near_duplicates(scanned("train", [Image.new("L", (70, 70), 8)] * 3))
    assert (found.n, found.exact, found.near_empty, sum(found.histogram)) == (0, 3, 0, 0)
    assert not found.signal_diluted


def test_a_set_without_variety_is_diluted(scanned, make_scene):
    rng = np.random.default_rng(0)
    base = np.asarray(make_scene(0).convert("L")).astype(int)
    images = [
        Image.fromarray(np.clip(base + rng.integers(0, 3, base.shape), 0, 255).astype(np.uint8))
        for _ in range(6)
    ]
    found = near_duplicates(scanned("train", images))
    assert found.near == 15
    assert found.signal_diluted


@pytest.mark.parametrize(("narrow", "n", "expected"), [(4, 4, True), (3, 4, False), (0, 0, False)])
def test_diluted_is_one_narrow_pair_an_image(narrow, n, expected):
    counts = np.zeros(65, dtype=np.int64)
    counts[2], counts[3] = narrow, 100
    assert diluted(counts, n) is expected


def test_an_empty_split(scanned):
    found = near_duplicates(scanned("train", []))
    assert (found.n, found.near, found.weak, found.signal_diluted) == (0, 0, 0, False)
    assert len(found.histogram) == 65
