"""The numbers of a report: one flat list of named readings, whichever task wrote it and in whichever version.

A number that a report lacks, or that is not defined, is None with a reason; nothing is ever read as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from app.comparison.body import UNSOUND, Body, at, block, count, ends, number, rows
from app.comparison.extraction import READERS
from app.errors import UserError
from app.measures import Measure, Value, known, value

__all__ = ["NEWEST", "TASKS", "Measure", "Readings", "Value", "read", "task_of"]

NEWEST = {
    "assay.mutate": 2,
    "assay.uamt": 2,
    "assay.autopsy": 1,
    "assay.estimate": 1,
    "assay.contaminate": 1,
    "assay.detect_eval": 1,
    "assay.checkup": 1,
}
"""The reports that can be read, each with its newest version."""
TASKS = ("autopsy", "checkup", "contaminate", "detect_eval", "estimate", "mutate", "score")
"""The tasks that write them."""


@dataclass(frozen=True)
class Readings:
    """All numbers of a report, and where they come from."""

    artifact: str
    """Such as `assay.mutate`."""
    version: int
    """Of the artifact."""
    task: str
    """The task that wrote it."""
    subject: str
    """What it is about: `model@dataset`."""
    model: str
    dataset: str
    model_digest: str
    data_digest: str
    started: str
    """When the run started, in ISO 8601; empty if the report does not say."""
    run_id: str
    """The run; empty if the report does not say."""
    items: tuple[Value, ...]
    """The numbers: those that stand for the report first, then as the report has them."""

    def get(self, key: str) -> Value | None:
        """The reading of this key, if the report can have it."""
        return self._by_key.get(key)

    @cached_property
    def _by_key(self) -> Mapping[str, Value]:
        return {each.measure.key: each for each in self.items}


def read(body: Body) -> Readings:
    """The numbers of a report.

    Args:
        body: any report's JSON.

    Raises:
        UserError: it has no schema block, is of an artifact or version that cannot be read, or is not sound.
    """
    artifact, version = _schema(body)
    found: dict[str, Value] = {}
    try:
        for each in READERS[artifact](body) if version == 1 else _measures(body):
            found.setdefault(each.measure.key, each)
    except UNSOUND as error:
        raise UserError(f"it is no sound report: {error}") from error
    subject = block(body, "subject")
    run = block(body, "run")
    return Readings(
        artifact=artifact,
        version=version,
        task=task_of(body),
        subject=str(subject.get("name") or ""),
        model=str(subject.get("model") or ""),
        dataset=str(subject.get("dataset") or ""),
        model_digest=str(subject.get("model_digest") or ""),
        data_digest=str(subject.get("data_digest") or ""),
        started=str(run.get("started") or ""),
        run_id=str(run.get("id") or ""),
        items=tuple(sorted(found.values(), key=lambda each: not each.measure.headline)),
    )


def _measures(body: Body) -> Iterator[Value]:
    """The numbers as a report of version 2 or later lists them."""
    for row in rows(body, "measures"):
        key = str(row.get("key"))
        if known(key):
            yield value(
                key,
                number(row.get("value")),
                ends(row.get("interval")),
                count(row.get("n")),
                headline=bool(row.get("headline")),
                reason=str(row.get("reason") or "not defined"),
                title=str(row.get("title") or ""),
            )


def _schema(body: Body) -> tuple[str, int]:
    artifact, version = at(body, "schema", "artifact"), at(body, "schema", "version")
    if (
        not isinstance(artifact, str)
        or not isinstance(version, int)
        or isinstance(version, bool)
        or version < 1
    ):
        raise UserError("it is no report of Assay: it has no schema block with artifact and version")
    if artifact not in NEWEST:
        raise UserError(f"it holds {artifact}; allowed: {', '.join(NEWEST)}")
    if version > NEWEST[artifact]:
        raise UserError(
            f"it is version {version} of {artifact}; this Assay reads up to version {NEWEST[artifact]}: update it"
        )
    return artifact, version


def task_of(body: Body) -> str:
    """The task that wrote a report: detectors' scores come from `mutate`, or from `score` without a model."""
    artifact = str(at(body, "schema", "artifact"))
    if artifact == "assay.uamt":
        return "mutate" if at(body, "settings", "engine") else "score"
    return artifact.removeprefix("assay.")
