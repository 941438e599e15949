"""Checkpoints that fit, almost fit, are damaged or hostile."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from torch import nn

from app.errors import UserError
from app.subjects.checkpoint import fit, read_checkpoint, read_weights


def same(module: nn.Module, other: nn.Module) -> bool:
    mine, theirs = module.state_dict(), other.state_dict()
    return mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)


@pytest.fixture
def blank(make_net):
    """The same network with other weights."""
    net = make_net()
    for parameter in net.parameters():
        nn.init.constant_(parameter, 7.0)
    return net


@pytest.mark.parametrize("holder", [None, "state_dict", "model_state_dict", "model"])
def test_weights_are_found(net, blank, tmp_path, holder):
    content = (
        net.state_dict()
        if holder is None
        else {holder: net.state_dict(), "epoch": 3, "loss": torch.tensor(0.1)}
    )
    torch.save(content, tmp_path / "w.pt")
    assert fit(blank, read_weights(tmp_path / "w.pt"), "w.pt") == ()
    assert same(blank, net)


@pytest.mark.parametrize("prefix", ["model.", "module.", "net.backbone._orig_mod."])
def test_one_common_prefix_is_stripped_and_noted(net, blank, prefix):
    weights = {prefix + name: value for name, value in net.state_dict().items()}
    assert fit(blank, weights, "w.pt") == (f"weights were stored below '{prefix}'",)
    assert same(blank, net)


def test_a_lightning_checkpoint(net, blank, tmp_path):
    weights = {f"model.{name}": value for name, value in net.state_dict().items()}
    content = {
        "state_dict": weights | {"loss.weight": torch.ones(3)},
        "epoch": 1,
        "hyper_parameters": {"width": 4},
    }
    torch.save(content, tmp_path / "last.ckpt")
    notes = fit(blank, read_weights(tmp_path / "last.ckpt"), "last.ckpt")
    assert notes == ("weights were stored below 'model.'; left out loss.weight",)
    assert same(blank, net)


def test_batch_norms_of_old_checkpoints_have_no_counter(net, blank):
    weights = {name: value for name, value in net.state_dict().items() if "num_batches" not in name}
    assert fit(blank, weights, "w.pt") == ()


def test_names_and_shapes_that_do_not_fit(net):
    weights = dict(net.state_dict())
    del weights["head.bias"]
    with pytest.raises(
        UserError, match=r"w.pt does not fit Sequential: it lacks head.bias; give the factory"
    ):
        fit(net, weights, "w.pt")
    weights |= {f"extra{i}": torch.zeros(1) for i in range(5)}
    with pytest.raises(
        UserError, match=r"lacks head.bias and it has extra0, extra1, extra2 and 2 more too many"
    ):
        fit(net, weights, "w.pt")
    weights = net.state_dict() | {"head.weight": torch.zeros(5, 4)}
    with pytest.raises(
        UserError, match=r"head.weight is \(5, 4\) in the file and \(3, 4\) in the module; set it$"
    ):
        fit(net, weights, "w.pt", "; set it")


def test_a_module_without_weights_takes_none():
    assert fit(nn.ReLU(), {}, "w.pt") == ()
    with pytest.raises(UserError, match="it has a too many"):
        fit(nn.ReLU(), {"a": torch.zeros(1)}, "w.pt")


def test_lazy_modules_take_their_shapes_from_the_file():
    lazy = nn.Sequential(nn.LazyLinear(2))
    assert fit(lazy, {"0.weight": torch.ones(2, 3), "0.bias": torch.ones(2)}, "w.pt") == ()
    assert lazy(torch.ones(1, 3)).tolist() == [[4.0, 4.0]]


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_a_trap_does_not_spring(trap, tmp_path, new):
    torch.save({"state_dict": trap}, tmp_path / "evil.pt", _use_new_zipfile_serialization=new)
    with pytest.raises(
        UserError, match=r"evil.pt .*loading it can run code.*allow_unsafe_load=true if you trust"
    ):
        read_checkpoint(tmp_path / "evil.pt")
    assert not trap.victim.exists()
    read_checkpoint(tmp_path / "evil.pt", allow_unsafe_load=True)
    assert trap.victim.exists()


def test_what_was_refused_is_named(tmp_path):
    torch.save({"state_dict": {}, "best": np.float64(0.5)}, tmp_path / "last.ckpt")
    with pytest.raises(UserError, match=r"last.ckpt needs numpy\S*scalar.*save the state_dict only"):
        read_checkpoint(tmp_path / "last.ckpt")
    assert read_checkpoint(tmp_path / "last.ckpt", allow_unsafe_load=True)["best"] == 0.5


def test_damaged_files(net, tmp_path):
    torch.save(net.state_dict(), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    whole = (tmp_path / "old.pt").read_bytes()
    for length in (1, 20, len(whole) // 2, len(whole) - 3):
        (tmp_path / "cut.pt").write_bytes(whole[:length])
        for allowed in (False, True):
            with pytest.raises(UserError, match=r"cut.pt ") as caught:
                read_checkpoint(tmp_path / "cut.pt", allowed)
            assert "\n" not in str(caught.value)
    (tmp_path / "plain.pt").write_bytes(pickle.dumps({"a": 1}, protocol=2))
    with pytest.raises(UserError, match=r"plain.pt "):
        read_checkpoint(tmp_path / "plain.pt")


def test_no_weights_inside(tmp_path):
    torch.save({"epoch": 3}, tmp_path / "w.pt")
    with pytest.raises(UserError, match=r"w.pt holds no state_dict"):
        read_weights(tmp_path / "w.pt")


def test_safetensors_need_their_package(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "safetensors.torch", None)
    (tmp_path / "w.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    with pytest.raises(UserError, match="needs: pip install safetensors"):
        read_weights(tmp_path / "w.safetensors")
