import json

import numpy as np
import pytest

from app.diagnosis.detection import evaluate
from app.diagnosis.detection.files import read, read_boxes
from app.errors import UserError

# Three true boxes in two images of 200 by 100, a third image without any; digits as names, on purpose.
TRUTH = [("p1", "1", [10, 20, 50, 60]), ("p1", "0", [100, 10, 140, 90]), ("p2", "1", [0, 0, 200, 100])]
FOUND = [
    ("p1", "1", [12, 20, 50, 60], 0.9),
    ("p2", "0", [0, 0, 190, 100], 0.8),
    ("p3", "1", [5, 5, 9, 9], 0.25),
]
SIZES = dict.fromkeys(("p1", "p2", "p3"), (200, 100))


def sides(box):
    return [box[0], box[1], box[2] - box[0], box[3] - box[1]]


def flat(path, rows, box=list):
    keys = ("image_id", "class_name", "bbox", "score")
    path.write_text(json.dumps([dict(zip(keys, (i, k, box(b), *s), strict=False)) for i, k, b, *s in rows]))
    return path


def coco(folder):
    numbers, ids = {"p1": 7, "p2": 1, "p3": 2}, {"0": 1, "1": 2}
    content = {
        "images": [{"id": number, "file_name": f"{name}.jpg"} for name, number in numbers.items()],
        "categories": [{"id": number, "name": name} for name, number in ids.items()],
        "annotations": [
            {"id": n, "image_id": numbers[i], "category_id": ids[k], "bbox": sides(b), "iscrowd": 0}
            for n, (i, k, b) in enumerate(TRUTH)
        ],
    }
    results = [
        {"image_id": numbers[i], "category_id": ids[k], "bbox": sides(b), "score": s} for i, k, b, s in FOUND
    ]
    truth, found = folder / "truth.json", folder / "results.json"
    truth.write_text(json.dumps(content))
    found.write_text(json.dumps(results))
    return truth, found


def yolo(folder, rows):
    folder.mkdir()
    (folder / "classes.txt").write_text("0\n1\n")
    for image in ("p1", "p2", "p3"):
        lines = []
        for name, label, (x1, y1, x2, y2), *score in rows:
            if name == image:
                centre = [(x1 + x2) / 400, (y1 + y2) / 200]
                lines.append(" ".join(map(str, [label, *centre, (x2 - x1) / 200, (y2 - y1) / 100, *score])))
        (folder / f"{image}.txt").write_text("\n".join(lines))
    return folder


def voc(folder, rows):
    folder.mkdir()
    for image in ("p1", "p2", "p3"):
        objects = "".join(
            f"<object><name>{k}</name>{''.join(f'<score>{x}</score>' for x in s)}<bndbox><xmin>{b[0] + 1}</xmin>"
            f"<ymin>{b[1] + 1}</ymin><xmax>{b[2]}</xmax><ymax>{b[3]}</ymax></bndbox></object>"
            for i, k, b, *s in rows
            if i == image
        )
        text = f"<annotation><filename>{image}.jpg</filename>{objects}</annotation>"
        (folder / f"{image}.xml").write_text(text)
    return folder


def voc_results(folder):
    folder.mkdir()
    for name in ("0", "1"):
        lines = [f"{i} {s} {b[0] + 1} {b[1] + 1} {b[2]} {b[3]}" for i, k, b, s in FOUND if k == name]
        (folder / f"comp4_det_test_{name}.txt").write_text("\n".join(lines))
    return folder


def content(data):
    """Boxes as sets of rows, by names without endings."""
    return [
        {
            (
                data.images[i].removesuffix(".jpg"),
                data.class_names[k],
                *np.round(box, 6).tolist(),
                round(float(s), 6),
            )
            for i, k, box, s in zip(boxes.image, boxes.label, boxes.xyxy, boxes.score, strict=True)
        }
        for boxes in (data.truth, data.found)
    ]


EXPECTED = [
    {(i, k, *map(float, b), 1.0) for i, k, b in TRUTH},
    {(i, k, *map(float, b), s) for i, k, b, s in FOUND},
]


def test_flat_json_in_both_box_formats(tmp_path):
    truth, found = flat(tmp_path / "t.json", TRUTH), flat(tmp_path / "d.json", FOUND)
    data = read(truth, found)
    assert content(data) == EXPECTED
    assert data.images == ("p1", "p2", "p3")
    assert "1 images" in data.notes[0]
    truth, found = flat(tmp_path / "t.json", TRUTH, sides), flat(tmp_path / "d.json", FOUND, sides)
    assert content(read(truth, found, box_format="xywh")) == EXPECTED


def test_coco_by_numbers_that_are_other_classes_names(tmp_path):
    data = read(*coco(tmp_path))
    assert content(data) == EXPECTED
    assert data.class_names == ("0", "1")
    assert data.notes == ()


def test_coco_with_flat_detections_by_file_stem(tmp_path):
    truth, _ = coco(tmp_path)
    assert content(read(truth, flat(tmp_path / "d.json", FOUND))) == EXPECTED


def test_yolo_in_pixels_and_in_fractions(tmp_path):
    truth, found = yolo(tmp_path / "t", TRUTH), yolo(tmp_path / "d", FOUND)
    pixels = read(truth, found, image_sizes=SIZES)
    assert content(pixels) == EXPECTED
    fractions = read(truth, found)
    assert not fractions.pixels
    assert evaluate(fractions).coco.ap == pytest.approx(evaluate(pixels).coco.ap)


def test_yolo_without_names_has_numbers(tmp_path):
    truth, found = yolo(tmp_path / "t", TRUTH), yolo(tmp_path / "d", FOUND)
    (found / "classes.txt").unlink()
    (truth / "classes.txt").write_text("cat\ndog\n")
    data = read(truth, found, image_sizes=SIZES)
    assert data.class_names == ("cat", "dog")
    assert [data.class_names[k] for k in data.found.label] == ["dog", "cat", "dog"]
    named = read(truth, found, image_sizes=SIZES, class_names=["x", "y"])
    assert named.class_names == ("x", "y")


def test_voc_and_its_results(tmp_path):
    truth = voc(tmp_path / "t", TRUTH)
    for found in (voc(tmp_path / "d", FOUND), voc_results(tmp_path / "r")):
        assert content(read(truth, found)) == EXPECTED


def test_forms_may_be_mixed(tmp_path):
    found = yolo(tmp_path / "d", FOUND)
    for truth in (voc(tmp_path / "t", TRUTH), coco(tmp_path)[0], flat(tmp_path / "f.json", TRUTH)):
        assert content(read(truth, found, image_sizes=SIZES)) == EXPECTED
    with pytest.raises(UserError, match="different units"):
        read(tmp_path / "t", found)


def test_difficult_objects_are_crowds(tmp_path):
    folder = voc(tmp_path / "t", TRUTH)
    text = (folder / "p1.xml").read_text().replace("<name>0</name>", "<name>0</name><difficult>1</difficult>")
    (folder / "p1.xml").write_text(text)
    assert read_boxes(folder, strict=True).is_ignored.tolist() == [False, True, False]


def test_no_detections_and_no_truth(tmp_path):
    truth, _ = coco(tmp_path)
    nothing = flat(tmp_path / "none.json", [])
    assert len(read(truth, nothing).found) == 0
    assert len(read(nothing, flat(tmp_path / "d.json", FOUND)).truth) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1 column 2: no valid JSON"),
        ("3", "a list of boxes or a COCO object"),
        ('{"images": []}', "has no list 'annotations'"),
        ('[{"image_id": 1, "bbox": [0, 0, 1, 1]}]', "entry 0 needs the keys"),
        ("[[1, 2]]", "entry 0 must be an object: each needs the keys"),
        (
            '[{"image_id": 1, "class_name": "a", "bbox": [0, 0, 1], "score": 1}]',
            "entry 0: bbox must be four finite numbers",
        ),
        (
            '[{"image_id": 1, "class_name": "a", "bbox": "none", "score": 1}]',
            "entry 0: bbox must be four finite numbers",
        ),
        ('[{"image_id": 1, "class_name": "a", "bbox": [5, 5, 1, 1], "score": 1}]', "box_format=xywh"),
        (
            '[{"image_id": 1, "class_name": "a", "bbox": [0, 0, 1, NaN], "score": 1}]',
            "entry 0: bbox must be four finite numbers",
        ),
        (
            '[{"image_id": 1, "class_name": "a", "bbox": [0, 0, 1, 1], "score": "x"}]',
            "score must be a finite number, not 'x'",
        ),
        ('[{"image_id": 1, "class_name": "a", "bbox": [0, 0, 1, 1]}]', "have no scores"),
        (
            '[{"image_id": 1, "class_name": "a", "bbox": [0, 0, 1, 1], "score": 1},'
            ' {"image_id": 1, "class_name": "a", "bbox": [0, 0, 1, 1]}]',
            "entry 1 has no score",
        ),
        ('[{"image_id": 9, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1}]', "not in .*only those"),
        ('[{"image_id": 1, "category_id": 9, "bbox": [0, 0, 1, 1], "score": 1}]', "not in .*only those"),
    ],
)
def test_bad_detections_are_one_line(tmp_path, text, words):
    truth, _ = coco(tmp_path)
    bad = tmp_path / "bad.json"
    bad.write_text(text)
    with pytest.raises(UserError, match=words) as caught:
        read(truth, bad)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0 0.5 0.5 0.1", "line 1 has 4 values; .*, and a score, are allowed, outlines are not"),
        ("0 0.5 0.5 0.1 x", "line 1 must be an integer and four numbers"),
        ("2 0.5 0.5 0.1 0.1", r"class 2, which is unknown; 0\.\.1"),
        ("0.5 0.5 0.5 0.1 0.1", "class 0.5"),
        ("0 50 50 10 10", "fractions"),
        ("0 0.5 0.5 0.1 0.1 0.5\n0 0.5 0.5 0.1 0.1", "all or none"),
    ],
)
def test_bad_yolo_lines(tmp_path, line, words):
    folder = yolo(tmp_path / "d", [])
    (folder / "p1.txt").write_text(line)
    with pytest.raises(UserError, match=words):
        read_boxes(folder, strict=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<a", r"p.xml line 1: no valid XML \(unclosed token\)"),
        ('<!DOCTYPE x [<!ENTITY e "e">]><a>&e;</a>', "document type"),
        ("<a><object/></a>", "the root must be <annotation>, not <a>"),
        ("<annotation><object><name>a</name></object></annotation>", "line 1: <object> has no <bndbox>"),
        ("<annotation><object><bndbox/></object></annotation>", "line 1: <object> has no <name>"),
    ],
)
def test_bad_voc_files(tmp_path, text, words):
    (tmp_path / "p.xml").write_text(text)
    with pytest.raises(UserError, match=words):
        read_boxes(tmp_path, strict=True)


def test_nothing_there(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        read_boxes(tmp_path / "none", strict=True)
    with pytest.raises(UserError, match="no boxes in this folder"):
        read_boxes(tmp_path, strict=True)
    with pytest.raises(UserError, match="xyxy, xywh"):
        read_boxes(flat(tmp_path / "t.json", TRUTH), strict=True, box_format="cxcywh")
