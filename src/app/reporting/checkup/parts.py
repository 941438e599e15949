"""What a checkup takes from the report of each part: its headline, and its headline numbers by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.report import words as text
from app.report.lineage import Run
from app.report.pages.mutate import Report as MutateReport
from app.report.pages.mutate import words as mutate_words
from app.reporting.autopsy import words as autopsy_words
from app.reporting.autopsy.report import AutopsyReport
from app.reporting.checkup.report import Number, Part
from app.reporting.contamination import words as contamination_words
from app.reporting.contamination.report import ContaminationReport
from app.reporting.estimate import words as estimate_words
from app.reporting.estimate.report import EstimateReport, EstimateRow, PopulationBlock

RISKS = ("NONE", "INFO", "LOW", "REVIEW", "HIGH", "CRITICAL")
"""Risks of contamination, the worst last."""


@dataclass(frozen=True)
class Reports:
    """The reports of the parts that finished."""

    autopsy: AutopsyReport | None = None
    """What is wrong."""
    mutate: MutateReport | None = None
    """What the test cases notice."""
    estimate: EstimateReport | None = None
    """How it does in operation."""
    contaminate: ContaminationReport | None = None
    """What the pictures have in common."""

    @property
    def runs(self) -> Mapping[str, Run]:
        """The runs of those that are there."""
        return {name: report.run for name, report in vars(self).items() if report is not None}


def finished(reports: Reports) -> dict[str, Part]:
    """The parts that finished, by name."""
    made = {}
    if reports.autopsy is not None:
        said = autopsy_words.headline(reports.autopsy).sentence
        made["autopsy"] = _part("autopsy", said, autopsy_numbers(reports.autopsy))
    if reports.mutate is not None:
        said = mutate_words.headline(reports.mutate)[0]
        made["mutate"] = _part("mutate", said, mutate_numbers(reports.mutate))
    if reports.estimate is not None:
        said = estimate_words.headline(reports.estimate).sentence
        made["estimate"] = _part("estimate", said, estimate_numbers(reports.estimate))
    if reports.contaminate is not None:
        said = contamination_words.headline(reports.contaminate).sentence
        made["contaminate"] = _part("contaminate", said, contaminate_numbers(reports.contaminate))
    return made


def _part(name: str, headline: str, summary: Mapping[str, Number]) -> Part:
    return Part("finished", report=f"{name}/report.json", headline=headline, summary=summary)


def autopsy_numbers(report: AutopsyReport) -> dict[str, Number]:
    """The headline numbers of an autopsy."""
    summary = report.summary
    return {
        "accuracy": Number(summary.accuracy, summary.accuracy_ci, summary.n),
        "macro_f1": Number(summary.macro_f1, summary.macro_f1_ci, summary.n),
        "ece": Number(summary.ece, summary.ece_ci, summary.n),
        "autopsy_score": Number(summary.autopsy_score, n=summary.n),
        "findings": Number(len(report.findings)),
    }


def mutate_numbers(report: MutateReport) -> dict[str, Number]:
    """The headline numbers of a mutation test."""
    summary = report.result.summary
    return {
        "mutation_score": Number(summary.mutation_score, summary.mutation_score_ci, summary.judged),
        "accuracy": Number(
            report.result.original.accuracy, report.result.original.accuracy_ci, report.subject.n
        ),
        "mutants": Number(summary.mutants),
        "survived": Number(summary.survived, n=summary.judged),
    }


def estimate_numbers(report: EstimateReport) -> dict[str, Number]:
    """The headline numbers of an estimate: the value, and the truth where it is known."""
    row, population, level = estimated(report), operation(report), report.settings.level
    found = {}
    if row is not None:
        ends = estimate_words.interval_of(row)
        found["estimated_accuracy"] = Number(row.value, ends, row.cost, level)
        found["labels"] = Number(row.cost)
        found["failures"] = Number(row.failures, n=row.cost)
    if text.defined(population.accuracy):
        found["accuracy"] = Number(population.accuracy, n=population.n)
    return found


def contaminate_numbers(report: ContaminationReport) -> dict[str, Number]:
    """The headline numbers of contamination; the risk from 0 (NONE) to 5 (CRITICAL)."""
    summary, pictures = report.summary, report.subject.n
    counts = ("exact_across", "confirmed_across", "exact_within", "confirmed_within", "drop")
    found = {name: Number(getattr(summary, name), n=pictures) for name in counts}
    return {"risk": Number(RISKS.index(summary.overall_risk), n=pictures), **found}


def operation(report: EstimateReport) -> PopulationBlock:
    """The operational data: a checkup's estimate has one population."""
    return report.populations[-1]


def estimated(report: EstimateReport) -> EstimateRow | None:
    """The estimate to quote: of the estimator that stands for the report; None while labels are missing."""
    rows = [row for row in report.estimates if row.estimator == report.example]
    return max(rows, key=lambda row: row.budget, default=None)


def share_of_copies(report: ContaminationReport) -> float:
    """Share of the test set that the training data has, too: equal ones, and confirmed near copies."""
    return sum(each.share_sure for each in report.exposure[1:])


def headline_numbers(reports: Reports, parts: Mapping[str, Part]) -> dict[str, Number]:
    """The numbers that a checkup is known by; those of parts that did not finish are not there."""
    found = {}
    sources = {
        "mutation_score": ("mutate", "mutation_score"),
        "survived": ("mutate", "survived"),
        "autopsy_score": ("autopsy", "autopsy_score"),
        "accuracy": ("autopsy", "accuracy"),
        "ece": ("autopsy", "ece"),
        "findings": ("autopsy", "findings"),
        "operational_accuracy": ("estimate", "estimated_accuracy"),
        "operational_truth": ("estimate", "accuracy"),
        "failures": ("estimate", "failures"),
        "risk": ("contaminate", "risk"),
    }
    if reports.autopsy is None:
        sources["accuracy"] = ("mutate", "accuracy")
    for key, (part, name) in sources.items():
        if part in parts and name in parts[part].summary:
            found[key] = parts[part].summary[name]
    if reports.contaminate is not None:
        found["copies"] = Number(share_of_copies(reports.contaminate), n=reports.contaminate.subject.n)
    return found
