from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.errors import UserError
from app.subjects.detection.coco import coco
from app.subjects.detection.dataset import NOTHING, Objects, drawn
from app.subjects.detection.voc import voc
from app.subjects.detection.yolo import yolo


@pytest.fixture
def data(written):
    return coco(written.coco(), written.images)


def test_equal_data_has_an_equal_digest_in_every_format(written, data):
    others = [
        yolo(written.images, written.yolo(), class_names=["emu", "dog", "cat"][::-1]),
        voc(written.voc(), written.images),
    ]
    for other in others:
        assert other.digest == data.digest
        assert other.paths == data.paths
        assert other.class_names == data.class_names == ("cat", "dog", "emu")
        for i in range(4):
            np.testing.assert_allclose(other.boxes(i), data.boxes(i), atol=1e-12)
            np.testing.assert_array_equal(other.labels(i), data.labels(i))


def test_what_changes_the_digest(data):
    def changed(i, objects):
        return replace(data, objects=(*data.objects[:i], objects, *data.objects[i + 1 :]))

    first = data.objects[0]
    turned = Objects(first.boxes[::-1], first.labels[::-1])
    assert changed(0, turned).digest == data.digest
    others = [
        changed(0, Objects(first.boxes, first.labels[::-1])),
        changed(0, Objects(first.boxes + 1, first.labels)),
        changed(0, NOTHING),
        replace(data, ignored=(NOTHING, data.objects[2], NOTHING, NOTHING)),
        replace(data, class_names=("cat", "fox", "emu")),
        data.subset([1, 0, 2, 3]),
        data.subset([0, 1, 2]),
    ]
    assert len({each.digest for each in [data, *others]}) == 1 + len(others)
    assert replace(data, name="other", class_names=(*data.class_names, "unused")).digest == data.digest


def test_the_face_of_a_data_set(data):
    assert (len(data), data.num_objects, data.name) == (4, 6, "coco")
    assert data.boxes(0).dtype == np.float64
    assert data.boxes(1).shape == (0, 4)
    assert data.labels(1).shape == (0,)
    assert data.labels(3).tolist() == [0, 0, 1]
    assert data.load(2).size == (40, 20)
    assert all(len(each) == 0 for each in data.ignored)


def test_a_subset_keeps_cases_together(data):
    part = data.subset(np.array([3, 0]), name="part")
    assert (part.name, part.paths) == ("part", ("sub/d.png", "a.png"))
    np.testing.assert_array_equal(part.boxes(0), data.boxes(3))
    assert part.load(1).tobytes() == data.load(0).tobytes()
    np.testing.assert_array_equal(part.case_digests, data.case_digests[[3, 0]])
    assert len(data.subset([])) == 0


@pytest.mark.parametrize("indices", [[4], [-1], [0.5], [[0]]])
def test_bad_indices(data, indices):
    with pytest.raises(ValueError, match="indices must be"):
        data.subset(indices)


def test_samples(data):
    assert data.sample(None).digest == data.digest == data.sample(9).digest
    part = data.sample(2, seed=1)
    assert part.paths == data.sample(2, seed=1).paths
    assert list(part.paths) == sorted(part.paths)
    with pytest.raises(UserError, match="max_samples must be at least 1 or null, not 0"):
        data.sample(0)


def test_draws_are_even():
    counts = sum(np.bincount(drawn(5, 2, seed), minlength=5) for seed in range(500))
    # Binomial(500, 0.4) has a deviation of 11.
    assert (abs(counts - 200) < 50).all()


def test_objects_check_their_shapes():
    assert len(Objects(np.zeros((2, 4)), np.zeros(2, dtype=np.int64))) == 2
    with pytest.raises(ValueError, match=r"\(K, 4\) boxes"):
        Objects(np.zeros((2, 4)), np.zeros(1, dtype=np.int64))


def test_parts_must_fit_together(data):
    with pytest.raises(ValueError, match="one entry a test case"):
        replace(data, paths=("a",))
