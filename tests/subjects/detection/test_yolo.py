from __future__ import annotations

import pytest

from app.errors import UserError
from app.subjects.detection.yolo import yolo


def test_shares_are_of_the_real_size(written):
    labels = written.yolo()
    (labels / "a.txt").write_text("1 0.5 0.25 0.5 0.5\n")
    data = yolo(written.images, labels, class_names=["cat", "dog", "emu"])
    # Centre (20, 5), size 20 x 10 of a picture of 40 x 20 pixels.
    assert data.boxes(0).tolist() == [[10, 0, 30, 10]]
    assert data.labels(0).tolist() == [1]
    assert data.name == "images"


def test_pictures_without_a_file_show_nothing(written):
    data = yolo(written.images, written.yolo(), class_names=["cat", "dog", "emu"])
    assert data.paths[1] == "b.png"
    assert len(data.labels(1)) == 0
    assert data.notes == ("1 of 4 pictures have no file of labels: they show no object",)
    (written.root / "labels" / "b.txt").write_text("")
    assert yolo(written.images, written.yolo()).notes == ()


def test_where_class_names_come_from(written):
    labels = written.yolo()
    bare = yolo(written.images, labels)
    assert (bare.class_names, bare.named) == (("0", "1", "2"), False)
    (labels / "classes.txt").write_text("cat\ndog\nemu\n\n")
    found = yolo(written.images, labels)
    assert (found.class_names, found.named) == (("cat", "dog", "emu"), True)
    assert yolo(written.images, labels, class_names=["a", "b", "c"]).class_names == ("a", "b", "c")


def test_one_folder_for_both(written):
    (written.images / "a.txt").write_text("0 0.5 0.5 1 1")
    data = yolo(written.images, written.images, class_names=["cat"])
    assert data.boxes(0).tolist() == [[0, 0, 40, 20]]
    assert len(data) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 0.5 0.5 0.5", "has 4 values"),
        ("0 0.5 0.5 0.1 0.1 0.9", "has a score, as detections have"),
        ("0 0.1 0.1 0.2 0.1 0.2 0.2", "has 7 values; .* outlines and scores are not"),
        ("cat 0.5 0.5 0.1 0.1", "must be an integer and four numbers, not 'cat"),
        ("0.5 0.5 0.5 0.1 0.1", r"has the class 0.5, which is unknown; 0..2 are allowed"),
        ("0 0.5 x 0.1 0.1", "must be an integer and four numbers"),
        ("3 0.5 0.5 0.1 0.1", r"has the class 3, which is unknown; 0..2 are allowed"),
        ("-1 0.5 0.5 0.1 0.1", "has the class -1, which is unknown"),
        ("0 0.5 0.5 0 0.1", "box 0.5 0.5 0 0.1 has no area"),
        ("0 0.5 0.5 0.1 -0.1", "has a negative side"),
        ("0 0.95 0.5 0.2 0.1", "lies outside a.png, which is 40x20 pixels"),
        ("0 20 10 4 4", "must be in fractions of the image, 0 to 1"),
        ("0 nan 0.5 0.1 0.1", "is not finite"),
    ],
)
def test_mistakes_are_named(written, line, message):
    file = written.yolo() / "a.txt"
    file.write_text(f"0 0.5 0.5 0.1 0.1\n\n{line}\n")
    with pytest.raises(UserError, match=message) as caught:
        yolo(written.images, file.parent, class_names=["cat", "dog", "emu"])
    assert f"{file} line 3" in str(caught.value)


def test_files_that_do_not_fit(written, tmp_path):
    labels = written.yolo()
    (labels / "lost.txt").write_text("")
    with pytest.raises(UserError, match=r"lost.txt: its picture does not exist in .*images$"):
        yolo(written.images, labels)
    (labels / "lost.txt").unlink()
    (written.images / "a.jpg").write_bytes(b"")
    with pytest.raises(UserError, match=r"a.jpg and a.png, which would be of one image"):
        yolo(written.images, labels)
    (written.images / "a.jpg").unlink()
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no file of labels for a picture"):
        yolo(written.images, tmp_path / "empty")
    with pytest.raises(UserError, match="holds no picture"):
        yolo(tmp_path / "empty", labels)
    with pytest.raises(UserError, match=r"dataset.labels .* does not exist"):
        yolo(written.images, tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"is there twice"):
        yolo(written.images, labels, class_names=["a", "a", "b"])
