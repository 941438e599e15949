"""The page of a detector's evaluation: the verdict, what to do, and the mistakes themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from app.report import words as text
from app.reporting import html
from app.reporting.detection_eval import canvas, words
from app.reporting.detection_eval.report import DetectionReport, FalseNegative, FalsePositive, Suspect

Mistake: TypeAlias = FalsePositive | FalseNegative | Suspect
Key: TypeAlias = tuple[str, int]
"""Which list (`false_positives`, `false_negatives` or `suspects`) and which entry of it."""
PICTURE_BYTES = 2_400_000
"""All pictures of the page together, as they stand in it."""
SHOWN, FIRST = 24, 9
"""Mistakes of a kind with pictures, and how many before the rest is folded."""
LISTS = ("suspects", "false_positives", "false_negatives")


def detection_page(report: DetectionReport, crops: Mapping[Key, bytes] | None = None) -> str:
    """The page as HTML; equal reports and crops give equal text.

    Args:
        report: The report; one without boxes has a page too.
        crops: Pictures of the mistakes that `pictured` names.

    Raises:
        ValueError: A crop is no picture.
    """
    total = sum(each.operating for each in report.errors)
    return html.render(
        "detection_eval.html.j2",
        report=report,
        kind="detector evaluation",
        title=f"{text.short(report.subject.name)}: detector evaluation",
        head=words.headline(report),
        advice=words.advice(report),
        kinds=words.KINDS,
        errors=sorted(report.errors, key=lambda each: -each.operating),
        errors_total=total,
        classes=sorted(
            report.classes,
            key=lambda each: (
                not text.defined(each.ap),
                each.ap if text.defined(each.ap) else 0.0,
                each.name,
            ),
        ),
        lines=canvas.lines(report.curves),
        columns=canvas.columns(report.reliability),
        canvas=canvas,
        galleries=[(name, pictured_of(report, name)) for name in LISTS],
        crops=_within(report, crops or {}),
        first=FIRST,
    )


def pictured_of(report: DetectionReport, name: str) -> list[tuple[int, Mistake]]:
    """The entries of a list that the page shows, by place: suspects of each reason in turn, of others the first."""
    found: Sequence[Mistake] = getattr(report, name)
    turns: dict[str, int] = {}
    order = []
    for place, each in enumerate(found):
        reason = each.reason if isinstance(each, Suspect) else ""
        turns[reason] = turns.get(reason, -1) + 1
        order.append((turns[reason], place, each))
    return [(place, each) for _, place, each in sorted(order, key=lambda row: row[:2])[:SHOWN]]


def pictured(report: DetectionReport) -> list[tuple[Key, Mistake]]:
    """The mistakes that the page shows with pictures."""
    return [((name, place), each) for name in LISTS for place, each in pictured_of(report, name)]


def _within(report: DetectionReport, crops: Mapping[Key, bytes]) -> dict[Key, str]:
    """Data URIs until the page's share is used up, in turn from each list."""
    found, room = {}, PICTURE_BYTES
    lists = [[key for key, _ in pictured(report) if key[0] == name] for name in LISTS]
    for key in (each for turn in zip_longest(*lists) for each in turn if each is not None):
        if key in crops:
            uri = html.data_uri(crops[key])
            if len(uri) <= room:
                found[key] = uri
                room -= len(uri)
    return found
