"""The words of an autopsy: causes, evidence and the verdict as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.report.words import UNDEFINED, number, percent, percent_interval, plural, points, short
from app.reporting.autopsy.report import (
    AutopsyReport,
    Finding,
)


@dataclass(frozen=True)
class CauseWords:
    """A cause in words."""

    title: str
    """For a finding without affected classes, or before their names."""
    meaning: str
    """What it says, in a sentence."""


CAUSES: Mapping[str, CauseWords] = {
    "class_imbalance": CauseWords("Too few test cases", "What is said about this class rests on few cases."),
    "overfitting": CauseWords(
        "Overfitting", "The model knows its training data far better than what it has not seen."
    ),
    "class_overlap": CauseWords("Overlapping classes", "The model takes these classes for each other."),
    "representation_problem": CauseWords(
        "Confident errors", "Much of what is wrong is said with high confidence: nothing warns of it."
    ),
    "underfitting": CauseWords("Underfitting", "The model is neither sure nor right."),
    "class_confusion": CauseWords("One-sided confusion", "Most errors of one class go to one other class."),
    "overconfidence": CauseWords("Overconfidence", "The model promises more than it keeps."),
    "underconfidence": CauseWords("Underconfidence", "The model is right more often than it says."),
    "label_noise": CauseWords("Wrong labels", "More labels look wrong than the model's own doubt explains."),
    "class_order_mismatch": CauseWords(
        "Class names in another order", "The columns of the predictions belong to other classes."
    ),
    "data_quality": CauseWords("Faulty test pictures", "Part of the test data is broken, repeated or empty."),
    "leakage": CauseWords("Test cases in the training data", "What was learnt by heart is tested."),
    "hidden_slice": CauseWords(
        "A weak region", "Similar test cases fail together, and confidence does not say so."
    ),
}

EVIDENCE: Mapping[str, tuple[str, str]] = {
    "cases": ("test cases", "count"),
    "ratio_to_median": ("of the median class", "percent"),
    "accuracy_gap": ("training accuracy is higher by", "points"),
    "rate_there": ("taken for the second", "percent"),
    "rate_back": ("taken for the first", "percent"),
    "cosine": ("cosine of their centroids", "number"),
    "confident_error_share": ("of the errors have 0.90 confidence or more", "percent"),
    "wrong": ("errors", "count"),
    "mean_confidence": ("mean confidence", "percent"),
    "accuracy": ("accuracy", "percent"),
    "confused": ("cases confused", "count"),
    "errors": ("errors", "count"),
    "share_of_errors": ("of the class's errors", "percent"),
    "rate": ("of the class's cases", "percent"),
    "signed_gap": ("confidence less accuracy", "points"),
    "share": ("share concerned", "percent"),
    "suspects": ("suspects", "count"),
    "likelihood_surplus": ("likelihood surplus", "number"),
    "reordered_accuracy": ("accuracy with columns renamed", "percent"),
    "gain": ("accuracy gained by that", "points"),
    "held_out_gain": ("gained on held-out cases", "points"),
    "moved": ("classes renamed", "count"),
    "total": ("looked at", "count"),
    "unreadable": ("unreadable", "count"),
    "low_resolution": ("of low resolution", "count"),
    "extra_duplicates": ("extra copies", "count"),
    "near_empty": ("nearly empty", "count"),
    "exact": ("exact copies", "count"),
    "near": ("near duplicates", "count"),
    "expected_errors": ("errors its classes explain", "number"),
    "announced_errors": ("errors its confidences announce", "number"),
    "error_rate": ("error rate", "percent"),
    "rest_error_rate": ("error rate elsewhere", "percent"),
    "p_adjusted": ("p, adjusted", "number"),
}

SEVERITIES = ("high", "medium", "low")
"""The gravest first."""

SUB_SCORES: Mapping[str, str] = {
    "performance": "Performance",
    "class_balance": "Class balance",
    "generalization": "Generalisation",
    "confusion": "Confusion",
    "confidence_quality": "Confidence",
    "representation": "Representation",
    "dataset_quality": "Data quality",
}
"""Sub-scores as a page shows them."""

KINDS: Mapping[str, tuple[str, str]] = {
    "confident_error": ("Confident errors", "Wrong with a confidence of 0.90 or more."),
    "unsure_error": ("Unsure errors", "Wrong with a confidence of at most 0.40."),
    "unsure_right": ("Right, but unsure", "Right with a confidence of at most 0.40."),
    "near_boundary": ("Near a boundary", "The two most probable classes are at most 0.10 apart."),
}
"""Kinds of hard examples."""

METRICS: Mapping[str, str] = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "macro_precision": "Macro precision",
    "macro_recall": "Macro recall",
    "macro_f1": "Macro F1",
    "weighted_precision": "Weighted precision",
    "weighted_recall": "Weighted recall",
    "weighted_f1": "Weighted F1",
    "top_3_accuracy": "Top-3 accuracy",
    "top_5_accuracy": "Top-5 accuracy",
    "log_loss": "Log loss, nats",
    "brier": "Brier score, 0 to 2",
    "ece": "Expected calibration error",
    "mce": "Largest calibration error",
    "adaptive_ece": "Adaptive calibration error",
    "classwise_ece": "Classwise calibration error",
}

FAULTS: Mapping[str, str] = {
    "low_resolution": "Low resolution",
    "near_empty": "Nearly empty",
    "too_dark": "Too dark",
    "too_bright": "Too bright",
    "blurry": "Blurry",
    "odd_aspect": "Odd proportions",
    "odd_size": "Odd size",
}


@dataclass(frozen=True)
class Headline:
    """What a report comes down to."""

    sentence: str
    """The verdict."""
    meaning: str
    """What follows from it."""


def headline(report: AutopsyReport) -> Headline:
    """The verdict on the model, and what to look at first."""
    summary = report.summary
    shown = percent_interval(summary.accuracy_ci, 1)
    ends = f", 95 % interval {shown}" if shown != UNDEFINED else ""
    health = {"healthy": "looks healthy", "at risk": "is at risk", "unhealthy": "is unhealthy"}
    sentence = (
        f"{short(report.subject.model, 40)} {health[summary.health]}: right on {percent(summary.accuracy, 1)} of "
        f"{plural(summary.n, 'test case')}{ends}."
    )
    if not report.findings:
        quiet = "Nothing was found that stands out from chance."
        if summary.health_reasons:
            quiet = f"No single cause was found; it is the {summary.health_reasons[0]}."
        return Headline(sentence, quiet)
    order = sorted(report.findings, key=lambda each: SEVERITIES.index(each.severity))
    minor = "minor " if all(each.severity == "low" for each in report.findings) else ""
    causes = plural(len(report.findings), f"{minor}cause was", f"{minor}causes were")
    first = f"{causes} found. First: {title(order[0])}."
    advice = order[0].recommendations[:1]
    return Headline(sentence, " ".join([first, *advice]))


def title(finding: Finding) -> str:
    """A finding in a few words, with what it is about."""
    known = CAUSES.get(finding.cause_type)
    name = known.title if known else finding.cause_type.replace("_", " ").capitalize()
    classes = [short(each, 40) for each in finding.affected]
    if not classes:
        return name
    if finding.cause_type in {"class_overlap", "class_confusion"} and len(classes) == 2:
        join = " and " if finding.cause_type == "class_overlap" else " taken for "
        return f"{name}: {join.join(classes)}"
    more = f" and {len(classes) - 3} more" if len(classes) > 3 else ""
    return f"{name}: {', '.join(classes[:3])}{more}"


def meaning(finding: Finding) -> str:
    """What a finding says."""
    known = CAUSES.get(finding.cause_type)
    return known.meaning if known else ""


def evidence(finding: Finding) -> list[tuple[str, str]]:
    """The numbers of a finding: what, how much."""
    shown = []
    for name, value in finding.evidence.items():
        if name.removesuffix("_low").removesuffix("_high") != name:
            continue  # the ends of an interval stand beside its number
        words, kind = EVIDENCE.get(name, (name.replace("_", " "), "number"))
        ends = finding.evidence.get(f"{name}_low"), finding.evidence.get(f"{name}_high")
        if ends[0] is not None and ends[1] is not None:
            words += f", interval {_number(ends[0], kind)} to {_number(ends[1], kind)}"
        shown.append((words, _number(value, kind)))
    return shown


def _number(value: float, kind: str) -> str:
    if kind == "percent":
        return percent(value, 1)
    if kind == "points":
        return f"{points(value)} points"
    if kind == "count":
        return number(value, 0)
    return number(value, 3) if abs(value) < 10 else number(value, 1)


def gravest_first(report: AutopsyReport) -> list[Finding]:
    """The findings by what is at stake, the most confident first among equals."""
    return sorted(report.findings, key=lambda each: SEVERITIES.index(each.severity))


def closing_lines(report: AutopsyReport, page: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: verdict, findings, where the page lies, where the run can be seen."""
    head, score = headline(report), report.summary.autopsy_score
    lines = [head.sentence]
    if score is not None:
        lines.append(f"Autopsy score {number(score, 1)} of 100 (profile {report.settings.profile}).")
    lines += [
        f"- {title(each)} ({each.severity}, confidence {number(each.confidence)})"
        for each in gravest_first(report)[:8]
    ]
    if len(report.findings) > 8:
        lines.append(f"and {len(report.findings) - 8} more")
    if not report.findings:
        lines.append(head.meaning)
    lines.append(f"Report: {page}")
    return [*lines, f"MLflow: {link}"] if link else lines
