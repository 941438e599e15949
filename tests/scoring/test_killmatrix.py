from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.scoring.killmatrix import KillMatrix, kill_facts

#        test cases 0 to 8, so that a row is longer than a byte
TABLE = [
    "110000000",  # 0: holds the kill set of 3
    "000000000",  # 1: killed by no case
    "000000011",  # 2: a dominator
    "010000000",  # 3: a dominator
    "010000000",  # 4: the kill set of 3 again
    "001111111",  # 5: holds the kill set of 2
]
KILLS = np.array([[int(bit) for bit in row] for row in TABLE], dtype=bool)


def facts(kills, killed=None):
    kills = np.asarray(kills, dtype=bool)
    return kill_facts(
        KillMatrix.pack(kills), kills.any(axis=1) if killed is None else np.array(killed, dtype=bool)
    )


def test_by_hand():
    found = facts(KILLS, [1, 0, 0, 1, 1, 1])
    assert found.distinct_kill_sets == 4
    assert found.dominators == (2, 3)
    assert found.minimal_mutation_score == 0.5
    assert found.smallest_suite == (1, 2)
    assert found.kills.tolist() == [1, 3, 1, 1, 1, 1, 1, 2, 2]
    assert found.kill_value[1] == pytest.approx((1 / 2 + 1 + 1) / 5)
    assert found.kill_value[8] == pytest.approx((1 / 2 + 1 / 7) / 5)
    assert found.kill_value.sum() == pytest.approx(1)
    assert found.never_killed == (1,)
    assert found.top_cases(3) == (1, 7, 8)


def test_packing():
    matrix = KillMatrix.pack(KILLS)
    np.testing.assert_array_equal(matrix.unpack(), KILLS)
    assert matrix.packed.shape == (6, 2)
    assert matrix.kills().tolist() == KILLS.sum(axis=1).tolist()
    for case in range(9):
        assert matrix.killed_by(case).tolist() == KILLS[:, case].tolist()
    assert matrix.select(np.array([2])).unpack().tolist() == [KILLS[2].tolist()]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(0, 20), st.floats(0.02, 0.6))
def test_facts_equal_those_of_plain_sets(seed, mutants, cases, density):
    kills = np.random.default_rng(seed).random((mutants, cases)) < density
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in kills]
    distinct = {each for each in sets if each}
    minimal = {each for each in distinct if not any(other < each for other in distinct)}
    found = facts(kills)
    assert found.distinct_kill_sets == len(distinct)
    assert found.dominators == tuple(sorted(sets.index(each) for each in minimal))
    assert found.never_killed == tuple(i for i, each in enumerate(sets) if not each)
    assert found.kills.tolist() == kills.sum(axis=0).tolist()
    assert all(each & set(found.smallest_suite) for each in distinct)
    # Greedy covers are at most 1 + ln(most kills) times the smallest (Chvátal 1979).
    if distinct:
        smallest = next(
            size
            for size in range(1, cases + 1)
            if any(all(each & set(some) for each in minimal) for some in combinations(range(cases), size))
        )
        assert len(found.smallest_suite) <= smallest * (1 + np.log(found.kills.max()))
        assert found.minimal_mutation_score == 1


def test_no_mutant_no_case_no_kill():
    for shape in ((0, 5), (3, 0), (3, 5), (0, 0)):
        found = facts(np.zeros(shape))
        assert (found.distinct_kill_sets, found.dominators, found.smallest_suite) == (0, (), ())
        assert np.isnan(found.minimal_mutation_score)
        assert found.kills.tolist() == [0] * shape[1]
        assert found.never_killed == tuple(range(shape[0]))
        assert found.top_cases(3) == ()


def test_a_killed_mutant_without_killing_case_asks_for_none():
    assert facts([[0, 0], [0, 1]], [1, 1]).smallest_suite == (1,)
