"""A multirun: its jobs filed under one run, their ends noted, and a summary in the end, also when a job failed."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict, read_write
from omegaconf.errors import OmegaConfBaseException

from app import complaints, launch
from app.errors import NotPassed, UserError
from app.job import Job

if TYPE_CHECKING:  # it brings matplotlib and NumPy, which a start does without
    from app.runs import Run
    from app.tracking import Store


@dataclass(frozen=True)
class Open:
    """A sweep that is going on."""

    run: Run
    """Its run in the history."""
    store: Store
    output: Path
    """The folder of its jobs' folders."""
    job: Job
    """What a report says of it."""
    started: datetime


_open: list[Open] = []


def is_open() -> bool:
    """Whether this process leads a sweep."""
    return bool(_open)


def conclude(status: str) -> bool:
    """Ends the sweep that is open, if one is: writes its summary and says it; returns whether a job has failed.

    Hydra leaves out a multirun's end when a job failed: the door calls this again.
    """
    failed = False
    while _open:
        failed |= _conclude(_open.pop(), status)
    return failed


def _conclude(sweep: Open, status: str) -> bool:
    from app.reporting.sweep import words  # noqa: PLC0415 - a start does without
    from app.tasks import jobs  # noqa: PLC0415

    report = None
    try:
        if status != "FINISHED":
            sweep.store.reap()  # jobs in processes of their own, which have been ended
        report = jobs.conclude(sweep.store, sweep.run, sweep.output, sweep.job, sweep.started)
    finally:
        sweep.run.finish(status)
        if report is None and status == "FAILED":  # mistakes leave nothing behind
            sweep.run.discard()
    if report is None:
        return False
    print(
        "\n".join(words.closing_lines(report, str(sweep.output / "report.html"), sweep.run.url)), flush=True
    )
    return report.summary.failed > 0


class SweepRun(Callback):
    """Files the runs of a multirun under one run of their own, and sums them up."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Open the sweep's run and tell every job of it."""
        overrides = [launch.masked(str(each)) for each in config.hydra.overrides.task]
        command = shlex.join(["python", "-m", "app", "-m", *overrides])
        output = Path(str(config.hydra.sweep.dir)).absolute()
        try:
            store = launch.build(config, "tracking")
            run = store.start("sweep", task="sweep", kind="sweep", tags={"command": command})
        except UserError as error:  # Hydra would make a warning of it, and go on
            raise SystemExit(f"error: {complaints.sentence(error)}") from error
        started = datetime.now().astimezone()
        job = Job(output=output, config={}, yaml="", digest="", command=command)
        _open.append(Open(run, store, output, job, started))
        with read_write(config), open_dict(config):
            config.hydra.overrides.hydra.append(f"tracking.parent={run.id}")

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:  # noqa: ARG002 - Hydra's signature
        """Sum up and end the sweep's run."""
        conclude("FINISHED")

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """Note in the job's folder that it has begun."""
        self._note(config, "begun")

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        """Note in the job's folder how it ended."""
        error = job_return._return_value  # its property raises the error
        if job_return.status is JobStatus.COMPLETED or isinstance(error, NotPassed):
            self._note(config, "finished")
            return
        if isinstance(error, UserError | OmegaConfBaseException):
            self._note(config, "refused", complaints.sentence(error))
        else:
            self._note(config, "failed", f"{type(error).__name__}: {complaints.line(error)}")

    def _note(self, config: DictConfig, status: Any, reason: str = "") -> None:
        if config.hydra.mode is not RunMode.MULTIRUN:
            return
        from app.tasks import jobs  # noqa: PLC0415 - a start does without

        sweep, number = str(config.tracking.parent), int(config.hydra.job.num)
        with suppress(UserError):  # the folder cannot be written: the job says so itself
            note = jobs.Note(sweep, number, launch.command(), status, reason)
            jobs.write_note(note, Path(config.hydra.runtime.output_dir))
