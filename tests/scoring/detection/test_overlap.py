import numpy as np
import pytest

from app.scoring.detection.overlap import areas, cell_pairs, iou_matrix, pair_blocks, paired_iou


def test_iou_by_hand():
    boxes = np.array(
        [[0, 0, 10, 10], [0, 0, 10, 5], [10, 0, 20, 10], [30, 30, 40, 40], [5, 5, 5, 5]], dtype=float
    )
    expected = [1.0, 0.5, 0.0, 0.0, 0.0]
    assert iou_matrix(boxes[:1], boxes)[0].tolist() == expected
    assert areas(boxes).tolist() == [100, 50, 100, 100, 0]
    assert paired_iou(boxes[4:], boxes[4:]).tolist() == [0.0]  # no union, no overlap


def test_iou_does_not_depend_on_the_order_and_nothing_gives_nothing():
    rng = np.random.default_rng(0)
    boxes = np.sort(rng.uniform(0, 9, (12, 2, 2)), axis=1).reshape(12, 4)
    matrix = iou_matrix(boxes, boxes)
    assert np.allclose(matrix, matrix.T)
    assert np.allclose(np.diag(matrix), 1)
    assert iou_matrix(boxes[:0], boxes).shape == (0, 12)


def test_pairs_stay_within_their_cells():
    left, right = cell_pairs(np.array([2, 0, 1]), np.array([1, 3, 2]))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 0), (1, 0), (2, 4), (2, 5)]


@pytest.mark.parametrize("limit", [1, 7, 10**6])
def test_blocks_hold_all_pairs_of_whole_cells(limit):
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 5, 20), rng.integers(0, 5, 20)
    blocks = list(pair_blocks(first, second, limit))
    whole = cell_pairs(first, second)
    for side in (0, 1):
        assert np.concatenate([block[1 + side] for block in blocks]).tolist() == whole[side].tolist()
    assert [len(left) for _, left, _ in blocks] == [
        int((first * second)[cells].sum()) for cells, _, _ in blocks
    ]
    assert all(len(left) < limit + 16 for _, left, _ in blocks)
    assert list(pair_blocks(first * 0, second)) == []
