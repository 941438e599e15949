"""`task=compare` through the real command line, and which run a name means."""

from __future__ import annotations

import csv
import io
import json
import time

import numpy as np
import pytest

from app.errors import UserError
from app.tasks.chosen import choose, choose_two
from app.tasks.compare import side
from app.tracking import Store
from tests.comparison import bodies


def logged(store, body, task, *, status="FINISHED", predictions=None, report=True, model="m"):
    """A run in the store with this report, as a task would leave it; its id."""
    name = body["subject"]["name"]
    run = store.start(task, task=task, tags={"subject": name, "model_digest": model, "data_digest": "d"})
    if report:
        body = {**body, "run": {**body["run"], "id": run.id}}
        run.artifact_text(json.dumps(body), "report.json")
    if predictions is not None:
        run.artifact_text(predictions, "predictions.csv")
    run.finish(status)
    time.sleep(0.002)  # the store keeps milliseconds
    return run.id


def table(cases):
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(("case", "path", "label", "predicted", "confidence"))
    for case, row in enumerate(
        zip(cases.paths, cases.labels, cases.predicted, cases.confidence, strict=True)
    ):
        rows.writerow((case, *row))
    return text.getvalue()


def model(seed, skill, name="net@pets"):
    labels = np.arange(200) % 5
    base = np.random.default_rng(9).normal(size=(200, 5))
    rows = bodies.probabilities(np.random.default_rng(seed), labels, 5, skill=skill, base=base)
    return bodies.autopsy(rows, labels, name=name)


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """A store with runs of several tasks and models; their ids by name."""
    store = Store(folder=tmp_path_factory.mktemp("history"))
    old, new, other = model(1, 3.0), model(2, 1.0), model(3, 3.0, "resnet@pets")
    ids = {
        "old": logged(store, old.body, "autopsy", predictions=table(old.cases)),
        "resnet": logged(store, other.body, "autopsy", predictions=table(other.cases)),
        "campaign": logged(store, bodies.mutate({"op-1": "killed"}, name="resnet@pets"), "mutate"),
        "failed": logged(store, new.body, "autopsy", status="FAILED"),
        "empty": logged(store, new.body, "autopsy", report=False),
        "new": logged(store, new.body, "autopsy", predictions=table(new.cases)),
        "comparison": logged(store, new.body, "compare"),
    }
    return store, ids


@pytest.mark.parametrize(
    ("before", "after", "first", "second"),
    [
        ("previous", "latest", "empty", "new"),
        ("old", "new", "old", "new"),
        ("previous", "resnet", None, None),
        ("resnet", "latest", "resnet", "new"),
        ("net@pets", "resnet", "new", "resnet"),
    ],
)
def test_what_names_mean(history, before, after, first, second):
    store, ids = history
    names = [ids.get(each, each)[:12] if each in {"old", "new"} else each for each in (before, after)]
    if first in {None, "empty"}:
        with pytest.raises(UserError) as error:
            choose_two(store, *names)
        if first == "empty":  # it is the one before, and has nothing to compare
            assert f"before: run {ids['empty']}" in str(error.value)
            assert "report.json" in str(error.value)
        else:
            assert "no finished run of task=mutate about resnet@pets before run " in str(error.value)
        return
    found = choose_two(store, *names)
    assert [each.run_id for each in found] == [ids[first], ids[second]]


def test_previous_is_what_came_before_the_other_run(history):
    store, ids = history
    empty = ids["empty"]
    store.client.set_tag(empty, "assay.subject", "gone")
    try:
        before, after = choose_two(store, "previous", "latest")
    finally:
        store.client.set_tag(empty, "assay.subject", "net@pets")
    assert (before.run_id, after.run_id) == (ids["old"], ids["new"])
    assert "autopsy of 20" in after.source


def test_a_model_means_a_run_of_the_task_of_the_other_side(history):
    store, ids = history
    assert choose(store, "resnet", role="before").run_id == ids["campaign"]
    assert choose(store, "resnet", role="before", task="autopsy").run_id == ids["resnet"]


def test_a_path_that_exists_wins_and_brings_its_predictions(history, tmp_path, monkeypatch):
    store, ids = history
    known = model(1, 3.0)
    folder = tmp_path / ids["new"]  # a folder that is called like a run
    folder.mkdir()
    (folder / "report.json").write_text(json.dumps(known.body))
    (folder / "predictions.csv").write_text(table(known.cases))
    monkeypatch.chdir(tmp_path)
    found = choose(store, ids["new"], role="before")
    assert found.info is None
    assert found.source.endswith("report.json")
    assert side(found).cases.predicted == known.cases.predicted
    (folder / "predictions.csv").write_text("path,label\nbroken\n")
    assert side(found).cases is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "before=nobody: no finished run in .* has an id that begins so, or is about a model"),
        ("0123456789ab", "before=0123456789ab: no finished run"),
        ("gone/report.json", "before=gone/report.json: there is no such file or folder"),
        ("failed", "before: run .* is FAILED: only finished runs have a report"),
        ("empty", r"before: run .* has no report.json"),
        ("here", "before=.*here: the folder has no report.json"),
        ("other.json", r"before: .*other.json is no report of Assay: it has no schema block"),
        ("broken.json", r"before: .*broken.json is no report: not strict JSON"),
        ("nan.json", r"before: .*nan.json is no report: not strict JSON .it holds the token NaN"),
    ],
)
def test_mistakes_are_one_line(history, tmp_path, monkeypatch, name, message):
    store, ids = history
    (tmp_path / "here").mkdir()
    (tmp_path / "other.json").write_text('{"tool": "another"}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "nan.json").write_text('{"schema": NaN}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message) as error:
        choose(store, ids.get(name, name), role="before")
    assert "\n" not in str(error.value)


def test_a_run_is_not_compared_with_itself(history):
    store, ids = history
    with pytest.raises(UserError, match=r"before=latest and after=\w+ are the same run"):
        choose_two(store, "latest", ids["new"][:10])


def test_parts_of_a_checkup_are_read_from_beside_it_or_from_their_runs(history, tmp_path):
    store, ids = history
    front = bodies.checkup(autopsy={}, mutate={})
    front["parts"]["mutate"]["report"] = ""
    front["run"]["parts"] = {"mutate": {"id": ids["campaign"], "seconds": 1.0}}
    (tmp_path / "autopsy").mkdir()
    (tmp_path / "autopsy" / "report.json").write_text(json.dumps(model(1, 3.0).body))
    (tmp_path / "report.json").write_text(json.dumps(front))
    found = choose(store, str(tmp_path), role="after")
    assert found.part("autopsy").task == "autopsy"
    assert found.part("mutate").run_id == ids["campaign"]
    assert found.part("estimate") is None


# -- the command line ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(assay):
    """Two autopsies of one subject in the store, the second worse, and their outputs."""
    labels = np.arange(300) % 4
    base = np.random.default_rng(3).normal(size=(300, 4))
    np.save(assay.folder / "truth.npy", labels)
    for name, skill in (("good", 3.0), ("bad", 1.2)):
        rows = bodies.probabilities(np.random.default_rng(len(name)), labels, 4, skill=skill, base=base)
        np.save(assay.folder / f"{name}.npy", rows)
        done = assay(
            "task=autopsy",
            f"probs={name}.npy",
            "labels=truth.npy",
            "task.name=net",
            f"output=cmp/{name}",
            "task.resamples=50",
        )
        assert done.code == 0, done.err
    return assay.folder


def test_no_other_option_is_needed(assay, place):
    done = assay("task=compare", "before=previous", "after=latest", "output=cmp/h")
    assert done.code == 0, done.err
    body = done.report()
    assert (body["verdict"], body["within_noise"]) == ("regressed", False)
    assert body["comparability"]["same_cases"]
    assert body["comparability"]["shared_cases"] == 300
    assert done.out.splitlines()[0].startswith("Regressed. It got worse: accuracy fell from ")
    assert {"report.json", "report.html", "deltas.csv", "differences.png"} <= {
        each.name for each in done.folder.iterdir()
    }
    run = assay.client.get_run(body["run"]["id"])
    assert run.info.status == "FINISHED"
    assert run.data.tags["assay.before"] == body["before"]["run_id"]
    assert run.data.tags["assay.verdict"] == "regressed"
    assert run.data.metrics["delta/accuracy"] == pytest.approx(body["deltas"][0]["difference"])
    again = assay(
        "task=compare", "output=cmp/h2"
    )  # previous and latest; a comparison is never the latest run
    assert again.numbers()["deltas"] == done.numbers()["deltas"]


def test_the_gate(assay, place):
    done = assay("task=compare", "before=cmp/good", "after=cmp/bad", "fail_on=regressed", "output=cmp/gate")
    assert done.code == 1
    lines = [line for line in done.err.splitlines() if line]
    assert len(lines) == 1
    assert lines[0].endswith("beyond chance, and at least 1 point")
    assert assay.client.get_run(done.report()["run"]["id"]).info.status == "FINISHED"
    better = assay("task=compare", "before=cmp/bad", "after=cmp/good", "fail_on=regressed")
    assert better.code == 0
    assert better.report()["verdict"] == "improved"
    mistake = assay("task=compare", "before=cmp/nowhere", "fail_on=regressed")
    assert mistake.code == 2
    assert "before=cmp/nowhere" in mistake.err
    assert assay("task=compare", "fail_on=worse").code == 2


def test_a_gate_that_fails_stops_no_other_job_of_a_sweep(assay, place):
    done = assay(
        *(
            "-m",
            "task=compare",
            "before=cmp/good",
            "after=cmp/bad",
            "fail_on=regressed",
            "task.smallest_share=0.01,0.02",
        ),
        "output=cmp/sweep",
    )
    assert done.code == 1, done.err
    assert sorted(each.parent.name for each in done.folder.glob("*/report.json")) == ["0", "1"]
    assert "beyond chance" in done.err
    sweep = assay.runs("tags.`assay.kind` = 'sweep'")[0]
    assert sweep.info.status == "FINISHED"
