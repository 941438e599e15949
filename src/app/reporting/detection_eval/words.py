"""What a detector's evaluation comes down to, in words, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.report.blocks import Headline
from app.report.words import (
    UNDEFINED,
    count,
    defined,
    number,
    percent,
    percent_interval,
    plural,
    points,
    short,
)
from app.reporting.detection_eval.report import ClassScore, DetectionReport, Summary

KINDS = {
    "missed": ("Missed", "a true box that no detection comes near"),
    "localisation": ("Loose box", "right class, but the boxes overlap too little"),
    "classification": ("Wrong class", "right place, another class"),
    "both": ("Loose and wrong class", "overlaps a box of another class, too little"),
    "duplicate": ("Duplicate", "a box that another detection has taken"),
    "background": ("Background", "nothing is there"),
}
"""Kinds of errors: a heading, and what they are."""
LARGE_SHARE, LARGE_GAP = 0.15, 0.05
"""From this share of all errors a kind is worth an advice, and from this gap scores are said to be off."""


@dataclass(frozen=True)
class Advice:
    """What to do about something."""

    heading: str
    """What it is about, with its number."""
    text: str
    """What to do, naming classes and numbers."""


def headline(report: DetectionReport) -> Headline:
    """How much is found and how much of it is right; then what goes wrong most."""
    summary = report.summary
    if not summary.truth:
        return Headline(
            f"There are no true boxes in {plural(summary.images, 'image')}, so nothing can be found.",
            "Check that the ground truth is the right file.",
        )
    boxes = plural(summary.truth, "object")
    if not summary.detections:
        return Headline(
            f"The detector reports nothing, so none of {boxes} is found.",
            "Check that the detections are the right file.",
        )
    if not defined(summary.operating_score):
        return Headline(
            f"No detection is right: none of {boxes} is found by any of {count(summary.detections)} detections.",
            "Check that classes have the same names in both files, and that both measure boxes alike.",
        )
    sentence = (
        f"The detector finds {percent(summary.recall.value)} of {boxes}; "
        f"{percent(summary.precision.value)} of what it reports is right."
    )
    return Headline(
        sentence, " ".join([_threshold(report), *_worst_errors(report), *_weakest(report.classes)])
    )


def _threshold(report: DetectionReport) -> str:
    summary = report.summary
    interval = percent_interval(summary.mean_ap.ci, 1)
    shown = f", 95 % interval {interval}" if interval != UNDEFINED else ""
    return (
        f"That is at the score of {number(summary.operating_score)}, where both balance best. Mean AP at IoU "
        f"{report.settings.iou:g} is {percent(summary.mean_ap.value, 1)}{shown}."
    )


def _worst_errors(report: DetectionReport) -> list[str]:
    total = sum(each.operating for each in report.errors)
    if not total:
        return ["There it makes no error."]
    worst = max(report.errors, key=lambda each: each.operating)
    what = KINDS[worst.kind][0].lower()
    return [f"The most frequent error is {what} ({count(worst.operating)} of {count(total)})."]


def _weakest(classes: tuple[ClassScore, ...]) -> list[str]:
    there = sorted((each for each in classes if each.truth), key=lambda each: each.ap)
    if len(there) < 3:
        return []
    shown = ", ".join(f"{short(each.name, 30)} (AP {percent(each.ap)})" for each in there[:3])
    return [f"Weakest: {shown}."]


def advice(report: DetectionReport) -> list[Advice]:
    """What to do, the most frequent error first; nothing where there is nothing to do."""
    total = sum(each.operating for each in report.errors)
    worth = sorted(
        (each for each in report.errors if total and each.operating >= max(1, LARGE_SHARE * total)),
        key=lambda each: -each.operating,
    )
    found = [
        Advice(
            f"{KINDS[each.kind][0]}: {count(each.operating)} of {plural(total, 'error')} "
            f"({percent(each.operating / total)})",
            _ADVICE[each.kind](report),
        )
        for each in worth
    ]
    gap = report.summary.gap_ci
    if gap is not None and gap[0] * gap[1] > 0 and abs(sum(gap) / 2) > LARGE_GAP:
        low = "high" if sum(gap) > 0 else "low"
        found.append(
            Advice(
                f"Scores are too {low} by {points(abs(sum(gap)) / 2).lstrip('+')} points",
                "Do not read them as probabilities: calibrate them on held-out images, or choose thresholds by the "
                "precision that you need.",
            )
        )
    if report.suspects:
        found.append(
            Advice(
                f"{plural(len(report.suspects), 'suspected error')} in the ground truth",
                "Look at them before you train again: the detector is sure where the labels say otherwise, and what "
                "is wrong there counts against it in every number.",
            )
        )
    return found


def _missed(report: DetectionReport) -> str:
    there = sorted((each for each in report.classes if each.truth), key=lambda each: each.recall.value)
    worst = ", ".join(f"{short(each.name, 30)} ({percent(each.recall.value)} found)" for each in there[:3])
    return f"Least is found of {worst}. {_sizes(report.summary)}Add training images with such objects."


def _sizes(summary: Summary) -> str:
    coco = summary.coco
    if coco is None or not (defined(coco.ap_small) and defined(coco.ap_large)):
        return ""
    if coco.ap_small < coco.ap_large / 2:
        return (
            f"Small objects are much harder than large ones (AP {percent(coco.ap_small)} against "
            f"{percent(coco.ap_large)}): try a higher resolution, or tiles. "
        )
    return ""


def _confused(report: DetectionReport) -> str:
    pairs = "; ".join(
        f"{short(each.true, 30)} taken for {short(each.claimed, 30)} ({count(each.n)})"
        for each in report.confusions[:3]
    )
    most = f"Most often: {pairs}. " if pairs else ""
    return (
        f"{most}Show it these classes side by side, check their labels, or merge what nobody can tell apart."
    )


_ADVICE: dict[str, Callable[[DetectionReport], str]] = {
    "missed": _missed,
    "localisation": lambda _: (
        "The right things are found with boxes that fit badly. Check that all annotators draw boxes alike (with or "
        "without occluded parts), and train the box regression longer."
    ),
    "classification": _confused,
    "both": lambda _: (
        "Boxes that fit badly and have another class: mostly crowded scenes. Mend loose boxes and confused classes "
        "first; these go with them."
    ),
    "duplicate": lambda _: (
        "One object is reported several times: lower the IoU of non-maximum suppression, or suppress across classes."
    ),
    "background": lambda report: (
        "It reports what is not labelled. Look at the suspects first, since unlabelled objects land here "
        f"({count(sum(each.reason == 'missing box' for each in report.suspects))} are listed as missing boxes); "
        "then add images of such backgrounds without objects."
    ),
}


def closing_lines(report: DetectionReport, page: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: verdict, meaning, COCO's scores, where page and run are.

    Args:
        report: The report.
        page: Path of the page.
        link: Address of the run in MLflow's UI, if there is one.
    """
    head, coco = headline(report), report.summary.coco
    lines = [head.sentence, head.meaning]
    if coco is not None and defined(coco.ap):
        lines.append(
            f"COCO mAP {percent(coco.ap, 1)} (at .50 {percent(coco.ap50, 1)}, at .75 {percent(coco.ap75, 1)})"
        )
    lines += [short(note, 300) for note in report.subject.notes]
    lines.append(f"Report: {page}")
    return [*lines, f"MLflow: {link}"] if link else lines
