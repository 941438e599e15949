"""How a task meets the history: its run opened, its lineage written, and its report filed."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import durable, faults, interrupts, workplaces
from app.errors import Fault, UserError
from app.job import Job
from app.reporting import lineage
from app.runs import Run, SilentRun
from app.tasks import ranks
from app.tracking import Store
from app.visible import visible

if TYPE_CHECKING:  # it starts torch, which not every task needs
    from app.subjects.detection.subject import DetectorSubject
    from app.subjects.subject import Subject

    Tested = Subject | DetectorSubject | lineage.Subject

RUN_VARIABLE = "ASSAY_RUN_ID"
"""Tells the processes of one job which run is theirs."""
_NOTE = "fault-"
"""How the name of what a further process leaves for the first one begins."""
LIBRARIES = ("assay", "torch", "torchvision", "pytorch-lightning", "numpy", "scipy", "mlflow", "hydra-core")


@contextmanager
def opened(
    store: Store,
    task: str,
    job: Job,
    *,
    subject: Tested | None = None,
    resume: str | None = None,
) -> Iterator[Run]:
    """The parent run of this invocation, ended when the block ends; a silent one in further processes.

    Raises:
        UserError: the store cannot be reached, or the run to resume is another configuration's; or it is what the
            block raised before anything was computed, and no run is left.
        Fault: whatever else ends the block; the run has FAILED, and is kept.
    """
    if not job.first:
        yield from _further(store)
        return
    run = _new(store, task, job, subject) if resume is None else _resumed(store, job, subject, resume)
    place = workplace(store, run)
    resumable = "resume" in job.config["task"]
    kept = f"what was done is kept: go on with resume={run.id}"
    go_on = kept if resumable else f"{task} keeps nothing half done: run the same command again"
    go_on = "" if job.quiet else go_on  # the larger job says what is kept
    done, before = False, _identity(job.output)
    os.environ[RUN_VARIABLE] = ranks.told(run.id)
    try:
        with run:
            if resume is None:
                _describe(run, job, subject)
            yield run
            _check_there(job.output, before)
        done = True
    except UserError as error:
        if run.is_kept:
            raise Fault(str(error), go_on) from error
        if resume is None:  # a mistake leaves nothing behind
            shutil.rmtree(place, ignore_errors=True)
            run.discard()
        raise
    except KeyboardInterrupt as error:
        if job.quiet or str(error):
            raise
        with suppress(Exception):
            run.describe(f"Interrupted; {go_on}")
        raise KeyboardInterrupt(f"interrupted; {go_on}") from None
    except Exception as error:
        cause = faults.cause(error)
        raise Fault(": ".join([cause, *_told_by_others(place)]), go_on) from error
    finally:
        os.environ.pop(RUN_VARIABLE, None)
        if done or not resumable:
            with interrupts.held():
                shutil.rmtree(place, ignore_errors=True)


def _check_there(folder: Path, before: tuple[int, int] | None) -> None:
    """Raises a Fault if what was written is lost, whoever has made the folder again."""
    if _identity(folder) != before:
        raise Fault(f"the output folder {folder} was deleted while the run went on")


def _identity(folder: Path) -> tuple[int, int] | None:
    """What tells a folder from another one of the same name; None if there is none."""
    with suppress(OSError):
        facts = folder.stat()
        return facts.st_dev, facts.st_ino
    return None


def _further(store: Store) -> Iterator[Run]:
    """The silent run of a further process; what befalls it is left for the first one, which speaks."""
    silent = SilentRun()
    if RUN_VARIABLE not in os.environ:
        raise UserError(
            "several processes must be started by the trainer: trainer=ddp or trainer=ddp_cpu, one command"
        )
    silent.id = ranks.told(os.environ[RUN_VARIABLE])
    try:
        yield silent
    except Exception as error:
        with suppress(OSError):
            note = workplace(store, silent) / f"{_NOTE}{os.environ.get('LOCAL_RANK', os.getpid())}"
            durable.write(faults.cause(error).encode(), note)
        raise


def _told_by_others(place: Path) -> list[str]:
    """What befell further processes."""
    told = []
    for note in sorted(place.glob(f"{_NOTE}*")):
        with suppress(OSError):
            told.append(note.read_text(encoding="utf-8"))
            note.unlink()
    return told[:1]


def _new(store: Store, task: str, job: Job, subject: Tested | None) -> Run:
    tags: dict[str, object] = {"config_digest": job.digest, "command": job.command, "output": job.output}
    name = ""
    if subject is not None:
        name = subject.name
        tags |= {"model_digest": subject.model_digest, "data_digest": subject.data_digest}
    tags["subject"] = name
    return store.start(f"{task} {name}".strip(), task=task, params=flat(job.config["task"]), tags=tags)


def _describe(run: Run, job: Job, subject: Tested | None) -> None:
    run.artifact_text(job.yaml, "config.yaml")
    if subject is not None:
        name = subject.dataset if isinstance(subject, lineage.Subject) else subject.dataset.name
        run.log_input(name, subject.data_digest, name)


def _resumed(store: Store, job: Job, subject: Tested | None, resume: str) -> Run:
    before = store.info(store.resolve(resume)).tags
    if before.get("assay.config_digest") != job.digest:
        raise UserError(
            f"resume={resume} was started with other settings: give the same ones as then "
            f"({before.get('assay.command', 'unknown command')})"
        )
    data = None if subject is None else (subject.model_digest, subject.data_digest)
    if data is not None and data != (before.get("assay.model_digest"), before.get("assay.data_digest")):
        raise UserError(f"resume={resume} was started with another model or other data of the same name")
    return store.resume(resume)


def tell(job: Job, run: Run, lines: Sequence[str]) -> None:
    """Says the lines that a command ends with, and keeps them as what MLflow's pages say of the run."""
    with interrupts.held(), suppress(Exception):  # all is done and filed
        told = (visible(line.strip()) for line in lines if line and not line.startswith("MLflow: "))
        run.describe("\n\n".join(told))
    with interrupts.held():
        job.say(lines)


def remarks(subject: lineage.Subject, more: Sequence[str] = ()) -> list[str]:
    """The lines that say what a reader should know before any number: notes, and what was left out.

    Args:
        subject: has notes of its own.
        more: of this machine, which are in no report: equal settings give equal ones everywhere.
    """
    return [*notes([*subject.notes, *more]), *left_out(subject)]


def notes(told: Sequence[str]) -> list[str]:
    """A line a note."""
    return [f"Note: {each}." for each in told]


def left_out(subject: lineage.Subject) -> list[str]:
    """The line that says how much of the data is in no number, and the first of it; none if all is."""
    if not subject.excluded:
        return []
    first, n = subject.excluded[0], len(subject.excluded)
    told = f"{n:,} files or cases were left out, such as" if n > 1 else "one file or case was left out:"
    return [f"Note: {told} {first.path}, which {first.reason}. The report lists all that was left out."]


def workplace(store: Store, run: Run) -> Path:
    """The folder for what a run keeps until it has a report."""
    return workplaces.of(store.folder, run.id)


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Nested settings as one level of dotted names; what is null or where things are kept is left out."""
    found: dict[str, object] = {}
    for key, value in config.items():
        if key in {"store", "trainer"} or value is None:
            continue
        name = f"{prefix}{key}".replace("_target_", "class")
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[name] = value
    return found


def run_block(run: Run, store: Store, job: Job, started: datetime, *, resumed: bool = False) -> lineage.Run:
    """What a report says about its run."""
    now = datetime.now().astimezone()
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return lineage.Run(
        id=run.id,
        parent=store.parent,
        started=started.isoformat(timespec="seconds"),
        finished=now.isoformat(timespec="seconds"),
        seconds=round((now - started).total_seconds(), 3),
        command=job.command,
        store=store.address,
        resumed=resumed,
        versions=versions,
    )


def subject_block(subject: Subject | DetectorSubject, notes: tuple[str, ...] = ()) -> lineage.Subject:
    """What a report says about its subject."""
    return lineage.Subject(
        name=subject.name,
        model=subject.model.name,
        dataset=subject.dataset.name,
        model_digest=subject.model_digest,
        data_digest=subject.data_digest,
        n=len(subject),
        classes=subject.classes,
        excluded=tuple(lineage.Excluded(each.path, each.reason) for each in subject.dataset.excluded),
        preprocess=subject.model.shown_input,
        output=subject.model.shown_output,
        notes=tuple(dict.fromkeys(subject.notes + notes)),
    )
