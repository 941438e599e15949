"""Brightness and contrast, worked by hand."""

import numpy as np
from PIL import Image
from torch import nn

from app.mutation.photometric import InputBrightness, InputContrast
from app.mutation.targets import Targets


def applied(operator, pixels):
    (mutant,) = operator.plan(Targets(nn.Linear(1, 1)), 0)
    return np.asarray(operator.apply(mutant, Image.fromarray(np.array(pixels, dtype=np.uint8)), 0)).tolist()


def test_brightness_multiplies_and_cuts():
    assert applied(InputBrightness(2.0), [[0, 10, 100, 200]]) == [[0, 20, 200, 255]]
    assert applied(InputBrightness(0.5), [[0, 10, 100, 200]]) == [[0, 5, 50, 100]]
    assert applied(InputBrightness(0.0), [[0, 10, 100, 200]]) == [[0, 0, 0, 0]]
    assert applied(InputBrightness(1.0), [[[1, 2, 3]]]) == [[[1, 2, 3]]]


def test_contrast_moves_away_from_the_mean_grey():
    assert applied(InputContrast(0.5), [[50, 150]]) == [[75, 125]]  # the mean is 100
    assert applied(InputContrast(2.0), [[50, 150]]) == [[0, 200]]
    assert applied(InputContrast(0.0), [[50, 150]]) == [[100, 100]]
