"""Blur, noise, compression and lost resolution."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from torch import nn

from app.mutation.degradation import InputBlur, InputCompression, InputNoise, InputResize
from app.mutation.targets import Targets

TARGETS = Targets(nn.Linear(1, 1))


def grey(value=128, side=100):
    return Image.new("L", (side, side), value)


def scene():
    smooth = ndimage.gaussian_filter(np.random.default_rng(0).normal(size=(64, 64)), 3)
    return Image.fromarray((128 + 800 * smooth).clip(0, 255).astype(np.uint8))


def pixels(operator, image, case=0, index=0):
    return np.asarray(operator.apply(operator.plan(TARGETS, 0)[index], image, case)).astype(float)


def test_noise_is_normal_and_differs_between_cases_and_mutants():
    operator = InputNoise(20)
    fields = [pixels(operator, grey(), case, index) - 128 for case in range(4) for index in range(3)]
    for field in fields:
        assert abs(field.mean()) < 5 * 20 / 100
        assert abs(field.std() / 20 - 1) < 5 / np.sqrt(2 * 10_000)
    correlation = np.corrcoef([field.ravel() for field in fields])[np.triu_indices(12, 1)]
    assert np.abs(correlation).max() < 5 / 100
    assert (pixels(operator, grey(), 2) - 128 == fields[6]).all()  # fixed by mutant and case


def test_noise_of_each_colour_is_its_own_and_is_cut_to_bytes():
    image = Image.new("RGB", (50, 50), (0, 128, 255))
    noisy = pixels(InputNoise(20), image)
    assert noisy.min() == 0
    assert noisy.max() == 255
    assert (noisy[..., 0] == 0).mean() == pytest.approx(0.5, abs=0.06)
    assert abs(np.corrcoef(noisy[..., 0].ravel(), noisy[..., 1].ravel())[0, 1]) < 5 / 50


@pytest.mark.parametrize("radius", [1, 2, 4])
def test_blur_is_close_to_a_gaussian(radius):
    blurred = pixels(InputBlur(radius), scene())
    expected = ndimage.gaussian_filter(np.asarray(scene()).astype(float), radius, mode="nearest")
    inner = slice(4 * radius, -4 * radius)  # edges are extended in another way
    assert np.abs(blurred - expected)[inner, inner].max() < 3  # pillow approximates it by boxes
    impulse = Image.new("L", (64, 64))
    impulse.paste(255, (28, 28, 36, 36))
    spread = pixels(InputBlur(radius), impulse).sum(0)
    variance = np.average((np.arange(64) - 31.5) ** 2, weights=spread) - 63 / 12  # less that of 8 pixels
    assert variance == pytest.approx(radius**2, rel=0.15)


@pytest.mark.parametrize("quality", [5, 40])
def test_compression_is_a_jpeg_round_trip(quality):
    file = BytesIO()
    scene().save(file, "JPEG", quality=quality)
    assert (pixels(InputCompression(quality), scene()) == np.asarray(Image.open(file))).all()


def test_worse_quality_is_worse():
    error = [np.abs(pixels(InputCompression(q), scene()) - np.asarray(scene())).mean() for q in (5, 20, 90)]
    assert error[0] > error[1] > error[2]


def test_resize_loses_detail_and_keeps_the_rest():
    stripes = Image.fromarray(np.tile(np.array([0, 255], dtype=np.uint8), (32, 16)))
    lost = pixels(InputResize(0.25), stripes)
    assert lost.std() < 10
    assert lost.mean() == pytest.approx(127.5, abs=1)
    assert (pixels(InputResize(0.1), grey()) == 128).all()
    assert (pixels(InputResize(0.01), Image.new("L", (3, 3), 7)) == 7).all()  # one pixel is left
