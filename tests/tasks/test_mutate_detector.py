"""A campaign on the embedded detector: the same twice, on two processes, and scored again from what it saved."""

from __future__ import annotations

import math

import pytest

from tests.tasks.test_ranks import RANKS, assert_equal_within

SMALL = [
    "+experiment=uamt_scenes",
    "dataset.n=5",
    "task.batch_size=2",
    "operators=[mc_dropout,weight_noise,input_blur]",
    "operators.mc_dropout.rates=[0.1,0.5]",
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
        "weight_noise",
        "weight_noise",
        "input_blur",
    ]
    for mutant in report["mutants"]:
        assert set(mutant["obj_ms"]) == set(mutant["img_killed"]) == {"miss", "ghost", "mg"}
        assert set(mutant["ua"]) == {"match", "miss", "ghost"}
        assert 0 <= mutant["obj_ms"]["mg"] <= 1
    weak, strong = (mutant["obj_ms"]["mg"] for mutant in report["mutants"][:2])
    assert weak < strong
    assert report["summary"]["ms_iou"] > 0
    assert [suite["name"] for suite in report["suites"]] == [
        "few",
        "rest",
    ] * 2  # stochastic mutants, then the others
    assert any("ran once" in note for note in report["subject"]["notes"])


def test_the_store_has_a_child_a_mutant(assay, first):
    run_id = first.report()["run"]["id"]
    children = assay.children(run_id)
    assert len(children) == 5
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


def test_two_processes_see_every_image_once(assay, first):
    ended = assay.processes("out/ranks", *SMALL, *RANKS)
    for one, other in zip(first.report()["mutants"], ended.report()["mutants"], strict=True):
        assert_equal_within(one["obj_ms"], other["obj_ms"])
        assert one["img_killed"] == other["img_killed"]
        assert one["counts"] == other["counts"] if "counts" in one else True


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
    assert len(saved) == 2
    for one, other in zip(live, saved, strict=True):
        for score in ("miss", "ghost", "mg"):
            assert math.isclose(one["obj_ms"][score], other["obj_ms"][score], abs_tol=1e-9)
        assert math.isclose(one["ms_iou"], other["ms_iou"], abs_tol=1e-6)


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
