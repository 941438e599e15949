"""The history of runs in MLflow: a parent run an invocation, a child run a mutant or an estimator.

The only module that knows MLflow, through its client alone; MLflow is imported when a store is first used (3 s)::

    with Store().start("mutate", task="mutate", tags={"subject": "lenet@digits"}) as run:
        run.children([Child("zero-conv1-0", metrics={"accuracy": 0.91})])  # written while work goes on
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import socket
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from app import database, lineage, workplaces
from app.errors import UserError
from app.lineage import Names, one_line
from app.patience import PatientClient
from app.runs import DONE, PARENT_TAG, Child, Run, RunInfo, Series, SilentRun

__all__ = ["Child", "Run", "RunInfo", "SilentRun", "Store"]

_QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # else a server's store prints two lines a child
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",  # `PatientClient` tries again, and says so
}
READERS = ("compare", "history")
"""Tasks that only read what other runs have left."""
_PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "mssql": 1433}


class Store:
    """The runs of one experiment; nothing is opened or made before the first use.

    Every method raises a UserError if the store cannot be reached or made, or has no such run, experiment,
    artifact or model.

    Args:
        uri: a server or database; None for MLFLOW_TRACKING_URI if that is set, else SQLite in `folder`.
        experiment: the name that runs are filed under.
        folder: the store without a server: `mlflow.db`, and `artifacts/` beside it.
        parent: id of a sweep run to file runs under.
        patience: seconds for which a store that is away or locked is tried again.

    Raises:
        UserError: if `uri` is of no kind that can hold runs.
    """

    def __init__(
        self,
        uri: str | None = None,
        experiment: str = "assay",
        folder: Path | str = "mlruns",
        parent: str | None = None,
        patience: float = 300,
    ) -> None:
        if not (isinstance(patience, int | float) and patience >= 0):
            raise UserError(f"tracking.patience must be 0 or more seconds, not {patience}")
        self.experiment, self.parent, self.patience = experiment, parent, patience
        self.folder = Path(folder).absolute()
        self.uri = uri or os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{self.folder}/mlflow.db"
        scheme, _, place = self.uri.partition("://")
        self._kind = scheme.partition("+")[0]
        if self._kind not in {"sqlite", *_PORTS} or place in {"", "/", "/:memory:"}:
            allowed = "null, sqlite:///file.db, http(s)://server, or a postgresql, mysql or mssql database"
            raise UserError(f"tracking.uri={self.address} cannot hold runs; allowed: {allowed}")
        if self._kind == "sqlite":
            self.folder = Path(place[1:]).absolute().parent
            self.uri = f"{scheme}:///{self.folder / Path(place).name}"
        self._client: Any = None
        self._experiment_id = ""

    @property
    def address(self) -> str:
        """The URI without its password, for messages and reports."""
        return one_line(self.uri)

    @property
    def is_server(self) -> bool:
        """Whether it is a server, with pages of its own."""
        return self._kind.startswith("http")

    @property
    def client(self) -> Any:
        """MLflow's client; the first use opens the store, makes what is missing and calls `reap`."""
        if self._client is None:
            try:
                with self._lock():
                    file = self.folder / Path(self.uri).name if self._kind == "sqlite" else None
                    self._client = PatientClient(self._open(), self.address, self.patience, file)
            except UserError:
                raise
            except Exception as error:
                raise UserError(f"tracking.uri={self.address} cannot be opened: {one_line(error)}") from error
            self.reap()
        return self._client

    def hurry(self) -> None:
        """Until a run begins, a store that is away is not waited for."""
        self.client.is_hurried = True

    def is_away(self) -> bool:
        """Whether it has not answered lately."""
        return bool(self.client.is_away)

    def _open(self) -> Any:
        parts = urlsplit(self.uri)
        if self._kind == "sqlite":
            database.prepare(Path(self.uri.partition(":///")[2]), self.address)
        elif parts.hostname and (not getproxies() or proxy_bypass(parts.hostname)):
            port = parts.port or _PORTS[self._kind]
            socket.create_connection((parts.hostname, port), timeout=10).close()  # MLflow tries for minutes
        client = _mlflow().MlflowClient(self.uri, registry_uri=self.uri)
        found = client.get_experiment_by_name(self.experiment)
        if found is None:
            place = None if self.is_server else (self.folder / "artifacts").as_uri()
            with suppress(_mlflow().MlflowException):  # on a server another process may be faster
                client.create_experiment(self.experiment, artifact_location=place)
            found = client.get_experiment_by_name(self.experiment)
        if found is None or found.lifecycle_stage != "active":
            name = f"tracking.experiment={self.experiment}"
            raise UserError(f"{name} was deleted from {self.address} or cannot be made: take another name")
        self._experiment_id = found.experiment_id
        for key in lineage.EXPERIMENT.keys() - found.tags.keys():
            with suppress(_mlflow().MlflowException):  # there too
                client.set_experiment_tag(found.experiment_id, key, lineage.EXPERIMENT[key])
        return client

    def _lock(self) -> AbstractContextManager[None]:
        """Several processes that make one SQLite file at once break it."""
        return lineage.one_process(self.folder) if self._kind == "sqlite" else nullcontext()

    def start(
        self,
        name: str,
        *,
        task: str,
        params: Names | None = None,
        tags: Names | None = None,
        kind: str = "parent",
    ) -> Run:
        """A new RUNNING run, to be used in a `with`.

        Args:
            name: what the UI lists it as.
            task: the task that makes it.
            params: what was chosen.
            tags: lineage; a name without a dot is meant below `assay.` (subject, model_digest, ...).
            kind: parent; or sweep, which only gathers other runs. Below a run that is itself a parent it becomes a
                part: a whole run of its task, but no answer to what the latest run was.
        """
        nesting: dict[str, str] = {}
        self.client.is_hurried = False
        workplaces.clear(self.folder, self._kept)
        if self.parent:
            above = self.info(self.parent)
            nesting, kind = {PARENT_TAG: above.id}, "part" if above.kind == "parent" else kind
        own = {"task": task, "kind": kind, "code_version": lineage.code_version()}
        own |= lineage.process() | lineage.origin()
        run = Run(self, self.create(name, {**(tags or {}), **own, **nesting}))
        try:
            run.log_params(params or {})
        except BaseException:
            run.finish("FAILED")
            raise
        return run

    def resume(self, run_id: str) -> Run:
        """An ended run RUNNING again, in this process; what was half written of its children is removed."""
        run_id = self.resolve(run_id)
        self.client.is_hurried = False
        with self._lock():
            info = self.info(run_id)
            if info.kind == "child" or info.status == "FINISHED":
                what = "a child run" if info.kind == "child" else "FINISHED"
                raise UserError(f"resume={run_id} is {what}; allowed: parent runs that FAILED or were KILLED")
            if info.status == "RUNNING" and not lineage.is_gone(info.tags):
                owner = f"process {info.tags.get('assay.pid')} on {info.tags.get('assay.host')}"
                raise UserError(f"resume={run_id} is still running ({owner}): wait for it, or end it first")
            self.write(run_id, tags=lineage.process())  # before the status: a dead process's run is reaped
            self.client.update_run(run_id, status="RUNNING")
        run = Run(self, info)
        for child in self.children_of(run_id):
            if child.kind == "child" and child.status in DONE:
                run.written[child.name] = child.id
            elif child.kind == "child":
                self.client.delete_run(child.id)
        return run

    def reap(self) -> list[str]:
        """Marks KILLED what says RUNNING while its process, on this host, is gone; returns the ids of the runs."""
        query = f"attributes.status = 'RUNNING' and tags.`assay.host` = {socket.gethostname()!r}"
        gone = []
        for run in self._search(query):
            if not lineage.is_gone(run.tags):
                continue
            now = self.info(run.id)  # since the search it may have finished, or been resumed
            if now.status != "RUNNING" or any(
                now.tags.get(tag) != run.tags.get(tag) for tag in lineage.OWNER
            ):
                continue
            gone.append(run.id)
            for child in self.children_of(run.id):
                if child.kind == "child" and child.status == "RUNNING":
                    self.end(child.id, "KILLED")
            self.end(run.id, "KILLED")
        return gone

    def _kept(self, run_id: str) -> float:
        """For how many days a run's workplace is kept: for ever if it is running or this store does not know it."""
        try:
            info = self.client.get_run(run_id).info
        except _mlflow().MlflowException:
            return math.inf
        if info.lifecycle_stage == "deleted":
            return 1.0
        return math.inf if info.status == "RUNNING" else workplaces.DAYS

    def create(self, name: str, tags: Names, at: str = "", start: datetime | None = None) -> RunInfo:
        """A new RUNNING run with nothing but tags, at an experiment's id."""
        client = self.client
        where, since = at or self._experiment_id, lineage.milliseconds(start or datetime.now(UTC))
        return RunInfo.read(client.create_run(where, since, lineage.tags(tags), name))

    def write(
        self,
        run_id: str,
        series: Series | None = None,
        params: Names | None = None,
        tags: Names | None = None,
    ) -> int:
        """Adds to a run, in as few batches as MLflow allows; returns how many metrics were not finite."""
        entities, now = _mlflow().entities, lineage.milliseconds(datetime.now(UTC))
        series = series or {}
        names = lineage.spelled(series).items()
        points = [(name, value, step) for key, name in names for step, value in series[key]]
        finite = [(n, float(v), now, int(s)) for n, v, s in points if v is not None and math.isfinite(v)]
        self.client.log_batch(
            run_id,
            [entities.Metric(*point) for point in finite],
            [entities.Param(*item) for item in lineage.params(params or {}).items()],
            [entities.RunTag(*item) for item in lineage.tags(tags or {}).items()],
        )
        return len(points) - len(finite)

    def add_input(self, run_id: str, name: str, digest: str, source: str, context: str) -> None:
        """Adds a data set that a run read, as an MLflow dataset input."""
        entities = _mlflow().entities
        dataset = entities.Dataset(name, digest[:36], "local", json.dumps({"uri": source}))
        tag = entities.InputTag("mlflow.data.context", context)
        self.client.log_inputs(run_id, [entities.DatasetInput(dataset, [tag])])

    def rename(self, run_id: str, name: str) -> None:
        """Lists a run under another name."""
        self.client.update_run(run_id, name=name[: lineage.LONGEST_NAME])

    def end(self, run_id: str, status: str, end: datetime | None = None) -> None:
        """Ends a run, now if not told when."""
        self.client.set_terminated(run_id, status, lineage.milliseconds(end or datetime.now(UTC)))

    def info(self, run_id: str) -> RunInfo:
        """The run of this id."""
        client = self.client
        try:
            return RunInfo.read(client.get_run(run_id))
        except _mlflow().MlflowException as error:
            raise UserError(f"run {run_id} cannot be read from {self.address}: {one_line(error)}") from error

    def parents(
        self,
        task: str | None = None,
        subject: str | None = None,
        *,
        experiment: str | None = None,
        until: datetime | None = None,
        status: str | None = "FINISHED",
        limit: int = sys.maxsize,
    ) -> list[RunInfo]:
        """The parent runs that meet every condition given, the newest first; `experiment` is by default the store's.

        With a task, the parts of larger runs count too; without one, neither they do nor what only reads runs.
        """
        found = self.client.get_experiment_by_name(experiment or self.experiment)
        if found is None:
            there = ", ".join(sorted(each.name for each in self.client.search_experiments()))
            raise UserError(f"experiment {experiment} is not in {self.address}; allowed: {there}")
        told = subject is not None and not re.search(
            r"['\"\\]", subject
        )  # MLflow's queries cannot hold these
        query = [f"tags.`assay.task` = {task!r}"] if task else []
        query += [f"tags.`assay.subject` = '{subject}'"] if told else []
        query += [f"tags.`assay.kind` LIKE {'pa%' if task else 'parent'!r}"]  # a parent or a part
        query += [] if task else [f"tags.`assay.task` != {reader!r}" for reader in READERS]
        query += [f"attributes.status = {status!r}"] if status else []
        query += [f"attributes.start_time <= {lineage.milliseconds(until)}"] if until else []
        if subject is None or told:
            return self._search(" and ".join(query), found.experiment_id, limit=limit)
        runs = self._search(" and ".join(query), found.experiment_id)
        return [each for each in runs if each.subject == subject][:limit]

    def children_of(self, run_id: str) -> list[RunInfo]:
        """The runs filed under a run, oldest first."""
        parent = self.info(run_id)
        return self._search(f"tags.`{PARENT_TAG}` = {parent.id!r}", parent.experiment_id, newest=False)

    def _search(
        self, query: str, at: str = "", newest: bool = True, limit: int = sys.maxsize
    ) -> list[RunInfo]:
        client, where = self.client, [at or self._experiment_id]
        order = [f"attributes.start_time {'DESC' if newest else 'ASC'}"]
        found: list[RunInfo] = []
        token: str | None = ""
        while token is not None and len(found) < limit:
            page = client.search_runs(where, query, 1, min(limit, 1000), order, token)  # 1: not the deleted
            found += map(RunInfo.read, page)
            token = page.token or None
        return found[:limit]

    def resolve(self, name: str) -> str:
        """The id of the run that a user means by an id or the beginning of one."""
        if not re.fullmatch(r"[0-9a-f]{1,32}", name):
            raise UserError(f"run {name!r} is no run; allowed: an id, or the beginning of one")
        if len(name) == 32:
            return self.info(name).id
        found = self._search(f"attributes.run_id LIKE '{name}%' and tags.`assay.kind` != 'child'", limit=2)
        if len(found) != 1:
            raise UserError(f"{'more than one' if found else 'no'} run in {self.address} is {name}")
        return found[0].id

    def artifact(self, run_id: str, name: str) -> Path:
        """A local path of a run's artifact, downloaded if it is kept elsewhere."""
        run = self.info(run_id)
        with suppress(OSError, _mlflow().MlflowException):
            path = run.folder / name if run.folder else Path(self.client.download_artifacts(run.id, name))
            if path.exists():
                return path
        raise UserError(f"run {run_id} ({run.status}) in {self.address} has no {name}")

    def report(self, run_id: str) -> Path:
        """A local path of a run's report.json."""
        return self.artifact(run_id, "report.json")

    def model_path(self, uri: str) -> Path:
        """A local path of a model, downloaded if it is kept elsewhere.

        Args:
            uri: models:/name/version, models:/name/latest, models:/name@alias, models:/id or runs:/id/path.
        """
        kind, _, place = uri.partition(":/")
        name, mark, version = place.partition("@" if "@" in place else "/")
        if kind not in {"models", "runs"} or not name or not (version or (kind == "models" and not mark)):
            allowed = (
                "models:/name/version, models:/name/latest, models:/name@alias, models:/id, runs:/id/path"
            )
            raise UserError(f"model {uri} is no model; allowed: {allowed}")
        if kind == "runs":
            return self.artifact(name, version)
        client = self.client
        try:  # MLflow's own download of models:/ asks its global store, not this one
            if mark == "@":
                version = client.get_model_version_by_alias(name, version).version
            elif version == "latest":
                found = client.search_model_versions(f"name = {name!r}", 1, ["version_number DESC"])
                version = found[0].version if found else "1"
            source = client.get_model_version_download_uri(name, version) if version else None
            source = source or client.get_logged_model(name).artifact_location
            download = import_module("mlflow.artifacts").download_artifacts
            return lineage.local_folder(source) or Path(download(artifact_uri=source, tracking_uri=self.uri))
        except (OSError, _mlflow().MlflowException) as error:
            raise UserError(f"model {uri} cannot be read from {self.address}: {one_line(error)}") from error

    def ui_link(self, run: Run | RunInfo | None = None, port: int = 5000) -> str:
        """The page of a run, or the list of all: on the server, or where `app.pages` serves."""
        base = self.uri.rstrip("/") if self.is_server else f"http://127.0.0.1:{port}"
        if run is None:
            return self.client and f"{base}/#/experiments/{self._experiment_id}/runs{lineage.VIEW}"
        return f"{base}/#/experiments/{run.experiment_id}/runs/{run.id}"


def _mlflow() -> ModuleType:
    """MLflow, without its telemetry and chatter unless the environment asks for them."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    logging.getLogger("mlflow.store.db.utils").disabled = True  # it shows traces of what it raises
    return import_module("mlflow")
