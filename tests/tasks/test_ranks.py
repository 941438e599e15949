"""Several processes give what one gives: in one run and in a sweep."""

from __future__ import annotations

import math
import re
import signal

import pytest

from app.inference.blocks import BlockStore

RANKS = ["trainer=ddp_cpu", "trainer.devices=2"]


def assert_equal_within(first, second, path="report"):
    """The same structure and words, numbers within 1e-5."""
    if isinstance(first, float) and isinstance(second, float):
        assert math.isclose(first, second, rel_tol=1e-5, abs_tol=1e-5), f"{path}: {first} and {second}"
    elif isinstance(first, dict):
        assert first.keys() == second.keys(), path
        for key, value in first.items():
            assert_equal_within(value, second[key], f"{path}.{key}")
    elif isinstance(first, list):
        assert len(first) == len(second), path
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            assert_equal_within(one, other, f"{path}[{index}]")
    else:
        assert first == second, path


@pytest.fixture(scope="module")
def alone(assay, small):
    return {seed: assay(*small, f"seed={seed}").numbers() for seed in (1, 2)}


def begun_run(assay, monkeypatch, store: type, *given: str) -> str:
    """The id of a run that one process has begun: Ctrl-C came when its first batch was stored."""
    write = store.write

    def interrupted(blocks, block):
        write(blocks, block)
        signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(store, "write", interrupted)
        ended = assay(*given)
    assert ended.code == 130
    match = re.fullmatch(r"interrupted; what was done is kept: go on with resume=([0-9a-f]{32})\n", ended.err)
    assert match, ended.err
    assert assay.client.get_run(match[1]).info.status == "KILLED"
    assert len(list((assay.folder / "mlruns" / "work" / match[1] / "blocks").iterdir())) == 1
    return match[1]


def test_two_processes_go_on_with_what_one_has_begun(assay, small, alone, monkeypatch):
    before = len(assay.runs())
    run_id = begun_run(assay, monkeypatch, BlockStore, *small, "seed=1")
    ended = assay.processes("out/two", *small, "seed=1", *RANKS, f"resume={run_id}")
    assert ended.out.count("Report: ") == 1
    assert_equal_within(ended.numbers(), alone[1])
    assert len(assay.runs()) == before + 1 + 7  # one parent and its children, nothing from the second process
    assert (ended.report()["run"]["id"], ended.report()["run"]["resumed"]) == (run_id, True)
    assert assay.client.get_run(run_id).info.status == "FINISHED"
    assert {child.info.status for child in assay.children(run_id)} == {"FINISHED"}


def test_a_sweep_of_two_processes_each(assay, small, alone):
    before = len(assay.runs())
    ended = assay.two("-m", *small, "seed=1,2")
    assert (ended.code, ended.err) == (0, "")
    for job, seed in (("0", 1), ("1", 2)):
        assert_equal_within(ended.numbers(job), alone[seed])
        assert len(assay.children(ended.report(job)["run"]["id"])) == 7
    assert len(assay.runs()) == before + 1 + 2 * (1 + 7)
    assert assay.statuses()["RUNNING"] == 0
