"""Plans: what they draw depends on the seed, the operator's name and the index, and on nothing else."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from app.mutation.degradation import InputNoise
from app.mutation.layer_freezing import LayerFreezing
from app.mutation.mc_dropblock import McDropBlock
from app.mutation.mc_dropout import McDropout
from app.mutation.neuron_ablation import NeuronAblation
from app.mutation.operator import mutant_seed
from app.mutation.photometric import InputBrightness
from app.mutation.quantization import Quantization
from app.mutation.saliency import LayerSaliency, Saliency
from app.mutation.targets import Targets
from app.mutation.weight_noise import WeightNoise
from app.mutation.weight_zeroing import WeightZeroing

COUNTED = [
    WeightNoise,
    WeightZeroing,
    NeuronAblation,
    LayerFreezing,
    Quantization,
    InputNoise,
    InputBrightness,
]


@pytest.mark.parametrize("operator", COUNTED)
def test_a_larger_count_keeps_the_earlier_mutants(operator, net):
    targets = Targets(net)
    large = operator(count=40).plan(targets, 7)
    for count in (1, 5, 39):
        assert operator(count=count).plan(targets, 7) == large[:count]
    assert operator(count=40).plan(targets, 8) != large


@pytest.mark.parametrize("operator", [*COUNTED, McDropout, McDropBlock])
def test_no_two_mutants_of_a_plan_share_a_key(operator, net, attention):
    for model in (net, attention):
        plan = (
            operator(count=60).plan(Targets(model), 0)
            if operator in COUNTED
            else operator().plan(Targets(model), 0)
        )
        assert len({mutant.key for mutant in plan}) == len(plan)


def test_without_randomness_a_plan_takes_every_combination_once(net):
    plan = NeuronAblation(count=1000).plan(Targets(net), 3)
    assert Counter(mutant.target for mutant in plan) == {"conv1": 4, "conv2": 4, "head": 5}
    assert len({(mutant.target, mutant.params["channel"]) for mutant in plan}) == 13
    plan = Quantization(count=1000).plan(Targets(net), 3)
    assert len(plan) == len({mutant.key for mutant in plan}) == 3 * 2
    assert len(InputBrightness().plan(Targets(net), 3)) == 4


def test_random_combinations_come_again_with_other_seeds(net):
    plan = LayerFreezing(count=50).plan(Targets(net), 0)
    assert len(plan) == 50
    assert len({mutant.seed for mutant in plan}) == 50
    mixed = WeightZeroing(ratios=[0.5], layers="head", count=30).plan(Targets(net), 0)
    strategies = Counter(mutant.params["strategy"] for mutant in mixed)
    assert strategies == {"random": 28, "largest_magnitude": 1, "smallest_magnitude": 1}


def test_draws_are_even_over_layers_and_then_channels(net):
    targets = Targets(net)
    first = Counter(NeuronAblation(count=1).plan(targets, seed)[0].target for seed in range(600))
    # 200 expected, standard deviation 11.5
    assert all(abs(count - 200) < 50 for count in first.values()), first
    sigma = Counter(mutant.params["sigma"] for mutant in WeightNoise(count=800).plan(targets, 0))
    assert all(abs(count - 200) < 55 for count in sigma.values()), sigma


def test_saliency_moves_the_draw(net):
    drawn_by = {"conv1": (1.0, [1.0] * 4), "conv2": (1e-8, [1.0] * 4), "head": (16.0, [1.0, 0, 0, 0, 0])}
    layers = {
        name: LayerSaliency(gradient=1.0, product=product, channels=np.array(channels))
        for name, (product, channels) in drawn_by.items()
    }
    targets = Targets(net, Saliency(layers, temperature=2.0))
    drawn = [NeuronAblation(count=1).plan(targets, seed)[0] for seed in range(500)]
    share = Counter(mutant.target for mutant in drawn)
    # softmax(log s / 2): 1 to 1e-4 to 4
    assert abs(share["head"] / 500 - 4 / 5.0001) < 0.06
    assert share["conv2"] <= 2
    assert all(mutant.params["channel"] == 0 for mutant in drawn if mutant.target == "head")
    even = Counter(WeightNoise(count=1).plan(targets, seed)[0].target for seed in range(300))
    assert all(abs(count - 100) < 40 for count in even.values())  # |g| is 1 everywhere


@settings(deadline=None)
@given(st.integers(0, 2**31), st.text(max_size=5), st.sets(st.integers(0, 2**32 - 1), max_size=50))
def test_seeds_of_one_operator_are_distinct_32_bit_words(seed, name, indices):
    seeds = {mutant_seed(seed, name, index) for index in indices}
    assert len(seeds) == len(indices)
    assert all(0 <= value < 2**32 for value in seeds)


def test_seeds_look_unrelated():
    bits = [bin(mutant_seed(0, "x", i) ^ mutant_seed(0, "x", i + 1)).count("1") for i in range(1000)]
    assert abs(sum(bits) / 1000 - 16) < 4 * math.sqrt(8 / 1000)


@pytest.mark.parametrize("operator", COUNTED)
@pytest.mark.parametrize("count", [0, -1, 2.5, True, "3", 10**9])
def test_a_bad_count_is_refused(operator, count):
    with pytest.raises(ValueError, match="count must be a whole number from 1 to"):
        operator(count=count)


def test_plans_stay_as_they_are_from_version_to_version():
    targets = Targets(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2)))
    assert [mutant.key for mutant in WeightNoise(count=3).plan(targets, 0)] == [
        "weight_noise-sigma0.001-1-s8ab22216",
        "weight_noise-sigma0.05-1-sf13e28e7",
        "weight_noise-sigma0.005-0-sf31e2f3e",
    ]
    assert [mutant.key for mutant in NeuronAblation(count=3).plan(targets, 0)] == [
        "neuron_ablation-channel0-1",
        "neuron_ablation-channel2-0",
        "neuron_ablation-channel1-1",
    ]
