"""What a report of detector scores comes down to, in words."""

from __future__ import annotations

from app.report.blocks import Headline
from app.report.words import UNDEFINED, count, defined, number, percent, percent_interval, plural, short
from app.reporting.uamt.report import Summary, UamtReport

KINDS = {"miss": "Misses", "ghost": "Ghosts", "mg": "Either"}
"""The kinds of a trio in words."""
SETS = {"match": "Matches", "miss": "Misses", "ghost": "Ghosts"}
METRICS = {
    "vr": "Variation ratio",
    "ie": "Entropy",
    "mi": "Mutual information",
    "var": "Total variance",
    "ps": "Prediction surface",
}
_RISES = 0.8
"""Rank correlation from which a score is said to rise with the rate."""


def headline(report: UamtReport) -> Headline:
    """How many mutants the images notice, how much they see of them, and whether it grows with the rate."""
    summary, images = report.summary, plural(report.counts.images, "image")
    if not summary.mutants:
        return Headline(
            f"There are no mutants, so nothing is known about your {images}.",
            "Save the detections of mutants beside those of the original.",
        )
    if not report.counts.images:
        return Headline("There are no images, so there are no scores.", "Save the detections of some images.")
    interval = percent_interval(summary.img_ms_ci.mg)
    shown = f", {percent(report.settings.level)} interval {interval}" if interval != UNDEFINED else ""
    verb = "notices" if report.counts.images == 1 else "notice"
    sentence = (
        f"Your {images} {verb} {count(summary.killed.mg)} of {plural(summary.mutants, 'mutant')} "
        f"({percent(summary.img_ms.mg)}{shown})."
    )
    return Headline(sentence, " ".join([_extent(summary, report.settings.profile), *trend_words(report)]))


def _extent(summary: Summary, profile: str) -> str:
    whose, own = ("the original's", "its own detections") if profile == "paper" else ("the", "the objects")
    missed = f"a mutant misses {percent(summary.obj_ms.miss)} of {whose} objects"
    invented = f"{percent(summary.obj_ms.ghost)} of {own} are ghosts"
    if not defined(summary.obj_ms.miss):
        if not defined(summary.obj_ms.ghost):
            return "No score of objects is defined."
        return f"On average over the mutants, {invented.replace('its own', 'their own')}."
    return f"On average {missed}{f', and {invented}' if defined(summary.obj_ms.ghost) else ''}."


def trend_words(report: UamtReport) -> list[str]:
    """Whether misses rise with the rate; nothing where no trend is defined."""
    value = report.trend.obj_ms_miss_spearman
    if not defined(value):
        return []
    shown = f"(rank correlation {number(value)})"
    if value >= _RISES:
        return [f"The higher the injected rate, the more is missed {shown}, as it should be."]
    if value > 0:
        return [f"Misses rise only loosely with the injected rate {shown}."]
    return [f"Misses do not rise with the injected rate {shown}: look at the curves."]


def left_out(report: UamtReport) -> list[str]:
    """What the scores leave out, a sentence each."""
    counts = report.counts
    told = []
    if counts.unscorable:
        rows = plural(counts.unscorable, "row")
        told.append(
            f"{rows} of an image and mutant {'is' if counts.unscorable == 1 else 'are'} NaN in all columns: a "
            "repetition has no original object, where the reference implementation stops with an error."
        )
    if counts.invalid_rows:
        rows = plural(counts.invalid_rows, "class row")
        told.append(
            f"{rows} {'is' if counts.invalid_rows == 1 else 'are'} negative somewhere or without a positive "
            "sum, and scored as the reference implementation does; profile paper refuses them."
        )
    return told


def undefined(report: UamtReport) -> list[tuple[str, str]]:
    """Scores that are undefined somewhere, with how often; what profile `paper` never defines is left out."""
    told: dict[tuple[str, str], list[str]] = {}
    for name, value in report.counts.undefined.items():
        _, kind, metric = name.split("_", 2) if name.startswith("ua_") else ("", "", "")
        if not value or (report.settings.profile == "paper" and kind == "miss" and metric != "ie"):
            continue
        label, of = (f"UA-MS, {SETS[kind].lower()}", "object") if kind else (score_words(name), "image")
        told.setdefault((label, plural(value, of)), []).append(METRICS.get(metric, "").lower())
    return [
        (label, f"undefined on {often}{': ' + ', '.join(metrics) if metrics[0] else ''}")
        for (label, often), metrics in told.items()
    ]


def score_words(name: str) -> str:
    """A score's name in words: `ua_match_ie` is 'UA-MS, matches, entropy'."""
    head, _, rest = name.partition("_")
    if head == "ua":
        kind, _, metric = rest.partition("_")
        return f"UA-MS, {SETS.get(kind, kind).lower()}, {METRICS.get(metric, metric).lower()}"
    if name == "ms_iou":
        return "MS_iou"
    if head == "rate":
        return f"rate of {SETS.get(rest, rest).lower()}"
    kind = rest.rpartition("_")[2]
    base = "Img-MS" if head == "img" else "Obj-MS"
    macro = ", macro" if "macro" in rest else ""
    return f"{base}{macro}, {KINDS.get(kind, kind).lower()}"


def closing_lines(report: UamtReport, page: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: verdict, meaning, what was left out, where page and run are.

    Args:
        report: The report.
        page: Path of the page.
        link: Address of the run in MLflow's UI, if there is one.
    """
    head = headline(report)
    noted = left_out(report) or [short(note, 300) for note in report.subject.notes]
    lines = [head.sentence, head.meaning, *noted, f"Report: {page}"]
    return [*lines, f"MLflow: {link}"] if link else lines
