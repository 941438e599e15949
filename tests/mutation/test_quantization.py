"""Quantization: round trips that lose no more than half a step."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from app.mutation.overlay import planned_weights
from app.mutation.quantization import Quantization
from app.mutation.targets import Targets


def rounded(model, *args, **kwargs):
    mutant = Quantization(*args, **kwargs).plan(Targets(model), 0)[0]
    return planned_weights(mutant, model)


def layer_of(weights):
    layer = nn.Linear(len(weights[0]), len(weights))
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weights))
    return layer


@pytest.mark.parametrize(("mode", "dtype"), [("fp16", torch.float16), ("bf16", torch.bfloat16)])
def test_float_formats_equal_torchs_round_trip(net, mode, dtype):
    new = rounded(net, mode, scope="all")
    assert set(new) == {("conv1", "weight"), ("conv2", "weight"), ("head", "weight")}
    for (site, name), value in new.items():
        assert torch.equal(value, net.get_submodule(site).get_parameter(name).detach().to(dtype).float())


def test_int8_worked_by_hand():
    # largest 12.7, so one step is 0.1
    new = rounded(layer_of([[12.7, -12.7, 0.04, 0.06], [0.0, 1.23, -1.26, 3.0]]), "int8")["", "weight"]
    expected = torch.tensor([[12.7, -12.7, 0.0, 0.1], [0.0, 1.2, -1.3, 3.0]])
    assert torch.allclose(new, expected, atol=1e-6)


def test_int2_has_three_values_and_a_row_of_its_own_scale():
    weights = [[4.0, 1.9, -2.1, -4.0], [0.4, 0.19, -0.21, -0.4], [0.0, 0.0, 0.0, 0.0]]
    whole = rounded(layer_of(weights), "int2")["", "weight"]
    assert whole.tolist() == [[4, 0, -4, -4], [0, 0, 0, 0], [0, 0, 0, 0]]
    by_row = rounded(layer_of(weights), "int2", per_channel=True)["", "weight"]
    assert torch.allclose(by_row, torch.tensor([[4.0, 0, -4, -4], [0.4, 0, -0.4, -0.4], [0, 0, 0, 0]]))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(st.floats(-1e3, 1e3, width=32), min_size=3, max_size=3), min_size=1, max_size=5),
    st.integers(2, 16),
    st.booleans(),
)
def test_the_error_is_at_most_half_a_step_and_a_second_trip_changes_nothing(weights, bits, per_channel):
    layer = layer_of(weights)
    new = rounded(layer, f"int{bits}", per_channel=per_channel)["", "weight"]
    own = layer.weight.detach()
    largest = own.abs().amax(1, keepdim=True) if per_channel else own.abs().max()
    step = largest.double() / (2 ** (bits - 1) - 1)
    assert ((new.double() - own.double()).abs() <= step / 2 + largest.double() * 1e-6 + 1e-40).all()
    with torch.no_grad():
        layer.weight.copy_(new)
    again = rounded(layer, f"int{bits}", per_channel=per_channel)["", "weight"]
    assert torch.allclose(again, new, rtol=1e-5, atol=1e-40)


def test_per_channel_equals_torchs_fake_quantization(net):
    weight = net.get_submodule("conv1").weight.detach()
    new = rounded(net, "int8", per_channel=True, layers="conv1")["conv1", "weight"]
    scale = weight.abs().amax((1, 2, 3)) / 127
    zero = torch.zeros(4, dtype=torch.int32)
    assert torch.allclose(
        new, torch.fake_quantize_per_channel_affine(weight, scale, zero, 0, -127, 127), atol=1e-7
    )


def test_scope_all_makes_one_mutant_a_format(net):
    plan = Quantization(["fp16", "int8", "int4"], per_channel=[False, True], scope="all").plan(
        Targets(net), 0
    )
    assert len(plan) == 5
    assert {mutant.target for mutant in plan} == {"(all)"}
    assert all(mutant.sites == ("conv1", "conv2", "head") for mutant in plan)
    assert len({mutant.key for mutant in plan}) == 5


@pytest.mark.parametrize("modes", [[], ["int1"], ["int17"], ["fp8"], ["int"], [8]])
def test_bad_modes_are_refused(modes):
    with pytest.raises(ValueError, match=r"modes .*choose from fp16, bf16 and int2 to int16"):
        Quantization(modes)


def test_other_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="scope must be layer or all"):
        Quantization(scope="model")
    for bad in ([], "yes", [1]):
        with pytest.raises(ValueError, match="per_channel must be"):
            Quantization(per_channel=bad)
