import getpass
import json
import math
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import lineage, pages, workplaces
from app.errors import UserError
from app.measures import value
from app.tracking import Child, Run, SilentRun, Store

TASKS = iter(range(10_000))
BEGINNERS = """
import os, sys
from app.tracking import Child, Store, _mlflow
_mlflow()  # once for all four: it is most of what a start costs
import mlflow.store.tracking.sqlalchemy_store

begun = []
for number in range(4):
    begun.append(os.fork())
    if not begun[-1]:
        run = Store(folder=sys.argv[1]).start(f"crowd {number}", task="crowd", params={"number": number})
        run.children([Child("a", metrics={"accuracy": 0.5})])
        run.drain()
        if number == 3:
            run._store.create("half", {"mlflow.parentRunId": run.id, "kind": "child"})
        else:
            run.finish()
        os._exit(9 if number == 3 else 0)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in begun])
"""


@pytest.fixture(scope="session")
def crowd(tmp_path_factory):
    """The folder of a store that four processes began at once, one of which died in the middle."""
    folder = tmp_path_factory.mktemp("a store") / "runs"  # with a space, and not there yet
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")}
    begun = [sys.executable, "-c", BEGINNERS, str(folder)]
    ended = subprocess.run(begun, check=False, capture_output=True, text=True, env=clean, timeout=300)
    assert (ended.stdout, ended.stderr) == ("[0, 0, 0, 9]\n", "")
    return folder


@pytest.fixture(scope="session")
def store(crowd):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        return Store(folder=crowd)


@pytest.fixture
def task():
    """A task's name that no other test uses, so that each test searches its own runs."""
    return f"task{next(TASKS)}"


def written(store, run):
    """What the store says of a run's children, but for what differs between runs."""
    return [
        (child.name, child.status, child.params, child.metrics, child.tags.get("assay.verdict"))
        for child in store.children_of(run.id)
    ]


def test_importing_and_building_do_not_start_mlflow(tmp_path):
    script = (
        "import sys; from app.tracking import *; Store(); SilentRun(); assert 'mlflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="session")
def dead(store):
    """The id of the run whose process died."""
    (run,) = [run for run in store.parents("crowd", status=None) if run.params["number"] == "3"]
    return run.id


def test_four_processes_begin_a_missing_store_at_once(crowd, store):
    runs = store.parents("crowd", status=None)
    assert sorted(run.params["number"] for run in runs) == ["0", "1", "2", "3"]
    assert all(store.children_of(run.id)[0].metrics == {"accuracy": 0.5} for run in runs)
    assert store.folder == crowd


def test_a_run_whose_process_died_is_killed_by_the_next_that_opens_the_store(dead, store):
    others = [run.status for run in store.parents("crowd", status=None) if run.id != dead]
    assert others == ["FINISHED"] * 3
    assert store.info(dead).status == "KILLED"
    ends = {child.name: child.status for child in store.children_of(dead)}
    assert ends == {"a": "FINISHED", "half": "KILLED"}


def test_a_killed_run_is_resumed_without_writing_a_child_twice(crowd, dead, store):
    before = {child.name: child.id for child in store.children_of(dead)}
    with store.resume(dead) as run:
        assert store.info(run.id).status == "RUNNING"
        assert store.info(run.id).tags["assay.pid"] == str(os.getpid())
        assert run.folder == crowd / "artifacts" / run.id / "artifacts"
        run.children([Child("a", metrics={"accuracy": 0.9}), Child("half", metrics={"accuracy": 0.7})])
    children = {child.name: child for child in store.children_of(run.id)}
    metrics = {name: child.metrics for name, child in children.items()}
    assert metrics == {"a": {"accuracy": 0.5}, "half": {"accuracy": 0.7}}
    assert children["a"].id == before["a"]
    assert children["half"].id != before["half"]
    assert {child.status for child in children.values()} == {"FINISHED"}
    assert store.info(run.id).status == "FINISHED"


def test_runs_nest_three_deep(store, task):
    with store.start("sweep", task=task, kind="sweep") as sweep:
        job = Store(store.uri, parent=sweep.id).start("job", task=task, tags={"subject": "a@b"})
        job.children([Child("mutant", tags={"verdict": "killed"})])
        job.finish()
    assert [run.id for run in store.children_of(sweep.id)] == [job.id]
    (child,) = store.children_of(job.id)
    assert (child.name, child.kind, child.tags["assay.verdict"]) == ("mutant", "child", "killed")
    assert child.tags["mlflow.parentRunId"] == job.id
    info = store.info(job.id)
    assert (info.kind, info.task, info.subject) == ("parent", task, "a@b")
    assert info.tags["mlflow.parentRunId"] == sweep.id
    assert {"assay.host", "assay.pid", "assay.code_version"} <= set(info.tags)
    assert [run.id for run in store.parents(task)] == [job.id]
    with pytest.raises(UserError, match="cannot be read"):
        Store(store.uri, parent="0" * 32).start("job", task=task)


def test_a_run_ends_as_its_context_does(store, task):
    failed = store.start("fails", task=task)
    failed.children([Child("before")])
    with pytest.raises(ZeroDivisionError), failed:
        _ = 1 / 0
    with pytest.raises(KeyboardInterrupt), store.start("stopped", task=task):
        raise KeyboardInterrupt
    with store.start("told", task=task) as told:
        told.finish("KILLED")
    ends = {run.name: run.status for run in store.parents(task, status=None)}
    assert ends == {"fails": "FAILED", "stopped": "KILLED", "told": "KILLED"}
    assert [child.name for child in store.children_of(failed.id)] == ["before"]  # written all the same


def test_an_error_of_the_writer_ends_the_run_failed_and_masks_nothing(store, task):
    with pytest.raises(ValueError, match="inside the run's folder"), store.start("one", task=task) as one:
        one.children([Child("good"), Child("bad", artifacts={"../out": "x"}), Child("never")])
    assert store.info(one.id).status == "FAILED"
    assert {c.name: c.status for c in store.children_of(one.id)} == {"good": "FINISHED", "bad": "KILLED"}
    two = store.start("two", task=task)
    two.children([Child("bad", artifacts={"/out": "x"})])
    with pytest.raises(ZeroDivisionError) as caught, two:
        _ = 1 / 0
    assert "inside the run's folder" in caught.value.__notes__[0]
    assert store.info(two.id).status == "FAILED"
    three = store.start("three", task=task)
    three.children([Child("bad", artifacts={"../out": "x"})])
    with pytest.raises(ValueError, match="inside"):
        three.drain()
    with pytest.raises(ValueError, match="inside"):
        three.children([Child("later")])
    with pytest.raises(ValueError, match="inside"):
        three.finish()
    assert store.info(three.id).status == "FAILED"


def test_children_are_what_was_given(store, task):
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    child = Child(
        "weight(sigma=0.1)@conv1 #3",
        params={"sigma": 0.1, "target": "conv1"},
        metrics={"accuracy": 0.25, "cohens h": -1.5, "nothing": None, "p(x)": math.nan},
        tags={"verdict": "survived"},
        artifacts={"outcomes/a.csv": "case,top1\n", "b.bin": b"\x00\xff"},
        status="FAILED",
        started=noon,
        finished=noon + timedelta(seconds=3),
    )
    with store.start("parent", task=task) as run:
        run.children([child, child])
        run.drain()
        run.children([child])
    (read,) = store.children_of(run.id)
    assert (read.name, read.status, read.start, read.end) == (
        child.name,
        "FAILED",
        noon,
        noon + timedelta(seconds=3),
    )
    assert read.params == {"sigma": "0.1", "target": "conv1"}
    assert read.metrics == {"accuracy": 0.25, "cohens h": -1.5}
    assert store.artifact(read.id, "outcomes/a.csv").read_text() == "case,top1\n"
    assert store.artifact(read.id, "b.bin").read_bytes() == b"\x00\xff"
    assert run.left_out == 2
    assert store.info(run.id).tags["assay.metrics_left_out"] == "2"


def test_a_resumed_run_has_the_children_of_one_that_was_never_interrupted(store, task):
    given = [
        Child(f"mutant {i}", params={"i": i}, metrics={"accuracy": i / 8}, tags={"verdict": "killed"})
        for i in range(6)
    ]
    changes = {child.name: ({"p_adjusted": 0.5}, {"verdict": "survived"}) for child in given}
    with store.start("whole", task=task) as whole:
        whole.children(given)
        whole.update_children(changes)
    cut = store.start("cut", task=task)
    cut.children(given[:4])
    with pytest.raises(KeyboardInterrupt), cut:
        raise KeyboardInterrupt
    again = store.resume(cut.id[:12])
    assert set(again.written) == {child.name for child in given[:4]}
    with again:
        again.children(given)
        again.update_children(changes)
    assert written(store, again) == written(store, whole)
    assert written(store, whole)[5] == (
        "mutant 5",
        "FINISHED",
        {"i": "5"},
        {"accuracy": 0.625, "p_adjusted": 0.5},
        "survived",
    )


def test_what_nobody_resumes_any_more_is_cleared_away(store, task):
    """A day after its run was deleted, or 30 days after anything changed in it; never of a run that goes on."""
    ages = {"deleted": 2, "just deleted": 0, "waits": 29, "too old": 31, "another store's": 99, "goes on": 99}
    runs, places = {name: store.start(name, task=task) for name in ages}, {}
    for name, days in ages.items():
        run = runs[name]
        if name != "goes on":
            run.finish("KILLED")
        run_id = "f" * 32 if name == "another store's" else run.id
        if "deleted" in name:
            run.discard()
        places[name] = workplaces.of(store.folder, run_id)
        (places[name] / "blocks").mkdir(parents=True)
        (places[name] / "blocks" / "0.rows").write_text("rows")
        for path in (places[name] / "blocks" / "0.rows", places[name] / "blocks", places[name]):
            os.utime(path, (0, time.time() - days * 86_400))
    busy = store.folder / "work" / ("e" * 32)
    busy.mkdir()
    os.utime(busy, (0, 0))
    (busy / "new").write_text("just now")
    os.utime(busy, (0, 0))
    other = store.folder / "work" / "mine"
    other.mkdir()
    os.utime(other, (0, 0))
    store.reap()  # opening a store, as a resumption does, clears nothing
    assert places["too old"].exists()
    store.start("next", task=task).finish()
    kept = {name for name, place in places.items() if place.exists()}
    assert kept == {"just deleted", "waits", "another store's", "goes on"}
    assert busy.exists()
    assert other.exists()


def test_a_run_says_who_made_it_and_what_became_of_it(store, task):
    with pytest.raises(ZeroDivisionError), store.start("fails", task=task) as failed:
        _ = 1 / 0
    with pytest.raises(KeyboardInterrupt), store.start("stopped", task=task) as stopped:
        raise KeyboardInterrupt
    with store.start("run", task=task) as run:
        run.describe("All is well.")
    notes = [store.info(each.id).tags["mlflow.note.content"] for each in (failed, stopped, run)]
    assert notes[0].startswith("Failed: ZeroDivisionError: division by zero, at ")
    assert notes[1:] == ["Interrupted.", "All is well."]
    tags = store.info(run.id).tags
    assert tags["mlflow.user"] == getpass.getuser()
    assert tags["mlflow.source.type"] == "LOCAL"
    assert tags["mlflow.source.name"]
    experiment = store.client.get_experiment(run.experiment_id)
    assert experiment.tags["mlflow.experimentKind"] == "custom_model_development"
    assert "attributes.`Description`" in experiment.tags["mlflow.sharedViewState.assay"]


def test_an_update_of_a_child_never_given_is_an_error(store, task):
    with pytest.raises(ValueError, match="no child ghost"), store.start("parent", task=task) as run:
        run.update_children({"ghost": ({}, {})})


def test_a_child_ends_finished_or_failed():
    with pytest.raises(ValueError, match="FINISHED or FAILED"):
        Child("mutant", status="KILLED")


def test_what_cannot_be_resumed_is_said(store, task):
    with store.start("done", task=task) as done:
        done.children([Child("mutant")])
    child = store.children_of(done.id)[0].id
    with store.start("live", task=task) as live:
        cases = {
            done.id: "FINISHED",
            child: "child run",
            live.id: "still running",
            "0" * 32: "cannot be read",
        }
        for run_id, reason in cases.items():
            with pytest.raises(UserError, match=reason) as caught:
                store.resume(run_id)
            assert "\n" not in str(caught.value)
        assert store.reap() == []
        assert store.info(live.id).status == "RUNNING"


def test_a_run_that_finished_or_was_resumed_while_the_dead_were_sought_is_not_killed(
    store, task, monkeypatch
):
    gone = {"host": socket.gethostname(), "pid": "1", "process_start": "1"}
    run = store.start("ended", task=task, tags=gone)
    store.write(run.id, tags=gone)
    found = store.info(run.id)
    monkeypatch.setattr(store, "_search", lambda query: [found])
    store.write(run.id, tags=lineage.process())
    assert store.reap() == []
    store.write(run.id, tags=gone)
    store.end(run.id, "FINISHED")
    assert store.reap() == []
    assert store.info(run.id).status == "FINISHED"


def test_many_and_long_values_go_in_batches(store, task):
    params = {f"param {i}": i for i in range(250)}
    with store.start("large", task=task, params={**params, "cases": "x" * 7000}) as run:
        run.log_series({"accuracy": [(step, step / 10) for step in range(1500)], "loss": [(3, 1.0)]})
        run.log_metrics({"accuracy": np.float32(0.5), "loss": float("inf")}, step=2000)
        run.set_tags({f"tag {i}": i for i in range(120)})
    info = store.info(run.id)
    assert len(info.params) == 251
    assert info.params["param 249"] == "249"
    assert len(info.params["cases"]) == 6000
    assert info.tags["assay.tag 119"] == "119"
    assert info.metrics == {"accuracy": 0.5, "loss": 1.0}
    history = store.client.get_metric_history(run.id, "accuracy")
    assert [(m.step, m.value) for m in history[:1500]] == [(step, step / 10) for step in range(1500)]
    assert run.left_out == 1


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=300), max_size=5))
@settings(max_examples=150, deadline=None)
def test_spelled_names_pass_mlflows_own_check(names):
    from mlflow.utils import validation

    spelled = lineage.spelled(names)
    assert len(set(spelled.values())) == len(set(names))
    for name in spelled.values():
        validation._validate_metric_name(name)
        validation._validate_length_limit("name", validation.MAX_ENTITY_KEY_LENGTH, name)


def test_parents_are_found_by_every_condition(store, task):
    runs = []
    for number, subject in enumerate(["a@x", "a@x", 'o\'neil\\ "o"@y', "a@x"]):
        with store.start(f"run {number}", task=task, tags={"subject": subject}) as run:
            runs.append(run.id)
            run.children([Child("mutant")])
            if number == 3:
                run.finish("FAILED")
    first, second, third, failed = runs
    assert [run.id for run in store.parents(task)] == [third, second, first]
    assert [run.id for run in store.parents(task, "a@x")] == [second, first]
    assert [run.id for run in store.parents(task, 'o\'neil\\ "o"@y')] == [third]
    assert [run.id for run in store.parents(task, status=None, limit=2)] == [failed, third]
    assert [run.id for run in store.parents(task, status="FAILED")] == [failed]
    at = store.info(second).start
    assert second in [run.id for run in store.parents(task, until=at)]
    assert store.parents(task, until=at - timedelta(days=1)) == []
    assert store.parents("no such task") == []
    assert [run.id for run in store.parents(task, experiment="assay", limit=1)] == [third]
    with pytest.raises(UserError, match=r"experiment other is not in .*allowed: Default, assay"):
        store.parents(experiment="other")


def test_runs_are_named_by_id_or_its_beginning(store, task):
    with store.start("run", task=task) as run:
        pass
    assert store.resolve(run.id) == store.resolve(run.id[:16]) == run.id
    for name, reason in {
        "": "no run",
        "latest": "allowed: an id",
        "a%": "allowed: an id",
        "f" * 32: "cannot be read",
        "f" * 30: "no run in",
    }.items():
        with pytest.raises(UserError, match=reason):
            store.resolve(name)


def test_a_beginning_that_two_runs_share_is_refused(store, task):
    firsts = [store.start(f"{i}", task=task) for i in range(17)]  # of 16 digits two must share one
    for run in firsts:
        run.finish()
    digits = [run.id[0] for run in firsts]
    with pytest.raises(UserError, match="more than one run"):
        store.resolve(max(digits, key=digits.count))


def test_artifacts_are_files_of_the_run(store, task, tmp_path):
    (tmp_path / "figures" / "deep").mkdir(parents=True)
    (tmp_path / "figures" / "deep" / "a.txt").write_text("a")
    (tmp_path / "report.json").write_text("{}")
    with store.start("run", task=task) as run:
        run.artifact(tmp_path / "figures")
        run.artifact(tmp_path / "report.json")
        run.artifact(tmp_path / "report.json", "old/one")
        run.artifact_text("é", "note.txt")
    assert store.report(run.id).read_text() == "{}"
    assert store.artifact(run.id, "figures/deep/a.txt").read_text() == "a"
    assert store.artifact(run.id, "old/one/report.json").read_text() == "{}"
    assert {each.path for each in store.client.list_artifacts(run.id)} == {
        "figures",
        "report.json",
        "old",
        "note.txt",
    }
    with pytest.raises(UserError, match=r"FINISHED.* has no missing.csv"):
        store.artifact(run.id, "missing.csv")


def test_artifacts_kept_elsewhere_go_through_the_client(store, task, monkeypatch):
    with store.start("run", task=task) as run:
        folder, run.folder = run.folder, None
        run.artifact_text("text", "sub/note.txt")
    assert folder
    assert (folder / "sub" / "note.txt").read_text() == "text"


def test_a_table_is_one_to_mlflow(store, task):
    with store.start("run", task=task) as run:
        run.table(
            {"mutant": ["a", "b"], "accuracy": [0.5, math.nan], "kills": np.array([3, 4])}, "mutants.json"
        )
        run.table({"empty": []}, "empty.json")
        with pytest.raises(ValueError, match=r"end in \.json"):
            run.table({}, "mutants.csv")
        with pytest.raises(ValueError, match="shorter"):
            run.table({"a": [1, 2], "b": [1]}, "ragged.json")
        columns = {"mutant": ["a", "b"], "accuracy": [0.5, math.nan], "kills": [3, 4]}
        store.client.log_table(run.id, columns, "theirs.json")
    ours, theirs = (
        json.loads(store.artifact(run.id, f"{name}.json").read_text()) for name in ("mutants", "theirs")
    )
    assert ours == theirs
    tables = json.loads(store.info(run.id).tags["mlflow.loggedArtifacts"])
    assert tables == [{"path": f"{name}.json", "type": "table"} for name in ("mutants", "empty", "theirs")]


def test_the_data_set_is_an_input(store, task):
    with store.start("run", task=task) as run:
        run.log_input("digits", "0123456789" * 7, "data/digits.npz")
    (read,) = store.client.get_run(run.id).inputs.dataset_inputs
    assert (read.dataset.name, read.dataset.digest) == ("digits", ("0123456789" * 7)[:36])
    assert json.loads(read.dataset.source) == {"uri": "data/digits.npz"}
    assert [(tag.key, tag.value) for tag in read.tags] == [("mlflow.data.context", "test")]


def test_models_are_found_by_uri(store, task, capfd):
    with store.start("run", task=task) as run:
        run.artifact_text("one", "model/data.bin")
        run.artifact_text("two", "model2/data.bin")
    store.client.create_registered_model("lenet")
    store.client.create_model_version("lenet", str(run.folder / "model"), run.id)
    store.client.create_model_version("lenet", str(run.folder / "model2"), run.id)
    store.client.set_registered_model_alias("lenet", "champion", "1")
    logged = store.client.create_logged_model(run.experiment_id, "lenet", run.id)
    (tmp := run.folder.parent / "made").mkdir()
    (tmp / "data.bin").write_text("three")
    store.client.log_model_artifacts(logged.model_id, str(tmp))
    for uri, content in {
        f"runs:/{run.id}/model": "one",
        "models:/lenet/1": "one",
        "models:/lenet/2": "two",
        "models:/lenet/latest": "two",
        "models:/lenet@champion": "one",
        f"models:/{logged.model_id}": "three",
    }.items():
        assert (store.model_path(uri) / "data.bin").read_text() == content
    for uri in [
        "models:/none/1",
        "models:/lenet/9",
        "models:/lenet@x",
        "models:/m-1",
        "models:/",
        "x",
        "runs:/a",
    ]:
        with pytest.raises(UserError, match=r"cannot be read|has no|allowed: models:/name/version") as caught:
            store.model_path(uri)
        assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_where_runs_are_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    assert Store().uri == f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    assert Store("sqlite:///there/my.db").uri == f"sqlite:///{tmp_path}/there/my.db"
    assert Store("sqlite:///there/my.db").folder == tmp_path / "there"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@server:80")
    assert Store().uri == "http://me:secret@server:80"
    assert Store().address == "http://***@server:80"
    assert Store("https://other").uri == "https://other"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "uri", ["mlruns", "file:///tmp/mlruns", "gopher://x", "sqlite://", "sqlite:///:memory:"]
)
def test_an_address_that_cannot_hold_runs_is_refused(uri):
    with pytest.raises(UserError, match=r"tracking.uri=.* allowed: null, sqlite:///file.db"):
        Store(uri)


def test_a_store_that_cannot_be_opened_is_said_in_one_line(store, tmp_path):
    (tmp_path / "file").write_text("no database")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for broken in [
        Store(f"sqlite:///{tmp_path}/file"),
        Store(f"sqlite:///{tmp_path}/file/below/my.db"),
        Store(f"http://me:secret@127.0.0.1:{port}"),
        Store(f"postgresql://me:secret@127.0.0.1:{port}/db"),
    ]:
        with pytest.raises(UserError, match=r"tracking.uri=.* (cannot be opened: .|is damaged \()") as caught:
            broken.start("run", task="mutate")
        assert "secret" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_deleted_experiment_is_said(store, monkeypatch):
    other = Store(store.uri, experiment="short lived")
    other.start("run", task="mutate").finish()
    assert other.ui_link(other.parents("mutate")[0]).startswith("http://127.0.0.1:5000/#/experiments/")
    other.client.delete_experiment(other.parents("mutate")[0].experiment_id)
    with pytest.raises(UserError, match="experiment=short lived was deleted"):
        Store(store.uri, experiment="short lived").start("run", task="mutate")


def test_links(store, task):
    with store.start("run", task=task) as run:
        pass
    assert run.url == f"http://127.0.0.1:5000/#/experiments/{run.experiment_id}/runs/{run.id}"
    assert store.ui_link(run, port=81).startswith("http://127.0.0.1:81/#/")
    assert (
        Store("http://server/").ui_link(run)
        == f"http://server/#/experiments/{run.experiment_id}/runs/{run.id}"
    )
    view = "?workflowType=machine_learning&viewStateShareKey=assay"
    assert store.ui_link() == f"http://127.0.0.1:5000/#/experiments/{run.experiment_id}/runs{view}"


def test_the_pages_are_served_in_place_of_the_process(store, monkeypatch, capfd):
    served = []
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]

        def serve(*call):
            assert "runs so far" not in capfd.readouterr().out  # there is nothing to see yet
            listener.listen()
            os.wait()  # for who says that there is
            served.append(call)

        monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)
        monkeypatch.setattr(sys, "argv", ["app.pages", "--port", str(port)])
        monkeypatch.setattr(os, "execve", serve)
        pages.main()
        assert capfd.readouterr().out == f"The runs so far: {store.ui_link(port=port)}\n"
        with pytest.raises(SystemExit, match="2"):
            pages.main()
        assert f"--port {port} is taken: give another, --port {port + 1}" in capfd.readouterr().err
    ((program, command, environment),) = served
    assert program == sys.executable
    assert command[command.index("--backend-store-uri") + 1] == store.uri
    assert command[-2:] == ["--port", str(port)]
    assert command == pages.command(store, port)
    assert pages.ENVIRONMENT.items() <= environment.items()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://server")
    with pytest.raises(SystemExit, match="2"):
        pages.main()
    assert "tracking.uri=http://server is a server: its pages are there" in capfd.readouterr().err


def test_measures_are_metrics_by_their_keys(store, task):
    """What stands for a result has its interval beside it; what is not defined is left out and counted."""
    with store.start("measures", task=task) as run:
        run.log_measures(
            [
                value("mutation_score", 0.8, (0.7, 0.9), 213, headline=True),
                value("accuracy", 0.9, (math.nan, 1.0), headline=True),
                value("autopsy_score", math.nan, headline=True),
                value("mutation_score/weight noise (σ)", 0.25, (0.1, 0.5)),
                value("killed", 171),
                value("ece", None),
            ]
        )
    assert store.info(run.id).metrics == {
        "mutation_score": 0.8,
        "mutation_score_low": 0.7,
        "mutation_score_high": 0.9,
        "accuracy": 0.9,
        "mutation_score/weight noise _σ_": 0.25,
        "killed": 171.0,
    }
    assert run.left_out == 2


def test_a_silent_run_has_the_same_face_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SilentRun() as run:
        run.log_params({"a": 1})
        run.log_metrics({"a": 1.0})
        run.log_measures([value("accuracy", 0.9)])
        run.log_series({"a": [(0, 1.0)]})
        run.set_tags({"a": 1})
        run.log_input("name", "digest", "source")
        run.artifact(Path("none"))
        run.artifact_text("text", "name")
        run.table({"a": [1]}, "a.json")
        run.children([Child("mutant")])
        run.update_children({"mutant": ({}, {})})
        run.drain()
        run.finish("FAILED")
    assert set(vars(run)) == {
        "id",
        "experiment_id",
        "name",
        "url",
        "folder",
        "left_out",
        "written",
        "is_kept",
        "_tables",
    }
    assert isinstance(run, Run)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ZeroDivisionError), SilentRun():
        _ = 1 / 0
