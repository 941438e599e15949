"""Freezing draws weight and bias anew within the bounds of a fresh layer."""

import numpy as np
import torch
from scipy import stats
from torch import nn

from app.mutation.layer_freezing import LayerFreezing
from app.mutation.overlay import planned_weights
from app.mutation.targets import Targets


def test_values_are_uniform_within_one_over_root_fan_in():
    layer = nn.Conv2d(8, 50, 3, groups=2)  # each output weighs 4 x 9 inputs
    mutant = LayerFreezing().plan(Targets(layer), 0)[0]
    new = planned_weights(mutant, layer)
    assert set(new) == {("", "weight"), ("", "bias")}
    for value in new.values():
        assert value.abs().max() <= 1 / 6
        assert stats.kstest(value.flatten().numpy(), stats.uniform(-1 / 6, 1 / 3).cdf).pvalue > 1e-4
    drawn = torch.cat([value.flatten() for value in new.values()])
    assert len(drawn.unique()) > 0.99 * len(drawn)


def test_bounds_are_those_of_a_fresh_torch_layer():
    torch.manual_seed(0)
    layer = nn.Linear(400, 300)
    new = planned_weights(LayerFreezing().plan(Targets(layer), 0)[0], layer)["", "weight"]
    assert abs(new.abs().max() / layer.weight.abs().max() - 1) < 0.001
    assert abs(np.std(new.numpy()) / layer.weight.std().item() - 1) < 0.02


def test_a_layer_comes_again_with_other_values(net):
    first, second = LayerFreezing(count=2, layers="head").plan(Targets(net), 0)
    assert first.key != second.key
    assert not torch.equal(
        planned_weights(first, net)["head", "weight"], planned_weights(second, net)["head", "weight"]
    )
