"""A report's document: what it is, where it comes from, what was chosen, its numbers, and the result as it is.

`report.json` holds the keys `schema`, `run`, `subject`, `settings` and `measures`, and then those of the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from app.measures import Value
from app.report.lineage import Run, Subject
from app.report.schema import Schema, plain, read_report, write_plain
from app.report.typed import from_plain


class Result(Protocol):
    """What a numeric room found: a dataclass whose fields become keys of the document."""

    def measures(self) -> Sequence[Value]:
        """Its numbers, those that stand for it first."""
        ...


R = TypeVar("R", bound=Result)
S = TypeVar("S")


@dataclass(frozen=True)
class Document(Generic[R, S]):
    """One report."""

    schema: Schema
    """What this is."""
    run: Run
    """Where it comes from: the only block in which the documents of two equal runs differ."""
    subject: Subject
    """What it is about."""
    settings: S
    """What was chosen and changes the numbers."""
    result: R
    """What was found."""

    def plain(self) -> dict[str, Any]:
        """The document as JSON knows it."""
        head = {name: plain(getattr(self, name)) for name in ("schema", "run", "subject", "settings")}
        return {
            **head,
            "measures": [_measured(each) for each in self.result.measures()],
            **plain(self.result),
        }

    def write(self, path: Path) -> Path:
        """Writes it as strict JSON, whole or not at all; equal documents give equal bytes.

        Raises:
            UserError: the file cannot be written.
        """
        return write_plain(self.plain(), path)


def _measured(value: Value) -> dict[str, Any]:
    """A number as a row of the document: `key`, `title`, `unit`, `better`, `value`, `interval`, `n`, `reason`."""
    what = asdict(value.measure)
    headline = what.pop("headline")
    row = {**what, "value": value.value, "interval": value.interval, "n": value.n}
    row |= {"headline": True} if headline else {}
    return plain({**row, **({"reason": value.reason} if value.reason else {})})  # type: ignore[no-any-return]


def read(path: Path, artifact: str, newest: int, *, settings: type[S], result: type[R]) -> Document[R, S]:
    """The document in a file; of an older version too, as long as nothing is missing.

    Args:
        path: a JSON file.
        artifact: what it must hold, such as `assay.mutate`.
        newest: the newest version that is understood.
        settings: class of its settings.
        result: class of its result.

    Raises:
        UserError: the file is no such report, or lacks what is needed; the sentence names it.
    """
    body, source = read_report(path, artifact, newest), str(path)
    return Document(
        from_plain(Schema, body["schema"], source),
        from_plain(Run, body.get("run"), source),
        from_plain(Subject, body.get("subject"), source),
        from_plain(settings, body.get("settings"), source),
        from_plain(result, _of(result, body), source),
    )


def _of(result: type[Any], body: Mapping[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(result)}
    return {key: value for key, value in body.items() if key in names}
