"""`task=contaminate` end to end: what was planted is found, folders need no torch, mistakes are one line."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image

from app.reporting.contamination import report as reports


def scene(seed: int) -> Image.Image:
    rough = np.random.default_rng(seed).integers(0, 256, (7, 8, 3), dtype=np.uint8)
    return Image.fromarray(rough).resize((90, 80), Image.Resampling.BICUBIC)


@pytest.fixture(scope="module")
def photos(assay):
    """Three splits with an exact copy under another class, a near copy, a cut file, and a hostile name."""
    root = assay.folder / "albums"
    for split, files in {
        "train": {"cat/0.png": 0, "cat/1.png": 1, "dog/2.png": 2, "dog/3.png": 3},
        "val": {"cat/7.png": 7, "dog/8.png": 8},
        "test": {"dog/same.png": 1, "dog/new.png": 5, "cat/<b>x.png": 6},
    }.items():
        for path, seed in files.items():
            file = root / split / path
            file.parent.mkdir(parents=True, exist_ok=True)
            scene(seed).save(file)
    scene(2).save(root / "test" / "dog" / "again.jpg", quality=88)
    cut = root / "test" / "cat" / "cut.jpg"
    scene(9).save(cut)
    cut.write_bytes(cut.read_bytes()[:900])
    (root / "test" / "notes.txt").write_text("no picture")
    return root


SPLITS = [f"+task.splits.{name}=albums/{name}" for name in ("train", "val", "test")]


@pytest.fixture(scope="module")
def first(assay, photos):
    ended = assay("task=contaminate", *SPLITS)
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_copies_in_folders_are_found(first):
    report = first.report()
    summary = report["summary"]
    assert summary["overall_risk"] == "CRITICAL"
    assert (summary["exact_across"], summary["exact_labels_differ"]) == (1, 1)
    assert (summary["near_across"], summary["confirmed_across"]) == (1, 1)
    assert (summary["drop"], summary["review"]) == (2, 0)
    shares = {each["split"]: (each["exact"], each["confirmed"], each["n"]) for each in report["exposure"]}
    assert shares == {"train": (1, 1, 4), "val": (0, 0, 2), "test": (1, 1, 5)}
    assert [each["path"] for each in report["groups"][0]["members"]] == ["cat/1.png", "dog/same.png"]
    pair = report["pairs"][0]
    assert (pair["first"]["path"], pair["second"]["path"]) == ("dog/2.png", "dog/again.jpg")
    assert pair["confirmed"]
    assert pair["likeness"] > 0.99
    assert [each["path"] for each in report["subject"]["excluded"]] == ["test: cat/cut.jpg"]
    assert any("notes.txt" in note for note in report["subject"]["notes"])
    assert report["quality"][2]["unreadable"] == 1
    assert report["hash_spec"]["algorithm"] == "dhash 8x8"
    assert reports.load(first.folder / "report.json").summary.drop == 2
    assert first.out.startswith(
        "Risk CRITICAL. 2 of 7 pictures of the splits beside train are in another split"
    )


def test_the_tables_name_what_to_leave_out(first):
    with (first.folder / "suggestions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["split"], row["path"], row["action"], row["of_path"]) for row in rows] == [
        ("test", "dog/again.jpg", "drop", "dog/2.png"),
        ("test", "dog/same.png", "drop", "cat/1.png"),
    ]
    assert [row["labels_differ"] for row in rows] == ["False", "True"]
    with (first.folder / "index.csv").open(newline="") as file:
        index = list(csv.DictReader(file))
    assert len(index) == 11
    assert [row["path"] for row in index if row["status"] != "ok"] == ["cat/cut.jpg"]
    assert len({row["sha256"] for row in index}) == 10


def test_the_page_shows_both_pictures_of_each_pair(first):
    page = (first.folder / "report.html").read_text()
    assert page.count("data:image/jpeg;base64,") >= 4
    assert "CRITICAL" in page.split("<h1>")[0]  # the risk comes first
    assert "Similarity is not proof" in page
    assert "<b>x" not in page
    assert "<script" not in page
    assert len(page) < 5e6
    assert (first.folder / "distances.png").read_bytes().startswith(b"\x89PNG")


def test_the_store_has_metrics_and_the_table(assay, first):
    [run] = assay.runs(f"attributes.run_id = '{first.report()['run']['id']}'")
    metrics = run.data.metrics
    assert metrics["contaminate/risk"] == 5
    assert metrics["contaminate/exact_across"] == 1
    assert metrics["contaminate/share_sure/test"] == pytest.approx(0.4)
    assert run.data.tags["assay.risk"] == "CRITICAL"
    assert run.info.status == "FINISHED"
    names = {each.path for each in assay.client.list_artifacts(run.info.run_id)}
    assert {"report.json", "report.html", "suggestions.csv", "suggestions.json", "distances.png"} <= names


def test_the_same_splits_give_the_same_report(assay, first):
    again = assay("task=contaminate", *SPLITS, "task.workers=2")
    assert again.numbers() == first.numbers()


def test_planted_copies_are_found(assay):
    settings = ["train", "test"]
    ended = assay(
        "+experiment=contaminate_fashion",
        *(f"+task.splits.{name}.max_samples={n}" for name, n in zip(settings, (150, 80), strict=True)),
        "seed=5",
    )
    assert (ended.code, ended.err) == (0, "")
    report = ended.report()
    planted = report["settings"]["planted"]
    assert [each["kind"] for each in planted] == ["exact"] * 6 + ["near"] * 6
    assert all(each["found"] for each in planted), [each for each in planted if not each["found"]]
    assert report["summary"]["planted_found"] == report["summary"]["planted"] == 12
    assert (report["summary"]["exact_across"], report["summary"]["exact_labels_differ"]) == (6, 2)
    copies = {each["path"] for each in report["suggestions"] if each["action"] == "drop"}
    assert {each["path"] for each in planted} <= copies
    assert "12 of 12 planted copies found" in ended.out


def test_a_clean_pair_of_splits_is_said_to_be_clean(assay, photos):
    ended = assay("task=contaminate", *SPLITS[:2])
    assert ended.report()["summary"]["overall_risk"] in {"NONE", "INFO"}
    assert "share no picture" in ended.out
    assert json.loads((ended.folder / "report.json").read_text())["suggestions"] == []


def test_one_split_is_compared_with_itself(assay, photos):
    (photos / "twice").mkdir()
    for name in ("a.png", "b.png"):
        scene(4).save(photos / "twice" / name)
    alone = assay("task=contaminate", SPLITS[0])
    assert (alone.report()["summary"]["exact_within"], alone.code) == (0, 0)
    assert "No two of the 4 pictures of train are copies." in alone.out
    twice = assay("task=contaminate", f"+task.splits.own={photos}/twice", "task.classes=false")
    assert twice.report()["summary"]["overall_risk"] == "LOW"
    assert "1 pair among the 2 pictures of own is a copy: 1 byte for byte." in twice.out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "contamination needs splits: give +task.splits.train=DIR"),
        ([SPLITS[0], "+task.splits.test=nowhere"], "task.splits.test=nowhere does not exist; give a folder"),
        ([SPLITS[0], "+task.splits.test=albums/test/notes.txt"], "is no folder"),
        (
            [SPLITS[0], "+task.splits.test=3"],
            "task.splits.test must be the path of a folder or a node with a _target_, not 3",
        ),
        (
            [SPLITS[0], "+task.splits.test._target_=builtins.object"],
            "makes a data set of pictures, not object",
        ),
        (
            [SPLITS[0], "+task.splits.test={_target_:app.subjects.fashion.fashion,max_samples:5}"],
            "give all of one kind",
        ),
        (
            [*SPLITS, "+task.plant._target_=app.subjects.planting.Planting"],
            "task.plant names the split 'train'; data sets to plant in are none",
        ),
        ([*SPLITS, "+task.plant._target_=builtins.object"], "task.plant must have a _target_ of"),
        (
            ["+experiment=contaminate_fashion", "task.plant.mislabelled=9"],
            "mislabelled must be 0 or more, and mislabelled at most exact",
        ),
        (
            [*SPLITS, "task.near_distance=20"],
            "task.near_distance must be at most task.weak_distance, 14, not 20",
        ),
        ([*SPLITS, "task.compared=-1"], "task.compared must be 0 or more, not -1"),
        ([*SPLITS, "task.workers=0"], "task.workers must be 1 or more"),
        ([*SPLITS, "task.quality.min_width=-1"], "min_width"),
        ([*SPLITS, "model=fashion_cnn"], "task=contaminate does not read 'model'"),
    ],
)
def test_mistakes_are_one_line(assay, photos, given, message):
    before = len(assay.runs())
    start = [] if given and given[0].startswith("+experiment") else ["task=contaminate"]
    ended = assay(*start, *given)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.startswith("error: ")
    assert len(ended.err.splitlines()) == 1
    assert len(assay.runs()) == before


def test_an_empty_folder_is_a_mistake(assay, photos):
    (photos / "void").mkdir(exist_ok=True)
    ended = assay("task=contaminate", SPLITS[0], "+task.splits.test=albums/void")
    assert ended.code == 2
    assert "task.splits.test=albums/void holds no image; give a folder of images" in ended.err


def test_what_was_decided_about_files_is_said_and_no_name_turns_the_text(assay):
    root = assay.folder / "xrays"
    (root / "a").mkdir(parents=True)
    twelve = [np.asarray(scene(seed).convert("L")).astype(np.uint16) * 16 for seed in range(3)]
    Image.fromarray(twelve[0]).save(root / "a" / "gnp.\u202e0.png")
    Image.fromarray(twelve[1]).save(root / "a" / "1.png")
    Image.fromarray((twelve[2] / 4095).astype(np.float32)).save(root / "a" / "2\u202e.tif")
    (root / "a" / "3.jp2").write_bytes(b"\0\0\0\x0cjP  ")
    ended = assay("task=contaminate", "+task.splits.train=xrays", "task.workers=999")
    assert ended.code == 0
    for line in (
        "task.workers is 999, but",
        "train: 2 images have 16 bits a sample: 65,535 is white (such as a/1.png)",
        "train: no sample of the images of 16 bits is above",
        "1 files were not looked at, such as a/3.jp2, which is an image of a format that is not read (JPEG 2000)",
        "one file or case was left out: train: a/2\\u202e.tif, which holds real numbers of 32 bits",
    ):
        assert line in ended.out
    page = (ended.folder / "report.html").read_text(encoding="utf-8")
    assert "\u202e" not in ended.out + page
    assert "2\\u202e" in page
    fixed = assay("task=contaminate", "+task.splits.train=xrays", "task.decoding.white_level=4095").report()
    faults = {each["kind"]: each["n"] for each in fixed["quality"][0]["faults"]}
    assert (faults["too_dark"], fixed["quality"][0]["unreadable"]) == (0, 0)
    assert "16 bits a sample: 4,095 is white" in str(fixed["subject"]["notes"])
