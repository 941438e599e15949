import numpy as np
import pytest

from app.records import Predictions
from app.scoring.discordance import compare

LABELS = np.array([0, 1, 2, 0])


def predictions(*rows):
    top1 = np.array(rows, dtype=np.int32)
    return Predictions(top1, np.full(top1.shape, 0.5, np.float32), np.ones(top1.shape, np.float32))


ORIGINAL = predictions([0, 1, 0, 1])


def test_by_hand():
    found = compare(
        ORIGINAL, [predictions([1, 1, 2, 1]), predictions([0, 0, 0, 0], [1, 0, 2, 1]), None], LABELS
    )
    assert found.right.tolist() == [True, True, False, False]
    assert found.lost.tolist() == [[1, 0, 0, 0], [1, 2, 0, 0], [0, 0, 0, 0]]
    assert found.gained.tolist() == [[0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert found.repetitions.tolist() == [1, 2, 1]
    assert (found.mutants, found.cases) == (3, 4)
    assert found.take(np.array([2, 0])).gained.tolist() == [[1, 0], [1, 0], [0, 0]]
    assert found.select(np.array([1])).lost.tolist() == [[1, 2, 0, 0]]


def test_many_repetitions_are_counted_in_full():
    found = compare(ORIGINAL, [predictions(*[[1, 1, 2, 1]] * 300), predictions([1, 0, 2, 1])], LABELS)
    assert found.lost.tolist() == [[300, 0, 0, 0], [1, 1, 0, 0]]


def test_no_mutant_and_no_case():
    assert compare(ORIGINAL, [], LABELS).lost.shape == (0, 4)
    nothing = predictions([])
    assert compare(nothing, [nothing], LABELS[:0]).gained.shape == (1, 0)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="mutant"):
        compare(ORIGINAL, [predictions([0, 1])], LABELS)
    with pytest.raises(ValueError, match="original"):
        compare(predictions([0, 1, 0, 1], [0, 1, 0, 1]), [], LABELS)
