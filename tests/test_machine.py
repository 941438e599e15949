"""What a machine has bounds what is asked of it."""

from __future__ import annotations

import pytest

from app import machine


@pytest.mark.parametrize(
    ("asked", "jobs", "work"), [(999, 50, 4), (3, 50, 3), (999, 2, 2), (0, 9, 0), (5, 0, 1)]
)
def test_no_more_work_than_cores_or_jobs(monkeypatch, asked, jobs, work):
    monkeypatch.setattr(machine, "cores", lambda: 4)
    assert machine.helpers(asked, jobs) == work
    notes = machine.fewer("task.workers", asked, jobs)
    assert bool(notes) == (work != asked)
    if notes:
        assert notes[0].startswith(f"task.workers is {asked:,}, but {work} work: there are 4 cores")


def test_the_machine_says_what_it_has():
    assert machine.cores() >= 1
    memory = machine.memory()
    assert memory is None or memory > 2**26
    assert [machine.size(each) for each in (7, 2048, 1.5 * 2**30, 2**40)] == [
        "7 bytes",
        "2 KiB",
        "1.5 GiB",
        "1 TiB",
    ]
