"""Ablation silences one output and leaves the others."""

import pytest
import torch

from app.mutation.neuron_ablation import NeuronAblation
from app.mutation.overlay import overlay, planned_weights
from app.mutation.targets import Targets


def test_row_and_bias_are_zero_and_the_rest_stays(net):
    for mutant in NeuronAblation(count=100).plan(Targets(net), 0):
        (site,), channel = mutant.sites, mutant.params["channel"]
        new = planned_weights(mutant, net)
        for (_, name), value in new.items():
            own = net.get_submodule(site).get_parameter(name)
            assert not value[channel].any()
            rest = [row for row in range(len(own)) if row != channel]
            assert torch.equal(value[rest], own[rest])
        assert len(new) == (1 if site == "conv2" else 2)  # conv2 has no bias


@pytest.mark.parametrize("layer", ["conv1", "conv2", "head"])
def test_the_output_of_the_channel_is_zero(net, images, layer):
    seen = []
    net.get_submodule(layer).register_forward_hook(lambda _m, _i, out: seen.append(out.clone()))
    for mutant in NeuronAblation(count=3, layers=layer).plan(Targets(net), 0):
        seen.clear()
        with torch.no_grad(), overlay(mutant, net):
            net(images)
        silent = [c for c in range(seen[0].shape[1]) if not seen[0][:, c].any()]
        assert silent == [mutant.params["channel"]]


def test_an_attention_row_takes_its_bias_along(attention):
    mutant = NeuronAblation(count=1, layers="attention").plan(Targets(attention), 0)[0]
    new = planned_weights(mutant, attention)
    assert set(new) == {("attention", "in_proj_weight"), ("attention", "in_proj_bias")}
    assert all(not value[mutant.params["channel"]].any() for value in new.values())
