"""Replacing an activation changes that function and nothing else."""

import pytest
import torch
from torch import nn

from app.mutation.activation_replacement import ActivationReplacement
from app.mutation.overlay import overlay
from app.mutation.targets import Targets

FUNCTIONS = {"identity": nn.Identity(), "tanh": nn.Tanh(), "sigmoid": nn.Sigmoid()}


@pytest.mark.parametrize("replacement", FUNCTIONS)
@pytest.mark.parametrize("activation", [nn.ReLU(inplace=True), nn.ReLU6(), nn.GELU(), nn.SiLU(), nn.Hardswish(),
                                        nn.Hardsigmoid(), nn.LeakyReLU(), nn.ELU(), nn.PReLU()])  # fmt: skip
def test_the_model_equals_one_built_with_the_other_function(replacement, activation):
    torch.manual_seed(0)
    parts = nn.Linear(3, 4), nn.Linear(4, 2)
    model = nn.Sequential(parts[0], activation, parts[1])
    other = nn.Sequential(parts[0], FUNCTIONS[replacement], parts[1])
    (mutant,) = ActivationReplacement(replacement).plan(Targets(model), 0)
    inputs = torch.randn(5, 3)
    with torch.no_grad(), overlay(mutant, model) as active:
        assert torch.equal(model(inputs), other(inputs))
    assert active.calls == {"1": 1}
    assert mutant.key == f"activation_replacement-replacement{replacement}-1"


def test_a_function_does_not_replace_itself():
    plan = ActivationReplacement(count=99).plan(Targets(nn.Sequential(nn.Tanh(), nn.Sigmoid(), nn.ReLU())), 0)
    pairs = {(mutant.target, mutant.params["replacement"]) for mutant in plan}
    assert pairs == {("0", "identity"), ("0", "sigmoid"), ("1", "identity"), ("1", "tanh"),
                     ("2", "identity"), ("2", "tanh"), ("2", "sigmoid")}  # fmt: skip
    assert len(plan) == 7


@pytest.mark.parametrize("replacement", FUNCTIONS)
def test_the_stand_in_never_works_in_place(replacement):
    (mutant,) = ActivationReplacement(replacement).plan(Targets(nn.Sequential(nn.ReLU())), 0)
    x = torch.randn(4)
    before = x.clone()
    out = ActivationReplacement().forward(mutant, "0")(x)
    out.add_(1)
    assert torch.equal(x, before)


def test_bad_replacements_are_refused():
    with pytest.raises(ValueError, match="replacements holds 'cos'; choose from identity, tanh, sigmoid"):
        ActivationReplacement(["cos"])
