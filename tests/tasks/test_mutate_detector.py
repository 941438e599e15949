"""A campaign on the embedded detector: the same twice, on two processes, and scored again from what it saved."""

from __future__ import annotations

import math

import pytest
from torch import nn

from app.inference.detection.blocks import DetectionStore
from app.subjects.detection.detector import detector
from app.subjects.detection.scenes import scenes
from app.subjects.detection.subject import DetectorSubject
from app.subjects.fashion import CLASS_NAMES
from app.tasks.mutate_detector import rows_of, stems
from tests.tasks.test_ranks import assert_equal_within, begun_run

SMALL = [
    "+experiment=uamt_scenes",
    "dataset.n=5",
    "task.batch_size=2",
    "operators=[mc_dropout,weight_noise,input_blur]",
    "operators.mc_dropout.rates=[0.05,0.2,0.5]",
    "operators.mc_dropout.repetitions=4",
    "operators.weight_noise.count=2",
    "operators.weight_noise.sigmas=[0.05]",
    "operators.input_blur.radii=[1]",
    "scoring.resamples=50",
]


@pytest.fixture(scope="module")
def first(assay):
    ended = assay(*SMALL, "task.save_json=true", "+task.suites.few=[0,1]", "+task.suites.rest=[2,3,4]")
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_the_report_says_what_was_asked(first):
    report = first.report()
    assert [mutant["operator"] for mutant in report["mutants"]] == [
        "mc_dropout",
        "mc_dropout",
        "mc_dropout",
        "weight_noise",
        "weight_noise",
        "input_blur",
    ]
    for mutant in report["mutants"]:
        assert set(mutant["obj_ms"]) == set(mutant["img_killed"]) == {"miss", "ghost", "mg"}
        assert set(mutant["ua"]) == {"match", "miss", "ghost"}
        assert 0 <= mutant["obj_ms"]["mg"] <= 1
    weak, middle, strong = (mutant["obj_ms"]["mg"] for mutant in report["mutants"][:3])
    assert weak < middle < strong
    (trend,) = (each for each in report["trend"]["by_operator"] if each["operator"] == "mc_dropout")
    assert trend["spearman"]["obj_ms_mg"] == 1.0
    assert report["summary"]["ms_iou"] > 0
    assert [suite["name"] for suite in report["suites"]] == [
        "few",
        "rest",
    ] * 2  # stochastic mutants, then the others
    assert any("the images are the trials" in note for note in report["subject"]["notes"])


def test_the_store_has_a_child_a_mutant(assay, first):
    run_id = first.report()["run"]["id"]
    children = assay.children(run_id)
    assert len(children) == 6
    assert all("obj_ms_mg" in child.data.metrics for child in children)
    artifacts = {each.path for each in assay.client.list_artifacts(run_id)}
    assert {"predictions", "report.json", "report.html", "mutants.csv"} <= artifacts
    assert {child.info.status for child in children} == {"FINISHED"}


def test_the_naive_engine_gives_the_same_scores(assay, first):
    naive = assay(
        *SMALL, "engine=naive", "task.save_json=true", "+task.suites.few=[0,1]", "+task.suites.rest=[2,3,4]"
    )
    ours, theirs = first.numbers(), naive.numbers()
    for report in (ours, theirs):
        report.pop("settings")
    assert_equal_within(ours["mutants"], theirs["mutants"])
    assert_equal_within(ours["summary"], theirs["summary"])


def test_two_processes_go_on_with_what_one_has_begun(assay, first, monkeypatch):
    run_id = begun_run(assay, monkeypatch, DetectionStore, *SMALL)
    ended = assay.two(*SMALL, f"resume={run_id}")
    assert (ended.code, ended.err) == (0, "")
    assert (ended.report()["run"]["id"], ended.report()["run"]["resumed"]) == (run_id, True)
    assert len(assay.children(run_id)) == 6
    ours, theirs = first.numbers(), ended.numbers()
    for name in ("mutants", "summary", "by_operator", "trend", "counts", "top_images"):
        assert_equal_within(ours[name], theirs[name], name)


@pytest.mark.parametrize("what", ["predictions", "deepluq"])
def test_what_is_saved_scores_the_same_without_the_model(assay, first, what):
    dataset = ["task.dataset=scenes"] if what == "deepluq" else []
    again = assay(
        "+experiment=score_folder",
        f"predictions={first.folder / what}",
        "profile=paper",
        "scoring.resamples=50",
        *dataset,
    )
    assert (again.code, again.err) == (0, "")
    live = [mutant for mutant in first.report()["mutants"] if mutant["operator"] == "mc_dropout"]
    saved = again.report()["mutants"]
    assert len(saved) == 3
    for one, other in zip(live, saved, strict=True):
        for score in ("miss", "ghost", "mg"):
            assert math.isclose(one["obj_ms"][score], other["obj_ms"][score], abs_tol=1e-9)
        assert math.isclose(one["ms_iou"], other["ms_iou"], abs_tol=1e-6)


def test_profile_deepluq_writes_its_columns_where_the_task_score_does(assay, first):
    short = [*SMALL, "operators=[mc_dropout,weight_noise]", "task.group_size=1"]
    short = [each for each in short if "input_blur" not in each]
    place = "output=out/deepluq"
    earlier = assay.folder / "out" / "deepluq" / "predictions" / "stale.npz"
    earlier.parent.mkdir(parents=True)
    earlier.write_bytes(b"of an earlier run")
    (assay.folder / "out" / "deepluq" / "mine.csv").write_text("not of this run")
    ended = assay(*short, "profile=deepluq", place)
    assert (ended.code, ended.err) == (0, "")
    report = ended.report()
    assert report["settings"]["profile"] == "deepluq"
    again = assay(
        "+experiment=score_folder", f"predictions={ended.folder / 'predictions'}", "profile=deepluq"
    )
    assert (again.code, again.err) == (0, "")
    written = {path.relative_to(ended.folder): path for path in ended.folder.rglob("mutant_*.csv")}
    assert len(written) == 5
    operator = ended.folder / "scene_detector" / "mc_dropout"
    assert sorted(path.name for path in operator.iterdir()) == [
        f"mutant_{r}.csv" for r in ("0.05", "0.2", "0.5")
    ]
    texts = {path.read_text() for path in again.folder.rglob("mutant_*.csv")}
    assert {path.read_text() for path in operator.iterdir()} == texts
    assert not earlier.exists()
    assert not list(ended.folder.glob(".unfinished*"))
    kept = {each.path for each in assay.client.list_artifacts(report["run"]["id"])}
    assert {"scene_detector", "predictions"} <= kept
    assert "mine.csv" not in kept
    assert {mutant["rate"] for mutant in first.report()["mutants"]} == {
        mutant["rate"] for mutant in report["mutants"]
    }


def test_names_of_images_are_unique():
    assert stems(["x/a.png", "x/b.png"]) == ("a", "b")
    assert stems(["x/a.png", "y/a.png"]) == ("x_a.png", "y_a.png")
    assert stems(["a/b.png", "a_b.png", "b.png"]) == ("a_b.png", "a_b.png-2", "b.png")
    assert stems(["a/b", "a_b", "a_b-2", "c/b"]) == ("a_b", "a_b-3", "a_b-2", "c_b")


def test_rows_made_of_labels_hold_every_label():
    def rows(names, **options):
        model = detector(nn.Linear(1, 1), "m", class_names=names, **options)
        return rows_of(DetectorSubject(model, scenes(n=1)))

    assert rows(["__background__", "N/A", *CLASS_NAMES[:4], "N/A", *CLASS_NAMES[4:]]) == 13
    assert rows(CLASS_NAMES) == 11
    assert rows(None) == 11
    assert rows(None, background=False) == 10


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["scoring=default"], "scene_detector is a detector: add scoring=detection"),
        (["dataset=fashion", "~dataset.n"], "dataset must have a _target_ that makes one"),
        (["task.smart=true"], "task.smart is for classifiers"),
        (["operators=[mc_dropout]", "operators.mc_dropout.site=nowhere"], "nowhere"),
        (["+task.suites.few=[99]"], "suites.few"),
    ],
)
def test_mistakes(assay, given, says):
    arguments = [
        "task=mutate",
        "model=scene_detector",
        "dataset=scenes",
        "scoring=detection",
        "operators=[mc_dropout]",
    ]
    known = {each.partition("=")[0] for each in given}
    kept = [each for each in arguments if each.partition("=")[0] not in known]
    ended = assay(*kept, *[each for each in given if not each.startswith("~")])
    assert ended.code == 2
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert says in ended.err
