"""What is found below a folder, hostile names and links included."""

from __future__ import annotations

import os

import pytest

from app.errors import UserError
from app.integrity.listing import list_pictures


def test_first_folders_are_the_classes(folder, make_scene):
    root = folder({"b/2.png": make_scene(), "b/deep/1.JPG": b"x", "a/3.png": b"x", "loose.png": b"x"})
    listing = list_pictures(root)
    assert listing.paths == ("a/3.png", "b/2.png", "b/deep/1.JPG", "loose.png")
    assert listing.class_names == ("a", "b")
    assert listing.labels == (0, 1, 1, -1)
    assert listing.files[0].read_bytes() == b"x"
    without = list_pictures(root, classes=False)
    assert (without.class_names, without.labels) == ((), (-1,) * 4)


def test_the_order_is_that_of_the_names_of_folders(folder):
    paths = list_pictures(folder({"a/z.png": b"", "a-b/1.png": b"", "a/b/c.png": b""})).paths
    assert paths == ("a/b/c.png", "a/z.png", "a-b/1.png")


def test_hidden_files_are_passed_over_and_others_are_listed(folder):
    root = folder({"a/1.png": b"", "a/.hidden.png": b"", ".git/2.png": b"", "a/notes.txt": b"", "x.csv": b""})
    listing = list_pictures(root)
    assert listing.paths == ("a/1.png",)
    assert [(each.path, each.reason) for each in listing.skipped] == [
        ("a/notes.txt", "has no ending of a picture"),
        ("x.csv", "has no ending of a picture"),
    ]


def test_links_out_of_the_root_are_not_followed(folder, tmp_path):
    root = folder({"a/1.png": b""})
    outside = folder({"secret.png": b"", "more/2.png": b""}, "outside")
    (root / "a/out.png").symlink_to(outside / "secret.png")
    (root / "a/up.png").symlink_to("../../outside/secret.png")
    (root / "a/in.png").symlink_to("1.png")
    (root / "a/loop.png").symlink_to("loop.png")
    (root / "b").symlink_to(outside / "more")
    (root / "a/self").symlink_to(root)
    listing = list_pictures(root)
    assert [path for path in listing.paths if "loop" not in path] == ["a/1.png", "a/in.png"]
    reasons = {each.path: each.reason for each in listing.skipped}
    assert reasons["a/out.png"] == reasons["a/up.png"] == "is a link out of the data set's folder"
    assert reasons["b"] == reasons["a/self"] == "is a link to a folder"


def test_a_root_that_is_a_link_is_fine(folder, tmp_path):
    root = folder({"a/1.png": b""})
    (tmp_path / "link").symlink_to(root)
    assert list_pictures(tmp_path / "link").paths == ("a/1.png",)


def test_hostile_names_can_be_written_down(folder):
    names = ["<script>.png", "new\nline.png", "ünï.png", "-rf.png", "a'\"&.png", "%2e%2e.png", " .png"]
    root = folder({f"c/{name}": b"" for name in names})
    raw = os.fsencode(root) + b"/c/\xff\xfe.png"
    with open(raw, "wb"):  # noqa: PTH123 - a name of bytes
        pass
    listing = list_pictures(root)
    assert {path.removeprefix("c/") for path in listing.paths} == {*names, "\ufffd\ufffd.png"}
    for path in listing.paths:
        path.encode()


@pytest.mark.parametrize(
    ("name", "message"), [("none", "does not exist"), ("file", "is no folder"), ("empty", "holds no picture")]
)
def test_nothing_to_scan_is_an_error(tmp_path, name, message):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=message):
        list_pictures(tmp_path / name)
