"""`task=compare` through the real command line, and which run a name means."""

from __future__ import annotations

import csv
import io
import json
import os
import time

import numpy as np
import pytest

from app.comparison import Limits
from app.errors import UserError
from app.reporting.history.excerpt import LARGEST
from app.tasks.chosen import choose, choose_two
from app.tasks.compare import compared, side
from app.tasks.past_runs import Wanted, from_store
from app.tracking import Store
from tests.comparison import bodies


def logged(store, body, task, *, status="FINISHED", predictions=None, report=True, model="m", **tags):
    """A run in the store with this report, as a task would leave it; its id."""
    name = body["subject"]["name"]
    tags |= {"subject": name, "model_digest": model, "data_digest": "d"}
    run = store.start(task, task=task, tags=tags)
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


def test_runs_that_wait_for_labels_are_no_answer_but_can_be_named(tmp_path):
    store = Store(folder=tmp_path)
    asked = {"asked": [{"case": 1}], "next_command": "python -m app labels=to_label.csv"}
    waiting = bodies.changed(bodies.estimate(0.9, None), estimates=[], labelling=asked)
    first = logged(store, waiting, "estimate", labelling="labels needed")
    with pytest.raises(UserError, match=r"latest: .* has only runs that wait for labels yet"):
        choose(store, "latest", role="after")
    old = logged(store, bodies.estimate(0.9, [0.8, 0.95]), "estimate", labelling="budget spent")
    logged(store, waiting, "estimate", labelling="labels needed")
    new = logged(store, bodies.estimate(0.7, [0.6, 0.75]), "estimate", labelling="narrow enough")
    last = logged(store, waiting, "estimate", labelling="labels needed")
    found = choose_two(store, "previous", "latest")
    assert [each.run_id for each in found] == [old, new]
    assert choose(store, "net", role="after").run_id == new
    chosen = choose_two(store, first, last)
    assert [each.run_id for each in chosen] == [first, last]
    report = compared(*chosen, Limits())
    assert [each.name for each in report.comparability.skipped_sections] == ["before", "after"]
    found = from_store(store, Wanted())
    assert (found.task, [each.readings.run_id for each in found.gathered.found]) == ("estimate", [old, new])
    assert [each.reason for each in found.gathered.excluded] == [
        "it still waits for labels and has no estimate"
    ] * 3


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
        ("broken.json", r"before: .*broken.json is no report: it is not JSON: .* at line 1"),
        ("nan.json", r"before: .*nan.json is no report: it is not strict JSON: it holds the token NaN"),
        ("large.json", r"before: .*large.json is no report: it is larger than 64 MB"),
        ("/dev/zero", "before: /dev/zero is no report: it is no regular file"),
        ("~nosuchuser/report.json", "before=~nosuchuser/report.json: there is no such file or folder"),
        ("~nosuchuser", "before=~nosuchuser: no finished run"),
        ("n" * 300, "before=nnn.*: no finished run"),
        ("a" * 300, "before=aaa.*: no finished run"),
        ("nul\0", "before=nul.*: no finished run"),
    ],
)
def test_mistakes_are_one_line(history, tmp_path, monkeypatch, name, message):
    store, ids = history
    (tmp_path / "here").mkdir()
    (tmp_path / "other.json").write_text('{"tool": "another"}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "nan.json").write_text('{"schema": NaN}')
    with (tmp_path / "large.json").open("wb") as file:
        os.truncate(file.fileno(), LARGEST + 1)
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


@pytest.mark.parametrize(
    "place", ["../secret/report.json", "{outside}/report.json", "link/report.json", "into", "x\0y", 5]
)
def test_a_part_outside_the_checkups_folder_is_not_read(history, tmp_path, place):
    store, ids = history
    outside, inside = tmp_path / "secret", tmp_path / "checkup"
    for each in (outside, inside):
        each.mkdir()
    (outside / "report.json").write_text(json.dumps(bodies.mutate({"op-1": "survived"})))
    (inside / "link").symlink_to(outside, target_is_directory=True)
    (inside / "into").mkdir()
    (inside / "into" / "report.json").symlink_to(outside / "report.json")
    front = bodies.checkup(mutate={})
    front["parts"]["mutate"]["report"] = place.format(outside=outside) if isinstance(place, str) else place
    (inside / "report.json").write_text(json.dumps(front))
    assert choose(store, str(inside), role="after").part("mutate") is None
    front["parts"]["mutate"]["run_id"] = ids["campaign"]
    (inside / "report.json").write_text(json.dumps(front))
    assert choose(store, str(inside), role="after").part("mutate").run_id == ids["campaign"]


def test_a_part_is_a_report_of_its_task(history, tmp_path):
    store, ids = history
    front = bodies.checkup(mutate={}, autopsy={})
    front["parts"]["mutate"] = {"report": "report.json", "run_id": ids["new"]}  # itself, and an autopsy
    front["parts"]["autopsy"]["report"] = "detectors.json"
    (tmp_path / "report.json").write_text(json.dumps(front))
    (tmp_path / "detectors.json").write_text(json.dumps(bodies.detectors({"a": True}, {"a": 0.5})))
    found = choose(store, str(tmp_path), role="after")
    assert side(found).parts == {}
    front["parts"]["mutate"]["report"] = "detectors.json"
    (tmp_path / "report.json").write_text(json.dumps(front))
    assert list(side(choose(store, str(tmp_path), role="after")).parts) == ["mutate"]


def test_a_model_may_be_called_like_the_beginning_of_runs(tmp_path):
    store, body = Store(folder=tmp_path / "mlruns"), bodies.mutate({"op-1": "killed"})
    ids = [logged(store, body, "mutate") for _ in range(17)]  # so two begin with the same digit
    digit = next(each[0] for each in ids if sum(other[0] == each[0] for other in ids) > 1)
    with pytest.raises(UserError, match=f"before: more than one run in .* is {digit}"):
        choose(store, digit, role="before")
    named = bodies.mutate({"op-1": "killed"}, name=f"{digit}@pets")
    wanted = logged(store, named, "mutate")
    assert choose(store, digit, role="before").run_id == wanted


def written(path, body):
    """A folder with this report."""
    path.mkdir()
    (path / "report.json").write_text(json.dumps(body))
    return str(path)


def test_odd_blocks_of_a_report_are_as_if_they_were_not_there(history, tmp_path):
    odd = {**bodies.checkup(mutate={}), "subject": [1], "run": [1], "parts": [1]}
    found = choose(history[0], written(tmp_path / "odd", odd), role="before")
    assert (found.subject, found.run_id, found.started, found.part("mutate")) == ("", "", None, None)
    late = {**odd, "run": {"started": "0001-01-01T00:00:00"}}
    assert choose(history[0], written(tmp_path / "late", late), role="before").subject == ""


def test_half_a_surrogate_pair_is_written_out(history, tmp_path):
    body = bodies.changed(bodies.mutate({"op-1": "killed"}), subject__name="net\ud800\U0001f600@pets")
    found = choose(history[0], written(tmp_path / "half", body), role="before")
    assert found.subject == "net\\ud800\U0001f600@pets"


def test_a_report_that_makes_no_sense_is_named(history, tmp_path, monkeypatch):
    def broken(*sides):
        if any(each["subject"]["n"] == 7 for each in sides):
            raise TypeError("unhashable type: 'list'\nand more")

    store = history[0]
    good, bad = (
        choose(store, written(tmp_path / f"{n}", bodies.mutate({"op-1": "killed"}, n=n)), role="before")
        for n in (100, 7)
    )
    monkeypatch.setattr("app.comparison.compare.causes", broken)
    for role, sides in (("before", (bad, good)), ("after", (good, bad))):
        message = rf"^{role}: .*7/report.json is no sound report: TypeError, unhashable type: 'list'$"
        with pytest.raises(UserError, match=message):
            compared(*sides, Limits())


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
