"""What all operators on raw images have in common."""

import numpy as np
import pytest
from PIL import Image
from torch import nn

from app.mutation.degradation import InputBlur, InputCompression, InputNoise, InputResize
from app.mutation.geometric import InputCrop, InputRotation
from app.mutation.photometric import InputBrightness, InputContrast
from app.mutation.targets import Targets

OPERATORS = [
    InputBrightness(), InputContrast(), InputBlur(), InputNoise(),
    InputCrop(), InputRotation(), InputCompression(), InputResize(),
]  # fmt: skip
TARGETS = Targets(nn.Linear(1, 1))


def photo(mode="RGB", size=(20, 14)):
    pixels = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    if mode in {"LA", "RGBA"}:
        image = image.convert(mode)
        image.putalpha(Image.fromarray(pixels[..., 0]))
        return image
    return image.convert(mode)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "LA", "P", "1", "CMYK", "YCbCr"])
def test_size_and_mode_stay_and_the_argument_is_left_alone(operator, mode):
    image = photo(mode)
    before = image.copy()
    for mutant in operator.plan(TARGETS, 0):
        changed = operator.apply(mutant, image, 3)
        assert (changed.size, changed.mode) == (image.size, image.mode)
        assert changed is not image
        assert image.tobytes() == before.tobytes()
        assert operator.apply(mutant, image, 3).tobytes() == changed.tobytes()
        if mode in {"LA", "RGBA"}:
            assert changed.getchannel("A").tobytes() == image.getchannel("A").tobytes()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_an_image_of_one_pixel_is_no_problem(operator):
    for mutant in operator.plan(TARGETS, 0):
        assert operator.apply(mutant, photo(size=(1, 1)), 0).size == (1, 1)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_every_default_mutant_changes_the_image(operator):
    for mutant in operator.plan(TARGETS, 0):
        assert (mutant.target, mutant.sites, mutant.kind) == ("(input)", (), "input")
        assert operator.apply(mutant, photo(), 0).tobytes() != photo().tobytes()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_deep_images_are_refused_with_a_sentence(operator):
    with pytest.raises(ValueError, match=f"{operator.name} cannot change an image of mode F; convert it"):
        operator.apply(operator.plan(TARGETS, 0)[0], Image.new("F", (4, 4)), 0)


def test_only_noise_is_random_and_plans_hold_each_value_once():
    sizes = {operator.name: len(operator.plan(TARGETS, 0)) for operator in OPERATORS}
    assert sizes == {
        "input_brightness": 4, "input_contrast": 4, "input_blur": 4, "input_noise": 20,
        "input_crop": 4, "input_rotation": 8, "input_compression": 4, "input_resize": 4,
    }  # fmt: skip


BAD = [
    (InputBrightness, "factors", -0.1),
    (InputContrast, "factors", -1),
    (InputBlur, "radii", 0),
    (InputNoise, "sigmas", 0),
    (InputCrop, "keeps", 0),
    (InputCrop, "keeps", 1.1),
    (InputRotation, "degrees", -5),
    (InputRotation, "degrees", 181),
    (InputCompression, "qualities", 0),
    (InputCompression, "qualities", 96),
    (InputCompression, "qualities", 5.5),
    (InputResize, "scales", 1),
    (InputResize, "scales", 0),
]


@pytest.mark.parametrize(("operator", "name", "value"), BAD)
def test_bad_values_are_refused_by_name(operator, name, value):
    with pytest.raises(ValueError, match=f"{name} holds .*; give"):
        operator([value])
    with pytest.raises(ValueError, match=f"{name} is empty; give"):
        operator([])
