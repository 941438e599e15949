"""What a report of contamination comes down to, in words."""

from __future__ import annotations

from collections.abc import Mapping

from app.report.blocks import Headline
from app.report.words import count, percent, plural, short
from app.reporting.contamination.report import ContaminationReport, Risk, Summary

RISKS: Mapping[Risk, str] = {
    "CRITICAL": "pictures of equal content lie in different splits",
    "HIGH": "near duplicates lie in different splits",
    "REVIEW": "only loose look-alikes lie in different splits",
    "LOW": "copies lie inside a split, none across",
    "INFO": "only look-alikes inside a split",
    "NONE": "no look-alikes at all",
}
"""What each risk stands for; the worst pair decides."""
LOOKS: Mapping[Risk, str] = {
    "CRITICAL": "survived",
    "HIGH": "survived",
    "REVIEW": "inconclusive",
    "LOW": "killed",
    "INFO": "killed",
    "NONE": "killed",
}
"""The badge of each risk."""
FAULTS = {
    "low_resolution": "too small",
    "near_empty": "near-empty",
    "too_dark": "too dark",
    "too_bright": "too bright",
    "blurry": "blurry",
    "odd_aspect": "odd aspect ratio",
    "odd_size": "odd size",
}
"""Kinds of faults in words."""


def headline(report: ContaminationReport) -> Headline:
    """How much of the later splits the first one has, and what to do about it."""
    summary = report.summary
    first, *others = report.exposure
    if not others:
        return _of_one(summary, f"{plural(first.n, 'picture')} of {first.split}")
    where = others[0].split if len(others) == 1 else f"the splits beside {first.split}"
    there = f"in {first.split}" if len(others) == 1 else "in another split"
    total = sum(each.n for each in others)
    exact, confirmed, near = (
        sum(getattr(each, name) for each in others) for name in ("exact", "confirmed", "near")
    )
    risk, of = summary.overall_risk, f"of {plural(total, 'picture')} of {where}"
    if exact or confirmed:
        parts = [f"{count(exact)} byte for byte"] if exact else []
        parts += [f"{count(confirmed)} changed a little"] if confirmed else []
        are = "is" if exact + confirmed == 1 else "are"
        told = f"{count(exact + confirmed)} {of} {are} {there}, too: {' and '.join(parts)}."
        return Headline(told, _meaning(summary, where))
    if risk == "HIGH":
        look = "looks" if near == 1 else "look"
        pairs, distance = plural(summary.near_across, "pair"), report.settings.near_distance
        none = ", none of those compared is a copy tone by tone" if summary.compared else ""
        told = f"Near duplicates across splits: {pairs} within distance {distance}{none}."
        return Headline(told, f"{count(near)} {of} {look} like one {there}. {_unconfirmed(summary)}")
    if risk == "REVIEW":
        told = f"No copies were found: pictures of {where} only loosely look like some {there}."
        return Headline(told, "Look at the closest pairs below; most sets of one kind have such look-alikes.")
    if risk == "LOW":
        told = f"The splits share no picture, but {plural(summary.exact_within, 'pair')} inside a split are copies."
        return Headline(told, "They count twice in that split; an evaluation across splits is sound.")
    told = "The splits share no picture."
    rest = "Some pictures inside a split look alike." if risk == "INFO" else "No two look alike."
    return Headline(told, rest)


def _of_one(summary: Summary, pictures: str) -> Headline:
    """The words about a split that was compared with itself alone."""
    exact, near = summary.exact_within, summary.confirmed_within
    if not exact + near:
        rest = "Whether the training data has them, too, is not known: it was not given."
        return Headline(f"No two of the {pictures} are copies.", rest)
    parts = [f"{count(exact)} byte for byte"] if exact else []
    parts += [f"{count(near)} changed a little"] if near else []
    told = f"{plural(exact + near, 'pair')} among the {pictures} {'is a copy' if exact + near == 1 else 'are copies'}"
    return Headline(f"{told}: {' and '.join(parts)}.", "They count twice in every score.")


def _meaning(summary: Summary, where: str) -> str:
    told = [
        f"A model that was trained on their originals is tested on what it has seen: a score on {where} is too good."
    ]
    if summary.drop:
        told.append(f"Leave out the {plural(summary.drop, 'picture')} that suggestions.csv says to drop.")
    if summary.exact_labels_differ:
        pairs = plural(summary.exact_labels_differ, "pair")
        have = "has" if summary.exact_labels_differ == 1 else "have"
        told.append(f"{pairs} of equal content {have} two classes: at least one label of each is wrong.")
    return " ".join(told)


def _unconfirmed(summary: Summary) -> str:
    pairs = plural(summary.compared, "closest pair")
    told = f"Of the {pairs} none is a copy tone by tone: the pictures have little variety, and the hash says no more."
    return told if summary.compared else "Look at the pairs below before you act on them."


def planted(summary: Summary) -> str:
    """Whether the planted copies were found; empty if none was planted."""
    if not summary.planted:
        return ""
    return (
        f"{count(summary.planted_found)} of {plural(summary.planted, 'planted copy', 'planted copies')} found"
    )


def diluted(report: ContaminationReport) -> list[str]:
    """The pairs of splits in which near pairs say nothing."""
    return [
        each.first if each.first == each.second else f"{each.first} and {each.second}"
        for each in report.between
        if each.signal_diluted
    ]


def quality_lines(report: ContaminationReport) -> list[str]:
    """What is wrong with the pictures themselves, a sentence a split; nothing where all is well."""
    lines = []
    for each in report.quality:
        faults = {"unreadable": each.unreadable, "repeated": each.extra_duplicates}
        faults |= {FAULTS.get(fault.kind, fault.kind): fault.n for fault in each.faults}
        told = [f"{count(n)} {name}" for name, n in faults.items() if n]
        if told:
            lines.append(f"{short(each.split, 40)}, {plural(each.n, 'picture')}: {', '.join(told)}")
    return lines


def closing_lines(report: ContaminationReport, page: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: risk, verdict, meaning, where page and run are.

    Args:
        report: The report.
        page: Path of the page.
        link: Address of the run in MLflow's UI, if there is one.
    """
    head = headline(report)
    shares = "; ".join(
        f"{short(each.split, 40)} {percent(each.share_sure, 1)}"
        for each in report.exposure
        if each.share_sure
    )
    lines = [f"Risk {report.summary.overall_risk}. {head.sentence}", head.meaning]
    lines += [f"Share of copies: {shares}"] if shares else []
    lines += [planted(report.summary)] if report.summary.planted else []
    lines += [f"Quality: {line}" for line in quality_lines(report)]
    lines += [short(note, 300) for note in report.subject.notes]
    lines.append(f"Report: {page}")
    return [*lines, f"MLflow: {link}"] if link else lines
