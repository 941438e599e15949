from __future__ import annotations

import pickle

import numpy as np
import pytest
from PIL import Image

from app.errors import UserError
from app.subjects.detection.annotations import (
    AnnotatedPicture,
    Annotation,
    collect,
    folder,
    inside,
    label_of,
    read_text,
)


@pytest.fixture
def stated(written):
    """States one picture of 40 x 20 pixels and its boxes."""

    def make(*boxes, **options):
        marks = tuple(Annotation(box, 0, f"f.json object {i}") for i, box in enumerate(boxes))
        return AnnotatedPicture(written.images / "a.png", "a.png", "f.json", marks, **options)

    return make


def read(*pictures, **options):
    return collect(pictures, "data", ("cat",), **options)


def test_boxes_in_pixels_and_in_shares(stated):
    pixels = read(stated((4, 5, 10, 20), (0, 0, 40, 20)))
    shares = read(stated((0.1, 0.25, 0.25, 1), (0, 0, 1, 1), relative=True))
    np.testing.assert_array_equal(pixels.boxes(0), [[4, 5, 10, 20], [0, 0, 40, 20]])
    np.testing.assert_allclose(shares.boxes(0), pixels.boxes(0), atol=1e-12)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ((5, 5, 5, 9), r"object 0: box \[5, 5, 5, 9\] has no area"),
        ((5, 9, 7, 9), "has no area"),
        ((9, 5, 7, 9), "has no area"),
        ((-1.1, 0, 7, 9), r"lies outside a.png, which is 40x20 pixels"),
        ((0, 0, 41.1, 9), "lies outside"),
        ((0, 0, 7, 22), "lies outside"),
        ((0, -3, 7, 9), "lies outside"),
        ((40, 0, 41, 9), "lies outside"),
        ((float("nan"), 0, 7, 9), "is not finite"),
        ((0, 0, float("inf"), 9), "is not finite"),
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
    marks = (Annotation((0, 0, 2, 2), 0, "w"), Annotation((1, 1, 3, 3), 0, "w", ignored=True))
    data = read(AnnotatedPicture(written.images / "a.png", "a.png", "w", marks))
    assert data.boxes(0).tolist() == [[0, 0, 2, 2]]
    assert data.ignored[0].boxes.tolist() == [[1, 1, 3, 3]]


def test_another_size_than_stated(stated):
    assert len(read(stated(size=(40, 20)))) == 1
    with pytest.raises(UserError, match=r"a.png is 40x20 pixels \(upright\), but 20x40 is stated"):
        read(stated(size=(20, 40)))


def test_a_missing_picture_is_an_error(stated, written):
    gone = [AnnotatedPicture(written.images / f"{i}.png", f"{i}.png", "f.json images[7]", ()) for i in "xy"]
    with pytest.raises(UserError, match=r"f.json images\[7\]: picture .*x.png does not exist, and 1 more"):
        read(stated(), *gone)


def test_a_damaged_picture_is_left_out_and_listed(stated, written):
    for name in ("z.png", "e.png"):
        (written.images / name).write_bytes((written.images / "b.png").read_bytes()[:80])
    bad = [AnnotatedPicture(written.images / each, each, "f", ()) for each in ("z.png", "e.png")]
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
    pictures = [AnnotatedPicture(written.images / each, each, "f", ()) for each in ("a.png", "b.png")]
    seen = []
    one = read(*pictures, workers=1, progress=lambda *told: seen.append(told))
    assert one.digest == read(*pictures, workers=3).digest
    assert seen == [(1, 2), (2, 2)]
    assert pickle.loads(pickle.dumps(one.source)).load(0).size == (40, 20)


def test_a_rotated_photo_is_measured_upright(written):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (30, 10)).save(written.images / "r.jpg", exif=exif)
    picture = AnnotatedPicture(
        written.images / "r.jpg", "r.jpg", "f", (Annotation((0, 0, 10, 30), 0, "f"),), (10, 30)
    )
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


def test_folders_and_texts(tmp_path):
    (tmp_path / "f.txt").write_bytes(b"\xef\xbb\xbfhello")
    assert read_text(tmp_path / "f.txt") == "hello"
    (tmp_path / "g.txt").write_bytes(b"ab\xff")
    with pytest.raises(UserError, match=r"g.txt is no UTF-8 text \(byte 2\)"):
        read_text(tmp_path / "g.txt")
    with pytest.raises(UserError, match=r"h.txt does not exist"):
        read_text(tmp_path / "h.txt")
    with pytest.raises(UserError, match="cannot be read"):
        read_text(tmp_path)
    with pytest.raises(UserError, match=r"dataset.images .*f.txt is no folder"):
        folder(tmp_path / "f.txt", "images")
    with pytest.raises(UserError, match=r"dataset.labels .*nowhere does not exist"):
        folder(tmp_path / "nowhere", "labels")


def test_unknown_classes():
    names = [str(i) for i in range(10)]
    assert label_of("7", names, "w") == 7
    with pytest.raises(
        UserError, match=r"w has the class 'x', which is unknown; known are 0, .*7 and 2 more"
    ):
        label_of("x", names, "w")
