"""Runs of a history: a run being written together with its children, and what is read back of one."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from app import durable, faults, interrupts
from app.lineage import Names, local_folder
from app.writer import Writer

if TYPE_CHECKING:
    from app.tracking import Store

Metrics = Mapping[str, float | None]
"""Measured values by name; None, NaN and infinity are not kept."""
Series = Mapping[str, Iterable[tuple[int, float | None]]]
"""(step, value) pairs by name."""

PARENT_TAG = "mlflow.parentRunId"
"""What nests runs in MLflow's pages."""
TABLES_TAG = "mlflow.loggedArtifacts"
"""What tells MLflow's pages which files are tables."""
NOTE_TAG = "mlflow.note.content"
"""What MLflow's pages show as a run's description."""
DONE = frozenset({"FINISHED", "FAILED"})
"""How a child ends that is wholly written; KILLED ones are half written, and written anew on resume."""


@dataclass(frozen=True)
class Child:
    """A child run to write: one mutant, or one estimator at one sample size."""

    name: str
    """Its name below the parent, such as a mutant's key: a resumed run does not write it again."""
    params: Names = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)
    tags: Names = field(default_factory=dict)
    artifacts: Mapping[str, str | bytes] = field(default_factory=dict)
    """File name (folders with /) to content."""
    status: str = "FINISHED"
    """FINISHED or FAILED."""
    started: datetime | None = None
    finished: datetime | None = None
    """Both None: when it is written."""

    def __post_init__(self) -> None:
        if self.status not in DONE:
            raise ValueError(f"status {self.status} of child {self.name} must be FINISHED or FAILED")


@dataclass(frozen=True)
class RunInfo:
    """A run read back."""

    id: str
    experiment_id: str
    name: str
    status: str
    """RUNNING, FINISHED, FAILED or KILLED."""
    start: datetime
    end: datetime | None
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    """The last value of each."""
    folder: Path | None
    """Where its artifacts are; None if that is not a folder of this machine."""

    @classmethod
    def read(cls, run: Any) -> Self:
        """What MLflow's run says."""
        info, data = run.info, run.data
        return cls(
            id=info.run_id,
            experiment_id=info.experiment_id,
            name=info.run_name,
            status=info.status,
            start=datetime.fromtimestamp(info.start_time / 1000, UTC),
            end=datetime.fromtimestamp(info.end_time / 1000, UTC) if info.end_time else None,
            tags=dict(data.tags),
            params=dict(data.params),
            metrics=dict(data.metrics),
            folder=local_folder(info.artifact_uri),
        )

    @property
    def kind(self) -> str:
        """One of parent, part (of a larger run), child and sweep; empty for a run of other origin."""
        return self.tags.get("assay.kind", "")

    @property
    def task(self) -> str:
        """The task that made it."""
        return self.tags.get("assay.task", "")

    @property
    def subject(self) -> str:
        """What it was about."""
        return self.tags.get("assay.subject", "")


class Run:
    """A run being written; its children by one thread of its own, so that the work goes on meanwhile.

    As a context it ends FINISHED; FAILED after an exception; KILLED after a keyboard interrupt. Names that MLflow
    refuses are spelled otherwise, long values are cut, metrics that are not finite are left out and counted.
    MLflow's pages draw a chart for each metric name: they stay quick with at most 60.
    """

    def __init__(self, store: Store, info: RunInfo) -> None:
        self.id, self.experiment_id, self.name = info.id, info.experiment_id, info.name
        self.folder = info.folder
        """Where its artifacts are; None if that is not a folder of this machine."""
        self.url = store.ui_link(info)
        """Its page."""
        self.left_out = 0
        """How many metrics, of its own and its children's, were None, NaN or infinite."""
        self.written: dict[str, str] = {}
        """The children in the store: name to id."""
        self._store = store
        self._tables: list[dict[str, str]] = json.loads(info.tags.get(TABLES_TAG, "[]"))
        self.is_kept = False
        """Whether something was computed that is worth keeping, whatever comes."""
        self._writer = Writer("tracking")
        self._counting = Lock()
        self._ended = False

    def log_params(self, params: Names) -> None:
        """Adds what was chosen; a param cannot be changed later."""
        self._log(self.id, params=params)

    def log_metrics(self, metrics: Metrics, step: int = 0) -> None:
        """Adds what was measured."""
        self._log(self.id, {name: [(step, value)] for name, value in metrics.items()})

    def log_series(self, series: Series) -> None:
        """Adds metrics over steps; with a step for each mutant, one chart shows them all."""
        self._log(self.id, series)

    def set_tags(self, tags: Names) -> None:
        """Sets tags; a name without a dot is meant below `assay.`."""
        self._log(self.id, tags=tags)

    def describe(self, text: str) -> None:
        """Sets what MLflow's pages show of it in words, in place of what was there."""
        self.set_tags({NOTE_TAG: text})

    def log_input(self, name: str, digest: str, source: str, context: str = "test") -> None:
        """Adds a data set that the run read; MLflow keeps the first 36 characters of the digest."""
        self._store.add_input(self.id, name, digest, source, context)

    def artifact(self, path: Path, subfolder: str = "") -> None:
        """Adds a copy of a file, or of a folder and all in it."""
        self._put(self.id, self.folder, str(PurePosixPath(subfolder, path.name)), path)

    def artifact_text(self, text: str, name: str) -> None:
        """Adds a file with this text."""
        self._put(self.id, self.folder, name, text.encode())

    def table(self, columns: Mapping[str, Sequence[object]], name: str) -> None:
        """Adds a table that MLflow's pages show and compare over runs.

        Args:
            columns: equally long columns of numbers and text; NaN and infinity become null.
            name: the file's name, ending in .json.
        """
        if not name.endswith(".json"):
            raise ValueError(f"table {name} must end in .json, which is the form that MLflow's pages read")
        rows = list(zip(*columns.values(), strict=True))
        text = json.dumps({"columns": list(columns), "data": rows}, default=_plain)
        self.artifact_text(json.dumps(json.loads(text, parse_constant=lambda _: None)), name)
        if (entry := {"path": name, "type": "table"}) not in self._tables:
            self._tables.append(entry)
            self.set_tags({TABLES_TAG: json.dumps(self._tables)})

    def children(self, children: Iterable[Child]) -> None:
        """Has children written, each name once, while the caller goes on; raises what stopped the writer."""
        for child in children:
            self.is_kept = True
            self._later(partial(self._write, child))

    def update_children(self, changes: Mapping[str, tuple[Metrics, Names]]) -> None:
        """Has metrics and tags added to children given before, by name, while the caller goes on."""
        for name, (metrics, tags) in changes.items():
            self._later(partial(self._update, name, metrics, tags))

    def drain(self) -> None:
        """Waits until all children are written; raises what stopped the writer."""
        self._writer.drain()

    def finish(self, status: str = "FINISHED") -> None:
        """Ends the run as FINISHED, FAILED or KILLED, once its children are written; a second call does nothing."""
        if self._ended:
            return
        self._ended = True
        if status != "FINISHED":
            self._store.hurry()
        try:
            self._writer.drain(self._store.is_away if status != "FINISHED" else lambda: False)
            if self.left_out:
                self.set_tags({"metrics_left_out": self.left_out})
        except BaseException as error:
            if status == "FINISHED":
                status = "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
            raise
        finally:
            self._writer.stop()
            with interrupts.held():
                self._store.client.set_terminated(self.id, status)

    def discard(self) -> None:
        """Takes the ended run and its children out of every list; MLflow can restore them."""
        for run in (*self._store.children_of(self.id), self._store.info(self.id)):
            self._store.client.delete_run(run.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.finish()
            return
        try:
            stopped = isinstance(error, KeyboardInterrupt)
            self._store.hurry()
            with suppress(Exception):
                self.describe("Interrupted." if stopped else f"Failed: {faults.cause(error)}")
            self.finish("KILLED" if stopped else "FAILED")
        except Exception as second:
            if second is not error:
                error.add_note(f"Ending run {self.id} failed too: {second}")

    def _later(self, job: Callable[[], None]) -> None:
        self._writer.add(job)

    def _write(self, child: Child) -> None:
        if child.name in self.written:
            return
        tags = {PARENT_TAG: self.id, "kind": "child", **child.tags}
        info = self._store.create(child.name, tags, self.experiment_id, child.started)
        try:
            for name, content in child.artifacts.items():
                self._put(
                    info.id, info.folder, name, content if isinstance(content, bytes) else content.encode()
                )
            self._log(info.id, {name: [(0, value)] for name, value in child.metrics.items()}, child.params)
            self._store.end(info.id, child.status, child.finished)
        except BaseException:
            with suppress(Exception):
                self._store.end(info.id, "KILLED")
            raise
        self.written[child.name] = info.id

    def _update(self, name: str, metrics: Metrics, tags: Names) -> None:
        if name not in self.written:
            raise ValueError(f"run {self.id} has no child {name} to update")
        self._log(self.written[name], {key: [(0, value)] for key, value in metrics.items()}, tags=tags)

    def _log(
        self,
        run_id: str,
        series: Series | None = None,
        params: Names | None = None,
        tags: Names | None = None,
    ) -> None:
        left_out = self._store.write(run_id, series, params, tags)
        with self._counting:
            self.left_out += left_out

    def _put(self, run_id: str, folder: Path | None, name: str, content: bytes | Path) -> None:
        """Writes straight into the run's folder if there is one: a fifth of a child's cost less."""
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ValueError(f"artifact {name} must be a path inside the run's folder")
        with nullcontext(str(folder)) if folder else tempfile.TemporaryDirectory() as place:
            target = Path(place, name)
            if isinstance(content, bytes):
                durable.write(content, target)
            elif content.is_dir():
                shutil.copytree(content, target, dirs_exist_ok=True)
            else:
                durable.write(content.read_bytes(), target)
            if folder is None:
                self._store.client.log_artifacts(run_id, place)


class SilentRun(Run):
    """A run that is written nowhere: what ranks above 0 get in place of one."""

    def __init__(self) -> None:
        self.id = self.experiment_id = self.name = self.url = ""
        self.folder, self.left_out, self.written = None, 0, {}
        self.is_kept = False
        self._tables = []

    def log_input(self, name: str, digest: str, source: str, context: str = "test") -> None:
        """Does nothing, like all below."""

    def drain(self) -> None:
        """Does nothing."""

    def finish(self, status: str = "FINISHED") -> None:
        """Does nothing."""

    def _later(self, job: Callable[[], None]) -> None: ...

    def _log(self, *_: object, **__: object) -> None: ...

    def _put(self, *_: object) -> None: ...


def _plain(value: object) -> object:
    """A NumPy scalar as Python's number; anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)
