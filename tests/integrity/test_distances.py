"""Distances of many hashes against the plain way, pair by pair."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.integrity import distances
from app.integrity.distances import comparisons, histogram, pairs, sweep
from app.integrity.hashing import distance

HASHES = st.lists(st.integers(0, 2**64 - 1), max_size=40)


def plain(first, second=None):
    """Every pair as {(i, j): distance}, by Python's own integers."""
    if second is None:
        return {(i, j): distance(first[i], first[j]) for i, j in itertools.combinations(range(len(first)), 2)}
    return {(i, j): distance(a, b) for i, a in enumerate(first) for j, b in enumerate(second)}


def streamed(tiles):
    return {
        (i, j): d
        for tile in tiles
        for i, j, d in zip(tile.first.tolist(), tile.second.tolist(), tile.distance.tolist(), strict=True)
    }


def array(hashes):
    return np.array(hashes, dtype=np.uint64)


def alike(n, seed=0, flips=9):
    """Hashes around one pattern, so that there are pairs at every small distance."""
    rng = np.random.default_rng(seed)
    pattern = int(rng.integers(2**63))
    return [
        pattern ^ sum(1 << int(bit) for bit in rng.choice(64, rng.integers(flips + 1), False))
        for _ in range(n)
    ]


@settings(deadline=None, max_examples=60)
@given(HASHES, st.integers(-1, 64))
def test_within_one_set(hashes, radius):
    expected = plain(hashes)
    assert streamed(pairs(array(hashes), radius=radius)) == {
        pair: d for pair, d in expected.items() if d <= radius
    }
    assert histogram(array(hashes)).tolist() == np.bincount(list(expected.values()), minlength=65).tolist()


@settings(deadline=None, max_examples=60)
@given(HASHES, HASHES, st.integers(0, 64))
def test_between_two_sets(first, second, radius):
    expected = plain(first, second)
    found = streamed(pairs(array(first), array(second), radius=radius))
    assert found == {pair: d for pair, d in expected.items() if d <= radius}
    counts = histogram(array(first), array(second))
    assert counts.tolist() == np.bincount(list(expected.values()), minlength=65).tolist()


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 13, 37])
def test_tiles_of_any_size_and_threads_change_nothing(monkeypatch, n, workers):
    monkeypatch.setattr(distances, "ROWS", 5)
    monkeypatch.setattr(distances, "COLUMNS", 12)
    monkeypatch.setattr(distances, "STRIP", 2)
    hashes, others = alike(n), alike(17, seed=1) + alike(3)
    for second in (None, others):
        expected = plain(hashes, second)
        rest = None if second is None else array(second)
        tiles = list(sweep(array(hashes), rest, radius=8, workers=workers))
        assert streamed(tiles) == {pair: d for pair, d in expected.items() if d <= 8}
        total = sum(tile.histogram for tile in tiles)
        assert total.tolist() == np.bincount(list(expected.values()), minlength=65).tolist()
        assert sum(tile.compared for tile in tiles) == len(expected)
        assert comparisons(n, None if second is None else len(second)) == len(expected)


def test_larger_than_a_tile():
    rng = np.random.default_rng(3)
    hashes = rng.integers(0, 2**64, 4_700, dtype=np.uint64)
    hashes[-9:] = hashes[:9] ^ np.uint64(0b1011)
    counts = np.zeros(65, dtype=np.int64)
    close = {}
    for row in range(len(hashes) - 1):
        bits = (hashes[row] ^ hashes[row + 1 :]).view(np.uint8).reshape(-1, 8)
        row_distances = (
            np.unpackbits(bits, axis=1).sum(axis=1)
            if row < 60
            else np.bitwise_count(hashes[row] ^ hashes[row + 1 :])
        )
        counts += np.bincount(row_distances, minlength=65)
        close |= {(row, row + 1 + int(j)): int(row_distances[j]) for j in np.flatnonzero(row_distances <= 14)}
    assert histogram(hashes, workers=2).tolist() == counts.tolist()
    assert streamed(pairs(hashes, radius=14)) == close
    assert len(close) >= 9


def test_pairs_come_in_the_same_order_with_threads(monkeypatch):
    monkeypatch.setattr(distances, "ROWS", 8)
    monkeypatch.setattr(distances, "COLUMNS", 16)
    hashes = array(alike(60))
    orders = [
        [(tile.first.tolist(), tile.second.tolist()) for tile in pairs(hashes, radius=14, workers=workers)]
        for workers in (1, 4)
    ]
    assert orders[0] == orders[1]


def test_no_more_than_a_tile_is_held_however_alike_the_hashes_are(monkeypatch):
    monkeypatch.setattr(distances, "ROWS", 8)
    monkeypatch.setattr(distances, "COLUMNS", 16)
    tiles = list(pairs(np.zeros(100, dtype=np.uint64), radius=0))
    assert max(tile.first.size for tile in tiles) <= 8 * 16
    assert sum(tile.first.size for tile in tiles) == 100 * 99 // 2


def test_the_radius_is_inclusive_and_the_extremes_count():
    hashes = array([0, 2**64 - 1, 2**14 - 1])
    assert streamed(pairs(hashes, radius=14)) == {(0, 2): 14}
    assert streamed(pairs(hashes, radius=13)) == {}
    counts = histogram(hashes)
    assert {d: int(counts[d]) for d in np.flatnonzero(counts)} == {14: 1, 50: 1, 64: 1}


def test_stopping_early_leaves_no_thread_waiting():
    stream = pairs(np.zeros(2_000, dtype=np.uint64), radius=0, workers=2)
    assert next(iter(stream)).first.size
    stream.close()
