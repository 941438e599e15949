from __future__ import annotations

import pickle

import numpy as np
import pytest

from app.errors import UserError
from app.subjects.detection.scenes import SceneSource, embedded_items, scenes
from app.subjects.fashion import CLASS_NAMES, fashion


def test_a_scene_depends_on_seed_and_number_only():
    few, many = scenes(n=3, seed=5), scenes(n=6, seed=5)
    # Loaded backwards, and from a copy as a worker process has it.
    source = pickle.loads(pickle.dumps(many.source))
    for i in (2, 1, 0):
        assert few.load(i).tobytes() == many.load(i).tobytes() == source.load(i).tobytes()
        np.testing.assert_array_equal(few.boxes(i), many.boxes(i))
    assert many.subset([0, 1, 2]).digest == few.digest
    assert many.subset([4]).load(0).tobytes() == many.load(4).tobytes()
    assert scenes(n=3, seed=6).digest != few.digest


def test_the_face_of_the_data_set():
    data = scenes(n=4)
    assert (len(data), data.name, data.class_names) == (4, "scenes", CLASS_NAMES)
    assert data.paths == ("scene-00000", "scene-00001", "scene-00002", "scene-00003")
    picture = data.load(1)
    assert (picture.size, picture.mode) == ((128, 128), "RGB")
    assert scenes(n=1, name="mine").name == "mine"


def test_boxes_belong_to_the_pictures():
    data, source = scenes(n=5, seed=1), SceneSource(1)
    for i in range(5):
        scene = source.scene(i)
        np.testing.assert_array_equal(np.asarray(data.load(i)), scene.pixels)
        np.testing.assert_array_equal(data.boxes(i), scene.boxes)
        np.testing.assert_array_equal(data.labels(i), scene.labels)


def test_items_are_the_embedded_test_images():
    data, items = fashion("test"), embedded_items()
    assert len(items.labels) == 2000
    for i in (0, 999, 1999):
        np.testing.assert_array_equal(items.images[i], np.asarray(data.load(i)))
        assert items.labels[i] == data.labels[i]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be from 1 to 100,000"),
        ({"n": 10**9}, "n must be from 1"),
        ({"seed": -1}, "seed must be 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UserError, match=message):
        scenes(**options)
