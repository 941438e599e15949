"""Targets: which layers there are, and how a name or a pattern finds them."""

import pytest
import torch
from torch import nn

from app.errors import UserError
from app.mutation.activation_replacement import ActivationReplacement
from app.mutation.mc_dropout import McDropout
from app.mutation.targets import Targets


def names(layers):
    return [layer.name for layer in layers]


def test_weighted_layers_come_in_order_with_their_channels(net):
    layers = Targets(net).weighted()
    assert names(layers) == ["conv1", "conv2", "head"]
    assert [layer.channels for layer in layers] == [4, 4, 5]
    assert [layer.fan_in for layer in layers] == [27, 18, 4]
    assert [layer.bias for layer in layers] == ["bias", None, "bias"]


def test_attention_is_a_layer_and_so_is_its_output_projection(attention):
    layers = Targets(attention).weighted("attention*")
    assert [(layer.name, layer.weight, layer.bias, layer.channels) for layer in layers] == [
        ("attention", "in_proj_weight", "in_proj_bias", 24),
        ("attention.out_proj", "weight", "bias", 8),
    ]


def test_names_patterns_and_lists(net):
    targets = Targets(net)
    assert names(targets.weighted("conv*")) == ["conv1", "conv2"]
    assert names(targets.weighted(["head", "conv1"])) == ["conv1", "head"]
    assert targets.activations() == ["relu"]


@pytest.mark.parametrize("pattern", ["features.*", "bn", "Conv1", ["conv1", "features.*"]])
def test_a_pattern_that_matches_nothing_names_what_there_is(net, pattern):
    with pytest.raises(UserError, match=r"no weighted layer matches '.*'; the model has conv1, conv2, head$"):
        Targets(net).weighted(pattern)


def test_tied_weights_and_shared_modules_come_once_under_any_name(tied):
    targets = Targets(tied)
    assert names(targets.weighted()) == ["encoder", "block"]
    assert names(targets.weighted("decoder")) == ["decoder"]
    assert names(targets.weighted(["decoder", "encoder"])) == ["encoder"]
    assert names(targets.weighted("again")) == ["block"]


def test_a_model_that_is_one_layer():
    targets = Targets(nn.Linear(2, 3))
    (layer,) = targets.weighted()
    assert (layer.name, layer.label) == ("", "(model)")
    assert targets.weighted("(model)") == [layer]


def test_nothing_to_mutate_is_a_users_error():
    with pytest.raises(UserError, match="no layer with a weight"):
        Targets(nn.Sequential(nn.ReLU(), nn.BatchNorm2d(3))).weighted()
    with pytest.raises(UserError, match="no activation module"):
        Targets(nn.Linear(2, 3)).activations()


def test_parametrised_layers_are_left_out_with_a_note():
    model = nn.Sequential(
        nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)),
        nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3)),
        nn.Linear(3, 2),
    )
    targets = Targets(model)
    assert names(targets.weighted()) == ["2"]
    assert [note.split(":")[0] for note in targets.notes] == ["0", "1"]
    assert Targets(nn.Linear(1, 1)).notes == ()


def test_integer_and_one_dimensional_weights_are_no_layers():
    assert names(Targets(nn.Sequential(nn.PReLU(3), nn.LayerNorm(4), nn.Linear(1, 1))).weighted()) == ["2"]


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*torch.jit:FutureWarning")
def test_torchscript_has_weighted_layers_but_no_activations(net):
    scripted = torch.jit.script(net)
    targets = Targets(scripted)
    assert names(targets.weighted()) == ["conv1", "conv2", "head"]
    for operator in (ActivationReplacement(), McDropout(), McDropout(site="head")):
        with pytest.raises(UserError, match="TorchScript"):
            operator.plan(targets, 0)
    assert names(Targets(nn.Sequential(scripted)).weighted()) == ["0.conv1", "0.conv2", "0.head"]


def test_an_exported_program_keeps_layers_and_activations(exported):
    targets = Targets(exported)
    assert names(targets.weighted()) == ["conv1", "conv2", "head"]
    assert targets.activations()[0] == "relu"
