"""`task=detect_eval` end to end: a hand-worked set in four forms, the gallery, and one line for each mistake."""

from __future__ import annotations

import csv
import json

import pytest
from PIL import Image

from app.reporting.detection_eval import report as reports

SIZE = (200, 100)
TRUTH = [  # image, class, x1, y1, x2, y2
    ("a", "cat", 10, 10, 50, 50),
    ("a", "dog", 60, 10, 100, 50),
    ("b", "cat", 10, 10, 50, 50),
    ("b", "dog", 120, 20, 180, 80),
]
FOUND = [
    ("a", "cat", 10, 10, 50, 50, 0.9),  # right
    ("a", "cat", 60, 10, 100, 50, 0.8),  # the dog, taken for a cat
    ("b", "cat", 10, 10, 50, 48, 0.7),  # right
    ("b", "cat", 10, 10, 50, 50, 0.6),  # the same again
    ("c", "dog", 5, 5, 25, 25, 0.5),  # nothing there
]
"""AP of cat, with all points: hits at ranks 1 and 3 of 2 boxes: 0.5 * 1 + 0.5 * 2/3; dog's is 0."""
MEAN_AP = (0.5 + 0.5 * 2 / 3) / 2


def flat(rows):
    return [
        {"image_id": row[0], "class_name": row[1], "bbox": list(row[2:6])}
        | ({"score": row[6]} if len(row) > 6 else {})
        for row in rows
    ]


def yolo(root, rows):
    root.mkdir()
    (root / "classes.txt").write_text("cat\ndog\n")
    for image in "abc":
        lines = [
            f"{('cat', 'dog').index(name)} {(x1 + x2) / 2 / SIZE[0]} {(y1 + y2) / 2 / SIZE[1]} "
            f"{(x2 - x1) / SIZE[0]} {(y2 - y1) / SIZE[1]} {' '.join(map(str, score))}"
            for where, name, x1, y1, x2, y2, *score in rows
            if where == image
        ]
        (root / f"{image}.txt").write_text("\n".join(lines))


def voc(root, rows):
    root.mkdir()
    for image in "abc":
        objects = "".join(
            f"<object><name>{name}</name><bndbox><xmin>{x1 + 1}</xmin><ymin>{y1 + 1}</ymin><xmax>{x2}</xmax>"
            f"<ymax>{y2}</ymax></bndbox>{f'<score>{score[0]}</score>' if score else ''}</object>"
            for where, name, x1, y1, x2, y2, *score in rows
            if where == image
        )
        (root / f"{image}.xml").write_text(
            f"<annotation><filename>{image}.jpg</filename>{objects}</annotation>"
        )


@pytest.fixture(scope="module")
def place(assay):
    folder = assay.folder / "boxes"
    folder.mkdir()
    names = ["cat", "dog"]
    images = [{"id": i, "file_name": f"{name}.jpg"} for i, name in enumerate("abc", start=1)]
    boxes = [
        {"id": i, "image_id": "abc".index(r[0]) + 1, "category_id": names.index(r[1]) + 1}
        | {"bbox": [r[2], r[3], r[4] - r[2], r[5] - r[3]]}
        for i, r in enumerate(TRUTH, start=1)
    ]
    results = [
        {"image_id": "abc".index(r[0]) + 1, "category_id": names.index(r[1]) + 1, "score": r[6]}
        | {"bbox": [r[2], r[3], r[4] - r[2], r[5] - r[3]]}
        for r in FOUND
    ]
    categories = [{"id": i, "name": name} for i, name in enumerate(names, start=1)]
    for name, content in {
        "truth": flat(TRUTH),
        "found": flat(FOUND),
        "coco": {"images": images, "annotations": boxes, "categories": categories},
        "results": results,
        "unscored": flat(row[:6] for row in FOUND),
        "none": [],
        "broken": [{"image_id": "a"}],
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    (folder / "text.json").write_text("{")
    for form, write in (("yolo", yolo), ("voc", voc)):
        write(folder / f"{form}_truth", TRUTH)
        write(folder / f"{form}_found", FOUND)
    (folder / "pictures").mkdir()
    for number, image in enumerate("abc"):
        Image.new("RGB", SIZE, (60 * number, 90, 120)).save(folder / "pictures" / f"{image}.jpg")
    (folder / "empty").mkdir()
    (folder / "notes").mkdir()
    (folder / "notes" / "readme.md").write_text("nothing here")
    return folder


def command(truth="boxes/truth.json", found="boxes/found.json", *more):
    return ("task=detect_eval", f"ground_truth={truth}", f"detections={found}", *more)


@pytest.fixture(scope="module")
def first(assay, place):
    ended = assay(*command("boxes/coco.json", "boxes/results.json", "task.images=boxes/pictures"))
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_the_numbers_are_those_worked_by_hand(first):
    report = first.report()
    summary = report["summary"]
    assert summary["mean_ap"]["value"] == pytest.approx(MEAN_AP)
    assert (summary["images"], summary["truth"], summary["detections"]) == (3, 4, 5)
    assert summary["operating_score"] == pytest.approx(0.7)  # 2 right of 3, of 4 boxes: F1 4/7
    assert summary["f1"] == pytest.approx(4 / 7)
    assert summary["precision"]["value"] == pytest.approx(2 / 3)
    assert summary["recall"]["value"] == pytest.approx(1 / 2)
    errors = {each["kind"]: (each["operating"], each["all"]) for each in report["errors"]}
    assert errors == {
        "classification": (1, 1),
        "localisation": (0, 0),
        "both": (0, 0),
        "duplicate": (0, 1),
        "background": (0, 1),
        "missed": (1, 1),
    }
    assert report["confusions"] == [{"true": "dog", "claimed": "cat", "n": 1}]
    cat, dog = report["classes"]
    assert (cat["name"], cat["ap"], dog["ap"]) == ("cat", pytest.approx(0.5 + 1 / 3), 0)
    curve = report["curves"][0]["precision"]
    assert (curve[0], curve[50], curve[51], curve[100]) == (
        1,
        1,
        pytest.approx(0.666667),
        pytest.approx(0.666667),
    )
    assert sum(each["n"] for each in report["reliability"]) == 5
    assert report["subject"]["name"] == "results@coco"
    assert reports.load(first.folder / "report.json").summary.f1 == summary["f1"]
    assert "finds 50 % of 4 objects; 67 % of what it reports is right" in first.out


@pytest.mark.parametrize(
    ("truth", "found", "forms"),
    [
        ("truth.json", "found.json", ("flat JSON (xyxy)", "flat JSON (xyxy)")),
        ("coco.json", "found.json", ("COCO ground truth", "flat JSON (xyxy)")),
        ("yolo_truth", "yolo_found", ("YOLO text", "YOLO text")),
        ("voc_truth", "voc_found", ("Pascal VOC XML", "Pascal VOC XML")),
        ("voc_truth", "yolo_found", ("Pascal VOC XML", "YOLO text")),
    ],
)
def test_every_form_is_recognised_and_gives_the_same(assay, first, truth, found, forms):
    more = ["task.images=boxes/pictures"] if "yolo_found" in found else []
    ended = assay(*command(f"boxes/{truth}", f"boxes/{found}", *more))
    assert (ended.code, ended.err) == (0, "")
    report, before = ended.report(), first.report()
    settings = report["settings"]
    assert (settings["ground_truth_form"], settings["detections_form"]) == forms
    assert settings["pixels"]
    assert report["errors"] == before["errors"]
    for name in ("mean_ap", "precision", "recall", "f1"):
        here, there = report["summary"][name], before["summary"][name]
        value = (here["value"], there["value"]) if isinstance(here, dict) else (here, there)
        assert value[0] == pytest.approx(value[1]), name
    assert report["summary"]["coco"]["ap"] == pytest.approx(before["summary"]["coco"]["ap"])


def test_boxes_of_voc_are_shifted_by_the_option_only(assay, place):
    """The same box counted from 0 (up to the pixel after the last) in XML, and in flat JSON."""
    folder = place / "from_zero"
    folder.mkdir(exist_ok=True)
    box = "<xmin>10</xmin><ymin>10</ymin><xmax>30</xmax><ymax>30</ymax>"
    (folder / "a.xml").write_text(
        f"<annotation><object><name>cat</name><bndbox>{box}</bndbox></object></annotation>"
    )
    found = [{"image_id": "a", "class_name": "cat", "bbox": [10, 10, 30, 30], "score": 0.9}]
    (place / "zero.json").write_text(json.dumps(found))
    ap = {}
    for first in (0, 1):
        ended = assay(*command("boxes/from_zero", "boxes/zero.json", f"task.first_pixel={first}"))
        report = ended.report()
        assert report["settings"]["first_pixel"] == first
        assert any(f"are counted from {first} (first_pixel)" in note for note in report["subject"]["notes"])
        ap[first] = report["summary"]["coco"]["ap"]
    assert ap[0] == pytest.approx(1)
    assert ap[1] == pytest.approx(0.9)  # 20 * 20 of 21 * 21: an IoU of .907


def test_yolo_without_pictures_has_no_sizes(assay, place):
    report = assay(*command("boxes/yolo_truth", "boxes/yolo_found")).report()
    assert not report["settings"]["pixels"]
    assert report["summary"]["mean_ap"]["value"] == pytest.approx(MEAN_AP)
    assert report["summary"]["coco"]["ap_small"] is None


def test_the_page_shows_the_mistakes(first):
    page = (first.folder / "report.html").read_text()
    report = first.report()
    shown = len(report["false_positives"]) + len(report["false_negatives"]) + len(report["suspects"])
    assert page.count("data:image/jpeg;base64,") == shown >= 5
    assert "<script" not in page
    assert page.index("<h1>") < page.index("What to do") < page.index("Kinds of errors")
    for name in ("precision_recall.png", "reliability.png"):
        assert (first.folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_tables_list_classes_and_mistakes(first):
    with (first.folder / "classes.csv").open(newline="") as file:
        classes = list(csv.DictReader(file))
    assert [(row["name"], row["truth"], row["detections"]) for row in classes] == [
        ("cat", "2", "4"),
        ("dog", "2", "1"),
    ]
    with (first.folder / "mistakes.csv").open(newline="") as file:
        mistakes = list(csv.DictReader(file))
    wrong = [(row["kind"], row["image"]) for row in mistakes if row["what"] == "false positive"]
    assert wrong == [("classification", "a.jpg"), ("duplicate", "b.jpg"), ("background", "c.jpg")]
    assert sum(row["what"] == "false negative" for row in mistakes) == 2


def test_the_store_has_metrics_and_the_table(assay, first):
    [run] = assay.runs(f"attributes.run_id = '{first.report()['run']['id']}'")
    metrics = run.data.metrics
    assert metrics["detect_eval/mean_ap"] == pytest.approx(MEAN_AP)
    assert metrics["detect_eval/errors/missed"] == 1
    assert {"detect_eval/coco/ap", "detect_eval/recall_low", "detect_eval/ece"} <= set(metrics)
    assert run.data.tags["assay.subject"] == "results@coco"
    names = {each.path for each in assay.client.list_artifacts(run.info.run_id)}
    assert {"report.json", "report.html", "classes.json", "mistakes.csv", "precision_recall.png"} <= names


def test_the_same_boxes_give_the_same_report(assay, first):
    again = assay(*command("boxes/coco.json", "boxes/results.json", "task.images=boxes/pictures"))
    assert again.numbers() == first.numbers()


@pytest.mark.parametrize(
    ("truth", "found", "said"),
    [
        ("truth.json", "none.json", "reports nothing, so none of 4 objects"),
        ("none.json", "found.json", "There are no true boxes"),
        ("none.json", "none.json", "There are no true boxes in 0 images"),
    ],
)
def test_nothing_is_a_case(assay, place, truth, found, said):
    ended = assay(*command(f"boxes/{truth}", f"boxes/{found}"))
    assert (ended.code, ended.err) == (0, "")
    assert said in ended.out
    assert (ended.folder / "report.html").stat().st_size > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("task=detect_eval",), "detections must be given: detections=PATH"),
        (
            ("task=detect_eval", "detections=boxes/found.json"),
            "ground_truth must be given: ground_truth=PATH",
        ),
        (command("nowhere.json"), "ground_truth=nowhere.json does not exist"),
        (
            command(found="boxes/empty"),
            "detections=boxes/empty is an empty folder; give one that holds something",
        ),
        (command(found="boxes/notes"), "no boxes in this folder"),
        (command(found="boxes/text.json"), "no valid JSON"),
        (command(found="boxes/broken.json"), "needs the keys image_id, class_name and bbox"),
        (command(found="boxes/unscored.json"), "these boxes have no scores"),
        (
            command("boxes/found.json", "boxes/found.json"),
            "has a score, as detections have; ground truth has none",
        ),
        (command("boxes/voc_truth", "boxes/voc_found", "task.first_pixel=2"), "task.first_pixel must be"),
        (command("boxes/coco.json", "boxes/yolo_found"), "different units"),
        (
            command("boxes/truth.json", "boxes/found.json", "task.iou=1.5"),
            "task.iou must be from 0.1 to 1, not 1.5",
        ),
        (
            command("boxes/truth.json", "boxes/found.json", "task.resamples=0"),
            "task.resamples must be 1 or more, not 0",
        ),
        (
            command("boxes/truth.json", "boxes/found.json", "task.box_format=cxcywh"),
            "task.box_format must be one of xyxy, xywh",
        ),
        (
            command("boxes/truth.json", "boxes/found.json", "task.box_format=xywh", "task.iuo=1"),
            "task.iuo is unknown",
        ),
        (
            command("boxes/truth.json", "boxes/found.json", "task.images=void"),
            "task.images=void does not exist",
        ),
        (
            command("boxes/truth.json", "boxes/found.json", "task.images=albums2"),
            "has no picture of any image",
        ),
        (command("boxes/truth.json", "boxes/found.json", "model=fashion_cnn"), "does not read 'model'"),
    ],
)
def test_mistakes_are_one_line(assay, place, given, message):
    (assay.folder / "albums2").mkdir(exist_ok=True)
    Image.new("L", (3, 3)).save(assay.folder / "albums2" / "other.png")
    before = len(assay.runs())
    ended = assay(*given)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.startswith("error: ")
    assert len(ended.err.splitlines()) == 1
    assert len(assay.runs()) == before
