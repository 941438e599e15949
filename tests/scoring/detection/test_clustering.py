import numpy as np
import pytest

from app.scoring.detection.clustering import one_each, single_linkage
from app.scoring.detection.overlap import iou_matrix


def boxes_near(seed, count=25):
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, 60, (count, 2))
    return np.hstack([corner, corner + 40])


@pytest.mark.parametrize("seed", range(6))
def test_single_linkage_equals_dbscan_with_one_sample(seed):
    cluster = pytest.importorskip("sklearn.cluster")
    boxes = boxes_near(seed)
    distance = 1 - iou_matrix(boxes, boxes)
    expected = cluster.DBSCAN(eps=0.5, min_samples=1, metric="precomputed").fit_predict(distance)
    assert single_linkage(boxes, np.zeros(len(boxes), dtype=int), 0.5).tolist() == expected.tolist()


def test_images_are_never_linked():
    boxes = np.array([[0, 0, 10, 10]] * 4, dtype=float)
    assert single_linkage(boxes, np.array([0, 0, 1, 3]), 0.5).tolist() == [0, 0, 1, 2]
    assert single_linkage(boxes[:0], np.zeros(0, dtype=int), 0.5).tolist() == []


def test_a_chain_is_one_cluster_by_single_linkage_and_falls_apart_by_complete_linkage():
    # neighbours overlap by .54, next but one by .25
    boxes = np.array([[x, 0, x + 40, 40] for x in (0, 12, 24, 36)], dtype=float)
    nobody = np.zeros(4, dtype=int)
    assert single_linkage(boxes, nobody, 0.5).tolist() == [0, 0, 0, 0]
    assert one_each(boxes, nobody, np.arange(4), 0.5).tolist() == [0, 0, 1, 1]


def test_one_of_each_repetition():
    boxes = np.array([[0, 0, 10, 10]] * 4, dtype=float)
    assert one_each(boxes, np.zeros(4, dtype=int), np.array([0, 0, 1, 1]), 0.5).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("seed", range(10))
def test_clusters_hold_one_block_one_of_a_repetition_and_only_near_boxes(seed):
    rng = np.random.default_rng(seed)
    boxes, blocks = boxes_near(seed, 40), np.sort(rng.integers(0, 3, 40))
    repetitions = rng.integers(0, 5, 40)
    found = one_each(boxes, blocks, repetitions, 0.5)
    iou = iou_matrix(boxes, boxes)
    assert found.max() < 39  # something was joined
    for number in range(found.max() + 1):
        rows = np.flatnonzero(found == number)
        assert len(set(blocks[rows])) == 1
        assert len(set(repetitions[rows])) == len(rows)
        assert (iou[np.ix_(rows, rows)] >= 0.5).all()


def test_nothing_to_cluster():
    none = np.zeros(0, dtype=int)
    assert one_each(np.zeros((0, 4)), none, none, 0.5).tolist() == []
