"""Weight noise has the mean and the spread it says."""

import numpy as np
import pytest
import torch
from torch import nn

from app.mutation.overlay import planned_weights
from app.mutation.targets import Targets
from app.mutation.weight_noise import WeightNoise


def noise_of(model, operator, index=0):
    mutant = operator.plan(Targets(model), 0)[index]
    ((site, name), value) = next(iter(planned_weights(mutant, model).items()))
    return mutant, (value - model.get_submodule(site).get_parameter(name)).detach()


@pytest.mark.parametrize("relative", [False, True])
def test_noise_is_normal_with_sigma(relative):
    torch.manual_seed(0)
    layer = nn.Linear(200, 300)
    _, noise = noise_of(layer, WeightNoise(0.05, relative=relative))
    sigma = 0.05 * (layer.weight.std(correction=0).item() if relative else 1)
    assert abs(noise.mean().item()) < 5 * sigma / np.sqrt(60_000)
    assert abs(noise.std().item() / sigma - 1) < 5 / np.sqrt(2 * 60_000)
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 5 / np.sqrt(200)


def test_only_the_weight_moves_and_each_mutant_has_its_own_noise(net):
    operator = WeightNoise(0.1, layers="conv1")
    first, noise = noise_of(net, operator)
    assert list(planned_weights(first, net)) == [("conv1", "weight")]
    assert noise.abs().min() > 0
    assert not torch.equal(noise_of(net, operator, 1)[1], noise)
    assert torch.equal(noise_of(net, operator)[1], noise)


def test_global_random_state_is_neither_read_nor_moved(net):
    torch.manual_seed(1)
    state = torch.get_rng_state()
    _, first = noise_of(net, WeightNoise(0.1))
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    assert torch.equal(noise_of(net, WeightNoise(0.1))[1], first)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_type_stays(dtype):
    layer = nn.Linear(50, 50).to(dtype)
    mutant = WeightNoise(0.1).plan(Targets(layer), 0)[0]
    assert planned_weights(mutant, layer)["", "weight"].dtype == dtype


@pytest.mark.parametrize("sigmas", [[], [-0.1], [float("nan")], ["a"]])
def test_bad_sigmas_are_refused(sigmas):
    with pytest.raises(ValueError, match="sigmas"):
        WeightNoise(sigmas)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_weights_are_the_same_bits_on_cuda(net):
    mutant = WeightNoise(0.1, relative=True).plan(Targets(net), 0)[0]
    here = planned_weights(mutant, net)
    there = planned_weights(mutant, net.cuda())
    assert all(value.is_cuda and torch.equal(value.cpu(), here[key]) for key, value in there.items())
