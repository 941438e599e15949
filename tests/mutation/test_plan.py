"""The mutants of several operators: those that do not fit a model are left out unless somebody named them."""

from __future__ import annotations

import pytest
from torch import nn
from torch.nn import functional

from app.errors import UserError
from app.mutation.activation_replacement import ActivationReplacement
from app.mutation.mc_dropblock import McDropBlock
from app.mutation.mc_dropout import McDropout
from app.mutation.photometric import InputBrightness
from app.mutation.plan import draw
from app.mutation.targets import Targets
from app.mutation.weight_noise import WeightNoise


class Functional(nn.Module):
    """Activations are called as functions, and there is no convolution."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.b(functional.relu(self.a(x)))


OPERATORS = {
    "weight_noise": WeightNoise(count=2),
    "activation_replacement": ActivationReplacement(),
    "mc_dropblock": McDropBlock(),
    "input_brightness": InputBrightness(count=1),
}


def test_of_a_default_set_what_does_not_fit_is_left_out_and_said():
    found = draw(OPERATORS, Targets(Functional()), 0, named=())
    assert {each.operator.name for each in found.mutants} == {"weight_noise", "input_brightness"}
    activation, block = found.notes
    assert activation.startswith("operator activation_replacement was left out, it does not fit the model: ")
    assert "no activation module to replace" in activation
    assert "operator mc_dropblock was left out" in block


@pytest.mark.parametrize(
    "named", [None, ("activation_replacement",), ("mc_dropblock", "activation_replacement")]
)
def test_one_that_was_named_must_fit(named):
    with pytest.raises(UserError, match="activation_replacement: the model has no activation module"):
        draw(OPERATORS, Targets(Functional()), 0, named)


def test_a_reason_is_said_once():
    bare = {
        "weight_noise": WeightNoise(),
        "other_noise": WeightNoise(),
        "input_brightness": InputBrightness(count=1),
    }
    [note] = draw(bare, Targets(nn.ReLU()), 0, ()).notes
    assert note.startswith("operators weight_noise, other_noise were left out, they do not fit the model: ")


def test_where_none_fits_there_is_nothing_to_run():
    with pytest.raises(UserError, match="none of the operators fits the model: operator weight_noise"):
        draw({"weight_noise": WeightNoise(), "mc_dropout": McDropout()}, Targets(nn.ReLU()), 0, ())
