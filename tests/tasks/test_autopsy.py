"""The autopsy from the command line: the original's numbers, planted faults, and one line for every mistake."""

from __future__ import annotations

import csv
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

GOLDEN = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "autopsy-golden"
CASES = ("balanced", "imbalanced", "logits", "overconfident", "overlap", "underfit")
FEW = ["task.resamples=50", "task.overlays=0"]
golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden files of the original tool are not here")


@pytest.fixture(scope="module")
def arrays(assay):
    """A sound model of three classes in files: 300 rows of probabilities and labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300)
    guess = np.where(rng.random(300) < 0.9, labels, rng.integers(3, size=300))
    probs = np.full((300, 3), 0.05) + 0.85 * np.eye(3)[guess]
    folder = assay.folder / "arrays"
    folder.mkdir()
    np.save(folder / "probs.npy", probs)
    np.save(folder / "labels.npy", labels)
    return folder, probs, labels


@pytest.fixture(scope="module")
def fashion(assay):
    """The embedded subject on 400 test cases, with training data."""
    ended = assay(
        "+experiment=autopsy_fashion",
        "dataset.max_samples=400",
        "task.train.max_samples=200",
        "task.resamples=50",
        "task.batch_size=64",
        "seed=1",
    )
    assert (ended.code, ended.err) == (0, "")
    return ended


# -- the original's numbers ---------------------------------------------------------------------------------------


@golden
@pytest.mark.parametrize("case", CASES)
def test_profile_original_gives_the_originals_numbers(assay, case):
    folder, expected = GOLDEN / case, json.loads((GOLDEN / case / "expected.json").read_text())
    report = assay(
        "task=autopsy",
        f"probs={folder}/probs.npy",
        f"labels={folder}/labels.npy",
        "profile=original",
        "task.resamples=20",
    ).report()
    overall, summary = expected["overall_metrics"], report["summary"]
    assert summary["accuracy"] == pytest.approx(overall["accuracy"], abs=1e-12)
    assert summary["macro_f1"] == pytest.approx(overall["macro_f1"], abs=1e-12)
    assert summary["ece"] == pytest.approx(expected["ece"], abs=1e-12)
    assert summary["autopsy_score"] == expected["autopsy_score"]["overall"]
    assert report["sub_scores"] == expected["autopsy_score"]["sub_scores"]
    assert report["confusion"] == expected["confusion_matrix"]
    found = [
        (each["cause_type"], round(each["confidence"], 2), each["affected"]) for each in report["findings"]
    ]
    assert found == [
        (each["cause_type"], each["confidence"], each["affected"] or []) for each in expected["causes"]
    ]
    for own, theirs in zip(report["per_class"], expected["class_stats"], strict=True):
        assert own["name"] == theirs["class_name"]
        assert own["support"] == theirs["sample_count"]
        assert own["recall"] == pytest.approx(theirs["recall"])


@golden
def test_a_weak_model_does_not_look_healthy(assay):
    folder = GOLDEN / "underfit"
    ended = assay("task=autopsy", f"probs={folder}/probs.npy", f"labels={folder}/labels.npy", *FEW)
    report = ended.report()
    assert report["summary"]["health"] == "unhealthy"
    assert report["summary"]["autopsy_score"] < 60  # the original says 92.8
    assert report["not_applicable"]["generalization"]


def test_arrays_need_no_torch(assay, arrays):
    folder, *_ = arrays
    code = (
        "import sys; import app.__main__ as door; "
        f"sys.argv = ['app', 'task=autopsy', 'probs={folder}/probs.npy', 'labels={folder}/labels.npy', "
        "'task.resamples=5', 'output=out/no_torch']; "
        "assert door.main() == 0; print([m for m in ('torch', 'pytorch_lightning') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=assay.folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


# -- model and data -----------------------------------------------------------------------------------------------


def test_the_report_says_what_is_there(fashion):
    report = fashion.report()
    assert report["schema"]["artifact"] == "assay.autopsy"
    summary = report["summary"]
    low, high = summary["accuracy_ci"]
    assert low < summary["accuracy"] < high
    assert 0.85 < summary["accuracy"] < 0.97  # 91 % on all test images
    matrix = np.array(report["confusion"])
    assert matrix.shape == (10, 10)
    assert matrix.sum() == summary["n"] == 400
    assert np.trace(matrix) / 400 == pytest.approx(summary["accuracy"])
    assert sum(each["n"] for each in report["calibration"]["bins"]) == 400
    assert report["calibration"]["ece"] == summary["ece"]
    assert report["dataset_quality"]["total"] == 400
    assert report["training"]["n"] == 200
    assert report["leakage"]["exact"] == 0
    assert report["near_duplicates"]["near"] >= 0
    assert len(report["embeddings"]["x"]) == 400
    assert report["embeddings"]["layer"] == "the input of fc2"
    assert len(report["gradcam"]["shown"]) == 8
    assert all(math.isfinite(value) for value in report["sub_scores"].values())
    wrong = [each for each in report["hard_examples"] if each["kind"] == "confident_error"]
    assert len(wrong) == min(12, report["hard_example_counts"]["confident_error"])
    for each in wrong:
        assert each["label"] != each["predicted"]
        assert Image.open(fashion.folder / each["file"]).size == (28, 28)


def test_every_case_is_predicted_once(fashion):
    with (fashion.folder / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["case"]) for row in rows] == list(range(400))
    right = sum(row["label"] == row["predicted"] for row in rows)
    assert right / 400 == pytest.approx(fashion.report()["summary"]["accuracy"])


def test_a_sound_model_gets_no_grave_cause(fashion):
    grave = {
        "overfitting", "underfitting", "label_noise", "class_order_mismatch", "class_imbalance", "leakage",
        "data_quality", "hidden_slice", "overconfidence", "underconfidence",
    }  # fmt: skip
    assert not grave & {each["cause_type"] for each in fashion.report()["findings"]}
    assert fashion.report()["summary"]["health"] == "healthy"


def test_the_store_has_metrics_findings_and_files(assay, fashion):
    report = fashion.report()
    run = assay.client.get_run(report["run"]["id"])
    assert run.info.status == "FINISHED"
    for name in ("accuracy", "macro_f1", "ece", "autopsy_score"):
        assert run.data.metrics[f"autopsy/{name}"] == pytest.approx(report["summary"][name])
    assert len(run.data.metrics) <= 60
    assert run.data.tags["assay.health"] == "healthy"
    assert run.inputs.dataset_inputs[0].dataset.name == "fashion_test"
    files = {each.path for each in assay.client.list_artifacts(run.info.run_id)}
    wanted = {
        "report.json",
        "report.html",
        "findings.json",
        "reliability.png",
        "confusion.png",
        "embeddings.png",
    }
    assert wanted | {"predictions.csv", "config.yaml", "examples", "overlays"} <= files
    page = (fashion.folder / "report.html").read_text()
    assert len(page) < 2e6
    assert "<script" not in page
    assert not re.search(r"(src|href)=.?(https?:)?//", page)


def test_the_same_seed_gives_the_same_report(assay, fashion):
    again = assay(
        "+experiment=autopsy_fashion",
        "dataset.max_samples=400",
        "task.train.max_samples=200",
        "task.resamples=50",
        "task.batch_size=64",
        "seed=1",
    )
    assert again.numbers() == fashion.numbers()


def test_other_layers_are_taken_by_name(assay):
    report = assay(
        "task=autopsy",
        "model=fashion_cnn",
        "dataset=fashion",
        "dataset.max_samples=60",
        "task.layer=conv2",
        "task.gradcam_layer=conv1",
        "task.overlays=2",
        "task.resamples=5",
    ).report()
    assert report["embeddings"]["layer"] == "conv2"
    assert report["gradcam"]["layer"] == "conv1"
    assert report["training"] is None
    assert report["sub_scores"]["generalization"] is None


def test_a_model_without_places_says_why_there_are_no_maps(assay):
    report = assay(
        "+experiment=planted_overfitting", "dataset.max_samples=60", "task.overlays=2", "task.resamples=5"
    ).report()
    assert report["gradcam"]["shown"] == []
    assert "no layer of the model has places" in report["gradcam"]["note"]


def test_two_processes_give_what_one_gives(assay):
    from tests.tasks.test_ranks import assert_equal_within

    given = [
        "task=autopsy", "model=fashion_cnn", "dataset=fashion", "dataset.max_samples=50", "task.batch_size=16",
        "dataset@task.train=fashion", "task.train.max_samples=30", *FEW,
    ]  # fmt: skip
    alone = assay(*given).numbers()
    ended = assay.processes("out/autopsy_two", *given, "trainer=ddp_cpu", "trainer.devices=2")
    assert ended.out.count("Report: ") == 1
    assert_equal_within(ended.numbers(), alone)


# -- planted faults -----------------------------------------------------------------------------------------------


PLANTED = {
    "label_noise": ("label_noise", None, ["+dataset.data.max_samples=800"]),
    "imbalance": ("class_imbalance", ["bag"], ["+dataset.data.max_samples=600"]),
    "missing_class": ("class_imbalance", ["bag"], ["+dataset.data.max_samples=400"]),
    "leak": (
        "leakage",
        None,
        ["+dataset.data.max_samples=300", "+dataset.training.max_samples=500", "task.train.max_samples=500"],
    ),
    "class_order": ("class_order_mismatch", None, ["dataset.max_samples=300"]),
    "untrained": ("underfitting", [], ["dataset.max_samples=300"]),
    "overfitting": ("overfitting", [], ["dataset.max_samples=400"]),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_named(assay, name):
    cause, affected, smaller = PLANTED[name]
    ended = assay(f"+experiment=planted_{name}", *smaller, *FEW)
    found = {each["cause_type"]: each for each in ended.report()["findings"]}
    assert cause in found, list(found)
    if affected is not None:
        assert found[cause]["affected"] == affected
    assert found[cause]["evidence"]
    assert found[cause]["recommendations"]
    assert "What to do" in (ended.folder / "report.html").read_text()


def test_planted_labels_are_among_the_suspects(assay):
    from app.subjects.fashion import fashion
    from app.subjects.planted import relabelled

    report = assay("+experiment=planted_label_noise", "+dataset.data.max_samples=800", *FEW).report()
    sound = fashion(max_samples=800)
    wrong = set(np.flatnonzero(relabelled(sound).labels != sound.labels).tolist())
    suspects = {each["case"] for each in report["label_noise"]["suspects"]}
    assert len(wrong) == 80
    assert len(wrong & suspects) > 0.85 * len(wrong)
    assert report["label_noise"]["share"] == pytest.approx(0.1, abs=0.03)


@pytest.fixture(scope="module")
def photos(assay):
    """A folder of pictures of three classes, two of them broken, one with HTML in its name, one a link out."""
    from app.subjects.fashion import fashion

    data, root = fashion(max_samples=200), assay.folder / "photos"
    for case in np.flatnonzero(np.isin(data.labels, (1, 7, 8))).tolist():
        place = root / data.class_names[data.labels[case]]
        place.mkdir(parents=True, exist_ok=True)
        data.load(case).resize((64, 64)).save(place / f"{case:03d}.png")
    broken = sorted((root / "trouser").iterdir())[0]
    broken.write_bytes(broken.read_bytes()[:-40])
    (root / "bag" / "<b>&.png").write_bytes(b"")
    outside = assay.folder / "outside.png"
    Image.new("L", (64, 64), 128).save(outside)
    (root / "bag" / "link.png").symlink_to(outside)
    return root, f"trouser/{broken.name}"


def test_a_corrupt_file_is_named(assay, photos):
    root, broken = photos
    ended = assay(
        "task=autopsy",
        "model=state_dict",
        "model.factory._target_=users_code.Net",
        "+model.factory.outputs=3",
        "model.weights=null",
        "model.class_names=[bag,sneaker,trouser]",
        "model.preprocess={resize: 32, crop: 32, mode: L, mean: [0.5], std: [0.5]}",
        "dataset=image_folder",
        f"dataset.root={root}",
        "task.overlays=1",
        "task.resamples=5",
    )
    assert (ended.code, ended.err) == (0, "")
    report = ended.report()
    assert report["subject"]["classes"] == ["bag", "sneaker", "trouser"]
    excluded = {each["path"]: each["reason"] for each in report["subject"]["excluded"]}
    assert set(excluded) == {broken, "bag/<b>&.png", "bag/link.png"}
    assert "link out" in excluded["bag/link.png"]
    unreadable = {each["path"] for each in report["dataset_quality"]["unreadable"]}
    assert unreadable == {broken, "bag/<b>&.png"}
    found = {each["cause_type"]: each for each in report["findings"]}
    assert set(found["data_quality"]["affected"]) == unreadable
    assert sum(map(sum, report["confusion"])) == report["summary"]["n"]
    page = (ended.folder / "report.html").read_text()
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page


# -- tables -------------------------------------------------------------------------------------------------------


def test_tables_give_what_arrays_give(assay, arrays):
    import pandas as pd

    folder, probs, labels = arrays
    names = ["cat", "<i>dog</i>", "owl"]
    table = pd.DataFrame(probs, columns=names)
    table.insert(0, "path", [f"{case}.png" for case in range(300)])
    table.assign(label=[names[k] for k in labels]).to_csv(folder / "table.csv", index=False)
    table.to_parquet(folder / "probs.parquet")
    shuffled = np.random.default_rng(1).permutation(300)
    other = pd.DataFrame({"path": table["path"], "label": labels}).iloc[shuffled]
    other.to_csv(folder / "labels.csv", index=False)
    runs = [
        [f"probs={folder}/table.csv"],
        [f"probs={folder}/probs.parquet", f"labels={folder}/labels.csv"],
        [
            f"probs={folder}/probs.npy",
            f"labels={folder}/labels.npy",
            "task.class_names=[cat,'<i>dog</i>',owl]",
        ],
    ]
    ended = [assay("task=autopsy", *each, "task.resamples=20") for each in runs]
    first, *others = [each.report() for each in ended]
    for report in others:
        for key in ("summary", "findings", "confusion", "calibration", "per_class"):
            assert report[key] == first[key]
    assert first["hard_examples"] == others[0]["hard_examples"]
    assert first["dataset_quality"] is None
    assert "<i>dog" not in (ended[0].folder / "report.html").read_text()


def test_columns_are_put_in_the_order_of_the_names(assay, arrays):
    import pandas as pd

    folder, probs, labels = arrays
    pd.DataFrame(probs[:, [2, 0, 1]], columns=["owl", "cat", "dog"]).to_csv(folder / "mixed.csv", index=False)
    report = assay(
        "task=autopsy",
        f"probs={folder}/mixed.csv",
        f"labels={folder}/labels.npy",
        "task.class_names=[cat,dog,owl]",
        "task.resamples=5",
    ).report()
    assert report["summary"]["accuracy"] == pytest.approx((probs.argmax(1) == labels).mean())


# -- mistakes -----------------------------------------------------------------------------------------------------


def changed(probs, rows, value):
    out = probs.copy()
    out[rows] = value
    return out


MISTAKES = {
    "not finite": (
        lambda p, k: (changed(p, [3, 17], np.nan), k),
        r"rows 3, 17 of the probabilities hold NaN or infinity; .*on_invalid=drop",
    ),
    "sum": (lambda p, k: (changed(p, [5], 0.2), k), r"row 5 of the probabilities do not sum to 1"),
    "sigmoid": (lambda p, k: (p * 0.5 + 0.3, k), r"the rows are in \[0, 1\] and sum to .*multi-label"),
    "lengths": (lambda p, k: (p, k[:-2]), r"298 labels for 300 rows of probabilities"),
    "outside": (lambda p, k: (p, np.where(k == 0, 9, k)), r".*rows .* have a label outside 0\.\.2"),
    "negative": (lambda p, k: (p, k - 1), r".*have a label outside 0\.\.2"),
    "one column": (lambda p, k: (p[:, :1], k), r"probabilities of shape \(300, 1\) have one column"),
    "empty": (lambda p, k: (p[:0], k[:0]), r"the array of probabilities is empty"),
    "flat": (lambda p, k: (p[:, 0], k), r"probs=.* must hold one row a test case"),
    "fractions": (lambda p, k: (p, k + 0.5), r"labels must be whole numbers in 0\.\.2"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_wrong_arrays_are_one_clear_line(assay, arrays, name):
    make, sentence = MISTAKES[name]
    _, probs, labels = arrays
    place = assay.folder / "wrong" / name.replace(" ", "_")
    place.mkdir(parents=True, exist_ok=True)
    rows, given = make(probs, labels)
    np.save(place / "probs.npy", rows)
    np.save(place / "labels.npy", given)
    before = len(assay.runs())
    ended = assay("task=autopsy", f"probs={place}/probs.npy", f"labels={place}/labels.npy", *FEW)
    refused(ended, sentence)
    assert len(assay.runs()) == before


def refused(ended, sentence):
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert re.match(f"error: {sentence}", ended.err), ended.err
    assert not (ended.folder / "report.json").exists()


def test_rows_that_are_not_finite_are_left_out_and_listed(assay, arrays):
    folder, probs, labels = arrays
    np.save(folder / "holes.npy", changed(probs, [3, 17], np.inf))
    ended = assay(
        "task=autopsy", f"probs={folder}/holes.npy", f"labels={folder}/labels.npy", "on_invalid=drop", *FEW
    )
    report = ended.report()
    assert report["summary"]["n"] == report["subject"]["n"] == 298
    assert [each["path"] for each in report["subject"]["excluded"]] == ["case-00003", "case-00017"]
    kept = np.setdiff1d(np.arange(300), [3, 17])
    assert report["summary"]["accuracy"] == pytest.approx((probs.argmax(1) == labels)[kept].mean())
    assert "NaN" not in (ended.folder / "report.json").read_text().replace("NaN or infinity", "")


def test_a_class_without_cases_and_data_of_one_class(assay, arrays):
    folder, probs, labels = arrays
    for name, keep in (("two", labels < 2), ("one", labels == 1)):
        np.save(folder / f"p_{name}.npy", probs[keep])
        np.save(folder / f"l_{name}.npy", labels[keep])
        ended = assay("task=autopsy", f"probs={folder}/p_{name}.npy", f"labels={folder}/l_{name}.npy", *FEW)
        assert (ended.code, ended.err) == (0, "")
        report = ended.report()
        empty = [each for each in report["per_class"] if not each["support"]]
        assert empty
        assert all(each["recall"] is None for each in empty)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "task=autopsy needs a model and its data, .*, or what a model said, probs=FILE labels=FILE"),
        (["probs=nope.npy"], "probs=nope.npy does not exist"),
        (["probs=arrays"], "probs=arrays is no file"),
        (["probs=users_code.py"], "probs=users_code.py must end in .npy, .csv or .parquet"),
        (["probs=arrays/probs.npy"], "labels must be given: labels=FILE"),
        (["probs=broken.npy"], "probs=broken.npy cannot be read as an array"),
        (["probs=broken.parquet"], "probs=broken.parquet cannot be read as a table"),
        (
            ["probs=words.csv", "labels=arrays/labels.npy"],
            "probs=words.csv: column 'b' holds 'x' in row 1, which is",
        ),
        (
            ["probs=arrays/probs.npy", "labels=names.csv"],
            "names.csv has labels that are no class, the first is 'cow'; allowed: 0, 1, 2",
        ),
        (
            ["probs=arrays/probs.npy", "labels=arrays/labels.npy", "task.class_names=[a,b]"],
            "2 class names for 3 columns of probabilities",
        ),
        (
            ["probs=arrays/probs.npy", "labels=arrays/labels.npy", "task.class_names=[a,a,b]"],
            "class names must differ",
        ),
        (
            ["probs=arrays/probs.npy", "labels=arrays/labels.npy", "task.class_names=nope.json"],
            "class names cannot be read from nope.json",
        ),
        (
            ["probs=arrays/probs.npy", "labels=arrays/labels.npy", "profile=paper"],
            "profile must be one of assay, original or null, not 'paper'",
        ),
        (
            ["probs=arrays/probs.npy", "labels=arrays/labels.npy", "on_invalid=skip"],
            "on_invalid must be one of error, drop, not 'skip'",
        ),
        (
            ["probs=arrays/probs.npy", "labels=arrays/labels.npy", "+task.weights.nope=2"],
            "weights are numbers from 0 on for .*; nope is not",
        ),
        (
            ["probs=arrays/probs.npy", "labels=arrays/labels.npy", "task.resamples=0"],
            "task.resamples must be 1 or more, not 0",
        ),
        (
            ["probs=arrays/probs.npy", "labels=arrays/labels.npy", "task.train_accuracy=91"],
            "task.train_accuracy must be from 0 to 1, not 91",
        ),
        (["model=fashion_cnn"], "task=autopsy needs a dataset beside the model"),
        (["model=fashion_cnn", "dataset=fashion", "probs=arrays/probs.npy"], "probs stands in for a model"),
        (
            ["model=fashion_cnn", "dataset=fashion", "dataset.max_samples=20", "task.layer=conv9"],
            "task.layer=conv9 is no module",
        ),
        (["operators=[weight_noise]", "probs=arrays/probs.npy"], "task=autopsy does not read 'operators'"),
    ],
)
def test_a_mistake_is_one_clear_line(assay, arrays, given, sentence):
    (assay.folder / "broken.npy").write_bytes(b"no array")
    (assay.folder / "broken.parquet").write_bytes(b"no table")
    (assay.folder / "words.csv").write_text("a,b,c\n1,0,0\n0,x,1\n")
    (assay.folder / "names.csv").write_text("label\n" + "cow\n" * 300)
    refused(assay("task=autopsy", *given), sentence)
