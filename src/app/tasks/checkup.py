"""The checkup of a classifier: all four questions about one subject, under one run, with one front page."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from PIL import Image

from app import workplaces
from app.errors import Fault, UserError
from app.job import Job
from app.limits import FileOrFolder, Level, NotNegative, RunId
from app.mutation.operator import Operator
from app.report import schema
from app.report.pages.mutate import load as load_mutate
from app.reporting import html
from app.reporting.autopsy import report as autopsy_reports
from app.reporting.checkup import report as reports
from app.reporting.checkup.assembly import checkup_report, metrics
from app.reporting.checkup.page import checkup_page
from app.reporting.checkup.parts import Reports
from app.reporting.checkup.pictures import pictures
from app.reporting.checkup.report import CheckupReport, Part, Settings
from app.reporting.checkup.words import closing_lines
from app.reporting.contamination import report as contamination_reports
from app.reporting.estimate.report import read_estimate_report
from app.runs import Run, RunInfo
from app.scoring.options import Scoring
from app.subjects.dataset import ImageDataset
from app.subjects.detection.detector import Detector
from app.subjects.model import Model
from app.subjects.subject import Subject
from app.tasks import runs
from app.tracking import Store

REMEMBERED = 20
"""Earlier checkups that are read at most to find the previous one."""
THUMBNAIL = 112
"""Longest side of a picture on the front page, in pixels."""
SHARED = ("model", "dataset", "train", "stream", "operators", "scoring", "estimators", "labels", "seed")
"""Settings that parts have in common."""
NO_STREAM = (
    "No operational data was given. Add dataset@task.stream=unlabelled_folder task.stream.root=DIR, and you are told "
    "which of its pictures to label; or dataset@task.stream=image_folder task.stream.root=DIR with known labels."
)
"""Why the estimate is left out, and how to add it."""


class Task(Protocol):
    """A part, as it is built."""

    store: Store
    """Where its run is filed."""
    resume: str | None
    """Its run to go on with, where it can be given one."""

    def run(self, job: Job) -> None:
        """Does it."""
        ...


Make: TypeAlias = Callable[..., Task]
"""What makes a part out of what the checkup has."""


class Checkup:
    """Runs autopsy, mutate, estimate and contaminate one after another and answers the four questions.

    Args:
        model: the classifier; one instance for all parts.
        dataset: its test cases.
        operators: of the mutants, by name.
        scoring: when a mutant is killed.
        trainer: Lightning's.
        store: the history.
        seed: of every random choice, 0 or more.
        train: training data, for overfitting, leaked test cases and surprise; None without.
        stream: operational data, labelled or not; None leaves the estimate out.
        estimators: by name; None for `adaptive`.
        labels: what people labelled so far of the stream: a file or folder.
        target_width: width of the always-valid interval at which labelling stops.
        resume: id of the interrupted run to go on with: its finished parts are taken over.
        autopsy: makes the part; None leaves it out.
        mutate: the same.
        estimate: the same.
        contaminate: the same.

    Raises:
        UserError: what is missing or does not fit together, in any part.
    """

    def __init__(
        self,
        model: Model,
        dataset: ImageDataset,
        operators: Mapping[str, Operator],
        *,
        scoring: Scoring,
        trainer: Any,
        store: Store,
        seed: NotNegative = 0,
        train: Any = None,
        stream: Any = None,
        estimators: Mapping[str, Any] | None = None,
        labels: FileOrFolder | None = None,
        target_width: Level | None = None,
        resume: RunId | None = None,
        autopsy: Make | None = None,
        mutate: Make | None = None,
        estimate: Make | None = None,
        contaminate: Make | None = None,
    ) -> None:
        if isinstance(model, Detector):
            raise UserError(f"{model.name} is a detector, task=checkup is for classifiers: take task=mutate")
        if labels is not None and stream is None:
            raise UserError(
                "labels are of operational data: give dataset@task.stream=NAME too, or leave them out"
            )
        self.store, self.seed, self.train, self.stream = store, seed, train, stream
        self.resume = resume
        shared = {"trainer": trainer, "store": store, "seed": seed}
        test = {"model": model, "dataset": dataset, **shared}
        splits = {"test": dataset} if train is None else {"train": train, "test": dataset}
        operation = {"estimators": estimators, "labels": labels, "target_width": target_width}
        self.parts: dict[str, Task] = {}
        self.left_out: dict[str, Part] = {}
        self._add("autopsy", autopsy, {**test, "train": train})
        self._add("mutate", mutate, {**test, "operators": operators, "scoring": scoring})
        if stream is None and estimate is not None:
            self.left_out["estimate"] = Part("left out", NO_STREAM)
        else:
            self._add("estimate", estimate, {**test, "dataset": stream, "train": train, **operation})
        self._add("contaminate", contaminate, {"splits": splits, "store": store, "seed": seed})
        self.subject = Subject(model, dataset)
        if not self.parts:
            raise UserError(
                "every part is left out: give at least one of task.autopsy, task.mutate, task.contaminate"
            )

    def run(self, job: Job) -> None:
        """Run the parts, each in a folder and a run of its own below the checkup's, then answer the questions.

        A part that ends with a user's mistake is shown as failed, and the others are not lost.
        """
        started = datetime.now().astimezone()
        with runs.opened(self.store, "checkup", job, subject=self.subject, resume=self.resume) as run:
            if job.first:
                self._check_material(run)
            failed = self._run_parts(run, job)
            if not job.first:
                return
            read = self._read(job, failed)
            report = checkup_report(
                read,
                {**self.left_out, **failed},
                run=runs.run_block(run, self.store, job, started, resumed=self.resume is not None),
                subject=runs.subject_block(self.subject, _notes(read)),
                settings=self._settings(job, read),
                earlier=self._earlier(),
            )
            self._write(job, report, read)
            _record(run, report, job)
        lines = closing_lines(report, str(job.output / "report.html"), run.url)
        runs.tell(job, run, [*runs.remarks(report.subject), *lines])
        if failed:
            raise UserError(f"not all of the checkup could be done: {_told(failed)}")

    def _add(self, name: str, make: Make | None, given: Mapping[str, Any]) -> None:
        """A part, made of what the checkup has; what was set for the part itself comes first."""
        if make is None:
            self.left_out[name] = Part(
                "left out", f"This was left out. To have it, do not give task.{name}=null."
            )
            return
        own = getattr(make, "keywords", {})
        try:
            self.parts[name] = make(**{key: value for key, value in given.items() if key not in own})
        except UserError as error:
            raise UserError(_of_part(name, error)) from None

    def _check_material(self, run: Run) -> None:
        """Training and operational data of a resumed run must be those that its finished parts saw."""
        names = {"training_digest": self.train, "operation_digest": self.stream}
        digests = {name: "" if data is None else str(data.digest) for name, data in names.items()}
        if self.resume is None:
            run.set_tags(digests)
            return
        before = self.store.info(self.store.resolve(self.resume)).tags
        if any(before.get(f"assay.{name}") != digest for name, digest in digests.items()):
            raise UserError(
                f"resume={self.resume} was started with other training or operational data of the same name"
            )

    def _before(self) -> dict[str, RunInfo]:
        """The parts of the run to go on with, by name."""
        if self.resume is None:
            return {}
        found = self.store.children_of(self.store.resolve(self.resume))
        return {each.task: each for each in found if each.kind == "part"}  # the newest of each

    def _run_parts(self, run: Run, job: Job) -> dict[str, Part]:
        """Runs the parts, but for those that a resumed run has finished; returns those that failed."""
        failed: dict[str, Part] = {}
        kept: list[str] = []
        below = copy.copy(self.store)
        below.parent = run.id
        before = self._before()
        for name, task in self.parts.items():
            part = before.get(name)
            if part is not None and part.status == "FINISHED" and _taken_over(part, name, job):
                kept.append(str(job.output / name))
                run.is_kept = True
                continue
            if not job.first and name == "contaminate":  # it needs no model: one process is enough
                with runs.opened(below, name, job):
                    continue
            task.store = below
            if part is not None and (workplaces.of(self.store.folder, part.id) / "plan.json").exists():
                task.resume = part.id
            try:
                task.run(_job_of(name, job, resumable=hasattr(task, "resume")))
                kept.append(str(job.output / name))
                run.is_kept = True
            except UserError as error:
                failed[name] = Part("failed", _of_part(name, error))
            except Fault as fault:
                raise Fault(f"in the part {name}: {fault.cause}") from fault
            except KeyboardInterrupt:
                done = f"these parts are done: {', '.join(kept)}" if kept else "no part is done"
                go_on = f"go on with resume={run.id}"
                raise KeyboardInterrupt(f"interrupted in the part {name}; {done}; {go_on}") from None
        if len(failed) == len(self.parts):
            raise UserError(f"every part of the checkup failed: {_told(failed)}")
        return failed

    def _read(self, job: Job, failed: Mapping[str, Part]) -> Reports:
        """The reports of the parts that finished."""
        loads = {
            "autopsy": autopsy_reports.load,
            "mutate": load_mutate,
            "estimate": read_estimate_report,
            "contaminate": contamination_reports.load,
        }
        found: dict[str, Any] = {
            name: loads[name](job.output / name / "report.json") for name in self.parts if name not in failed
        }
        return Reports(**found)

    def _settings(self, job: Job, read: Reports) -> Settings:
        operators = () if read.mutate is None else read.mutate.result.by_operator
        return Settings(
            seed=self.seed,
            training="" if self.train is None else self.train.name,
            training_digest="" if self.train is None else self.train.digest,
            stream="" if self.stream is None else self.stream.name,
            stream_digest="" if self.stream is None else self.stream.digest,
            operators=tuple(each.operator for each in operators),
            config_digest=job.digest,
            rules=_rules(job.config["task"], trained=self.train is not None),
        )

    def _earlier(self) -> Iterator[CheckupReport]:
        """Checkups of the same subject, the newest first, read as they are asked for; what cannot be is passed over."""
        for info in self.store.parents("checkup", self.subject.name, limit=REMEMBERED):
            with suppress(UserError):
                yield reports.load(self.store.report(info.id))

    def _write(self, job: Job, report: CheckupReport, read: Reports) -> None:
        schema.write_json(report, job.output / "report.json")
        shown = {
            each.picture: _thumbnail((job.output / each.picture).read_bytes())
            for each in report.mistakes
            if each.picture
        }
        html.write_page(checkup_page(report, pictures(read, shown)), job.output / "report.html")


def _taken_over(part: RunInfo, name: str, job: Job) -> bool:
    """Whether what a finished part has written is there still; it is copied into this checkup's folder."""
    there, here = Path(part.tags.get("assay.output", "")), job.output / name
    try:
        written = json.loads((there / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if written["run"]["id"] != part.id:  # another run has written there since
        return False
    if job.first and there != here:
        shutil.copytree(there, here, dirs_exist_ok=True)
    return True


def _job_of(name: str, job: Job, *, resumable: bool = False) -> Job:
    """The job of a part: its own folder and settings, and nothing to say at the end."""
    whole = job.config["task"]
    output = job.output / name
    output.mkdir(parents=True, exist_ok=True)
    common = {key: whole[key] for key in SHARED if whole.get(key) is not None}
    own = {key: value for key, value in whole[name].items() if key != "_partial_"}
    own |= {"resume": None} if resumable else {}
    config = {**job.config, "task": {**common, **own}}
    return replace(job, output=output, config=config, quiet=True)


def _of_part(name: str, error: UserError) -> str:
    """A message with the keys of a part as they are called in a checkup."""
    return re.sub(
        r"\btask\.(?!(train|stream|autopsy|mutate|estimate|contaminate)\b)", f"task.{name}.", str(error)
    )


def _rules(task: Mapping[str, Any], *, trained: bool) -> dict[str, str]:
    """A digest of what each headline number is made by: equal ones mean that a number is the same number.

    The autopsy score has other parts with training data than without.
    """
    made = {
        "mutation_score": [task.get("operators"), task.get("scoring")],
        "autopsy_score": [
            trained,
            *((task.get("autopsy") or {}).get(name) for name in ("profile", "weights")),
        ],
    }
    return {
        name: hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]
        for name, parts in made.items()
    }


def _notes(read: Reports) -> tuple[str, ...]:
    """What the parts that run the model on the test cases have to say about it: on the front page and the console."""
    return tuple(
        note for each in (read.autopsy, read.mutate) if each is not None for note in each.subject.notes
    )


def _told(failed: Mapping[str, Part]) -> str:
    return "; ".join(f"{name}: {part.message}" for name, part in failed.items())


def _thumbnail(content: bytes) -> bytes:
    picture = Image.open(io.BytesIO(content))
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def _record(run: Run, report: CheckupReport, job: Job) -> None:
    """Headline numbers as metrics, answers as tags, and the front page with the reports it leads to."""
    run.log_metrics(metrics(report))
    keys = ("tests_notice", "model_health", "in_operation", "getting_better")
    run.set_tags({key: each.label for key, each in zip(keys, report.questions, strict=True)})
    for name in ("report.json", "report.html"):
        run.artifact(job.output / name)
        for part in report.run.parts:
            run.artifact(job.output / part / name, part)
