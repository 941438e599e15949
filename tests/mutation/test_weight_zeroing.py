"""Zeroing takes exactly as many weights as the ratio says, and the ones the strategy says."""

import pytest
import torch
from torch import nn

from app.mutation.overlay import planned_weights
from app.mutation.targets import Targets
from app.mutation.weight_zeroing import WeightZeroing


def zeroed(layer, ratio, strategy, index=0):
    mutant = WeightZeroing(ratio, strategy).plan(Targets(layer), 0)[index]
    return planned_weights(mutant, layer)["", "weight"]


def linear(*weights):
    layer = nn.Linear(len(weights), 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([weights]))
    return layer


@pytest.mark.parametrize(
    ("strategy", "ratio", "left"),
    [
        ("largest_magnitude", 0.4, [1, 0, -2, 0, 3]),
        ("smallest_magnitude", 0.4, [0, -5, 0, 4, 3]),
        ("largest_magnitude", 0.001, [1, 0, -2, 4, 3]),  # at least one
        ("smallest_magnitude", 1.0, [0, 0, 0, 0, 0]),
    ],
)
def test_worked_by_hand(strategy, ratio, left):
    assert zeroed(linear(1, -5, -2, 4, 3), ratio, strategy).tolist() == [left]


def test_of_equal_weights_the_first_go():
    assert zeroed(linear(2, -2, 2, 2, 1), 0.4, "largest_magnitude").tolist() == [[0, 0, 2, 2, 1]]
    assert zeroed(linear(2, -2, 2, 2, 1), 0.6, "smallest_magnitude").tolist() == [[0, 0, 2, 2, 0]]


@pytest.mark.parametrize("strategy", ["random", "largest_magnitude", "smallest_magnitude"])
@pytest.mark.parametrize(("ratio", "zeros"), [(0.001, 1), (0.01, 12), (0.05, 60), (0.1, 120), (1, 1200)])
def test_the_count_is_exact_and_the_rest_stays(strategy, ratio, zeros):
    torch.manual_seed(0)
    layer = nn.Linear(30, 40)
    new = zeroed(layer, ratio, strategy)
    assert int((new == 0).sum()) == zeros
    assert torch.equal(new[new != 0], layer.weight.detach()[new != 0])
    gone, kept = layer.weight[new == 0].abs(), layer.weight[new != 0].abs()
    if len(kept) and strategy == "largest_magnitude":
        assert gone.min() >= kept.max()
    if len(kept) and strategy == "smallest_magnitude":
        assert gone.max() <= kept.min()


def test_random_zeros_differ_from_mutant_to_mutant_and_are_spread_evenly():
    layer = nn.Linear(10, 10)
    masks = torch.stack([planned_weights(m, layer)["", "weight"] == 0 for m in
                         WeightZeroing(0.1, "random", count=300).plan(Targets(layer), 0)])  # fmt: skip
    assert len(torch.unique(masks.flatten(1), dim=0)) == 300
    assert abs(masks.double().sum(0) - 30).max() < 5 * (300 * 0.09) ** 0.5


@pytest.mark.parametrize("ratios", [[], [0], [1.5], [-0.1]])
def test_bad_ratios_are_refused(ratios):
    with pytest.raises(ValueError, match=r"ratios .*above 0 and up to 1"):
        WeightZeroing(ratios)


def test_bad_strategies_are_refused():
    with pytest.raises(ValueError, match="strategies holds 'big'; choose from random, largest_magnitude"):
        WeightZeroing(strategies=["big"])
