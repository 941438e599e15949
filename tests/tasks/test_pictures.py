"""Pictures by name, and sizes that are read when they are asked for."""

from __future__ import annotations

import pytest
from PIL import Image

from app.errors import UserError
from app.tasks.pictures import PictureFolder


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "pictures"
    for path, size in {"a/one.jpg": (12, 8), "b/one.png": (5, 6), "two.v2.png": (7, 9)}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", size).save(root / path)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter
    Image.new("RGB", (20, 10)).save(root / "turned.jpg", exif=exif)
    (root / "broken.png").write_bytes(b"no picture")
    Image.new("RGB", (3, 3)).save(tmp_path / "outside.png")
    (root / "link.png").symlink_to(tmp_path / "outside.png")
    return root


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("a/one.jpg", (12, 8)),
        ("b/one.png", (5, 6)),
        ("one.png", (5, 6)),
        ("one", (12, 8)),  # of several the first by path
        ("elsewhere/one.jpg", (12, 8)),
        ("two.v2", (7, 9)),
        ("two.v2.txt", (7, 9)),
        ("turned", (10, 20)),
    ],
)
def test_names_find_their_pictures(folder, name, size):
    pictures = PictureFolder(str(folder))
    assert name in pictures
    assert pictures[name] == size
    assert pictures.load(name).size == size


def test_what_is_not_there_is_not_found(folder):
    pictures = PictureFolder(str(folder))
    for name in ("three", "link", "../outside", "../outside.png", "", "/etc/passwd"):
        assert name not in pictures
        assert pictures.load(name) is None
        with pytest.raises(KeyError):
            pictures[name]


def test_a_broken_picture_has_no_size(folder):
    pictures = PictureFolder(str(folder))
    assert pictures.load("broken") is None
    with pytest.raises(UserError, match=r"broken\.png is no picture of .*, so its size is not known"):
        pictures["broken"]
    assert len(pictures) == 5


def test_a_folder_that_is_none_is_refused(folder, tmp_path):
    with pytest.raises(UserError, match="nowhere does not exist"):
        PictureFolder(str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="is no folder"):
        PictureFolder(str(folder / "broken.png"))
