"""Boxes back from moved images, checked with pictures that the operators themselves have moved."""

import numpy as np
import pytest
from PIL import Image, ImageDraw
from torch import nn

from app.inference.detection.geometry import restored
from app.mutation.degradation import InputResize
from app.mutation.geometric import InputCrop, InputRotation
from app.mutation.operator import InputOperator
from app.mutation.targets import Targets

SIZE = (120, 90)


def drawn(box, shape="ellipse"):
    picture = Image.new("L", SIZE, 0)
    getattr(ImageDraw.Draw(picture), shape)(tuple(box), fill=255)
    return picture


def seen(picture):
    """The upright box around what is bright."""
    ys, xs = np.nonzero(np.asarray(picture) > 127)
    return np.array([[xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]], dtype=np.float32)


def planned(operator):
    return operator.plan(Targets(nn.Linear(1, 1)), 0)


@pytest.mark.parametrize("box", [(50, 30, 70, 50), (30, 35, 60, 60), (45, 20, 55, 30)])
@pytest.mark.parametrize(
    "operator",
    [InputCrop(0.7), InputRotation(10.0), InputRotation(30.0), InputResize(0.5), InputRotation(180.0)],
)
def test_a_box_around_something_round_comes_back(operator, box):
    for mutant in planned(operator):
        picture = drawn(box)
        back = restored(mutant, seen(operator.apply(mutant, picture, 0)), SIZE)
        tolerance = 5 if box == (30, 35, 60, 60) and "rotation" in mutant.key else 2.5
        assert np.abs(back - seen(picture)).max() < tolerance
        assert back.dtype == np.float32


def test_a_half_turn_is_exact_for_any_box():
    (mutant,) = planned(InputRotation(180.0))
    boxes = np.array([[10, 20, 40, 80]], dtype=np.float32)
    assert restored(mutant, boxes, SIZE) == pytest.approx(np.array([[80, 10, 110, 70]]))


def test_boxes_are_cut_to_the_image_and_none_stay_none():
    (mutant,) = planned(InputRotation(30.0, count=1))
    corner = np.array([[0, 0, 20, 20]], dtype=np.float32)
    back = restored(mutant, corner, SIZE)
    assert (back[:, :2] >= 0).all()
    assert (back[:, 2:] <= SIZE).all()
    assert restored(mutant, np.zeros((0, 4), dtype=np.float32), SIZE).shape == (0, 4)


def test_a_users_operator_says_itself_how_boxes_come_back():
    class Shift(InputOperator):
        name = "shift"

        def choices(self, targets):
            return []

        def apply(self, mutant, image, case):
            return image

        def restore(self, mutant, boxes, size):
            return boxes - 3

    (crop,) = planned(InputCrop(0.5))
    mutant = type(crop)(Shift(), {}, "(input)", (), 0)
    assert restored(mutant, np.array([[5, 6, 7, 8]], np.float32), SIZE).tolist() == [[2, 3, 4, 5]]
