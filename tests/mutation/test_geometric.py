"""Crop and rotation, worked by hand."""

import numpy as np
from PIL import Image
from torch import nn

from app.mutation.geometric import InputCrop, InputRotation
from app.mutation.targets import Targets

TARGETS = Targets(nn.Linear(1, 1))


def applied(operator, pixels, index=0):
    mutant = operator.plan(TARGETS, 0)[index]
    image = Image.fromarray(np.array(pixels, dtype=np.uint8))
    return mutant, np.asarray(operator.apply(mutant, image, 0))


def test_crop_keeps_the_centre():
    pixels = np.zeros((8, 8))
    pixels[2:6, 2:6] = 200  # exactly the half that is kept
    assert (applied(InputCrop(0.5), pixels)[1] == 200).all()
    assert (applied(InputCrop(1.0), pixels)[1] == pixels).all()
    left_right = np.tile([0, 0, 10, 20, 30, 40, 0, 0], (8, 1))
    row = applied(InputCrop(0.5), left_right)[1][0].astype(int)
    assert (abs(row + row[::-1] - 50) <= 1).all()  # still centred: mirrored about 25
    assert (np.diff(row) >= 0).all()


def test_rotation_by_half_a_turn_is_a_flip():
    pixels = np.arange(64).reshape(8, 8)
    assert (applied(InputRotation(180), pixels)[1] == pixels[::-1, ::-1]).all()
    assert len(InputRotation(180).plan(TARGETS, 0)) == 1


def test_rotation_goes_both_ways_and_blackens_the_corners():
    operator = InputRotation(90)
    pixels = np.arange(1, 65).reshape(8, 8)
    turned = {}
    for index in (0, 1):
        mutant, out = applied(operator, pixels, index)
        turned[mutant.params["degrees"]] = out
    assert (turned[90.0] == np.rot90(pixels)).all()  # positive is counter-clockwise
    assert (turned[-90.0] == np.rot90(pixels, -1)).all()
    white = np.full((20, 20, 3), 255)
    for index in (0, 1):
        out = applied(InputRotation(30), white, index)[1]
        assert [out[y, x].tolist() for y in (0, -1) for x in (0, -1)] == [[0, 0, 0]] * 4
        assert (out[10, 10] == 255).all()
