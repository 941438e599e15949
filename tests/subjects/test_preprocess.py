"""Preprocessing against torchvision's own pipeline."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torchvision.transforms import InterpolationMode, functional, v2

from app.errors import UserError
from app.subjects.preprocess import Preprocess


def torchvision_pipeline(preprocess: Preprocess):
    size = [preprocess.resize] if isinstance(preprocess.resize, int) else preprocess.resize
    steps = [v2.Grayscale(1) if preprocess.mode == "L" else v2.RGB()]
    if size is not None:
        steps.append(v2.Resize(size, InterpolationMode(preprocess.interpolation), antialias=True))
    if preprocess.crop is not None:
        steps.append(v2.CenterCrop(preprocess.crop))
    steps += [v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)]
    return v2.Compose([*steps, v2.Normalize(list(preprocess.mean), list(preprocess.std))])


@settings(max_examples=25, deadline=None)
@given(
    width=st.integers(3, 40),
    height=st.integers(3, 40),
    resize=st.one_of(st.none(), st.integers(4, 30), st.tuples(st.integers(4, 30), st.integers(4, 30))),
    crop=st.one_of(st.none(), st.integers(2, 35), st.tuples(st.integers(2, 35), st.integers(2, 35))),
    mode=st.sampled_from(["RGB", "L"]),
    stored=st.sampled_from(["RGB", "L"]),
    interpolation=st.sampled_from(["nearest", "bilinear", "bicubic"]),
)
def test_equals_torchvision(*, width, height, resize, crop, mode, stored, interpolation):
    channels = 3 if mode == "RGB" else 1
    preprocess = Preprocess(resize, crop, mode, (0.4,) * channels, (0.3,) * channels, interpolation)
    pixels = np.random.default_rng(width * 41 + height).integers(0, 256, (height, width, 3)).astype(np.uint8)
    image = Image.fromarray(pixels).convert(stored)
    ours = preprocess(image)
    # v2 multiplies by 1/255 where v1 and the presets divide by 255: the last bits move.
    torch.testing.assert_close(ours, torchvision_pipeline(preprocess)(image), rtol=1e-6, atol=1e-6)
    planes = functional.to_tensor(preprocess.picture(image))
    assert torch.equal(ours, functional.normalize(planes, list(preprocess.mean), list(preprocess.std)))


def test_default_is_imagenets(picture):
    from torchvision.models import ResNet18_Weights

    image = picture(300, 280)
    expected = ResNet18_Weights.IMAGENET1K_V1.transforms()(image)
    assert torch.equal(Preprocess()(image), expected)


def test_batch_is_each_picture(picture):
    preprocess = Preprocess(resize=None, crop=None)
    images = [picture(seed=i) for i in range(5)]
    batch = preprocess.to_batch(images)
    assert batch.shape == (5, 3, 10, 12)
    assert batch.dtype == torch.float32
    assert torch.equal(batch, torch.stack([preprocess(image) for image in images]))


def test_hand_worked():
    image = Image.fromarray(np.array([[0, 51], [102, 255]], dtype=np.uint8))
    batch = Preprocess(resize=None, crop=None, mode="L", mean=(0.2,), std=(0.4,)).to_batch([image])
    np.testing.assert_allclose(batch.numpy(), [[[[-0.5, 0.0], [0.5, 2.0]]]], atol=1e-7)


def test_no_pictures_give_an_empty_batch():
    assert Preprocess(crop=(5, 7)).to_batch([]).shape == (0, 3, 0, 0)


def test_the_picture_itself_stays(picture):
    image = picture()
    before = np.array(image)
    Preprocess(resize=None, crop=None)(image)
    np.testing.assert_array_equal(np.array(image), before)


def test_several_sizes_are_refused(picture):
    with pytest.raises(UserError, match=r"12x10 and 14x10 pixels.*set preprocess.resize"):
        Preprocess(resize=None, crop=None).to_batch([picture(12), picture(14)])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"resize": 0}, "resize must be a positive number"),
        ({"resize": True}, "resize must be a positive number"),
        ({"crop": [4, 5, 6]}, "crop must be a positive number"),
        ({"crop": 2.5}, "crop must be a positive number"),
        ({"mode": "CMYK"}, "mode must be RGB or L, not 'CMYK'"),
        ({"mode": "L"}, "mean needs 1 finite numbers for mode L"),
        ({"std": (1.0, 0.0, 1.0)}, "std must be above zero"),
        ({"mean": (float("nan"), 0.0, 1.0)}, "mean needs 3 finite numbers"),
        ({"interpolation": "cubic"}, "interpolation must be one of nearest, bilinear"),
    ],
)
def test_bad_parameters(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Preprocess(**options)


def test_lists_are_taken_as_from_yaml():
    assert Preprocess(resize=[8, 9], mean=[0, 0, 0]) == Preprocess(resize=(8, 9), mean=(0.0, 0.0, 0.0))
