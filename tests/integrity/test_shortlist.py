"""The best of a stream against sorting it all."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.integrity.shortlist import Shortlist

ROW = st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 20), st.integers(21, 40))


@given(st.lists(st.lists(ROW, max_size=12), max_size=8), st.integers(0, 10))
def test_against_sorting(batches, limit):
    shortlist = Shortlist(limit)
    for batch in batches:
        shortlist.offer(*np.array(batch, dtype=np.int64).reshape(-1, 4).T)
    everything = sorted(row for batch in batches for row in batch)
    assert [tuple(row) for row in shortlist.rows.tolist()] == everything[:limit]
