"""Layers: which part of a weight makes an output channel."""

import numpy as np
import pytest
import torch
from torch import nn

from app.mutation.layer import layer_at, layer_of, like, numbers

LAYERS = [
    (nn.Linear(6, 4), torch.randn(2, 6)),
    (nn.Conv2d(4, 6, 3, groups=2), torch.randn(2, 4, 5, 5)),
    (nn.Conv1d(4, 6, 3), torch.randn(2, 4, 5)),
    (nn.ConvTranspose2d(4, 6, 3), torch.randn(2, 4, 5, 5)),
    (nn.ConvTranspose2d(4, 6, 3, groups=2), torch.randn(2, 4, 5, 5)),
]


@pytest.mark.parametrize(("module", "inputs"), LAYERS)
def test_zeroing_a_channel_silences_that_output_and_no_other(module, inputs):
    layer = layer_of("x", module)
    original = module(inputs)
    assert layer.channels == original.shape[1]
    for channel in range(layer.channels):
        weight = numbers(module, "weight")
        layer.channel(weight, channel)[...] = 0
        new = {"weight": like(weight, module, "weight"), "bias": module.bias}
        out = torch.func.functional_call(module, new, inputs)
        rest = [c for c in range(layer.channels) if c != channel]
        assert torch.equal(out[:, rest], original[:, rest])
        assert torch.equal(out[:, channel], module.bias[channel].expand_as(out[:, channel]))


def test_numbers_is_a_copy_and_like_gives_the_type_back():
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        module = nn.Linear(3, 2).to(dtype)
        before = module.weight.detach().clone()
        values = numbers(module, "weight")
        assert values.dtype == (np.float64 if dtype == torch.float64 else np.float32)
        assert torch.equal(like(values, module, "weight"), before)
        values[...] = 0
        assert torch.equal(module.weight, before)


def test_a_site_that_is_no_layer_is_refused():
    with pytest.raises(ValueError, match="act is no weighted layer"):
        layer_at({"act": nn.ReLU()}, "act")
