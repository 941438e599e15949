"""The scores of a report as flat names and numbers, for spreadsheets and for the history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from app.reporting.mutants import Interval
from app.reporting.schema import write_bytes
from app.reporting.uamt.report import MutantScore, UamtReport, UaScores
from app.tables import csv_bytes

_KINDS, _SETS, _METRICS = ("miss", "ghost", "mg"), ("match", "miss", "ghost"), ("vr", "ie", "mi", "var", "ps")
_SHOWN = ("model", "key", "operator", "rate", "block")


def mutant_metrics(mutant: MutantScore) -> dict[str, float]:
    """Every score of a mutant by a flat name such as `obj_ms_miss`."""
    found: dict[str, float] = {}
    for name in ("img_p_adjusted", "img_kills", "obj_ms", "obj_ms_macro"):
        found |= {f"{name}_{kind}": float(getattr(getattr(mutant, name), kind)) for kind in _KINDS}
    found |= {f"img_killed_{kind}": float(getattr(mutant.img_killed, kind)) for kind in _KINDS}
    found |= {"ms_iou": mutant.ms_iou, "miss_confidence": mutant.miss_confidence}
    found |= {f"rate_{name}": mutant.rates[name] for name in _SETS}
    return found | _ua(mutant.ua)


def summary_metrics(report: UamtReport) -> dict[str, float]:
    """The scores over all mutants by flat names, with the ends of the main intervals."""
    summary = report.summary
    found: dict[str, float] = {"mutants": float(summary.mutants)}
    for name in ("killed", "img_ms", "img_ms_any", "obj_ms"):
        found |= {f"{name}_{kind}": float(getattr(getattr(summary, name), kind)) for kind in _KINDS}
    found["ms_iou"] = summary.ms_iou
    ends: dict[str, Interval] = {
        "img_ms_mg": summary.img_ms_ci.mg,
        "obj_ms_miss": summary.obj_ms_ci.miss,
        "ms_iou": summary.ms_iou_ci,
    }
    for name, interval in ends.items():
        if interval is not None:
            found |= {f"{name}_low": interval[0], f"{name}_high": interval[1]}
    found["obj_ms_miss_spearman"] = report.trend.obj_ms_miss_spearman
    found |= {
        "unscorable": float(report.counts.unscorable),
        "invalid_rows": float(report.counts.invalid_rows),
    }
    return found | _ua(summary.ua)


def series(report: UamtReport) -> dict[str, list[float]]:
    """The main scores over the mutants, in their order."""
    return {
        "obj_ms_miss": [mutant.obj_ms.miss for mutant in report.mutants],
        "obj_ms_ghost": [mutant.obj_ms.ghost for mutant in report.mutants],
        "ms_iou": [mutant.ms_iou for mutant in report.mutants],
        "img_kills": [float(mutant.img_kills.mg) for mutant in report.mutants],
    }


def mutant_columns(report: UamtReport) -> Mapping[str, list[object]]:
    """A table of the mutants: what they are, and every score."""
    rows = [
        {name: getattr(mutant, name) for name in _SHOWN} | mutant_metrics(mutant) for mutant in report.mutants
    ]
    names = list(rows[0]) if rows else [*_SHOWN]
    return {name: [row[name] for row in rows] for name in names}


def write_mutants(report: UamtReport, path: Path) -> Path:
    """The same as CSV, one row a mutant.

    Raises:
        UserError: The file cannot be written.
    """
    columns = mutant_columns(report)
    rows = (
        [None if cell != cell else cell for cell in row]  # noqa: PLR0124 - NaN differs from itself
        for row in zip(*columns.values(), strict=True)
    )
    return write_bytes(csv_bytes(list(columns), rows), path)


def _ua(scores: UaScores) -> dict[str, float]:
    return {
        f"ua_{name}_{metric}": getattr(getattr(scores, name), metric) for name in _SETS for metric in _METRICS
    }
