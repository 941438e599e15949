"""Odd files of each format give one answer, as a data set to mutate on and as a ground truth to evaluate with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image

from app.diagnosis.detection.files import read
from app.errors import UserError
from app.subjects.detection.coco import coco
from app.subjects.detection.voc import voc
from app.subjects.detection.yolo import yolo
from app.tasks.pictures import PictureFolder

SIZE = (100, 80)
PICTURES = ("a.png", "b.png", "sub/c.png", "sub/a.png")
Found = dict[str, list[tuple[object, ...]]]


@dataclass(frozen=True)
class Case:
    """Files below one folder, and what they say."""

    files: dict[str, str]
    boxes: Found | None = None
    """By picture without ending: class, whether it is ignored, x1, y1, x2, y2; only pictures with boxes."""
    error: str = ""
    """Of a file that is refused: what the line says."""
    note: str = ""
    """Of one that is read: what a note says."""
    first_pixel: int = 1
    blind: bool = True
    """Whether detect_eval gives the same answer without the pictures."""
    names: tuple[str, ...] = field(default=())


@pytest.fixture
def world(tmp_path: Path) -> Path:
    for name in PICTURES:
        file = tmp_path / "images" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", SIZE, (90, 120, 60)).save(file)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def as_data_set(data) -> tuple[Found, tuple[str, ...]]:
    found: Found = {}
    for i, path in enumerate(data.paths):
        rows = []
        for objects, ignored in ((data.objects[i], False), (data.ignored[i], True)):
            for box, label in zip(objects.boxes.tolist(), objects.labels.tolist(), strict=True):
                rows.append((data.class_names[label], ignored, *(round(value, 6) for value in box)))
        if rows:
            found[path.rpartition(".")[0]] = sorted(rows, key=str)
    return found, data.notes


def as_ground_truth(truth: Path, first_pixel: int, sizes) -> tuple[Found, tuple[str, ...]]:
    nothing = truth.parent / "nothing.json"
    nothing.write_text("[]")
    data = read(truth, nothing, first_pixel=first_pixel, image_sizes=sizes)
    found: Found = {}
    boxes = data.truth
    for image, label, box, ignored in zip(
        boxes.image, boxes.label, boxes.xyxy.tolist(), boxes.crowd, strict=True
    ):
        name = data.images[image].removesuffix(".png")
        row = (data.class_names[label], bool(ignored), *(round(value, 6) for value in box))
        found[name] = sorted([*found.get(name, []), row], key=str)
    return found, data.notes


def answer(read_one: Callable[[], tuple[Found, tuple[str, ...]]]) -> tuple[Found, tuple[str, ...]] | str:
    try:
        return read_one()
    except UserError as error:
        return str(error)


def check(world: Path, case: Case, truth: Path, data_set: Callable[[], object]) -> None:
    write(world, case.files)
    pictures = PictureFolder(str(world / "images"))
    answers = [
        answer(lambda: as_data_set(data_set())),
        answer(lambda: as_ground_truth(truth, case.first_pixel, pictures)),
    ]
    if case.blind:
        answers.append(answer(lambda: as_ground_truth(truth, case.first_pixel, None)))
    for each in answers:
        if case.error:
            assert isinstance(each, str), each
            assert case.error in each
            assert str(world) in each or "class_names" in each
            assert "\n" not in each
            # The same place and reason; only what the picture is called differs.
            assert each.partition(" lies outside")[0] == str(answers[0]).partition(" lies outside")[0]
        else:
            assert not isinstance(each, str), each
            if case.boxes is not None:
                assert each[0] == case.boxes
            assert any(case.note in note for note in each[1]) or not case.note, each[1]


# Pascal VOC


def xml(
    *objects: str, filename: str | None = "a.png", size: tuple[int, int] | None = SIZE, more: str = ""
) -> str:
    name = "" if filename is None else f"<filename>{filename}</filename>"
    sides = "" if size is None else f"<size><width>{size[0]}</width><height>{size[1]}</height></size>"
    return f"<annotation>\n<folder>VOC</folder>{name}{sides}{more}\n" + "\n".join(objects) + "\n</annotation>"


def thing(x1: object, y1: object, x2: object, y2: object, more: str = "", *, name: str = "cat") -> str:
    box = f"<bndbox><xmin>{x1}</xmin><ymin>{y1}</ymin><xmax>{x2}</xmax><ymax>{y2}</ymax></bndbox>"
    return f"<object><name>{name}</name>{more}{box}</object>"


def one_xml(*objects: str, **options) -> dict[str, str]:
    return {"voc/a.xml": xml(*objects, **options)}


CAT = ("cat", False, 0.0, 0.0, 10.0, 10.0)
HARD = ("cat", True, 0.0, 0.0, 10.0, 10.0)
VOC = {
    "first pixel 1": Case(one_xml(thing(1, 1, 10, 10)), {"a": [CAT]}),
    "first pixel 0": Case(one_xml(thing(0, 0, 10, 10)), {"a": [CAT]}, first_pixel=0),
    "counted from 0, read from 1": Case(
        one_xml(thing(0, 0, 10, 10)), {"a": [CAT]}, note="if the tool counts from 0, give first_pixel=0"
    ),
    **{
        f"difficult {mark!r}": Case(
            one_xml(thing(1, 1, 10, 10, f"<difficult>{mark}</difficult>")), {"a": [HARD if hard else CAT]}
        )
        for mark, hard in {
            "1": True,
            "true": True,
            "True": True,
            " yes ": True,
            "0": False,
            "": False,
            "false": False,
            "No": False,
            "Unspecified": False,
        }.items()
    },
    "difficult 2": Case(
        one_xml(thing(1, 1, 10, 10, "<difficult>2</difficult>")), error="<difficult> must be 0 or 1, not '2'"
    ),
    "subfolders": Case(
        {
            "voc/a.xml": xml(thing(1, 1, 10, 10)),
            "voc/sub/c.xml": xml(thing(2, 2, 10, 10), filename="c.png"),
            "voc/sub/a.xml": xml(thing(3, 3, 10, 10), filename="a.png"),
        },
        {"a": [CAT], "sub/c": [("cat", False, 1, 1, 10, 10)], "sub/a": [("cat", False, 2, 2, 10, 10)]},
    ),
    "no file name": Case(one_xml(thing(1, 1, 10, 10), filename=None), {"a": [CAT]}),
    "no size": Case(one_xml(thing(1, 1, 10, 10), size=None), {"a": [CAT]}),
    "a size of 0": Case(one_xml(thing(1, 1, 10, 10), size=(0, 0)), {"a": [CAT]}),
    "another size": Case(
        one_xml(thing(1, 1, 10, 10), size=(80, 100)), error="100x80 pixels (upright), but 80x100", blind=False
    ),
    "one pixel": Case(one_xml(thing(5, 5, 5, 5)), {"a": [("cat", False, 4, 4, 5, 5)]}),
    "no width": Case(one_xml(thing(5, 5, 5, 9)), error="has no area", first_pixel=0),
    "maximum first": Case(one_xml(thing(9, 5, 5, 9)), error="has its maximum before its minimum"),
    "a pixel over": Case(
        one_xml(thing(1, 1, 101, 10)), {"a": [("cat", False, 0, 0, 100, 10)]}, note="cut to the picture"
    ),
    "outside": Case(one_xml(thing(1, 1, 103, 10)), error="lies outside"),
    "outside, size not stated": Case(
        one_xml(thing(1, 1, 103, 10), size=None), error="lies outside", blind=False
    ),
    "decimals": Case(
        one_xml(thing("1.5", "2.0", "10.25", "1e1")), {"a": [("cat", False, 0.5, 1, 10.25, 10)]}
    ),
    "no number": Case(one_xml(thing("x", 1, 2, 2)), error="<xmin> must be a finite number, not 'x'"),
    "NaN": Case(one_xml(thing("nan", 1, 2, 2)), error="<xmin> must be a finite number"),
    "a side is missing": Case(
        one_xml("<object><name>cat</name><bndbox><xmin>1</xmin></bndbox></object>"),
        error="<bndbox> has no <ymin>",
    ),
    "no box": Case(one_xml("<object><name>cat</name><polygon/></object>"), error="<object> has no <bndbox>"),
    "no name": Case(one_xml(thing(1, 1, 10, 10, name=" ")), error="<object> has no <name>"),
    "names with blanks": Case(one_xml(thing(1, 1, 10, 10, name="\n cat ")), {"a": [CAT]}),
    "names in capitals": Case(
        one_xml(thing(1, 1, 10, 10), thing(1, 1, 10, 10, name="Cat")),
        {"a": sorted([CAT, ("Cat", *CAT[1:])], key=str)},
        note="are taken for two classes, although they differ in spelling only",
    ),
    "parts of objects": Case(
        one_xml(thing(1, 1, 10, 10, f"<part><name>ear</name>{thing(1, 1, 2, 2)}</part>")), {"a": [CAT]}
    ),
    "scores": Case(
        one_xml(thing(1, 1, 10, 10, "<score>0.9</score>")), error="has a score, as detections have"
    ),
    "another root": Case({"voc/a.xml": "<html/>"}, error="the root must be <annotation>, not <html>"),
    "no XML": Case({"voc/a.xml": "<annotation>"}, error="no valid XML"),
    "an entity": Case(
        {"voc/a.xml": '<!DOCTYPE a [<!ENTITY e "x">]><annotation>&e;</annotation>'},
        error="declares a document type",
    ),
    "deep": Case({"voc/a.xml": "<annotation>" * 60}, error="levels: no annotations do"),
    "an encoding that is not the file's": Case(
        {"voc/a.xml": '<?xml version="1.0" encoding="gb2312"?>' + xml(thing(1, 1, 10, 10, name="été"))},
        {"a": [("été", *CAT[1:])]},
    ),
    "a picture twice": Case(
        {"voc/a.xml": xml(thing(1, 1, 10, 10)), "voc/x.xml": xml()},
        error="picture a.png was already named by",
    ),
    "no object in one": Case(
        {"voc/a.xml": xml(thing(1, 1, 10, 10)), "voc/b.xml": xml(filename="b.png")}, {"a": [CAT]}
    ),
    "hidden files, and an ending in capitals": Case(
        {"voc/.b.xml": "<a>", "voc/.git/c.xml": "<a>", "voc/A.XML": xml(thing(1, 1, 10, 10))}, None
    ),
    "two endings": Case(
        {"voc/a.xml": xml(thing(1, 1, 10, 10)), "voc/a.XML": xml(filename="b.png")},
        error="would be of one image",
    ),
}


@pytest.mark.parametrize("name", VOC)
def test_voc(world, name):
    case = VOC[name]
    check(
        world, case, world / "voc", lambda: voc(world / "voc", world / "images", first_pixel=case.first_pixel)
    )


# YOLO

LINE = "0 0.05 0.0625 0.1 0.125"
BOX = (False, 0.0, 0.0, 10.0, 10.0)


def txt(*lines: str, **more: str) -> dict[str, str]:
    return {"yolo/labels/a.txt": "\n".join(lines), "yolo/labels/classes.txt": "cat\ndog\n"} | {
        key.replace("__", "/").replace("_", "."): value for key, value in more.items()
    }


YOLO = {
    "a line": Case(txt(LINE), {"a": [("cat", *BOX)]}),
    "blank lines, tabs, CRLF": Case(
        {"yolo/labels/a.txt": f"\ufeff\r\n{LINE}\r\n\r\n".replace(" ", "\t")}, {"a": [("0", *BOX)]}
    ),
    "a whole number with a point": Case(txt("1.0" + LINE[1:]), {"a": [("dog", *BOX)]}),
    "a class that is no whole number": Case(
        txt("0.5" + LINE[1:]), error="has the class 0.5, which is unknown"
    ),
    "a class beyond the names": Case(
        txt("2" + LINE[1:]), error="has the class 2, which is unknown; 0..1 are"
    ),
    "a negative class": Case(txt("-1" + LINE[1:]), error="has the class -1, which is unknown"),
    "a huge class": Case({"yolo/labels/a.txt": "1e300" + LINE[1:]}, error="0..99999 are allowed"),
    "a class by name": Case(txt("cat" + LINE[1:]), error="must be an integer and four numbers"),
    "subfolders": Case(
        {"yolo/labels/a.txt": LINE, "yolo/labels/sub/c.txt": LINE, "yolo/labels/sub/a.txt": LINE},
        {name: [("0", *BOX)] for name in ("a", "sub/c", "sub/a")},
    ),
    "names above": Case(
        {"yolo/labels/a.txt": LINE, "yolo/classes.txt": "cat\n"},
        {"a": [("cat", *BOX)]},
        note="yolo/classes.txt",
    ),
    "names two levels above": Case(
        {"yolo/labels/a.txt": LINE, "data.yaml": "names: [cat, dog]\n"},
        {"a": [("cat", *BOX)]},
        note="data.yaml",
    ),
    "names by number": Case(
        {"yolo/labels/a.txt": LINE, "yolo/data.yaml": "nc: 2\nnames:\n  1: dog\n  0: cat\n"},
        {"a": [("cat", *BOX)]},
    ),
    "names with a gap": Case(
        {"yolo/labels/a.txt": LINE, "yolo/data.yaml": "names: {0: cat, 2: dog}\n"}, error="without a gap"
    ),
    "broken yaml": Case({"yolo/labels/a.txt": LINE, "yolo/data.yaml": "names: ["}, error="no valid YAML"),
    "yaml that makes objects": Case(
        {"yolo/labels/a.txt": LINE, "yolo/data.yaml": "names: !!python/object/apply:os.getcwd []"},
        error="no valid YAML",
    ),
    "yaml without names": Case({"yolo/labels/a.txt": LINE, "yolo/data.yaml": "nc: 2"}, {"a": [("0", *BOX)]}),
    "the nearest names": Case(
        {"yolo/labels/a.txt": LINE, "yolo/labels/classes.txt": "cat", "yolo/classes.txt": "dog"},
        {"a": [("cat", *BOX)]},
    ),
    "names in a subfolder are no labels": Case(
        txt(LINE) | {"yolo/labels/sub/classes.txt": "x"}, {"a": [("cat", *BOX)]}
    ),
    "no names listed": Case(
        txt(LINE) | {"yolo/labels/classes.txt": "\n"}, error="classes.txt lists no class"
    ),
    "a name twice, one unused": Case(
        txt("1" + LINE[1:]) | {"yolo/labels/classes.txt": "fish\nfish\n"},
        {"a": [("fish", *BOX)]},
        note="left out",
    ),
    "a name twice, both used": Case(
        txt(LINE, "1" + LINE[1:]) | {"yolo/labels/classes.txt": "fish\nfish\n"},
        error="the name 'fish' is there twice",
    ),
    "a score": Case(txt(LINE + " 0.9"), error="has a score, as detections have"),
    "an outline": Case(txt("0 0.1 0.1 0.2 0.1 0.2 0.2"), error="has 7 values"),
    "an oriented box": Case(
        txt("0 .1 .1 .2 .1 .2 .2 .1 .2"), error="has 9 values; class, x, y, width and height"
    ),
    "too few values": Case(txt("0 0.5 0.5 0.1"), error="has 4 values"),
    "no width": Case(txt("0 0.5 0.5 0 0.1"), error="has no area"),
    "a width below rounding": Case(txt("0 0.5 0.5 1e-20 0.1"), error="has no area"),
    "a negative width": Case(txt("0 0.5 0.5 -0.1 0.1"), error="has a negative side"),
    "pixels": Case(txt("0 50 40 10 10"), error="must be in fractions of the image"),
    "NaN": Case(txt("0 nan 0.5 0.1 0.1"), error="is not finite"),
    "outside": Case(txt("0 0.95 0.5 0.2 0.1"), error="a.txt line 1", blind=False),
    "wholly outside": Case(txt("0 1.5 0.5 0.2 0.1"), error="a.txt line 1", blind=False),
    "a pixel over": Case(
        txt("0 0.96 0.5 0.1 0.125"),
        {"a": [("cat", False, 91.0, 35.0, 100.0, 45.0)]},
        note="cut to the picture",
        blind=False,
    ),
    "an empty file": Case(txt(LINE) | {"yolo/labels/b.txt": "\n"}, {"a": [("cat", *BOX)]}),
    "two endings": Case(
        {"yolo/labels/a.txt": LINE, "yolo/labels/a.TXT": LINE}, error="would be of one image"
    ),
    "no UTF-8": Case({"yolo/labels/a.txt": LINE, "yolo/labels/b.txt": "\0\ud800"}, error="no UTF-8"),
}


@pytest.mark.parametrize("name", YOLO)
def test_yolo(world, name):
    case = YOLO[name]
    files = dict(case.files)
    if name == "no UTF-8":
        files = {"yolo/labels/a.txt": LINE}
        (world / "yolo" / "labels").mkdir(parents=True)
        (world / "yolo" / "labels" / "b.txt").write_bytes(b"\xff")
    case = Case(files, case.boxes, case.error, case.note, blind=False)
    labels = world / "yolo" / "labels"
    check(world, case, labels, lambda: yolo(world / "images", labels))


@pytest.mark.parametrize(
    "name", [name for name, case in YOLO.items() if not case.boxes and name != "no UTF-8"]
)
def test_yolo_without_pictures(world, name):
    """Boxes stay fractions, but what is refused is refused all the same."""
    write(world, YOLO[name].files)
    found = answer(lambda: as_ground_truth(world / "yolo" / "labels", 1, None))
    assert isinstance(found, str)
    assert YOLO[name].error in found


def test_links_that_lead_out_are_said(world):
    write(
        world,
        txt(LINE)
        | {"elsewhere/b.txt": LINE, "elsewhere/b.xml": xml(thing(1, 1, 9, 9))}
        | one_xml(thing(1, 1, 10, 10)),
    )
    for folder, ending in (("yolo/labels", "txt"), ("voc", "xml")):
        (world / folder / f"b.{ending}").symlink_to(world / "elsewhere" / f"b.{ending}")
    for folder, data in (
        ("yolo/labels", yolo(world / "images", world / "yolo" / "labels")),
        ("voc", voc(world / "voc", world / "images")),
    ):
        for _, notes in (as_data_set(data), as_ground_truth(world / folder, 1, None)):
            assert any("1 link leads out of" in note for note in notes), notes


# COCO


def instances(*annotations: object, **changes: object) -> dict[str, str]:
    content = {
        "images": [
            {"id": i, "file_name": name, "width": SIZE[0], "height": SIZE[1]}
            for i, name in enumerate(PICTURES)
        ],
        "annotations": list(annotations),
        "categories": [{"id": 3, "name": "cat"}, {"id": 1, "name": "dog"}],
    }
    return {"coco.json": json.dumps({k: v for k, v in (content | changes).items() if v is not None})}


def box(**changes: object) -> dict[str, object]:
    row = {"id": 7, "image_id": 0, "category_id": 3, "bbox": [0, 0, 10, 10], "area": 60} | changes
    return {key: value for key, value in row.items() if value is not ...}


NAMES = [{"id": 3, "name": "cat"}]
COCO = {
    "a box": Case(instances(box()), {"a": [CAT]}, names=("dog", "cat")),
    "a crowd": Case(instances(box(iscrowd=1)), {"a": [HARD]}),
    "a crowd by name": Case(instances(box(iscrowd="1")), error="iscrowd must be 0 or 1, not '1'"),
    "crowd is null": Case(instances(box(iscrowd=None)), {"a": [CAT]}),
    "ignore": Case(instances(box(ignore=1)), {"a": [CAT]}, note="which COCO's evaluation does not read"),
    "area 0": Case(instances(box(area=0)), {"a": [CAT]}, note="by COCO's rule it is small"),
    "area null, or missing": Case(instances(box(area=None), box(id=8, area=...)), {"a": [CAT, CAT]}),
    "area as text": Case(instances(box(area="60")), error="area must be a number from 0 on, not '60'"),
    "a negative area": Case(instances(box(area=-1)), error="area must be a number from 0 on, not -1"),
    "area NaN": Case(instances(box(area=float("nan"))), error="area must be a number from 0 on, not nan"),
    "no box": Case(instances(box(bbox=...)), error="has no bbox"),
    "a mask without a box": Case(
        instances(box(bbox=..., segmentation={"size": [80, 100], "counts": "abc"})),
        error="has no bbox (a segmentation alone does not do)",
    ),
    "an empty box": Case(instances(box(bbox=[], segmentation=[[1, 2, 3, 4]])), error="has no bbox"),
    "three numbers": Case(instances(box(bbox=[1, 2, 3])), error="bbox must be four finite numbers"),
    "five numbers": Case(instances(box(bbox=[1, 2, 3, 4, 5])), error="bbox must be four finite numbers"),
    "numbers as text": Case(
        instances(box(bbox=["1", "2", "3", "4"])), error="bbox must be four finite numbers"
    ),
    "a box by name": Case(instances(box(bbox={"x": 1})), error="bbox must be four finite numbers"),
    "true": Case(instances(box(bbox=[1, 2, 3, True])), error="bbox must be four finite numbers"),
    "NaN": Case(instances(box(bbox=[1, 2, 3, float("nan")])), error="bbox must be four finite numbers"),
    "infinity": Case(instances(box(bbox=[1, 2, float("inf"), 4])), error="bbox must be four finite numbers"),
    "a huge number": Case(instances(box(bbox=[1, 2, 10**400, 4])), error="bbox must be four finite numbers"),
    "no width": Case(
        instances(box(bbox=[1, 2, 0, 4])), error="has no area; width and height must be above 0"
    ),
    "a negative width": Case(
        instances(box(bbox=[9, 2, -5, 4])), error="bbox [9, 2, -5, 4] has a negative width, so no area"
    ),
    "a negative height": Case(instances(box(bbox=[9, 9, 5, -4])), error="has a negative height"),
    "outside": Case(instances(box(bbox=[95, 2, 10, 4])), error="lies outside"),
    "outside, size not stated": Case(
        instances(box(bbox=[95, 2, 10, 4]), images=[{"id": 0, "file_name": "a.png"}]),
        error="lies outside",
        blind=False,
    ),
    "a pixel over": Case(
        instances(box(bbox=[-1, 0, 11, 10])), {"a": [CAT]}, note="1 box reached up to 1 pixel over the edge"
    ),
    "another size": Case(
        instances(box(), images=[{"id": 0, "file_name": "a.png", "width": 80, "height": 100}]),
        error="100x80 pixels (upright), but 80x100 is stated",
        blind=False,
    ),
    "a size with points, null or 0": Case(
        instances(
            box(),
            images=[
                {"id": 0, "file_name": "a.png", "width": 100.0, "height": 80.0},
                {"id": 1, "file_name": "b.png", "width": None, "height": 80},
                {"id": 2, "file_name": "sub/c.png", "width": 0, "height": 0},
            ],
        ),
        {"a": [CAT]},
    ),
    "a size as text": Case(
        instances(box(), images=[{"id": 0, "file_name": "a.png", "width": "100", "height": 80}]),
        error="images[0]: width must be an integer, not '100'",
    ),
    "numbers as text, or with a point": Case(
        instances(
            box(image_id="x", category_id="3"),
            box(id=8, image_id=1, category_id=3.0),
            images=[{"id": "x", "file_name": "a.png"}, {"id": 1.0, "file_name": "b.png"}],
            categories=[{"id": "3", "name": "cat"}],
        ),
        {"a": [CAT], "b": [CAT]},
    ),
    "a number that is none": Case(
        instances(box(image_id=0.5)), error="image_id must be an integer or a text"
    ),
    "a number that is null": Case(
        instances(box(category_id=None)), error="needs the keys image_id, category_id"
    ),
    "an image twice": Case(
        instances(box(), images=[{"id": 0, "file_name": "a.png"}, {"id": 0, "file_name": "b.png"}]),
        error="images[1]: id 0 is there twice",
    ),
    "an image twice, once as text": Case(
        instances(box(), images=[{"id": 0, "file_name": "a.png"}, {"id": "0", "file_name": "b.png"}]),
        error="images[1]: id 0 is there twice",
    ),
    "a file twice": Case(
        instances(box(), images=[{"id": 0, "file_name": "a.png"}, {"id": 1, "file_name": "a.png"}]),
        error="file_name 'a.png' was already named by",
    ),
    "an annotation twice": Case(
        instances(box(), box(image_id=1)),
        {"a": [CAT], "b": [CAT]},
        note="ids of annotations are there more than once",
    ),
    "an unknown image": Case(instances(box(image_id=99)), error="(id 7): image_id 99 is none of the images"),
    "an unknown category": Case(instances(box(category_id=2)), error="category_id 2 is an unknown class"),
    "a category twice": Case(
        instances(box(), categories=[*NAMES, {"id": 3, "name": "dog"}]),
        error="categories[1]: id 3 is there twice",
    ),
    "a name twice, one unused": Case(
        instances(box(), categories=[{"id": 0, "name": "cat", "supercategory": "none"}, *NAMES]),
        {"a": [CAT]},
        note="class 0 is called 'cat' like class 3 and has no box: left out",
        names=("cat",),
    ),
    "a name twice, both unused": Case(
        instances(box(), categories=[*NAMES, {"id": 5, "name": "x"}, {"id": 4, "name": "x"}]),
        {"a": [CAT]},
        names=("cat", "x"),
    ),
    "a name twice, both used": Case(
        instances(box(), box(id=8, category_id=4), categories=[*NAMES, {"id": 4, "name": "cat"}]),
        error="the name 'cat' is there twice, for 3 and 4, and both have boxes",
    ),
    "a category without a name": Case(instances(box(), categories=[{"id": 3}]), error="name must be a text"),
    "no categories": Case(instances(categories=[]), error="lists no category"),
    "no images": Case(instances(images=[]), error="lists no image"),
    "no annotations at all": Case(instances(annotations=None), error="has no list 'annotations'"),
    "nothing in any image": Case(instances(), {}),
    "scores": Case(instances(box(score=0.9)), error="annotations[0] (id 7) has a score, as detections have"),
    "scores that are null": Case(instances(box(score=None)), {"a": [CAT]}),
    "an entry that is no object": Case(
        instances([[[[[[[[1]]]]]]]]), error="annotations[0] must be an object"
    ),
    "no JSON": Case({"coco.json": '{"images": [\n1,, 2]}'}, error="line 2 column 3: no valid JSON"),
    "deep": Case({"coco.json": "[" * 100_000}, error="no valid JSON"),
}


@pytest.mark.parametrize("name", COCO)
def test_coco(world, name):
    case = COCO[name]
    check(world, case, world / "coco.json", lambda: coco(world / "coco.json", world / "images"))
    if case.names:
        (world / "nothing.json").write_text("[]")
        assert coco(world / "coco.json", world / "images").class_names == case.names
        assert read(world / "coco.json", world / "nothing.json").class_names == case.names


# Flat JSON, which only detect_eval reads: the same rules


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"score": 0.5}, "entry 0 has a score, as detections have"),
        (
            {"bbox": [1, 1, 1, 5]},
            "has no area; x2 > x1 and y2 > y1 are needed (if these are x, y, width, height",
        ),
        ({"bbox": [5, 1, 1, 5]}, "must have x2 >= x1 and y2 >= y1 (if these are x, y, width, height"),
        ({"bbox": None}, "entry 0 has no bbox"),
        ({"image_id": None}, "entry 0 needs the keys image_id, class_name and bbox"),
        ({"image_id": [1]}, "image_id must be an integer or a text"),
        ({"iscrowd": "no"}, "iscrowd must be 0 or 1"),
        ({"area": -3}, "area must be a number from 0 on"),
    ],
)
def test_flat_json(tmp_path, changes, error):
    row = {"image_id": 1, "class_name": "cat", "bbox": [0, 0, 10, 10]} | changes
    (tmp_path / "flat.json").write_text(json.dumps([row]))
    found = answer(lambda: as_ground_truth(tmp_path / "flat.json", 1, None))
    assert error in found
    assert str(tmp_path / "flat.json") in found


@pytest.mark.parametrize("form", ["flat", "results", "coco", "yolo", "voc", "voc_results"])
def test_detections_as_ground_truth_are_refused(tmp_path, form):
    """What gave 100 % everywhere: the same file as both."""
    row = {"image_id": 1, "bbox": [0, 0, 10, 10], "score": 0.9}
    files = {
        "flat": {"x.json": json.dumps([row | {"class_name": "cat"}])},
        "results": {"x.json": json.dumps([row | {"category_id": 1}])},
        "coco": {"x.json": instances(box(score=0.9))["coco.json"]},
        "yolo": {"x/a.txt": LINE + " 0.9"},
        "voc": {"x/a.xml": xml(thing(1, 1, 10, 10, "<score>0.9</score>"))},
        "voc_results": {"x/comp4_det_test_cat.txt": "a 0.9 1 1 10 10"},
    }[form]
    write(tmp_path, files)
    truth = tmp_path / next(iter(files)).split("/")[0]
    with pytest.raises(UserError, match="has a score, as detections have; ground truth has none"):
        read(truth, truth)


def test_detections_are_read_leniently(tmp_path):
    """A detector may report boxes without area or over the edge; they find nothing, but are no mistake of the file."""
    write(tmp_path, instances(box()))
    for name, rows in {
        "edge": [[-5, 0, 120, 10]],
        "empty": [[5, 5, 0, 0]],
    }.items():
        found = tmp_path / f"{name}.json"
        found.write_text(
            json.dumps([{"image_id": 0, "category_id": 3, "bbox": each, "score": 0.5} for each in rows])
        )
        data = read(tmp_path / "coco.json", found)
        assert len(data.found) == 1
        assert data.found.xyxy[0].tolist() == [
            rows[0][0],
            rows[0][1],
            rows[0][0] + rows[0][2],
            rows[0][1] + rows[0][3],
        ]
    write(tmp_path, {"bad.json": json.dumps([box(score=0.5, bbox=[5, 5, -1, 2])])})
    with pytest.raises(UserError, match=r"bad.json entry 0: bbox \[5, 5, -1, 2\] has a negative width"):
        read(tmp_path / "coco.json", tmp_path / "bad.json")
