"""The run or report that a user means by `before` and `after`, with all that it left."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from app.comparison.body import at, block
from app.comparison.readings import task_of
from app.errors import UserError
from app.reporting.history.excerpt import read_whole
from app.reporting.history.gathering import moment
from app.runs import RunInfo
from app.tracking import Store

NEWEST, BEFORE_IT = "latest", "previous"
WAITING = "labels needed"
"""What a run is tagged with (`assay.labelling`) while people have to label: it has no estimate yet."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """One report and where it comes from."""

    body: Mapping[str, Any]
    """The report."""
    report: Path
    """Its file."""
    folder: Path
    """What lies beside it: predictions.csv and so on."""
    source: str
    """Where it comes from, in words."""
    info: RunInfo | None
    """The run in the store; None for a file."""
    store: Store = field(repr=False)
    """Where further artifacts of the run are."""

    @property
    def task(self) -> str:
        """The task that wrote it."""
        return self.info.task if self.info is not None else task_of(self.body)

    @property
    def subject(self) -> str:
        """What it is about."""
        if self.info is not None:
            return self.info.subject
        return str(at(self.body, "subject", "name") or "")

    @property
    def run_id(self) -> str:
        """The run that wrote it; empty if nobody knows."""
        return self.info.id if self.info is not None else str(at(self.body, "run", "id") or "")

    @property
    def started(self) -> datetime | None:
        """When that run started; None if nobody knows."""
        if self.info is not None:
            return self.info.start
        return moment(str(at(self.body, "run", "started")))

    def artifact(self, name: str) -> Path | None:
        """A file beside the report, fetched from the store if need be; None if there is none."""
        if (self.folder / name).is_file():
            return self.folder / name
        if self.info is not None:
            with suppress(UserError):
                return self.store.artifact(self.info.id, name)
        return None

    def part(self, name: str) -> Chosen | None:
        """The report of a part of a checkup, if it can be read: from its folder, or else from the store."""
        for found in (self._part_beside, self._part_in_store):
            with suppress(UserError):
                part = found(name)
                if part is not None and at(part.body, "schema", "artifact") in _artifacts(name):
                    return part
        return None

    def _part_beside(self, name: str) -> Chosen | None:
        """The file that the checkup names; never one outside its folder."""
        given = at(self.body, "parts", name, "report")
        path = _place(str(self.folder / given)) if given and isinstance(given, str) else None
        if path is None or path.is_dir() or not path.resolve().is_relative_to(self.folder.resolve()):
            return None
        return _from_file(self.store, name, path)

    def _part_in_store(self, name: str) -> Chosen | None:
        known = block(self.body, "run", "parts", name)
        run_id = at(self.body, "parts", name, "run_id") or known.get("id")
        if not run_id or not isinstance(run_id, str):
            return None
        return _from_run(self.store, name, self.store.info(run_id))


def _artifacts(part: str) -> tuple[str, ...]:
    """What the report of a part of a checkup can be."""
    return ("assay.mutate", "assay.uamt") if part == "mutate" else (f"assay.{part}",)


def choose(
    store: Store,
    name: str,
    *,
    role: str,
    task: str | None = None,
    subject: str | None = None,
    before_run: Chosen | None = None,
) -> Chosen:
    """The report that a user means.

    Args:
        store: the history.
        name: the path of a report.json, or of a folder with one; a run's id, or the beginning of one; `latest`;
            `previous`; the name of a model (the newest finished run about it) or of a subject. A path that exists
            wins. Only an id or a path means a run that waits for labels: it has no answer yet.
        role: the key that it was given for, such as `before`.
        task: look only for runs of this task; other than for paths and ids.
        subject: look only for runs about this subject; likewise.
        before_run: what `previous` comes before: the newest run of its task and subject that started earlier. None:
            what `latest` means.

    Raises:
        UserError: there is no such run or report, it did not finish, or it cannot be read.
    """
    given = _place(name)
    if given is not None:
        return _from_file(store, role, given)
    if name == NEWEST:
        newest = answered(store.parents(task, subject, limit=1)) or answered(store.parents(task, subject))
        if not newest:
            waiting = store.parents(task, subject, limit=1)
            none = "only runs that wait for labels" if waiting else "no finished run"
            raise UserError(f"{role}={name}: {store.address} has {none}{_of(task, subject)} yet")
        return _from_run(store, role, newest[0])
    if name == BEFORE_IT:
        later = before_run or choose(store, NEWEST, role=role, task=task, subject=subject)
        return _from_run(store, role, _previous(store, later, role))
    if name.endswith(".json") or "/" in name.rstrip("/"):
        raise UserError(f"{role}={name}: there is no such file or folder")
    return _from_run(store, role, _named(store, name, role, task, subject))


def _named(store: Store, name: str, role: str, task: str | None, subject: str | None) -> RunInfo:
    """The run whose id this is, or begins so; else the newest finished run about a model of this name.

    Of several runs about the model, one about the same data as the subject, if there is one.
    """
    kind = f" of task={task}" if task else ""
    reason = (
        f"{role}={name}: no finished run{kind} in {store.address} has an id that begins so, or is about a model "
        "of that name; allowed: an id, the beginning of one, latest, previous, a model's name, a report.json"
    )
    if re.fullmatch(r"[0-9a-f]{1,32}", name):
        try:
            return store.info(store.resolve(name))
        except UserError as error:  # it can still be a model's name
            if str(error).startswith("more than one"):
                reason = f"{role}: {error}"
    found = _about(store, name, task)
    if not found:
        raise UserError(reason)
    data = (subject or "").rpartition("@")[2]
    return next((each for each in found if data and each.subject.rpartition("@")[2] == data), found[0])


def answered(found: Sequence[RunInfo]) -> list[RunInfo]:
    """The runs without those that wait for labels."""
    return [each for each in found if each.tags.get("assay.labelling") != WAITING]


def _place(name: str) -> Path | None:
    """The file or folder of this name; None if there is none, or no file can be called so."""
    with suppress(OSError, RuntimeError, ValueError):
        path = Path(name).expanduser()
        return path if path.exists() else None
    return None


def _about(store: Store, name: str, task: str | None = None) -> list[RunInfo]:
    """The finished runs about a model or a subject, the newest first."""
    found = answered(store.parents(task))
    return [each for each in found if name in {each.subject, each.subject.rpartition("@")[0]}]


def _previous(store: Store, later: Chosen, role: str) -> RunInfo:
    """The newest run of the same task and subject that started before another one."""
    start = later.started
    if start is None:
        raise UserError(
            f"{role}=previous: {later.source} does not say when it ran: give a run or a report.json"
        )
    found = answered(store.parents(later.task, later.subject, until=start))
    earlier = [each for each in found if each.id != later.run_id and each.start <= start]
    if not earlier:
        raise UserError(
            f"{role}=previous: {store.address} has no finished run of task={later.task} about {later.subject or 'it'} "
            f"before {later.source}"
        )
    return earlier[0]


def _of(task: str | None, subject: str | None) -> str:
    return f"{f' of task={task}' if task else ''}{f' about {subject}' if subject else ''}"


def _from_run(store: Store, role: str, info: RunInfo) -> Chosen:
    if info.kind == "sweep":
        raise UserError(f"{role}: run {info.id} is a sweep: name one of its jobs")
    if info.status != "FINISHED":
        state = "still running" if info.status == "RUNNING" else info.status
        raise UserError(f"{role}: run {info.id} is {state}: only finished runs have a report")
    try:
        path = store.report(info.id)
    except UserError as error:
        raise UserError(f"{role}: {error}") from None
    when = info.start.astimezone().strftime("%Y-%m-%d %H:%M")
    source = f"run {info.id[:8]}, {info.task} of {when}"
    return Chosen(_body(role, path), path, path.parent, source, info, store)


def _from_file(store: Store, role: str, path: Path) -> Chosen:
    report = path / "report.json" if path.is_dir() else path
    if path.is_dir() and _place(str(report)) is None:
        raise UserError(f"{role}={path}: the folder has no report.json")
    return Chosen(_body(role, report), report, report.parent, str(report), None, store)


def _body(role: str, path: Path) -> Mapping[str, Any]:
    try:
        body = read_whole(path)
    except UserError as error:
        raise UserError(f"{role}: {path} is no report: {error}") from None
    if not isinstance(body.get("schema"), dict):
        raise UserError(f"{role}: {path} is no report of Assay: it has no schema block")
    return body


def choose_two(store: Store, before: str, after: str) -> tuple[Chosen, Chosen]:
    """The two runs of a comparison: what is sure first, then what depends on the other one.

    Raises:
        UserError: as `choose` does, or both are one run.
    """
    sure = [_is_sure(each) for each in (before, after)]
    if before == BEFORE_IT or sure[1] or not sure[0]:
        second = choose(store, after, role="after", task=_common_task(store, before, after))
        task, subject = _like(second, before)
        first = choose(store, before, role="before", task=task, subject=subject, before_run=second)
    else:
        first = choose(store, before, role="before")
        task, subject = _like(first, after)
        second = choose(store, after, role="after", task=task, subject=subject)
    if first.run_id and first.run_id == second.run_id:
        raise UserError(
            f"before={before} and after={after} are the same run, {first.run_id}: name another one, or before=previous"
        )
    if first.report.resolve() == second.report.resolve():
        raise UserError(f"before={before} and after={after} are the same report, {first.report}")
    return first, second


def _is_sure(name: str) -> bool:
    """Whether a name means the same whatever the other side is."""
    return name == NEWEST or _place(name) is not None or bool(re.fullmatch(r"[0-9a-f]{8,32}", name))


def _common_task(store: Store, before: str, after: str) -> str | None:
    """Of two models, the task that both were last looked at by; None if that is not what the names are."""
    if any(_is_sure(each) or each == BEFORE_IT for each in (before, after)):
        return None
    tasks = [{each.task: None for each in _about(store, name)} for name in (after, before)]
    return next((task for task in tasks[0] if task in tasks[1]), None)


def _like(other: Chosen, name: str) -> tuple[str | None, str | None]:
    """What a model's name is looked for by: the task and the subject of the other side."""
    if name in {NEWEST, BEFORE_IT}:
        return None, None
    return other.task or None, other.subject or None
