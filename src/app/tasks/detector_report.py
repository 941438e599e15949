"""The report of a detector's mutants, whether they were run or their detections saved: made, written, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.report import png, render, sinks
from app.report.document import Document
from app.report.lineage import Run as About
from app.report.lineage import Subject
from app.report.pages.uamt import ARTIFACT, VERSION, Report
from app.report.pages.uamt.charts import pictures
from app.report.pages.uamt.page import page
from app.report.pages.uamt.tables import mutant_rows, series
from app.report.schema import Schema
from app.runs import Run
from app.scoring.detection.assembly import ScoredModel, detector_mutation_result, settings_of
from app.scoring.detection.over_rate import over_rate


def detector_report(
    scored: Sequence[ScoredModel],
    about: About,
    subject: Subject,
    *,
    seed: int,
    engine: str = "",
    predictions_digest: str = "",
    config_digest: str = "",
) -> Report:
    """The report of one or several sets of scores.

    Args:
        scored: at least one; all with the same settings.
        about: where the report comes from.
        subject: what was tested.
        seed: of bootstrap and permutation.
        engine: how a detector was run; empty for saved detections.
        predictions_digest: of the saved detections; empty if a detector was run.
        config_digest: of the configuration.
    """
    settings = settings_of(
        scored,
        seed=seed,
        engine=engine,
        predictions_digest=predictions_digest,
        config_digest=config_digest,
    )
    return Document(Schema(ARTIFACT, VERSION), about, subject, settings, detector_mutation_result(scored))


def write(report: Report, output: Path) -> None:
    """Writes report, page, charts and the table of mutants into a folder."""
    sinks.write_csv(mutant_rows(report.result), output / "mutants.csv")
    for name, spec in pictures(report).items():
        if spec:
            png.write_png(spec, output / f"{name}.png")
    report.write(output / "report.json")
    render.write_page(page(report), report, output / "report.html")


def record(run: Run, report: Report) -> None:
    """The numbers over all mutants, their curves, and a table of the mutants; those of operators are in the report."""
    result = report.result
    run.log_measures(each for each in result.measures() if "/" not in each.key)
    run.log_series(over_rate(result.mutants))
    for name, values in series(result).items():
        run.log_series({f"mutant/{name}": list(enumerate(values))})
    rows = list(mutant_rows(result))
    run.table({name: [row[name] for row in rows] for name in (rows[0] if rows else {})}, "mutants.json")
