"""The words of a checkup: its headline, and the lines a command ends with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from app.report.words import defined, number, percent, percent_interval, short
from app.reporting.checkup.answers import NEEDS_LABELS
from app.reporting.checkup.report import CheckupReport, Grade, Number, Question

LOOKS: Mapping[Grade, str] = {
    "good": "killed",
    "warning": "inconclusive",
    "bad": "survived",
    "unknown": "",
}
"""The badge of each verdict."""
TITLES: Mapping[str, str] = {
    "autopsy": "Autopsy",
    "mutate": "Mutation testing",
    "estimate": "Operational accuracy",
    "contaminate": "Contamination",
}
"""The parts as a page names them."""


def headline(report: CheckupReport) -> str:
    """What the answers come down to, in one sentence."""
    noticed, wrong, operation = report.questions[:3]
    name, clauses = short(report.subject.model, 60), []
    score = report.summary.get("mutation_score", Number(None)).value
    if noticed.verdict != "unknown" and score is not None:
        missed = "miss no fault that was tried" if score == 1 else f"miss {percent(1 - score)} of the faults"
        clauses.append(f"its tests {missed}")
    if operation.verdict != "unknown":
        clauses.append(_in_operation(report, operation))
    if wrong.verdict == "unknown":
        return f"{name}: {'; '.join(clauses) or 'little is known yet'}."
    health = {"good": "looks healthy", "warning": "is at risk", "bad": "is unhealthy"}[wrong.verdict]
    if wrong.label == "tested on copies":
        health = "looks healthy, but is tested on copies"
    return f"{name} {'; '.join([health, *clauses])}."


def _in_operation(report: CheckupReport, operation: Question) -> str:
    found, tested = report.summary["operational_accuracy"].value, report.summary["accuracy"].value
    if operation.verdict == "good" or found is None or tested is None:
        return "in operation it does as well as tested"
    return f"in operation it loses {number(100 * (tested - found), 1)} points of accuracy"


def figure(report: CheckupReport, question: Question) -> tuple[str, str]:
    """The one number of a question with its interval, both in words; empty where there is none."""
    found = report.summary.get(question.number)
    if not question.number or found is None or not defined(found.value):
        return "", ""
    if question.number == "autopsy_score":
        return number(found.value, 1), "autopsy score, of 100"
    name = {"mutation_score": "of the faults noticed"}.get(question.number, "right, estimated")
    digits = 0 if question.number == "mutation_score" else 1
    ends = percent_interval(found.ci, digits)
    shown = "" if found.ci is None else f"; {percent(found.level)} interval {ends}"
    return percent(found.value, digits), f"{name}{shown}"


def closing_lines(report: CheckupReport, page: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: a verdict for each question, where the page lies, where the run can be seen.

    Args:
        report: The report.
        page: Path of the page.
        link: Address of the run in MLflow's UI, if there is one.
    """
    lines = [f"{each.question} {each.label.capitalize()}. {each.answer}" for each in report.questions]
    if report.questions[2].label == NEEDS_LABELS:
        table = Path(page).with_name("estimate") / "to_label.csv"
        lines.append(f"Label them in {table}, then run the same command with labels={table}")
    lines.append(f"Report: {page}")
    return [*lines, f"MLflow: {link}"] if link else lines
