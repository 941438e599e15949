"""The autopsy of a model on its data from the command line: what it reports, files in the store, and shares."""

from __future__ import annotations

import csv
import math
import re

import numpy as np
import pytest
from PIL import Image


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


SMALL = [
    "task=autopsy", "model=fashion_cnn", "dataset=fashion", "dataset.max_samples=50", "task.batch_size=16",
    "dataset@task.train=fashion", "task.train.max_samples=30", "task.layer=conv2", "task.gradcam_layer=conv1",
    "task.overlays=2", "task.resamples=20",
]  # fmt: skip


@pytest.fixture(scope="module")
def alone(assay):
    """A small autopsy in one process, with layers of the user's choice."""
    return assay(*SMALL).numbers()


def test_layers_are_taken_by_name(alone):
    assert alone["embeddings"]["layer"] == "conv2"
    assert alone["gradcam"]["layer"] == "conv1"
    assert len(alone["gradcam"]["shown"]) == 2


def test_the_same_seed_gives_the_same_report(assay, alone):
    assert assay(*SMALL).numbers() == alone


def test_two_processes_give_what_one_gives(assay, alone):
    from tests.tasks.test_ranks import assert_equal_within

    ended = assay.two(*SMALL)
    assert (ended.code, ended.err) == (0, "")
    assert_equal_within(ended.numbers(), alone)
