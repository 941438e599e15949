"""Models built from every kind of file."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from torch import nn

from app.errors import UserError
from app.subjects.model import DEFAULT_PREPROCESS, assemble, digest_of, from_file, from_state_dict
from app.subjects.preprocess import Preprocess

GREY = {"resize": None, "crop": None, "mode": "L", "mean": [0.0], "std": [1.0]}
BATCH = torch.linspace(-1, 1, 2 * 36).reshape(2, 1, 6, 6)


@pytest.fixture
def weights(net, tmp_path):
    torch.save(net.state_dict(), tmp_path / "best.pt")
    return tmp_path / "best.pt"


def script(net: nn.Module, path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        torch.jit.save(torch.jit.trace(net.eval(), BATCH), str(path))


def test_a_state_dict_and_what_makes_the_module(make_net, weights):
    model = from_state_dict(make_net, weights, name="tiny", class_names=["a", "b", "c"], preprocess=GREY)
    assert (model.name, model.class_names, model.output, model.notes) == ("tiny", ("a", "b", "c"), "auto", ())
    assert model.preprocess == Preprocess(None, None, "L", (0.0,), (1.0,))
    assert not any(each.training for each in model.module.modules())
    torch.testing.assert_close(model.module(BATCH), make_net().eval()(BATCH), rtol=0, atol=0)


def test_an_instance_serves_as_well(make_net, weights):
    changed = make_net().train()
    nn.init.zeros_(changed.head.weight)
    model = from_state_dict(changed, weights)
    assert model.module is changed
    assert not changed.training
    assert model.digest == digest_of(make_net())
    assert (model.name, model.notes) == ("Sequential", (DEFAULT_PREPROCESS,))


def test_a_factory_may_bring_its_own_weights(make_net):
    model = from_state_dict(make_net, None, preprocess=GREY)
    assert model.notes == ("no file of weights was given: the factory's own weights are used",)


def test_lazy_layers_need_weights():
    with pytest.raises(UserError, match="model Sequential has lazy layers without weights"):
        from_state_dict(nn.Sequential(nn.LazyLinear(2)), None)


@pytest.mark.parametrize(("factory", "sentence"), [(lambda: 3, "but made a int"), ("Net", "not str")])
def test_a_factory_must_make_a_module(factory, sentence, weights):
    with pytest.raises(UserError, match=rf"model.factory must .*{sentence}"):
        from_state_dict(factory, weights)


@pytest.mark.parametrize("name", ["model.pt", "model.bin"])
def test_torchscript_by_content(net, tmp_path, name, recwarn):
    script(net, tmp_path / name)
    recwarn.clear()
    model = from_file(tmp_path / name, preprocess=GREY)
    assert [str(each.message) for each in recwarn] == []
    assert model.name == "model"
    assert not model.module.training
    assert model.digest == digest_of(net)
    torch.testing.assert_close(model.module(BATCH), net.eval()(BATCH))


def test_a_pickled_module_needs_leave(net, tmp_path):
    torch.save(net.train(), tmp_path / "whole.pt")
    with pytest.raises(UserError, match=r"whole.pt needs .*torch.nn.modules.* set allow_unsafe_load=true"):
        from_file(tmp_path / "whole.pt")
    model = from_file(tmp_path / "whole.pt", allow_unsafe_load=True, preprocess=GREY)
    assert not model.module.training
    assert model.notes == ("the module was unpickled, which runs code of the file",)
    torch.testing.assert_close(model.module(BATCH), net.eval()(BATCH), rtol=0, atol=0)


def test_a_state_dict_alone_is_no_model(weights):
    with pytest.raises(
        UserError, match=r"best.pt holds a state_dict \(9 tensors, the first is conv.weight\), not a"
    ):
        from_file(weights)


def test_a_whole_module_needs_no_factory(net, make_net, tmp_path):
    script(net, tmp_path / "m.pt")
    with pytest.raises(
        UserError, match=r"m.pt is a TorchScript module, which needs no factory: use model=file"
    ):
        from_state_dict(make_net, tmp_path / "m.pt")


def test_anything_else_in_a_pickle(tmp_path):
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(UserError, match=r"list.pt holds a list, neither a module nor a state_dict"):
        from_file(tmp_path / "list.pt")


def test_the_directory_of_an_mlflow_model(net, tmp_path):
    (tmp_path / "shoes" / "data").mkdir(parents=True)
    (tmp_path / "shoes" / "MLmodel").write_text("flavors: {pytorch: {}}\n")
    script(net, tmp_path / "shoes" / "data" / "model.pth")
    model = from_file(tmp_path / "shoes", preprocess=GREY)
    assert (model.name, model.digest) == ("shoes", digest_of(net))


def test_the_digest_sees_names_types_shapes_and_values(make_net):
    digests = {digest_of(make_net())}
    assert digest_of(make_net()) in digests
    changed = make_net()
    changed.head.bias.data[0] += 1e-6
    renamed = make_net()
    renamed.add_module("tail", renamed.head)
    del renamed.head
    reshaped = make_net()
    reshaped.conv.bias.data = reshaped.conv.bias.data.reshape(2, 2)
    buffered = make_net()
    buffered.norm.running_mean += 1
    others = [changed, renamed, reshaped, buffered, make_net().half(), make_net().to(torch.bfloat16)]
    assert len(digests | {digest_of(each) for each in others}) == len(others) + 1


def test_the_digest_does_not_depend_on_the_memory_layout(make_net):
    last = make_net().to(memory_format=torch.channels_last)
    assert digest_of(last) == digest_of(make_net())
    assert digest_of(copy.deepcopy(last)) == digest_of(last)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"name": ""}, "name must not be empty"),
        ({"name": "a@b"}, ".*nor hold '@': 'a@b'"),
        ({"output": "softmax"}, "output must be auto, logits, probs or binary, not 'softmax'"),
        ({"class_names": ["a", "b", "a"]}, "class_names holds 'a' twice"),
        ({"class_names": ["a"]}, ".*at least two classes"),
        ({"preprocess": {"size": 3}}, "preprocess has no size: it takes resize, crop, mode"),
        ({"preprocess": {"resize": -3}}, "preprocess: resize must be a positive number"),
        ({"preprocess": {"mean": 3}}, "preprocess: "),
    ],
)
def test_bad_options(net, options, sentence):
    with pytest.raises(UserError, match=f"model.{sentence}"):
        assemble(net, **({"name": "tiny"} | options))
