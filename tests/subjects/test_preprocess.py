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
from app.subjects.preprocess import IMAGENET, Preprocess


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
    width=st.integers(16, 40),
    height=st.integers(16, 40),
    resize=st.one_of(st.none(), st.integers(16, 30), st.tuples(st.integers(16, 30), st.integers(16, 30))),
    crop=st.one_of(st.none(), st.integers(2, 16), st.tuples(st.integers(2, 16), st.integers(2, 16))),
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


def test_imagenets(picture):
    from torchvision.models import ResNet18_Weights

    image = picture(300, 280)
    expected = ResNet18_Weights.IMAGENET1K_V1.transforms()(image)
    assert torch.equal(IMAGENET(image), expected)


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
        ({"mode": "L", "mean": (0.1, 0.2, 0.3), "std": (1, 1, 1)}, "mean needs 1 finite number for mode L"),
        ({"mean": [0.5], "std": [0.5]}, r"not \[0.5\]; for a model of grey images add mode: L"),
        ({"mean": (0.5, 0.5, 0.5)}, "mean was given without std: give both"),
        ({"std": (0.5, 0.5, 0.5)}, "std was given without mean: give both"),
        ({"mean": (0.0,) * 3, "std": (1.0, 0.0, 1.0)}, "std must be above zero"),
        ({"mean": (float("nan"), 0.0, 1.0), "std": (1, 1, 1)}, "mean needs 3 finite numbers"),
        (
            {"resize": 32, "crop": 224},
            "crop 224 is larger than what resize 32 leaves: give the crop of training",
        ),
        ({"resize": (30, 40), "crop": 32}, r"crop 32 is larger than what resize \[30, 40\] leaves"),
        ({"resize": 30, "crop": (40, 32)}, r"crop \[40, 32\] is larger than what resize 30 leaves"),
        ({"interpolation": "cubic"}, "interpolation must be one of nearest, bilinear"),
    ],
)
def test_bad_parameters(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Preprocess(**options)


def test_lists_are_taken_as_from_yaml():
    given = Preprocess(resize=[8, 9], mean=[0, 0, 0], std=[1, 1, 1])
    assert given == Preprocess(resize=(8, 9), mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_what_is_not_given_is_not_done(picture, mode):
    image = picture(30, 20)
    batch = Preprocess(mode=mode).to_batch([image])
    assert torch.equal(batch[0], functional.to_tensor(image.convert(mode)))
    assert Preprocess(mode=mode, resize=10).to_batch([image]).shape[2:] == (10, 15)
    assert Preprocess(mode=mode, crop=10).to_batch([image]).shape[2:] == (10, 10)


def test_a_crop_larger_than_the_image_is_refused(picture):
    """It would be filled up with black."""
    with pytest.raises(UserError, match=r"cuts 32x32 pixels out of an image of 40x20: give a smaller crop"):
        Preprocess(crop=32)(picture(40, 20))
    with pytest.raises(UserError, match=r"cuts 16x24 pixels out of an image of 20x20"):
        Preprocess(resize=20, crop=(24, 16))(picture(20, 20))
    assert Preprocess(resize=20, crop=(24, 16))(picture(20, 30)).shape == (3, 24, 16)
