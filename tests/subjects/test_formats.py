"""Formats told by content, and files that are none."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
import torch

from app.errors import UserError
from app.subjects.formats import Format, locate, recognise


def test_torch_save_in_both_of_its_forms(net, tmp_path):
    for new in (True, False):
        torch.save(net.state_dict(), tmp_path / "w.anything", _use_new_zipfile_serialization=new)
        assert recognise(tmp_path / "w.anything") is Format.PICKLE


def test_safetensors(tmp_path):
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    (tmp_path / "w.pt").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    assert recognise(tmp_path / "w.pt") is Format.SAFETENSORS


def archive(**records: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in records.items():
            file.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"hello", r"is no model file that is known .*begins with b'hell'"),
        (bytes(7) + b"\x01{", "is no model file that is known"),
        (b"\x05" + bytes(7) + b"{bad}", "is no model file that is known"),
        (archive(a="x")[:-10], "is cut off or damaged"),
        (archive(a="x"), "is a zip archive but holds no model"),
        (archive(**{"serialized_exported_program.json": "{}"}), "was exported by an older torch"),
    ],
    ids=["empty", "text", "huge header", "bad header", "cut", "zip", "old export"],
)
def test_files_that_are_no_model(tmp_path, content, sentence):
    (tmp_path / "model.pt").write_bytes(content)
    with pytest.raises(UserError, match=rf"model.pt {sentence}"):
        recognise(tmp_path / "model.pt")


def test_places_without_a_model(tmp_path):
    with pytest.raises(UserError, match=r"none.pt does not exist"):
        locate(tmp_path / "none.pt")
    with pytest.raises(UserError, match="is a directory without a file MLmodel"):
        locate(tmp_path)
    (tmp_path / "MLmodel").touch()
    with pytest.raises(UserError, match=r"without data/model.pth or a .pt2"):
        locate(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "model.pt2").touch()
    assert locate(tmp_path) == tmp_path / "data" / "model.pt2"
