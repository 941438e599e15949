"""Suites read from files and lists."""

from __future__ import annotations

import json

import numpy as np
import pytest

from app.errors import UserError
from app.subjects.folder import image_folder
from app.subjects.suites import read_suite, read_suites


@pytest.fixture
def data(animals):
    (animals / "cat" / "bad.png").write_text("bad")
    return image_folder(animals)


def test_every_form_gives_the_same(data, tmp_path):
    np.save(tmp_path / "a.npy", np.array([4, 0]))
    (tmp_path / "b.json").write_text(json.dumps(["dog/1.png", 0]))
    (tmp_path / "c.txt").write_text("\ufeffdog/1.png\r\n\r\n  0 \r\n")
    for name in ("a.npy", "b.json", "c.txt"):
        suite = read_suite(tmp_path / name, data)
        assert (suite.tolist(), suite.dtype) == ([4, 0], np.int64)


def test_named_suites(data, tmp_path):
    (tmp_path / "smoke.txt").write_text("1\n2\n")
    suites = read_suites({"smoke": str(tmp_path / "smoke.txt"), "dogs": [3, "dog/1.png"]}, data)
    assert {name: suite.tolist() for name, suite in suites.items()} == {"smoke": [1, 2], "dogs": [3, 4]}


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ([], "lists no test case"),
        ([5], r"lists index 5, but the test cases are 0..4"),
        ([-1], "lists index -1"),
        (["-1"], "lists index -1"),
        (["cat/9.png"], "lists 'cat/9.png', which is no test case of animals"),
        (["cat/bad.png"], "lists cat/bad.png, which was left out: it is no picture of JPEG"),
        ([1, "cat/1.png"], r"lists test case 1 \(cat/1.png\) more than once"),
        ([True], "lists True, which is no test case"),
        ([1.5], "lists 1.5, which is no test case"),
    ],
)
def test_what_is_wrong_is_said(data, entries, sentence):
    with pytest.raises(UserError, match=rf"suites.mine: the list {sentence}"):
        read_suites({"mine": entries}, data)


def test_bad_files(data, tmp_path):
    np.save(tmp_path / "float.npy", np.array([0.5]))
    (tmp_path / "cut.npy").write_bytes(b"")
    (tmp_path / "map.json").write_text("{}")
    (tmp_path / "bad.json").write_text("[1,")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\xff")
    for name, sentence in [
        ("float.npy", r"must hold \(M,\) integers, not float64"),
        ("cut.npy", "cannot be read as an array"),
        ("map.json", "must hold one list of indices or paths, not a dict"),
        ("bad.json", "is not JSON"),
        ("bytes.txt", "line 1 is not UTF-16-LE text"),
        ("none.txt", "does not exist"),
    ]:
        with pytest.raises(UserError, match=rf"{name}:? ?{sentence}"):
            read_suite(tmp_path / name, data)
