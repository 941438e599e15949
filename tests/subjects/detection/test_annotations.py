from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.annotations import AnnotationSet, StatedImage
from app.errors import UserError
from app.subjects.detection.annotations import PictureFile, collect, folder, inside, without_background


@dataclass(frozen=True)
class Stated:
    """A picture and what a file says about it."""

    file: Path
    boxes: tuple[tuple[float, ...], ...] = ()
    where: str = "f.json"
    size: tuple[int, int] | None = None
    ignored: tuple[bool, ...] = ()


@pytest.fixture
def stated(written):
    """States one picture of 40 x 20 pixels and its boxes."""

    def make(*boxes, **options):
        return Stated(written.images / "a.png", boxes, **options)

    return make


def read(*pictures, relative=False, **options):
    rows = [(i, box) for i, each in enumerate(pictures) for box in each.boxes]
    ignored = [mark for each in pictures for mark in each.ignored or [False] * len(each.boxes)]
    stated = AnnotationSet(
        source=Path("f.json"),
        form="test",
        images=tuple(StatedImage(str(i), each.where, size=each.size) for i, each in enumerate(pictures)),
        class_names=("cat",),
        image=np.array([i for i, _ in rows], dtype=np.int64),
        label=np.zeros(len(rows), dtype=np.int64),
        xyxy=np.array([box for _, box in rows], dtype=np.float64).reshape(-1, 4),
        where=lambda i: f"f.json object {i}",
        ignored=np.array(ignored, dtype=np.bool_),
        relative=relative,
    )
    files = [PictureFile(each.file, each.file.name, each.where, i) for i, each in enumerate(pictures)]
    return collect(files, stated, "data", ("cat",), **options)


def test_boxes_in_pixels_and_in_shares(stated):
    pixels = read(stated((4, 5, 10, 20), (0, 0, 40, 20)))
    shares = read(stated((0.1, 0.25, 0.25, 1), (0, 0, 1, 1)), relative=True)
    np.testing.assert_array_equal(pixels.boxes(0), [[4, 5, 10, 20], [0, 0, 40, 20]])
    np.testing.assert_allclose(shares.boxes(0), pixels.boxes(0), atol=1e-12)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ((-1.1, 0, 7, 9), r"object 0: box \[-1.1, 0, 7, 9\] lies outside a.png, which is 40x20 pixels"),
        ((0, 0, 41.1, 9), "lies outside"),
        ((0, 0, 7, 22), "lies outside"),
        ((0, -3, 7, 9), "lies outside"),
        ((40, 0, 41, 9), "lies outside"),
    ],
)
def test_bad_boxes(stated, box, message):
    with pytest.raises(UserError, match=message):
        read(stated(box))


def test_a_pixel_over_the_edge_is_cut_and_noted(stated):
    data = read(stated((-1, 0, 41, 20.5), (0, 0, 40.0001, 20), (1, 1, 2, 2)))
    np.testing.assert_array_equal(data.boxes(0), [[0, 0, 40, 20], [0, 0, 40, 20], [1, 1, 2, 2]])
    assert data.notes == ("1 box reached up to 1 pixel over the edge: cut to the picture",)
    assert read(stated((0, 0, 40, 20))).notes == ()


def test_ignored_objects_are_apart(written):
    data = read(Stated(written.images / "a.png", ((0, 0, 2, 2), (1, 1, 3, 3)), ignored=(False, True)))
    assert data.boxes(0).tolist() == [[0, 0, 2, 2]]
    assert data.ignored[0].boxes.tolist() == [[1, 1, 3, 3]]


def test_another_size_than_stated(stated):
    assert len(read(stated(size=(40, 20)))) == 1
    with pytest.raises(UserError, match=r"a.png is 40x20 pixels \(upright\), but 20x40 is stated"):
        read(stated(size=(20, 40)))


def test_a_missing_picture_is_an_error(stated, written):
    gone = [Stated(written.images / f"{i}.png", where="f.json images[7]") for i in "xy"]
    with pytest.raises(UserError, match=r"f.json images\[7\]: picture .*x.png does not exist, and 1 more"):
        read(stated(), *gone)


def test_a_damaged_picture_is_left_out_and_listed(stated, written):
    for name in ("z.png", "e.png"):
        (written.images / name).write_bytes((written.images / "b.png").read_bytes()[:80])
    bad = [Stated(written.images / each) for each in ("z.png", "e.png")]
    data = read(bad[0], stated((0, 0, 2, 2)), bad[1])
    assert data.paths == ("a.png",)
    assert [each.path for each in data.excluded] == ["e.png", "z.png"]
    assert "cannot be decoded" in data.excluded[0].reason
    with pytest.raises(UserError, match=r"none of the 2 pictures of data can be read: e|z.png"):
        read(*bad)


def test_a_picture_named_twice(stated):
    with pytest.raises(UserError, match=r"picture a.png was already named by f.json"):
        read(stated(), stated())


def test_workers_and_progress_change_nothing(stated, written):
    pictures = [Stated(written.images / each) for each in ("a.png", "b.png")]
    seen = []
    one = read(*pictures, workers=1, progress=lambda *told: seen.append(told))
    assert one.digest == read(*pictures, workers=3).digest
    assert seen == [(1, 2), (2, 2)]
    assert pickle.loads(pickle.dumps(one.source)).load(0).size == (40, 20)


def test_a_rotated_photo_is_measured_upright(written):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (30, 10)).save(written.images / "r.jpg", exif=exif)
    picture = Stated(written.images / "r.jpg", ((0, 0, 10, 30),), size=(10, 30))
    assert read(picture).load(0).size == (10, 30)


@pytest.mark.parametrize("name", ["../a.png", "/etc/passwd", "x/../../a.png", "..\\a.png", "", ".", "a\0b"])
def test_names_that_lead_out(tmp_path, name):
    with pytest.raises(UserError, match=r"w names the picture .*, which does not lie in"):
        inside(tmp_path, name, "w")


def test_links_that_lead_out(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out.png").touch()
    (tmp_path / "in" / "link.png").symlink_to(tmp_path / "out.png")
    with pytest.raises(UserError, match="does not lie in"):
        inside(tmp_path / "in", "link.png", "w")
    assert inside(tmp_path / "in", "a/b.png", "w") == tmp_path / "in" / "a" / "b.png"


def test_folders(tmp_path):
    (tmp_path / "f.txt").touch()
    with pytest.raises(UserError, match=r"dataset.images .*f.txt is no folder"):
        folder(tmp_path / "f.txt", "images")
    with pytest.raises(UserError, match=r"dataset.labels .*nowhere does not exist"):
        folder(tmp_path / "nowhere", "labels")


@pytest.mark.parametrize(
    ("names", "used", "kept"),
    [
        (("background", "cat"), [False, True], ("cat",)),
        (("__Background__", "cat"), [False, False], ("cat",)),
        (("background", "cat"), [True, True], ("background", "cat")),
        (("cat", "background"), [True, False], ("cat", "background")),
        (("background",), [False], ("background",)),
    ],
)
def test_a_category_of_nothing_is_no_class(names, used, kept):
    assert without_background(names, np.array(used)) == kept
