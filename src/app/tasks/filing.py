"""What an autopsy leaves beside its report, and in the history."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.diagnosis import autopsy as diagnosis
from app.report import schema, sinks
from app.reporting.autopsy.report import AutopsyReport
from app.runs import Run

MOST_METRICS = 25
"""Findings that have a metric of their own in the store, which draws a chart for each."""


def copies(found: diagnosis.Autopsy, output: Path, dataset: Any) -> dict[int, str]:
    """Copies of the hard examples below the output, by test case."""
    names: dict[int, str] = {}
    for each in found.examples.shown:
        if each.case not in names:
            name = f"examples/{each.kind}_{each.case:06d}.png"
            buffer = io.BytesIO()
            dataset.load(each.case).save(buffer, "PNG")
            schema.write_bytes(buffer.getvalue(), output / name)
            names[each.case] = name
    return names


def predictions(found: diagnosis.Autopsy, paths: Sequence[str], path: Path) -> Path:
    """The file of what was predicted of each test case."""
    given = found.probabilities
    cases, top1, names = given.cases.tolist(), given.rows.argmax(axis=1).tolist(), given.class_names
    rows = zip(cases, given.labels.tolist(), top1, given.rows.max(axis=1).tolist(), strict=True)
    return sinks.write_predictions(
        ((case, paths[case], names[label], names[best], sure) for case, label, best, sure in rows), path
    )


def record(run: Run, report: AutopsyReport, output: Path) -> None:
    """Everything the report says that MLflow can show: metrics under stable keys, findings as a table, files."""
    summary = report.summary
    metrics: dict[str, float | None] = {
        f"autopsy/{name}": each.value for name, each in report.metrics.items()
    }
    for name in ("accuracy", "macro_f1", "ece"):
        ends = report.metrics[name].ci or (None, None)
        metrics |= {f"autopsy/{name}_low": ends[0], f"autopsy/{name}_high": ends[1]}
    metrics |= {"autopsy/autopsy_score": summary.autopsy_score, "autopsy/findings": len(report.findings)}
    metrics |= {f"autopsy/sub_score/{name}": value for name, value in report.sub_scores.items()}
    causes = list(dict.fromkeys(each.cause_type for each in report.findings))
    for cause in causes[:MOST_METRICS]:
        metrics[f"autopsy/cause/{cause}"] = max(
            each.confidence for each in report.findings if each.cause_type == cause
        )
    run.log_metrics(metrics)
    run.set_tags({"health": summary.health, "causes": ", ".join(causes)})
    run.table(
        {
            "cause_type": [each.cause_type for each in report.findings],
            "severity": [each.severity for each in report.findings],
            "confidence": [each.confidence for each in report.findings],
            "affected": [", ".join(each.affected[:20]) for each in report.findings],
            "evidence": [
                ", ".join(f"{name} {value:.4g}" for name, value in each.evidence.items())
                for each in report.findings
            ],
            "recommendation": [(each.recommendations or ("",))[0] for each in report.findings],
        },
        "findings.json",
    )
    for path in sorted(output.iterdir()):
        if path.suffix in {".json", ".html", ".png", ".csv"} or path.name in {"examples", "overlays"}:
            run.artifact(path)
