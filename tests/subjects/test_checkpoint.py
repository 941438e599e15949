"""Checkpoints that are damaged or hostile."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from app.errors import UserError
from app.subjects.checkpoint import read_checkpoint, read_weights


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
