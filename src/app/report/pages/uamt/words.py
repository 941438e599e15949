"""What the report of a detector's mutants comes down to, in words."""

from __future__ import annotations

from app.report.pages.uamt import Report
from app.report.words import UNDEFINED, count, defined, number, percent, percent_interval, plural, short
from app.scoring.detection.mutation_result import Summary

KINDS = {"miss": "Misses", "ghost": "Ghosts", "mg": "Either"}
"""What kills, in words."""
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


def headline(report: Report) -> tuple[str, str]:
    """How many mutants the images kill, how much of them moves, and whether it grows with the rate."""
    summary, n = report.result.summary, report.result.counts.images
    images = plural(n, "image")
    if not summary.mutants:
        return (
            f"There are no mutants, so nothing is known about your {images}.",
            "Save the detections of mutants beside those of the original.",
        )
    if not n:
        return "There are no images, so there are no scores.", "Save the detections of some images."
    interval = percent_interval(summary.img_ms_ci["mg"].ends)
    shown = f", {percent(report.settings.level)} interval {interval}" if interval != UNDEFINED else ""
    sentence = (
        f"The test suite of {images} kills {count(summary.killed['mg'])} of {plural(summary.mutants, 'mutant')} "
        f"(Img-MS {percent(summary.img_ms['mg'])}{shown})."
    )
    return sentence, " ".join([_extent(summary, report.settings.profile), *trend_words(report)])


def _extent(summary: Summary, profile: str) -> str:
    whose, own = ("the original's", "its own detections") if profile == "paper" else ("the", "the objects")
    misses, ghosts = summary.obj_ms["miss"], summary.obj_ms["ghost"]
    missed = f"a mutant misses {percent(misses)} of {whose} objects"
    invented = f"{percent(ghosts)} of {own} are ghosts"
    if not defined(misses):
        if not defined(ghosts):
            return "No score of objects is defined."
        return f"On average over the mutants, {invented.replace('its own', 'their own')}."
    return f"On average {missed}{f', and {invented}' if defined(ghosts) else ''}."


def trend_words(report: Report) -> list[str]:
    """Whether misses rise with the rate; nothing where no trend is defined."""
    value = report.result.trend.obj_ms_miss_spearman
    if not defined(value):
        return []
    shown = f"(rank correlation {number(value)})"
    if value >= _RISES:
        return [f"The higher the injected rate, the more objects are missed {shown}, as it should be."]
    if value > 0:
        return [f"Misses rise only loosely with the injected rate {shown}."]
    return [f"Misses do not rise with the injected rate {shown}: look at the curves."]


def left_out(report: Report) -> list[str]:
    """What the scores leave out, a sentence each."""
    counts = report.result.counts
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


def undefined(report: Report) -> list[tuple[str, str]]:
    """Scores that are undefined somewhere, with how often; what profile `paper` never defines is left out."""
    told: dict[tuple[str, str], list[str]] = {}
    for name, value in report.result.counts.undefined.items():
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


def closing_lines(report: Report, page_path: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: verdict, meaning, what was left out, where the page and the run are.

    Args:
        report: the report.
        page_path: path of the page.
        link: address of the run in MLflow's UI, if there is one.
    """
    noted = left_out(report) or [short(note, 300) for note in report.subject.notes]
    lines = [*headline(report), *noted, f"Report: {page_path}"]
    return [*lines, f"MLflow: {link}"] if link else lines
