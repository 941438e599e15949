"""A whole campaign: the same twice, whole in the store, and honest about how it ended."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter

import pytest

from app import faults
from app.tasks import mutate_classifier as task

SUMS = ("killed", "killed_weak", "survived", "inconclusive", "equivalent", "duplicate", "invalid")
PICTURES = ("score_by_operator.png", "heat_map.png")


@pytest.fixture(scope="module")
def first(assay, small):
    ended = assay(*small, "seed=3", "+task.suites.few=[0,1,2,3,4]", "+task.suites.many=[5,6,7,8,9,10,11,12]")
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_the_same_seed_gives_the_same_report(assay, small, first):
    suites = ["+task.suites.few=[0,1,2,3,4]", "+task.suites.many=[5,6,7,8,9,10,11,12]"]
    again = assay(*small, "seed=3", *suites)
    assert again.numbers() == first.numbers()
    assert again.report()["run"]["id"] != first.report()["run"]["id"]
    other = assay(*small, "seed=4", *suites)
    assert [each["seed"] for each in other.report()["mutants"]] != [
        each["seed"] for each in first.report()["mutants"]
    ]


def test_the_naive_engine_gives_the_same_numbers(assay, small, first):
    suites = ["+task.suites.few=[0,1,2,3,4]", "+task.suites.many=[5,6,7,8,9,10,11,12]"]
    naive, bank = assay(*small, "seed=3", "engine=naive", *suites).numbers(), first.numbers()
    assert (naive["settings"].pop("engine"), bank["settings"].pop("engine")) == ("naive", "bank")
    assert naive["settings"].pop("config_digest") != bank["settings"].pop("config_digest")
    assert naive == bank


def test_the_report_adds_up(first):
    report = first.report()
    summary = report["summary"]
    assert summary["mutants"] == sum(summary[each] for each in SUMS) == len(report["mutants"]) == 7
    verdicts = Counter(each["verdict"] for each in report["mutants"])
    assert {each: verdicts[each] for each in SUMS} == {each: summary[each] for each in SUMS}
    thresholds = report["summary_thresholds"]
    assert sum(thresholds[each] for each in ("killed", "survived", "invalid")) == 7
    assert sum(each["mutants"] for each in report["by_operator"]) == 7
    assert sum(each["mutants"] for each in report["by_layer"]) == 7
    counted = summary["mutants"] - summary["equivalent"] - summary["duplicate"] - summary["invalid"]
    assert summary["mutation_score"] == pytest.approx(summary["killed"] / counted)
    assert report["schema"] == {
        "artifact": "assay.mutate",
        "version": 2,
        "generator": {"tool": "assay", "version": report["schema"]["generator"]["version"]},
    }
    assert report["subject"]["n"] == 40
    assert 0.6 < report["original"]["accuracy"] <= 1.0  # 91 % on all test images
    assert [each["name"] for each in report["suites"]] == ["few", "many"]
    assert [each["n"] for each in report["suites"]] == [5, 8]
    [between] = report["suite_differences"]
    few, many = (each["mutation_score"] for each in report["suites"])
    assert abs(between["difference"]) == pytest.approx(abs(few - many))


def test_everything_lies_beside_the_report(first):
    for name in (*PICTURES, "report.html", "kill_matrix.parquet", "mutants.csv", "run.log"):
        assert (first.folder / name).stat().st_size > 0, name
    for name in PICTURES:
        assert (first.folder / name).read_bytes().startswith(b"\x89PNG")
    assert (first.folder / "report.html").stat().st_size < 2e6
    assert str(first.folder / "report.html") in first.out
    assert f"/runs/{first.report()['run']['id']}" in first.out


def test_what_the_original_says_of_each_case_is_kept(first):
    with (first.folder / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["case"]) for row in rows] == list(range(40))
    right = sum(row["label"] == row["predicted"] for row in rows)
    assert right / 40 == pytest.approx(first.report()["original"]["accuracy"])


def test_the_store_has_the_parent_and_a_child_a_mutant(assay, first):
    report = first.report()
    parent = assay.client.get_run(report["run"]["id"])
    children = assay.children(parent.info.run_id)
    assert {run.info.status for run in [parent, *children]} == {"FINISHED"}
    assert sorted(run.info.run_name for run in children) == sorted(each["key"] for each in report["mutants"])
    by_key = {run.info.run_name: run.data for run in children}
    for mutant in report["mutants"]:
        data = by_key[mutant["key"]]
        assert data.tags["assay.verdict"] == mutant["verdict"]
        assert data.params["operator"] == mutant["operator"]
        assert math.isclose(data.metrics["effect"], mutant["effect"])
        assert math.isclose(data.metrics["accuracy"], mutant["accuracy"])
    assert parent.data.metrics["mutation_score"] == report["summary"]["mutation_score"]
    measured = {
        row["key"]: row for row in report["measures"] if not row["key"].startswith(("recall/", "precision/"))
    }
    assert {"mutation_score", "accuracy", "mutation_score_thresholds", "killed", "test_cases"} <= set(
        measured
    )
    for key, row in measured.items():
        assert parent.data.metrics.get(key) == row["value"], key
    for key in ("mutation_score", "accuracy"):
        ends = [parent.data.metrics[f"{key}_{end}"] for end in ("low", "high")]
        assert ends == measured[key]["interval"]
    assert measured["mutation_score"]["interval"] == report["summary"]["mutation_score_ci"]
    assert len(parent.data.metrics) <= 60
    assert parent.data.tags["assay.model_digest"] == report["subject"]["model_digest"]
    assert parent.data.tags["assay.data_digest"] == report["subject"]["data_digest"]
    assert parent.inputs.dataset_inputs[0].dataset.name == "fashion_test"
    files = {each.path for each in assay.client.list_artifacts(parent.info.run_id)}
    assert {"report.json", "report.html", "config.yaml", "kill_matrix.parquet", *PICTURES} <= files
    assert not (assay.folder / "mlruns" / "work" / parent.info.run_id).exists()


def test_a_crash_leaves_failed_and_says_so(assay, small, monkeypatch):
    def crash(*_, **__):
        raise ZeroDivisionError("no luck")

    before, failed_parents = assay.statuses(), "attributes.status = 'FAILED' and tags.`assay.kind` = 'parent'"
    known = {run.info.run_id for run in assay.runs(failed_parents)}
    with monkeypatch.context() as patch:
        patch.setattr(task, "judge", crash)
        ended = assay(*small, "seed=5")
    where = rf"at \S*test_mutate.py:\d+ \({re.escape(faults.TRACE)}\)"
    go_on = "what was done is kept: go on with resume=([0-9a-f]{32})"
    told = re.fullmatch(rf"error: ZeroDivisionError: no luck, {where}; {go_on}\n", ended.err)
    assert (ended.code, ended.out, bool(told)) == (1, "", True), ended.err
    after = assay.statuses()
    assert after - before == Counter({"FAILED": 1, "FINISHED": 7})
    assert after["RUNNING"] == 0
    [failed] = [run for run in assay.runs(failed_parents) if run.info.run_id not in known]
    run_id = failed.info.run_id
    assert run_id == told[1]
    other = assay(*small, "seed=6", f"resume={run_id}")
    assert other.code == 2
    assert other.err.startswith(f"error: resume={run_id} was started with other settings: give the same ones")
    assert other.err.count("\n") == 1

    resumed = assay(*small, "seed=5", f"resume={run_id}")
    assert (resumed.code, resumed.err) == (0, "")
    assert resumed.report()["run"]["resumed"] is True
    assert resumed.report()["run"]["id"] == run_id
    assert resumed.numbers() == assay(*small, "seed=5").numbers()
    assert len(assay.children(run_id)) == 7
    finished = assay(*small, "seed=5", f"resume={run_id[:12]}")
    assert finished.code == 2
    assert finished.err == (
        f"error: resume={run_id} is FINISHED; allowed: parent runs that FAILED or were KILLED\n"
    )


def test_a_sweep_hangs_under_one_run(assay, small):
    ended = assay("-m", *small, "seed=1,2")
    assert (ended.code, ended.err) == (0, "")
    [sweep] = assay.runs("tags.`assay.kind` = 'sweep'")
    assert sweep.info.status == "FINISHED"
    jobs = assay.children(sweep.info.run_id)
    reports = [ended.report(str(number)) for number in (0, 1)]
    assert sorted(run.info.run_id for run in jobs) == sorted(report["run"]["id"] for report in reports)
    assert {run.info.status for run in jobs} == {"FINISHED"}
    assert [report["settings"]["seed"] for report in reports] == [1, 2]
    assert {report["run"]["parent"] for report in reports} == {sweep.info.run_id}
    assert all(len(assay.children(run.info.run_id)) == 7 for run in jobs)

    half = assay("-m", *small, "seed=-1,1")
    assert half.code == 2
    assert half.err == "error: job 0 (seed=-1) was refused: seed must be 0 or more, not -1\n"
    assert half.numbers("1") == ended.numbers("0")  # the other job went on
    sweeps = assay.runs("tags.`assay.kind` = 'sweep'")
    assert Counter(run.info.status for run in sweeps) == Counter({"FINISHED": 1, "FAILED": 1})
