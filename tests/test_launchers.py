"""Sweeps: their jobs side by side under one run, with each launcher, also when a job fails or is interrupted."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import re
import signal
from collections import Counter
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def tiny(assay) -> list[str]:
    """A task of two seconds, most of them imports: two runs of an estimator over a table; no PyTorch."""
    rows = [f"case{i},{(i % 10) / 10},{int(i % 7 < 2)}" for i in range(70)]
    (assay.folder / "cases.csv").write_text("\n".join(["id,confidence,outcome", *rows]))
    return ["task=estimate", "population=cases.csv", "estimators=[srswor]", "task.budget=20", "repetitions=2"]


def sweep_of(assay, ended) -> tuple[dict, object]:
    """The summary of a sweep, and its run."""
    report = ended.report()
    assert report["schema"]["artifact"] == "assay.sweep"
    return report, assay.client.get_run(report["run"]["id"])


def check_jobs(assay, folder: Path, report: dict) -> None:
    """Each job's row against its own report and the store."""
    for row in report["jobs"]:
        own = json.loads((folder / str(row["job"]) / "report.json").read_text())
        run = assay.client.get_run(row["run_id"])
        assert run.info.status == "FINISHED"
        assert run.info.run_name == f"estimate cases {row['label']}"
        assert run.data.tags["mlflow.parentRunId"] == report["run"]["id"] == own["run"]["parent"]
        assert row["run_id"] == own["run"]["id"]
        assert own["settings"]["seed"] == int(row["overrides"]["seed"])
        assert row["label"] == f"seed={row['overrides']['seed']}"
        [result] = own["results"]
        assert row["values"]["accuracy"]["value"] == result["accuracy"] == 50 / 70
        assert (folder / row["page"]).is_file()
        assert row["command"].endswith(f"output={folder / str(row['job'])}")
        assert "tracking.parent" not in row["command"]


def test_a_sweep_sums_up_its_jobs(assay, tiny):
    ended = assay("-m", *tiny, "seed=3,-1,5")
    assert ended.code == 2
    assert ended.err == "error: job 1 (seed=-1) was refused: seed must be 0 or more, not -1\n"
    report, run = sweep_of(assay, ended)
    refused = report["jobs"].pop(1)
    check_jobs(assay, ended.folder, report)
    assert (refused["status"], refused["reason"], refused["run_id"]) == (
        "refused",
        "seed must be 0 or more, not -1",
        "",
    )
    assert report["summary"] == {"jobs": 3, "finished": 2, "failed": 0, "interrupted": 0, "refused": 1}
    assert (run.info.status, run.data.metrics["finished"]) == ("FAILED", 2)
    assert run.data.tags["assay.kind"] == "sweep"

    last = ended.out.splitlines()
    table = last[last.index("") + 1 :]
    assert re.fullmatch(r"job +seed +status +.*ccuracy.*", table[0])
    assert [line.split()[:3] for line in table[1:4]] == [
        ["0", "3", "finished"],
        ["1", "-1", "refused"],
        ["2", "5", "finished"],
    ]
    assert last[-2:] == [f"Report: {ended.folder / 'report.html'}", f"MLflow: {run_link(run)}"]
    assert any(
        re.fullmatch(r"2 of 3 jobs finished; .*accuracy is 71.4 % in all of them\.", each) for each in last
    )
    assert "0 or more" not in ended.out  # once is enough
    assert "2 of 3 jobs finished" in run.data.tags["mlflow.note.content"]

    with (ended.folder / "jobs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["seed"], row["status"]) for row in rows] == [
        ("3", "finished"),
        ("-1", "refused"),
        ("5", "finished"),
    ]
    artifacts = {each.path for each in assay.client.list_artifacts(run.info.run_id)}
    assert {"report.json", "report.html", "jobs.csv", "jobs.json", "measures.png"} <= artifacts
    assert json.loads(run.data.tags["mlflow.loggedArtifacts"]) == [{"path": "jobs.json", "type": "table"}]
    charted = assay.client.get_metric_history(run.info.run_id, "jobs/accuracy")
    assert [(each.step, each.value) for each in charted] == [(0, 50 / 70), (2, 50 / 70)]


def run_link(run) -> str:
    return f"http://127.0.0.1:5000/#/experiments/{run.info.experiment_id}/runs/{run.info.run_id}"


def test_a_crash_in_a_job_ends_the_sweep_with_1(assay, tiny, monkeypatch):
    from app.tasks.estimate import Estimate

    gather = Estimate._gathered

    def sometimes(task, *rest):
        if task.seed == 6:
            raise ZeroDivisionError("no luck")
        return gather(task, *rest)

    monkeypatch.setattr(Estimate, "_gathered", sometimes)
    ended = assay("-m", *tiny, "seed=-1,6,7")  # a mistake came first, and the crash counts
    assert ended.code == 1
    said = ended.err.splitlines()
    assert said[0] == "error: job 0 (seed=-1) was refused: seed must be 0 or more, not -1"
    [crash] = said[1:]
    assert re.fullmatch(
        r"error: job 1 \(seed=6\) failed: ZeroDivisionError: no luck, at \S*test_launchers.py:\d+ .*; "
        "estimate keeps nothing half done: run the same command again",
        crash,
    )
    report, run = sweep_of(assay, ended)
    assert [row["status"] for row in report["jobs"]] == ["refused", "failed", "finished"]
    crashed = report["jobs"][1]
    assert crashed["reason"].startswith("ZeroDivisionError: no luck, at ")
    failed = assay.client.get_run(crashed["run_id"])
    assert failed.info.status == run.info.status == "FAILED"
    assert failed.data.tags["mlflow.note.content"].startswith("Failed: ZeroDivisionError: no luck, at ")
    assert "Job 1 (seed=6) failed: ZeroDivisionError: no luck" in ended.out
    assert f"  Run it again: {crashed['command']}" in ended.out.splitlines()
    assert assay.statuses()["RUNNING"] == 0


def test_a_sweep_of_mistakes_leaves_nothing_behind(assay, tiny):
    before = len(assay.runs())
    ended = assay(
        "-m", *tiny, "seed=-1,-2", "hydra.sweeper.max_batch_size=1"
    )  # the second batch is tried too
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines() == [
        f"error: job {i} (seed=-{i + 1}) was refused: seed must be 0 or more, not -{i + 1}" for i in (0, 1)
    ]
    assert len(assay.runs()) == before
    assert not (ended.folder / "report.json").exists()
    refused = assay("-m", *tiny, "seed=1,2", "tracking.uri=ftp://somewhere")
    assert (refused.code, refused.out) == (2, "")
    assert re.fullmatch(r"error: tracking.uri=ftp://somewhere cannot hold runs; allowed: .*\n", refused.err)


def test_ctrl_c_ends_the_sweep_and_its_open_job(assay, tiny, monkeypatch):
    from app.tasks.estimate import Estimate

    gather = Estimate._gathered

    def interrupted(task, *rest):
        if task.seed == 2:
            signal.raise_signal(signal.SIGINT)
        return gather(task, *rest)

    monkeypatch.setattr(Estimate, "_gathered", interrupted)
    ended = assay("-m", *tiny, "seed=1,2,3")
    assert (ended.code, ended.err) == (130, "interrupted\n")
    report, run = sweep_of(assay, ended)
    assert [row["status"] for row in report["jobs"]] == ["finished", "interrupted"]
    assert run.info.status == assay.client.get_run(report["jobs"][1]["run_id"]).info.status == "KILLED"
    assert "1 of 2 jobs finished" in ended.out


def test_several_processes_share_a_sweep_with_the_default_output(assay, tiny, monkeypatch):
    if importlib.util.find_spec("hydra_plugins.hydra_joblib_launcher") is None:
        pytest.skip("hydra-joblib-launcher is not installed")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    before = len(assay.runs())
    ended = assay.exactly("-m", *tiny, "seed=1,2,-1", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert ended.code == 2
    assert ended.err == "error: job 2 (seed=-1) was refused: seed must be 0 or more, not -1\n"
    [folder] = (assay.folder / "outputs").iterdir()  # one, although each process has a clock of its own
    report = json.loads((folder / "report.json").read_text())
    refused = report["jobs"].pop()
    assert (refused["job"], refused["status"]) == (2, "refused")
    check_jobs(assay, folder, report)
    assert [row["job"] for row in report["jobs"]] == [0, 1]
    assert len({assay.client.get_run(row["run_id"]).data.tags["assay.pid"] for row in report["jobs"]}) == 2
    assert len(assay.runs()) == before + 1 + 2 * 2  # the sweep, and each job with its estimator
    assert assay.client.get_run(report["run"]["id"]).info.status == "FAILED"
    assert f"Report: {folder / 'report.html'}\n" in ended.out


def test_jobs_go_through_submitit(assay, tiny):
    if importlib.util.find_spec("hydra_plugins.hydra_submitit_launcher") is None:
        pytest.skip("hydra-submitit-launcher is not installed")
    local = ["hydra/launcher=submitit_local", "hydra.launcher.timeout_min=5"]
    ended = assay("-m", *tiny, "seed=4", *local)
    assert ended.code == 0, ended.err
    report, run = sweep_of(assay, ended)
    check_jobs(assay, ended.folder, {**report, "jobs": []})
    [row] = report["jobs"]
    assert (row["status"], row["values"]["accuracy"]["value"]) == ("finished", 50 / 70)
    job = assay.client.get_run(row["run_id"])
    assert job.data.tags["assay.pid"] != str(os.getpid())
    assert job.data.tags["mlflow.parentRunId"] == run.info.run_id
    assert (ended.folder / ".submitit").is_dir()
    assert Counter([run.info.status, job.info.status]) == Counter({"FINISHED": 2})
