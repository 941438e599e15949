"""Tables of a detector's evaluation beside the report, and its metrics by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from app.reporting.detection_eval.report import DetectionReport
from app.reporting.schema import write_bytes
from app.tables import csv_bytes

CLASS_COLUMNS = (
    *("name", "truth", "detections", "ap", "coco_ap"),
    *("precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high"),
)
MISTAKE_COLUMNS = ("what", "kind", "image", "label", "other", "score", "iou", "x1", "y1", "x2", "y2")
"""`other` is the class that the other side has there."""


def metrics(report: DetectionReport) -> dict[str, float]:
    """Every number of the verdict by a stable name."""
    summary = report.summary
    found: dict[str, float] = {
        name: float(getattr(summary, name))
        for name in ("images", "truth", "detections", "operating_score", "f1", "ece", "suspects")
    }
    for name in ("mean_ap", "precision", "recall"):
        measured = getattr(summary, name)
        found[name] = measured.value
        if measured.ci is not None:
            found |= {f"{name}_low": measured.ci[0], f"{name}_high": measured.ci[1]}
    if summary.coco is not None:
        found |= {f"coco/{item.name}": getattr(summary.coco, item.name) for item in fields(summary.coco)}
    found |= {f"errors/{each.kind}": float(each.operating) for each in report.errors}
    return {f"detect_eval/{name}": value for name, value in found.items()}


def class_columns(report: DetectionReport) -> dict[str, list[Any]]:
    """The classes as a table, a row each."""
    rows = []
    for each in report.classes:
        precision, recall = each.precision.ci or (None, None), each.recall.ci or (None, None)
        rows.append(
            (
                *(each.name, each.truth, each.detections, each.ap, each.coco_ap),
                *(each.precision.value, *precision, each.recall.value, *recall),
            )
        )
    return {name: [row[place] for row in rows] for place, name in enumerate(CLASS_COLUMNS)}


def write_classes(report: DetectionReport, path: Path) -> Path:
    """The classes as CSV.

    Raises:
        UserError: The file cannot be written.
    """
    return _write(CLASS_COLUMNS, list(zip(*class_columns(report).values(), strict=True)), path)


def write_mistakes(report: DetectionReport, path: Path) -> Path:
    """The listed mistakes and suspects as CSV, a row each.

    Raises:
        UserError: The file cannot be written.
    """
    rows: list[tuple[Any, ...]] = [
        ("suspect", each.reason, each.image, each.label, each.suggested, each.score, None, *each.box)
        for each in report.suspects
    ]
    rows += [
        (
            "false positive",
            each.kind,
            each.image,
            each.label,
            each.true_label,
            each.score,
            each.iou,
            *each.box,
        )
        for each in report.false_positives
    ]
    rows += [
        *(
            (
                "false negative",
                "missed" if each.missed else "",
                each.image,
                each.label,
                "",
                None,
                None,
                *each.box,
            )
            for each in report.false_negatives
        )
    ]
    return _write(MISTAKE_COLUMNS, rows, path)


def _write(names: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> Path:
    defined = (
        ["" if value is None or value != value else value for value in row]  # noqa: PLR0124 - NaN differs from itself
        for row in rows
    )
    return write_bytes(csv_bytes(names, defined), path)
