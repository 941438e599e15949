"""A campaign that is stopped, politely or not, and goes on where it was."""

from __future__ import annotations

import re
import signal
import subprocess
import time

import pytest

from app import interrupts
from app.inference.blocks import BlockStore

BLOCKS = 41


@pytest.fixture(scope="module")
def many_batches(small):
    """Enough of them to be stopped in the midst: 40 batches of test cases and one of noise."""
    changed = {"dataset.max_samples": 160, "task.batch_size": 4}
    rest = [each for each in small if each.partition("=")[0] not in changed]
    return [*rest, "seed=8", *(f"{key}={value}" for key, value in changed.items())]


@pytest.fixture(scope="module")
def undisturbed(assay, many_batches):
    return assay(*many_batches).numbers()


@pytest.fixture
def written(monkeypatch):
    """The blocks that were written, in order."""
    blocks = []
    write = BlockStore.write

    def spy(store, block):
        write(store, block)
        blocks.append((block.group, block.batch))

    monkeypatch.setattr(BlockStore, "write", spy)
    return blocks


def test_a_killed_process_loses_one_batch_at_most(assay, many_batches, undisturbed, written):
    known = {run.info.run_id for run in assay.runs()}
    others = set(
        (assay.folder / "mlruns" / "work").glob("*/blocks/*.rows")
    )  # of runs that were interrupted before
    process = assay.started(*many_batches, "output=out/killed")
    try:
        done: set[str] = set()
        deadline = time.monotonic() + 150
        while len(done) < 3 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
            done = {
                path.name
                for path in (assay.folder / "mlruns" / "work").glob("*/blocks/*.rows")
                if path not in others
            }
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    [run_id] = {run.info.run_id for run in assay.runs("tags.`assay.kind` = 'parent'")} - known
    assert assay.client.get_run(run_id).info.status == "RUNNING"  # nobody could say otherwise
    kept = {path.name for path in (assay.folder / "mlruns" / "work" / run_id / "blocks").glob("*.rows")}
    assert 3 <= len(kept) < BLOCKS

    # Any command that opens the store sees that the process is gone.
    assert assay(*many_batches, "resume=" + 32 * "0").code == 2
    assert assay.client.get_run(run_id).info.status == "KILLED"

    resumed = assay(*many_batches, f"resume={run_id}")
    assert (resumed.code, resumed.err) == (0, "")
    assert len(written) == len(set(written)) == BLOCKS - len(kept)
    assert resumed.numbers() == undisturbed
    run = assay.client.get_run(run_id)
    assert run.info.status == "FINISHED"
    children = assay.children(run_id)
    assert len(children) == resumed.report()["summary"]["mutants"]
    assert {child.info.status for child in children} == {"FINISHED"}


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(assay, many_batches, undisturbed, monkeypatch):
    write = BlockStore.write
    before = len(assay.runs())

    def interrupted(store, block):
        write(store, block)
        if block.batch == 5:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(BlockStore, "write", interrupted)
        ended = assay(*many_batches)
    assert ended.code == 130
    match = re.fullmatch(r"interrupted; what was done is kept: go on with resume=([0-9a-f]{32})\n", ended.err)
    assert match, ended.err
    assert assay.client.get_run(match[1]).info.status == "KILLED"
    assert len(assay.runs()) == before + 1
    assert signal.getsignal(signal.SIGINT) is interrupts._raise  # Lightning leaves it ignored
    resumed = assay(*many_batches, f"resume={match[1]}")
    assert (resumed.code, resumed.numbers()) == (0, undisturbed)


def test_ctrl_c_in_a_task_that_keeps_nothing_says_so(assay, monkeypatch):
    from app.tasks.estimate import Estimate

    (assay.folder / "few.csv").write_text("id,confidence,outcome\na,0.1,1\nb,0.9,0\n")
    monkeypatch.setattr(Estimate, "_gathered", lambda *_: signal.raise_signal(signal.SIGINT))
    known = {run.info.run_id for run in assay.runs()}
    ended = assay("task=estimate", "population=few.csv", "estimators=[srswor]", "task.budget=1")
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "interrupted; estimate keeps nothing half done: run the same command again\n"
    [run] = [each for each in assay.runs() if each.info.run_id not in known]
    assert run.info.status == "KILLED"
    assert run.data.tags["mlflow.note.content"].startswith("Interrupted; estimate keeps nothing")
    assert not (assay.folder / "mlruns" / "work" / run.info.run_id).exists()


def test_one_run_is_not_resumed_twice_at_once(assay, many_batches, undisturbed):
    """A run whose process lives is left alone."""
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        from app import lineage
        from app.tracking import Store

        store = Store(folder=assay.folder / "mlruns")
        run = store.start("mutate elsewhere", task="mutate")
        store.write(run.id, tags={"pid": sleeper.pid, "process_start": lineage._began(sleeper.pid)})
        same = {key: undisturbed["subject"][key] for key in ("model_digest", "data_digest")}
        store.write(run.id, tags={**same, "config_digest": undisturbed["settings"]["config_digest"]})
        ended = assay(*many_batches, f"resume={run.id}")
        assert ended.code == 2
        assert re.fullmatch(
            rf"error: resume={run.id} is still running \(process {sleeper.pid} .*\n", ended.err
        )
        run.finish("KILLED")
    finally:
        sleeper.kill()
        sleeper.wait()
