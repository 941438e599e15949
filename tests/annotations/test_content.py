"""Files of unknown origin stay bounded."""

from __future__ import annotations

import pytest

from app.annotations import content, read_voc, voc
from app.annotations.content import by_stem, listed, read_json, read_text, without_ending
from app.annotations.json_rows import shown
from app.errors import UserError


def test_texts(tmp_path):
    (tmp_path / "f.txt").write_bytes(b"\xef\xbb\xbfhello")
    assert read_text(tmp_path / "f.txt") == "hello"
    (tmp_path / "g.txt").write_bytes(b"ab\xff")
    with pytest.raises(UserError, match=r"g.txt is no UTF-8 text \(byte 2\)"):
        read_text(tmp_path / "g.txt")
    with pytest.raises(UserError, match=r"h.txt does not exist"):
        read_text(tmp_path / "h.txt")
    with pytest.raises(UserError, match="cannot be read"):
        read_text(tmp_path)


def test_large_files_are_not_read(tmp_path, monkeypatch):
    (tmp_path / "f.txt").write_text("12345")
    with pytest.raises(UserError, match=r"f\.txt is larger than 0 MiB"):
        content.read_bytes(tmp_path / "f.txt", most=4)
    assert content.MAX_BYTES == 2**30
    monkeypatch.setattr(voc, "MAX_BYTES", 4)
    (tmp_path / "a.xml").write_text("<annotation/>")
    with pytest.raises(UserError, match=r"a\.xml is larger than"):
        read_voc(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "9" * 10_000, "[1,", "", "\ufeff{"])
def test_json_that_is_none(tmp_path, text):
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(UserError, match=r"f.json.*: no valid JSON") as caught:
        read_json(tmp_path / "f.json")
    assert len(str(caught.value)) < 300


def test_values_in_messages_are_short():
    deep: object = 1
    for _ in range(900):
        deep = [deep]
    for value in (deep, "x" * 10**6, [1] * 10**6, {str(i): i for i in range(10**5)}, 10**4000):
        assert len(shown(value)) < 300
    assert shown([9, 2, -5, 4]) == "[9, 2, -5, 4]"


def test_listings(tmp_path):
    for name in ("b.txt", "a/c.TXT", ".hidden.txt", ".git/d.txt", "e.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert listed(tmp_path, {".txt"}).files == ("a/c.TXT", "b.txt")
    assert by_stem(("a/c.TXT", "b.txt"), tmp_path) == {"a/c": "a/c.TXT", "b": "b.txt"}
    assert [without_ending(each) for each in ("a.b/c", "a/b.c.d", ".x")] == ["a.b/c", "a/b.c", ".x"]
