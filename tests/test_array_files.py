"""Files of arrays that promise, hide or inflate."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest

from app import machine
from app.array_files import UnsoundFileError, load


def header(shape: str, dtype: str = "|u1", version: int = 1) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3), np.array(["a", "β"]), np.zeros((0, 3)), np.array(1.5), np.ones(3, "f4")],
)
def test_sound_files_come_back(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", x=array, y=array[..., None])
    found = load(tmp_path / "a.npz")
    assert isinstance(found, dict)
    for each in (load(tmp_path / "a.npy"), found["x"]):
        np.testing.assert_array_equal(each, array)
    assert set(found) == {"x", "y"}
    assert set(load(tmp_path / "a.npz", only="y")) == {"y"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (header("(1099511627776,)"), r"promises 1 TiB \(shape \(1099511627776,\)\), but it holds"),
        (header("(1099511627776,)", version=2), "promises 1 TiB"),
        (header("(10, 10**9)"), "malformed node"),
        (header("(100000, 100000, 100000)", "<f8"), "promises 7,276 TiB"),
        (header("(-1,)"), "promises -1 bytes"),
        (header("(1099511627776,)", "|V0"), "have no bytes"),
        (header("(1,)", "|O"), "pickled Python objects, which are not loaded"),
        (header("(8,)") + bytes(4), "promises 8 bytes .*, but it holds 4 bytes"),
        (npy(np.arange(100))[:-9], "promises 800 bytes .*, but it holds 791 bytes"),
        (b"", "neither a .npy nor a .npz"),
        (b"\x80\x04]\x94.", "neither a .npy nor a .npz"),
        (b"PK\x03\x04cut", "not a zip file"),
        (archive({"x.npy": header("(1099511627776,)")}), "promises 1 TiB"),
        (archive({"x.npy": header("(1,)", "|O")}), "pickled Python objects"),
        (archive({"x.npy": npy(np.arange(9))})[:-30], "not a zip file"),
        (archive({"y.npy": npy(np.arange(9))}), "no array 'x', only y"),
        (archive({"x.npy": npy(np.arange(9))}).replace(npy(np.arange(9))[-8:], bytes(8), 1), "Bad CRC-32"),
    ],
)
def test_unsound_files_are_one_clear_line(tmp_path, content, reason):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UnsoundFileError, match=reason):
        load(tmp_path / "file", only="x")


def test_an_archive_that_inflates_past_the_machine_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: 2**20)
    (tmp_path / "bomb.npz").write_bytes(archive({"x.npy": npy(np.zeros(2**20, "u1"))}, zipfile.ZIP_DEFLATED))
    assert (tmp_path / "bomb.npz").stat().st_size < 5000
    with pytest.raises(UnsoundFileError, match="it inflates to 1 MiB, and this machine has 1 MiB of memory"):
        load(tmp_path / "bomb.npz")
    np.save(tmp_path / "whole.npy", np.zeros(2**20, "u1"))
    with pytest.raises(UnsoundFileError, match="it holds 1 MiB"):
        load(tmp_path / "whole.npy")


def test_a_missing_file_is_left_to_the_caller(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.npy")
