from __future__ import annotations

import pytest

from app.errors import UserError
from app.subjects.detection.voc import voc

OBJECT = (
    "<object><name>{name}</name>{more}<bndbox>"
    "<xmin>{0}</xmin><ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox></object>"
)


@pytest.fixture
def one(written, tmp_path):
    """Writes one XML file about a.png and gives its folder."""

    def write(*parts, filename="a.png"):
        folder = tmp_path / "one"
        folder.mkdir(exist_ok=True)
        lines = "\n".join(parts)
        text = f"<annotation>\n<filename>{filename}</filename>\n{lines}\n</annotation>"
        (folder / "x.xml").write_text(text)
        return folder

    return write


def box(*numbers, name="cat", more=""):
    return OBJECT.format(*numbers, name=name, more=more)


def test_pixels_are_counted_from_one(one, written):
    # The whole picture of 40 x 20 pixels, and its first pixel.
    folder = one(box(1, 1, 40, 20), box(1, 1, 1, 1, name="dog"))
    data = voc(folder, written.images)
    assert data.boxes(0).tolist() == [[0, 0, 40, 20], [0, 0, 1, 1]]
    assert (data.class_names, data.labels(0).tolist()) == (("cat", "dog"), [0, 1])
    assert data.name == "one"


def test_tools_that_count_from_zero(one, written):
    folder = one(box(0, 0, 40, 20), box(4.5, 2, 12, 10))
    data = voc(folder, written.images, first_pixel=0)
    assert data.boxes(0).tolist() == [[0, 0, 40, 20], [4.5, 2, 12, 10]]
    assert data.notes == ()
    # Read as the challenge's, the first box begins one pixel outside.
    assert voc(folder, written.images).notes != ()
    with pytest.raises(UserError, match="first_pixel must be 0 or 1, not 2"):
        voc(folder, written.images, first_pixel=2)


def test_difficult_objects_are_ignored(one, written):
    marks = [box(1, 1, 5, 5, more=f"<difficult>{value}</difficult>") for value in (0, 1)]
    data = voc(one(*marks), written.images)
    assert len(data.labels(0)) == 1
    assert len(data.ignored[0]) == 1


def test_given_classes_keep_their_order(one, written):
    data = voc(one(box(1, 1, 5, 5)), written.images, class_names=["dog", "cat"])
    assert (data.class_names, data.labels(0).tolist()) == (("dog", "cat"), [1])
    empty = voc(one(), written.images, class_names=["dog"])
    assert empty.num_objects == 0


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (box(1, 1, 5, 5, name="fox"), r"line 3 has the class 'fox', which is unknown; known are cat, dog"),
        (box(5, 1, 1, 5), r"line 3: box 5 1 1 5 has its maximum before its minimum"),
        (box(1, 1, 50, 5), r"line 3: box \[0, 0, 50, 5\] lies outside a.png, which is 40x20 pixels"),
        (box("a", 1, 50, 5), r"line 3: <xmin> must be a finite number, not 'a'"),
        (box("nan", 1, 50, 5), "must be a finite number"),
        (box("", 1, 50, 5), r"line 3: <bndbox> has no <xmin>"),
        ("<object><name>cat</name></object>", r"line 3: <object> has no <bndbox>"),
        (box(1, 1, 5, 5, name=" "), r"line 3: <object> has no <name>"),
        ("<object>", r"line 4: no valid XML \(mismatched tag\)"),
        ("<size><width>9</width><height>20</height></size>", r"a.png is 40x20 pixels .* 9x20 is stated"),
        ("<size><width>9</width></size>", r"line 3: <size> has no <height>"),
        ("<size><width>inf</width><height>1</height></size>", "must be a finite number"),
    ],
)
def test_mistakes_are_named(one, written, part, message):
    folder = one(part)
    with pytest.raises(UserError, match=message) as caught:
        voc(folder, written.images, class_names=["cat", "dog"])
    assert str(folder / "x.xml") in str(caught.value)


def test_a_size_of_zero_is_not_stated(one, written):
    size = "<size><width>0</width><height>0</height></size>"
    assert len(voc(one(size, box(1, 1, 5, 5)), written.images)) == 1


def test_files_that_do_not_fit(one, written, tmp_path):
    with pytest.raises(UserError, match=r"x.xml: picture .*no.png does not exist"):
        voc(one(box(1, 1, 5, 5), filename="no.png"), written.images)
    with pytest.raises(UserError, match=r"x.xml names the picture '../xml/a.png', which does not lie in"):
        voc(one(box(1, 1, 5, 5), filename="../xml/a.png"), written.images)
    with pytest.raises(UserError, match=r"holds no object: give dataset.class_names"):
        voc(one(), written.images)
    with pytest.raises(UserError, match=r"holds no .xml file"):
        voc(written.images, written.images)
    (tmp_path / "one" / "x.xml").write_text("<html/>")
    with pytest.raises(UserError, match=r"line 1: the root must be <annotation>, not <html>"):
        voc(tmp_path / "one", written.images)
