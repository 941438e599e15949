"""The jobs of a sweep, whichever launcher runs them: a note each in its folder, and all of them gathered in the end."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from app import workplaces
from app.comparison.readings import Readings, read
from app.errors import UserError
from app.job import Job
from app.reporting import html, schema
from app.reporting.figures import save_png
from app.reporting.sweep import figures, page, tables, words
from app.reporting.sweep.assembly import Done, sweep_report
from app.reporting.sweep.report import SweepReport
from app.runs import Run, RunInfo
from app.tasks import runs
from app.tracking import Store

NOTE = ".hydra/job.json"
"""Where a job's note lies in its folder."""
_STATUSES: dict[str, Literal["finished", "failed", "interrupted"]] = {
    "FINISHED": "finished",
    "FAILED": "failed",
    "KILLED": "interrupted",
}


@dataclass(frozen=True)
class Note:
    """How a job of a sweep stands."""

    sweep: str
    """The id of the sweep's run."""
    job: int
    """Its number, from 0."""
    command: Sequence[str]
    """The words of the command line that repeats it."""
    status: Literal["begun", "finished", "failed", "refused"]
    """Refused is a mistake of the user's."""
    reason: str = ""
    """Why it failed or was refused."""


def write_note(note: Note, folder: Path) -> None:
    """Puts a note into a job's folder, in the place of an earlier one."""
    schema.write_json(note, folder / NOTE)


def gathered(store: Store, run: Run, output: Path) -> list[Done]:
    """The jobs of a sweep that have begun: those with a note in its folder, and those that only the store knows."""
    known = {each.tags.get("assay.output", each.id): each for each in store.children_of(run.id)}
    found: list[Done] = []
    for path in sorted([*output.glob(f"*/{NOTE}"), *output.glob(f"*/*/{NOTE}")]):
        told = _read(path)
        if told is not None and told.get("sweep") == run.id:
            folder = path.parents[1]
            found.append(_done(store, output, folder, told, known.pop(str(folder), None)))
    taken = {each.number for each in found}
    free = (number for number in range(len(found) + len(known)) if number not in taken)
    for number, info in zip(free, sorted(known.values(), key=lambda each: each.start), strict=False):
        command = shlex.split(info.tags.get("assay.command", ""))
        told = {"job": number, "command": command, "status": "begun"}
        found.append(_done(store, output, None, told, info))
    return sorted(found, key=lambda each: each.number)


def conclude(store: Store, run: Run, output: Path, job: Job, started: datetime) -> SweepReport | None:
    """Writes the summary of a sweep and files it under the sweep's run; None if no job got as far as a run."""
    jobs = gathered(store, run, output)
    if not any(each.run_id for each in jobs):
        return None
    report = sweep_report(jobs, runs.run_block(run, store, job, started))
    output.mkdir(parents=True, exist_ok=True)
    schema.write_json(report, output / "report.json")
    html.write_page(page.sweep_page(report), output / "report.html")
    tables.write_jobs(report, output / "jobs.csv")
    written = [output / name for name in ("report.json", "report.html", "jobs.csv")]
    figure = figures.measures(report)
    if figure is not None:
        written.append(save_png(figure, output / "measures.png"))
    for each in report.jobs:
        if each.run_id and each.label:
            store.rename(each.run_id, f"{each.task} {each.subject} {each.label}".strip())
    over = f" over {', '.join(report.swept)}" if report.swept else ""
    store.rename(run.id, f"sweep {report.subject.name}{over}")
    for name, values in tables.series(report).items():
        run.log_series({name: values})
    run.log_metrics({name: float(value) for name, value in vars(report.summary).items()})
    run.table(tables.job_columns(report), "jobs.json")
    run.set_tags({"subject": report.subject.name, "output": str(output)})
    run.describe("\n\n".join(words.note(report)))
    for path in written:
        run.artifact(path)
    return report


def _done(
    store: Store, output: Path, folder: Path | None, told: dict[str, Any], info: RunInfo | None
) -> Done:
    status, reason = told["status"], str(told.get("reason", ""))
    if info is not None and info.status in _STATUSES and (status == "begun" or info.status == "FINISHED"):
        status = _STATUSES[info.status]
    body = _report(store, folder, info) if status == "finished" else None
    readings: Readings | None = None
    if body is not None:
        with suppress(UserError):
            readings = read(body)
    resumable = (
        info is not None
        and status in {"interrupted", "failed"}
        and (info.task == "checkup" or (workplaces.of(store.folder, info.id) / "plan.json").exists())
    )
    page = "" if folder is None else (folder / "report.html").relative_to(output).as_posix()
    return Done(
        number=int(told["job"]),
        command=tuple(map(str, told["command"])),
        status="interrupted" if status == "begun" else status,
        reason=reason,
        task="" if info is None else info.task,
        subject="" if info is None else info.subject,
        run_id="" if info is None else info.id,
        link="" if info is None else store.ui_link(info),
        page=page if page and (output / page).exists() and status == "finished" else "",
        folder="" if folder is None else str(folder),
        seconds=None if info is None or info.end is None else (info.end - info.start).total_seconds(),
        resumable=resumable,
        readings=readings,
    )


def _report(store: Store, folder: Path | None, info: RunInfo | None) -> dict[str, Any] | None:
    """The report of a job: in its folder, or else in the store."""
    body = None if folder is None else _read(folder / "report.json")
    if body is None and info is not None:
        with suppress(UserError):
            body = _read(store.report(info.id))
    return body


def _read(path: Path) -> dict[str, Any] | None:
    with suppress(OSError, ValueError, RecursionError):
        body = json.loads(path.read_text(encoding="utf-8"))
        return body if isinstance(body, dict) else None
    return None
