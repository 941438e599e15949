"""What the history keeps of an estimate: metrics of the run, a child per estimator and budget, the files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.reporting.estimate.report import EstimateReport, ResultRow
from app.runs import Child, Run

_CURVES = 18
"""Estimators whose curves over the budget the run shows; pages with many more metrics are slow."""
_SUBJECTS = 8
"""Populations that a child shows one by one."""
_SHOWN = {".json", ".html", ".png", ".csv", ".npz", ".xml"}


def record(run: Run, report: EstimateReport, output: Path) -> None:
    """Writes a report's metrics, children and files."""
    if report.labelling is not None:
        run.set_tags({"labelling": report.labelling.state})
        run.log_metrics(
            {"labels_spent": report.labelling.spent, "labels_needed": len(report.labelling.asked)}
        )
        for each in report.estimates:
            low, high = each.interval or each.always_valid or (None, None)
            run.log_metrics(
                {
                    "accuracy": each.value,
                    "accuracy_low": low,
                    "accuracy_high": high,
                    "failures": each.failures,
                }
            )
            run.log_series({"accuracy_by_labels": zip(each.trace.labels, each.trace.values, strict=True)})
    series: dict[str, list[tuple[int, float]]] = {}
    names = list(report.settings.estimators)[:_CURVES]
    for name in names:
        for budget in report.settings.budgets:
            rows = _rows(report, name, budget)
            if rows:
                series.setdefault(f"rmse_ratio_srs/{name}", []).append((budget, _ratio(rows)))
                estimate = _mean([row.mean for row in rows])
                series.setdefault(f"estimate/{name}", []).append((budget, estimate))
                series.setdefault(f"failures/{name}", []).append(
                    (budget, _mean([row.failures_mean for row in rows]))
                )
    if len(report.settings.budgets) == 1 and report.results:  # no curve over budgets: one repetition's course
        first = report.results[0].subject
        for each in report.estimates:
            if each.subject == first and each.estimator in names:
                series[f"estimate/{each.estimator}"] = list(
                    zip(each.trace.labels, each.trace.values, strict=True)
                )
    run.log_series(series)
    run.children(_children(report))
    for path in sorted(output.iterdir()):
        if path.suffix in _SHOWN:
            run.artifact(path)
    if (output / "failures").is_dir():
        run.artifact(output / "failures")


def _rows(report: EstimateReport, estimator: str, budget: int) -> list[ResultRow]:
    return [row for row in report.results if (row.estimator, row.budget) == (estimator, budget)]


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _ratio(rows: Sequence[ResultRow]) -> float:
    """Geometric mean of the error ratios."""
    logs = [math.log(row.rmse_ratio_srs) for row in rows if row.rmse_ratio_srs > 0]
    return math.exp(_mean(logs)) if logs else math.nan


def _children(report: EstimateReport) -> Iterator[Child]:
    for name, kind in report.settings.estimators.items():
        for budget in report.settings.budgets:
            rows = _rows(report, name, budget)
            if not rows:
                continue
            metrics: dict[str, float | None] = {
                "rmse_ratio_srs": _ratio(rows),
                "mse": _mean([row.mse for row in rows]),
                "bias": _mean([row.bias for row in rows]),
                "failures_mean": _mean([row.failures_mean for row in rows]),
                "coverage": _mean([row.coverage for row in rows]),
                "width_mean": _mean([row.width_mean for row in rows]),
                "cost_mean": _mean([row.cost_mean for row in rows]),
            }
            if len(rows) > 1:
                for row in rows[:_SUBJECTS]:
                    for what in ("rmse_ratio_srs", "mse", "bias", "failures_mean", "coverage"):
                        metrics[f"{what}/{row.subject}"] = getattr(row, what)
            params = {"estimator": name, "class": kind, "budget": budget, "repetitions": rows[0].repetitions}
            yield Child(f"{name} n={budget}", params, metrics, {"estimator": name, "budget": str(budget)})
