"""Writes docs/reports.md: every key of every report.json, from the dataclasses that the reports are made of.

python scripts/report_reference.py
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from app.measures import Measure, Value
from app.report.document import Document
from app.report.lineage import Run, Subject
from app.report.pages import mutate, uamt
from app.report.schema import Schema
from app.reporting.autopsy.report import AutopsyReport
from app.reporting.checkup.report import CheckupReport
from app.reporting.compare.report import CompareReport
from app.reporting.contamination.report import ContaminationReport
from app.reporting.detection_eval.report import DetectionReport
from app.reporting.estimate.report import EstimateReport
from app.reporting.history.report import HistoryReport
from app.reporting.sweep.report import SweepReport

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reports.md"
REPORTS = {
    "assay.mutate": (mutate.Report, "`task=mutate` with a classifier."),
    "assay.uamt": (uamt.Report, "`task=score`, and `task=mutate` with a detector."),
    "assay.autopsy": (AutopsyReport, "`task=autopsy`."),
    "assay.estimate": (EstimateReport, "`task=estimate`."),
    "assay.contaminate": (ContaminationReport, "`task=contaminate`."),
    "assay.detect_eval": (DetectionReport, "`task=detect_eval`."),
    "assay.checkup": (CheckupReport, "`task=checkup`; its parts have reports of their own."),
    "assay.compare": (CompareReport, "`task=compare`."),
    "assay.history": (HistoryReport, "`task=history`."),
    "assay.sweep": (SweepReport, "A sweep, `-m`: over all its jobs."),
}
SHARED = {"schema": Schema, "run": Run, "subject": Subject}
MEASURED = ("key", "title", "better", "unit", "value", "interval", "n", "headline", "reason")
"""Keys of a number in `measures`, in their order."""
SOMETIMES = {"headline": "only where it does", "reason": "only where there is none"}
"""Keys that not every number has."""
HEAD = """# What report.json holds

Generated from the reports' dataclasses by `python scripts/report_reference.py`.

Every task writes one `report.json`: strict JSON (never NaN or Infinity; what is not defined is `null`), UTF-8, keys
in a fixed order. Two equal runs differ in the `run` block only. Scores, rates and intervals are fractions in [0, 1],
intervals `[low, high]`; autopsy scores and their sub-scores alone are 0–100. `[]` is a list, `{}` an object with names
of its own as keys. Reports of version 2 list all their numbers in `measures`, each with its name and its unit; what
follows there is what was found, in full. A reader of an older version gets what is there, and is told what is missing;
a newer version is refused.
"""


def said(cls: type) -> dict[str, str]:
    """What stands under each field of a dataclass."""
    own: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if is_dataclass(base):
            found = re.findall(
                r'^    (\w+): [^\n]*(?:\n        [^\n]*)*?\n    (?:\)\n    )?"""(.*?)"""',
                inspect.getsource(base),
                re.M | re.S,
            )
            own |= {name: " ".join(text.split()) for name, text in found}
    return own


def inner(kind: Any) -> tuple[type | None, str]:
    """The dataclass inside an annotation, and how it is reached: as it is, in a list, in an object."""
    if isinstance(kind, type) and is_dataclass(kind):
        return kind, ""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        found = [inner(each) for each in arguments]
        return next((each for each in found if each[0]), (None, ""))
    if isinstance(origin, type) and arguments:
        step = "{}" if issubclass(origin, Mapping) else "[]"
        made, rest = inner(arguments[-1] if step == "{}" else arguments[0])
        return made, step + rest
    return None, ""


def keys(cls: type, where: str = "", seen: tuple[type, ...] = ()) -> Iterator[tuple[str, str]]:
    """Dotted keys of a report and what they are."""
    hints, about = typing.get_type_hints(cls), said(cls)
    for each in fields(cls):
        made, step = inner(hints[each.name])
        name = f"{where}{each.name}{step}"
        shared = made is not None and not where and SHARED.get(each.name) is made
        yield name, "See above." if shared else re.sub(r"\bNone\b", "null", about.get(each.name, ""))
        if made and not shared and made not in seen:
            yield from keys(made, f"{name}.", (*seen, cls))


def document(report: Any) -> Iterator[tuple[str, str]]:
    """The same of a document: what every one has, its settings, its numbers, and its result."""
    result, settings = typing.get_args(report)
    about = said(Document)
    for name in ("schema", "run", "subject"):
        yield name, "See above."
    yield "settings", about["settings"]
    yield from keys(settings, "settings.")
    yield "measures[]", "See above."
    yield from keys(result)


def measured() -> Iterator[tuple[str, str]]:
    """Keys of the numbers of a document."""
    about = said(Measure) | said(Value)
    for name in MEASURED:
        text = re.sub(r"\bNone\b", "null", about[name])
        yield f"[].{name}", f"{text[:-1]}; {SOMETIMES[name]}." if name in SOMETIMES else text


def table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Keys with what they are."""
    yield "\n| key | |\n| --- | --- |"
    for name, text in rows:
        yield f"| `{name}` | {text.replace('|', chr(92) + '|')} |"


def page() -> str:
    """The whole page."""
    lines = [HEAD, "## In every report"]
    for name, cls in SHARED.items():
        lines += [f"\n`{name}`", *table(keys(cls))]
    lines += ["\n`measures`, from version 2 on", *table(measured())]
    for artifact, (report, about) in REPORTS.items():
        made = document(report) if typing.get_origin(report) is Document else keys(report)
        lines += [f"\n## {artifact}\n\n{about}", *table(made)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE} written")
