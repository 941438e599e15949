"""A report's document: as JSON, written, read back, and read in an older version."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from app.comparison import read as readings
from app.errors import UserError
from app.measures import Value, value
from app.report.document import Document, read
from app.report.lineage import Excluded, Run, Subject
from app.report.pages.mutate import ARTIFACT, VERSION, load
from app.report.schema import Schema, dumps, write_plain
from tests.report.campaigns import campaign


@dataclass(frozen=True)
class Chosen:
    """Settings."""

    seed: int
    rates: tuple[float, ...] = ()


@dataclass(frozen=True)
class Row:
    """Part of a result."""

    name: str
    score: float | None


@dataclass(frozen=True)
class Found:
    """A result."""

    accuracy: float
    rows: tuple[Row, ...]
    later: str = "absent in version 1"

    def measures(self) -> Sequence[Value]:
        return [
            value("accuracy", self.accuracy, (0.25, 1.0), 4, headline=True),
            *(value(f"recall/{row.name}", row.score, reason="no test cases") for row in self.rows),
        ]


RUN = Run(
    "r1", None, "2031-05-04T09:12:44+02:00", "2031-05-04T09:16:02+02:00", 1.5, "python -m app", "sqlite:///x"
)
SUBJECT = Subject("net@pets", "net", "pets", "m1", "d1", 4, ("cat", "dog"), (Excluded("a.png", "damaged"),))


def document(**result: Any) -> Document[Found, Chosen]:
    whole = {"accuracy": 0.75, "rows": (Row("cat", 0.5), Row("dog", None)), **result}
    return Document(Schema("assay.made_up", 2), RUN, SUBJECT, Chosen(3, (0.1, 0.2)), Found(**whole))


def loaded(path: Path, newest: int = 2) -> Document[Found, Chosen]:
    return read(path, "assay.made_up", newest, settings=Chosen, result=Found)


def test_a_document_by_hand() -> None:
    body = document().plain()
    assert list(body) == ["schema", "run", "subject", "settings", "measures", "accuracy", "rows", "later"]
    assert (body["schema"]["artifact"], body["schema"]["version"]) == ("assay.made_up", 2)
    assert (body["run"]["id"], body["subject"]["excluded"]) == (
        "r1",
        [{"path": "a.png", "reason": "damaged"}],
    )
    assert body["settings"] == {"seed": 3, "rates": [0.1, 0.2]}
    assert body["measures"] == [
        {
            "key": "accuracy",
            "title": "Accuracy",
            "better": "higher",
            "unit": "share",
            "value": 0.75,
            "interval": [0.25, 1.0],
            "n": 4,
            "headline": True,
        },
        {
            "key": "recall/cat",
            "title": "Recall, cat",
            "better": "higher",
            "unit": "share",
            "value": 0.5,
            "interval": None,
            "n": None,
        },
        {
            "key": "recall/dog",
            "title": "Recall, dog",
            "better": "higher",
            "unit": "share",
            "value": None,
            "interval": None,
            "n": None,
            "reason": "no test cases",
        },
    ]
    assert (body["accuracy"], body["rows"]) == (
        0.75,
        [{"name": "cat", "score": 0.5}, {"name": "dog", "score": None}],
    )


def test_plain_is_strict_json(tmp_path: Path) -> None:
    report = document(accuracy=math.nan, rows=(Row("\ud800\u20ac", math.inf),))
    path = report.write(tmp_path / "report.json")
    text = path.read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=pytest.fail) == report.plain()
    assert text == dumps(report.plain())
    assert text.endswith("}\n")
    assert report.plain()["rows"] == [{"name": "\\ud800€", "score": None}]
    assert report.plain()["measures"][0]["value"] is None
    assert report.plain()["measures"][0]["reason"] == "not defined"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    report = document()
    path = report.write(tmp_path / "new folder" / "report.json")
    assert loaded(path) == report
    assert loaded(path).write(tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert [each.name for each in path.parent.iterdir()] == ["report.json"], "nothing else is left there"


def test_a_report_of_version_1_is_read(tmp_path: Path) -> None:
    body = document().plain()
    body["schema"]["version"] = 1
    del body["measures"], body["later"]
    body["more"] = "a key that went"
    found = loaded(write_plain(body, tmp_path / "report.json"))
    assert found.schema.version == 1
    assert replace(found, schema=document().schema) == document()


@pytest.mark.parametrize(
    ("without", "message"),
    [
        ("accuracy", "lacks accuracy$"),
        ("settings", "holds null where an object is needed$"),
        ("run", "holds null where an object is needed$"),
        ("schema", "no report of Assay"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, without: str, message: str) -> None:
    body = document().plain()
    del body[without]
    with pytest.raises(UserError, match=message):
        loaded(write_plain(body, tmp_path / "report.json"))


def test_other_reports_and_later_versions_are_refused(tmp_path: Path) -> None:
    path = document().write(tmp_path / "report.json")
    with pytest.raises(UserError, match=r"is version 2 of assay\.made_up; this Assay reads up to version 1"):
        loaded(path, newest=1)
    with pytest.raises(UserError, match=r"holds assay\.made_up, but assay\.mutate is needed here"):
        load(path)
    with pytest.raises(UserError, match="cannot read the report"):
        load(tmp_path / "none.json")


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        document().write(tmp_path / "file" / "report.json")


def before(body: dict[str, Any]) -> dict[str, Any]:
    """A mutation report of version 1 with what one of version 2 says."""
    body = json.loads(json.dumps(body))
    del body["measures"]
    body["schema"]["version"] = 1
    for mutant in body["mutants"]:
        mutant["beside"] = mutant.pop("secondary")
    return body


@pytest.mark.parametrize("per_operator", [0, 1, 5])
def test_measures_are_what_was_read_out_of_version_1(per_operator: int) -> None:
    """Key by key: value, interval, n, title, and whether it stands for the report."""
    body = campaign(per_operator=per_operator).plain()
    assert (body["schema"]["artifact"], body["schema"]["version"]) == (ARTIFACT, VERSION)
    now, then = readings(body), readings(before(body))
    assert (now.version, then.version) == (VERSION, 1)
    assert [replace(each, reason="") for each in now.items] == [
        replace(each, reason="") for each in then.items
    ]
    assert len(now.items) == len(body["measures"])
    assert (now.task, now.subject, now.started, now.run_id) == (
        then.task,
        then.subject,
        then.started,
        then.run_id,
    )


def test_a_mutation_report_of_version_1_is_loaded(tmp_path: Path) -> None:
    report = campaign(per_operator=3)
    old = load(write_plain(before(report.plain()), tmp_path / "report.json"))
    assert old.schema.version == 1
    assert old.result == report.result
    assert (old.run, old.subject, old.settings) == (report.run, report.subject, report.settings)
