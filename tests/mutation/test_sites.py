"""Places: where a stochastic operator acts by itself, and by name."""

import pytest
from torch import nn

from app.errors import UserError
from app.mutation.sites import block_place, dropout_place
from app.mutation.targets import Targets


def seq(**parts):
    model = nn.Sequential()
    for name, module in parts.items():
        model.add_module(name, module)
    return Targets(model)


def test_the_models_own_dropout_layers_come_first():
    place = dropout_place(
        seq(a=nn.Dropout(0.1), b=nn.Linear(2, 2), c=nn.Dropout2d(0.2), d=nn.Linear(2, 2)), "auto"
    )
    assert (place.sites, place.position, place.label) == (("a", "c"), "output", "dropout")
    one = dropout_place(seq(a=nn.Dropout(0.1), b=nn.Linear(2, 2)), "auto")
    assert (one.sites, one.label) == (("a",), "a")


def test_dropout_that_never_dropped_does_not_count():
    place = dropout_place(seq(a=nn.Dropout(0.0), b=nn.Linear(2, 2), c=nn.Linear(2, 2), d=nn.ReLU()), "auto")
    assert (place.sites, place.position, place.label) == (("c",), "input", "c")


def test_parts_that_never_run_as_modules_do_not_count(attention):
    assert dropout_place(Targets(attention), "auto").sites == ("head",)
    fused = seq(a=nn.Linear(4, 4), b=nn.TransformerEncoderLayer(4, 1), c=nn.MultiheadAttention(4, 1))
    assert dropout_place(fused, "auto").sites == ("a",)
    aux = seq(
        conv=nn.Conv2d(1, 1, 1), fc=nn.Linear(1, 1), aux1=nn.Sequential(nn.Conv2d(1, 1, 1), nn.Linear(1, 1))
    )
    assert dropout_place(aux, "auto").sites == ("fc",)
    assert block_place(aux, "auto").sites == ("conv",)


def test_drop_block_takes_the_last_convolution(net):
    place = block_place(Targets(net), "auto")
    assert (place.sites, place.position, place.label) == (("conv2",), "output", "conv2")


def test_named_places_take_the_outermost_matches():
    model = seq(
        neck=nn.Sequential(nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU()), nn.Conv2d(1, 1, 1)),
        head=nn.Linear(1, 1),
    )
    place = block_place(model, "neck.*")
    assert (place.sites, place.label) == (("neck.0", "neck.1"), "neck.*")
    assert dropout_place(model, "head") == dropout_place(model, ["head"])
    both = dropout_place(model, ["head", "neck"])
    assert (both.sites, both.label) == (("neck", "head"), "head+neck")


def test_nowhere_to_act_is_a_users_error():
    with pytest.raises(UserError, match="no dropout and no linear layer; name a module in site"):
        dropout_place(seq(a=nn.Conv2d(1, 1, 1)), "auto")
    with pytest.raises(UserError, match="no convolution; name a module in site"):
        block_place(seq(a=nn.Linear(1, 1)), "auto")
    with pytest.raises(UserError, match=r"no module matches 'neck\.\*'; the model has "):
        block_place(seq(a=nn.Linear(1, 1)), "neck.*")
