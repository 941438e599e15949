"""Clusters from a stream of pairs against a search through a graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.integrity import clusters
from app.integrity.clusters import Clusters

PAIRS = st.lists(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=8), max_size=6)


def search(n, pairs):
    """Connected components by walking from each vertex."""
    near = {i: {i} for i in range(n)}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    found = set()
    for start in range(n):
        reached, todo = set(), [start]
        while todo:
            if (at := todo.pop()) not in reached:
                reached.add(at)
                todo += near[at]
        found.add(tuple(sorted(reached)))
    return sorted(list(each) for each in found if len(each) > 1)


@pytest.mark.parametrize("spare", [-12, 65_536], ids=["merged each time", "merged at the end"])
@given(PAIRS)
def test_against_a_search(spare, batches):
    found = Clusters(12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "SPARE", spare)
        for batch in batches:
            pairs = np.array(batch, dtype=np.int64).reshape(-1, 2)
            found.join(pairs[:, 0], pairs[:, 1])
        expected = search(12, [pair for batch in batches for pair in batch])
        assert [group.tolist() for group in found.groups()] == expected


def test_what_is_held_is_bounded(monkeypatch):
    monkeypatch.setattr(clusters, "SPARE", 50)
    found = Clusters(100)
    rng = np.random.default_rng(0)
    for _ in range(200):
        found.join(rng.integers(0, 100, 40), rng.integers(0, 100, 40))
        assert found._held <= 150
    assert [group.size for group in found.groups()] == [100]


def test_many_equal_joins_do_not_cancel():
    found = Clusters(3)
    found.join(np.zeros(256, dtype=np.int64), np.full(256, 2))
    assert [group.tolist() for group in found.groups()] == [[0, 2]]


def test_nothing():
    assert Clusters(0).groups() == []
    assert Clusters(5).groups() == []
    assert [group.tolist() for group in Clusters(2).groups(least=1)] == [[0], [1]]
