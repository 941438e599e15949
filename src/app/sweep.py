"""A multirun: its jobs filed under one run, their ends noted, and a summary in the end, also when a job failed."""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict, read_write
from omegaconf.errors import OmegaConfBaseException

from app import command_line, complaints, faults, launch
from app import config as configuration
from app.errors import NotPassed, UserError
from app.job import Job
from app.visible import visible

if TYPE_CHECKING:  # it brings matplotlib and NumPy, which a start does without
    from app.runs import Run
    from app.tracking import Store

OWN = "tracking.parent="
"""How what a sweep adds to its jobs begins."""


@dataclass(frozen=True)
class Ending:
    """A job that did not end well; plain text, so that it comes out of a launcher's process as it went in."""

    status: Literal["refused", "failed", "not passed"]
    """Refused is a mistake of the user's, not passed an outcome that was asked to fail."""
    job: int
    """Its number, from 0."""
    overrides: tuple[str, ...]
    """What was chosen for it."""
    reason: str
    trace: str
    """Where it happened."""


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
    overrides: frozenset[str]
    """What was chosen for all jobs, and as several values for some."""
    endings: list[Ending] = field(default_factory=list)
    """The jobs that did not end well, as far as is known."""


_open: list[Open] = []


class ToldReturn(JobReturn):
    """What a launcher hands back of such a job; where the sweep is led, looking at it is no error.

    Hydra's own would write a line that does not say why, and end the sweep at the first one.
    """

    @property
    def return_value(self) -> Any:
        """None; the ending is noted."""
        if _open and self._return_value not in _open[-1].endings:
            _open[-1].endings.append(self._return_value)
        return None

    @return_value.setter
    def return_value(self, ending: Ending) -> None:
        self._return_value = ending


def is_open() -> bool:
    """Whether this process leads a sweep."""
    return bool(_open)


def conclude(status: str = "FINISHED", *, traces: bool = False) -> int:
    """Ends the sweep that is open, if one is: says what went wrong, writes its summary and says it.

    Args:
        status: how it ended itself, apart from its jobs.
        traces: whether to show where it happened.

    Returns:
        The exit code that its jobs call for: 1 after a crash; else 2 after a mistake; else 1 if one did not pass.
    """
    return _conclude(_open.pop(), status, traces) if _open else 0


def _conclude(sweep: Open, status: str, traces: bool) -> int:
    from app.reporting.sweep import words  # noqa: PLC0415 - a start does without
    from app.tasks import jobs  # noqa: PLC0415

    _say(sweep, traces)
    ends = {each.status for each in sweep.endings}
    if status == "FINISHED" and ends & {"refused", "failed"}:
        status = "FAILED"
    report = None
    try:
        if status != "FINISHED":
            sweep.store.reap()  # jobs in processes of their own, which have been ended
        report = jobs.conclude(sweep.store, sweep.run, sweep.output, sweep.job, sweep.started)
    finally:
        sweep.run.finish(status)
        if report is None and status == "FAILED":  # mistakes leave nothing behind
            sweep.run.discard()
    if report is not None:
        page = str(sweep.output / "report.html")
        print(visible("\n".join(words.closing_lines(report, page, sweep.run.url))), flush=True)
    if "failed" in ends or (report is not None and report.summary.failed):
        return 1
    return 2 if "refused" in ends else int(bool(ends))


def _say(sweep: Open, traces: bool) -> None:
    """The jobs that did not end well, a line each."""
    for each in sorted(sweep.endings, key=lambda each: each.job):
        if traces:
            print(each.trace.rstrip(), file=sys.stderr)
        own = ", ".join(word for word in each.overrides if word not in sweep.overrides)
        name = f"job {each.job}{f' ({own})' if own else ''}"
        if each.status == "not passed":
            print(visible(f"{name}: {each.reason}"), file=sys.stderr)
        else:
            was = "was refused" if each.status == "refused" else "failed"
            print(visible(f"error: {name} {was}: {each.reason}"), file=sys.stderr)


def _ending(config: DictConfig, error: BaseException, overrides: Sequence[str]) -> Ending:
    if isinstance(error, NotPassed):
        status, reason = "not passed", str(error)
    elif isinstance(error, UserError | HydraException | OmegaConfBaseException):
        status, reason = "refused", complaints.sentence(error)
    else:
        status, reason = "failed", faults.line(error)
    chosen = tuple(launch.masked(each) for each in overrides if not each.startswith(OWN))
    trace = "".join(traceback.format_exception(error))
    number = int(config.hydra.job.num)
    return Ending(cast("Literal['refused', 'failed', 'not passed']", status), number, chosen, reason, trace)


class SweepRun(Callback):
    """Files the runs of a multirun under one run of their own, and sums them up."""

    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """Make the folder of a single job, or refuse it in words."""
        try:
            configuration.own_folder(config, "hydra.run.dir")
        except UserError as error:  # Hydra would make a warning of it, and go on
            raise SystemExit(f"error: {complaints.sentence(error)}") from error

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Open the sweep's run and tell every job of it."""
        overrides = [launch.masked(str(each)) for each in config.hydra.overrides.task]
        command = shlex.join([*command_line.door(), "-m", *overrides])
        try:
            store = launch.build(config, "tracking")
            output = configuration.own_folder(config, "hydra.sweep.dir")
            run = store.start("sweep", task="sweep", kind="sweep", tags={"command": command})
        except UserError as error:  # the same
            raise SystemExit(f"error: {complaints.sentence(error)}") from error
        started = datetime.now().astimezone()
        job = Job(output=output, config={}, yaml="", digest="", command=command)
        _open.append(Open(run, store, output, job, started, frozenset(overrides)))
        with read_write(config), open_dict(config):
            config.hydra.overrides.hydra.append(f"{OWN}{run.id}")

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """Note in the job's folder that it has begun."""
        self._note(config, "begun")

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        """Note in the job's folder how it ended."""
        if config.hydra.mode is not RunMode.MULTIRUN:
            return
        if job_return.status is JobStatus.COMPLETED:
            self._note(config, "finished")
            return
        error = job_return._return_value  # its property raises the error
        ending = _ending(config, error, [str(each) for each in job_return.overrides or ()])
        if ending.status == "not passed":
            self._note(config, "finished")
        else:
            self._note(config, ending.status, ending.reason)
        job_return.return_value = ending
        job_return.__class__ = ToldReturn

    def _note(self, config: DictConfig, status: Any, reason: str = "") -> None:
        if config.hydra.mode is not RunMode.MULTIRUN:
            return
        from app.tasks import jobs  # noqa: PLC0415 - a start does without

        sweep, number = str(config.tracking.parent), int(config.hydra.job.num)
        with suppress(OSError):  # the folder cannot be written: the job says so itself
            note = jobs.Note(sweep, number, launch.command(), status, reason)
            jobs.write_note(note, Path(config.hydra.runtime.output_dir))
