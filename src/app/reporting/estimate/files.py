"""The files of an estimate: report, page, pictures, tables, failures as a data set, and what is to be labelled."""

from __future__ import annotations

import io
import json
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from xml.sax.saxutils import quoteattr

from PIL import Image

from app.errors import UserError
from app.estimation.labels import Labels
from app.reporting import html, schema
from app.reporting.estimate import figures, page
from app.reporting.estimate.assembly import Cases
from app.reporting.estimate.report import (
    EstimateReport,
    PopulationBlock,
    ResultRow,
    read_estimate_report,
)
from app.reporting.estimate.to_label import write_to_label
from app.reporting.figures import save_png
from app.tables import csv_bytes

SHEET = "to_label.html"
STUDIO, STUDIO_CONFIG = "label_studio.json", "label_studio.xml"
_THUMBNAIL, _SHEET, _LARGE = 112, 224, 512
"""Longest side in pixels: on the report, on the contact sheet, in Label Studio."""
_QUALITY = 88
"""Of JPEG, which reduced pictures become."""


@dataclass(frozen=True)
class Pictures:
    """Where the pictures of a population come from."""

    subject: str
    """Its name."""
    load: Callable[[int], Image.Image]
    """The picture of a case."""

    def png(self, case: int) -> bytes:
        """A case's picture as a PNG file."""
        buffer = io.BytesIO()
        self.load(case).save(buffer, "PNG")
        return buffer.getvalue()

    def small(self, case: int, longest: int) -> bytes:
        """A case's picture to look at: as it is if its longest side is no longer, else reduced and a JPEG file."""
        picture = self.load(case)
        if max(picture.size) <= longest:
            return self.png(case)
        picture = picture.convert("L" if picture.mode in {"1", "L"} else "RGB")
        picture.thumbnail((longest, longest))
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=_QUALITY)
        return buffer.getvalue()


def write(
    report: EstimateReport, output: Path, found: Sequence[Cases], labels: Labels, pictures: Pictures | None
) -> None:
    """Writes everything of a report into its folder; an earlier report's files there are replaced.

    Args:
        report: the report.
        output: the folder.
        found: the populations.
        labels: what people said, in labelling.
        pictures: of the population with a model.

    Raises:
        UserError: a file cannot be written.
    """
    for name in (SHEET, STUDIO, STUDIO_CONFIG):
        (output / name).unlink(missing_ok=True)
    shutil.rmtree(output / "failures", ignore_errors=True)
    schema.write_json(report, output / "report.json")
    html.write_page(page.estimate_page(report, _of_failures(report, pictures)), output / "report.html")
    for name, figure in figures.drawn(report).items():
        save_png(figure, output / f"{name}.png")
    if report.results:
        write_results(report.results, output / "results.csv")
    if report.failures:
        write_failures(report, output, pictures)
    if report.labelling is not None:
        write_to_label(report, output, found[0], labels)
        if report.labelling.asked:
            write_asked(report, output, found[0], pictures)


def _table(names: Sequence[str], rows: Iterable[Sequence[object]], path: Path) -> Path:
    return schema.write_bytes(csv_bytes(names, rows), path)


def _of_failures(report: EstimateReport, pictures: Pictures | None) -> dict[int, bytes]:
    """Thumbnails by place among the failures."""
    if pictures is None:
        return {}
    shown = [(i, each) for i, each in enumerate(report.failures) if each.subject == pictures.subject]
    return {i: pictures.small(each.case, _THUMBNAIL) for i, each in shown[: page.MOST_FAILURES]}


def write_results(results: Sequence[ResultRow], path: Path) -> Path:
    """The results as CSV, one row per population, estimator and budget."""
    names = [each.name for each in fields(ResultRow) if each.name != "notes"]
    return _table(names, ([getattr(row, name) for name in names] for row in results), path)


def write_failures(report: EstimateReport, output: Path, pictures: Pictures | None) -> Path:
    """The failures as a data set: `failures.csv`, and copies of the pictures in a folder for each true class."""
    for each in report.failures:
        if each.picture and pictures is not None and each.subject == pictures.subject:
            schema.write_bytes(pictures.png(each.case), output / each.picture)
    names = ("subject", "path", "true_class", "predicted_class", "confidence", "why", "picture")
    rows = (
        (e.subject, e.id, e.true_class, e.predicted_class, f"{e.confidence:.6g}", e.reason, e.picture)
        for e in report.failures
    )
    return _table(names, rows, output / "failures.csv")


def write_asked(report: EstimateReport, output: Path, cases: Cases, pictures: Pictures | None) -> None:
    """The contact sheet of what is to be labelled, and the same for Label Studio."""
    asked = () if report.labelling is None else report.labelling.asked
    thumbnails = (
        {} if pictures is None else {e.case: pictures.small(e.case, _SHEET) for e in asked[: page.MOST_ASKED]}
    )
    html.write_page(page.contact_sheet(report, thumbnails), output / SHEET)
    if pictures is None:
        return
    tasks = [
        {
            "data": {
                "image": html.data_uri(pictures.small(each.case, _LARGE)),
                "path": each.id,
                "predicted": each.predicted_class,
                "why": each.reason,
            }
        }
        for each in asked
    ]
    schema.write_bytes((json.dumps(tasks, indent=1) + "\n").encode(), output / STUDIO)
    choices = "\n".join(f"    <Choice value={quoteattr(name)}/>" for name in cases.class_names)
    view = (
        '<View>\n  <Image name="image" value="$image"/>\n  <Choices name="label" toName="image" choice="single">\n'
        f"{choices}\n  </Choices>\n</View>\n"
    )
    schema.write_bytes(view.encode(), output / STUDIO_CONFIG)


def asked_before(output: Path) -> PopulationBlock | None:
    """The population that an earlier round in a folder was about; None if there was none, or none that says."""
    try:
        report = read_estimate_report(output / "report.json")
    except UserError:
        return None
    if report.labelling is None or not report.populations or not report.populations[0].key:
        return None
    return report.populations[0]


def with_labels(command: str, path: Path) -> str:
    """A command line that reads labels from a file in place of where it read them before."""
    parts = [part for part in shlex.split(command) if not part.startswith("labels=")]
    return shlex.join([*parts, f"labels={path}"])
