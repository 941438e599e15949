"""The page of contamination: risk first, then the pairs themselves, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.report import words as text
from app.reporting import html
from app.reporting.contamination import words
from app.reporting.contamination.report import Between, ContaminationReport, Group, Member, Pair
from app.reporting.plot import Tick

PICTURE_BYTES = 2_400_000
"""All pictures of the page together, as they stand in it."""
PAIRS, GROUPS, FIRST = 60, 24, 12
"""Pairs and groups that are shown with pictures, and how many before the rest is folded."""
MEMBERS = 6
"""Pictures shown of a group."""
REACH = 32
"""Distances that the histogram shows; random pictures lie around 32."""
Name = tuple[str, str]
"""Split and path of a picture."""


@dataclass(frozen=True)
class Bar:
    """A bar of the histogram."""

    x: float
    """Left edge on the canvas."""
    height: float
    """Of 90."""
    look: str
    """`near`, `weak` or `far`."""
    label: str
    """What it says."""


@dataclass(frozen=True)
class Histogram:
    """Pairs at each distance, drawn on a canvas 340 wide and 130 high."""

    title: str
    """Which splits."""
    bars: tuple[Bar, ...]
    """By distance."""
    ticks: tuple[Tick, ...]
    """Labels below."""
    diluted: bool
    """Whether near pairs say nothing here."""


def contamination_page(report: ContaminationReport, thumbnails: Mapping[Name, bytes] | None = None) -> str:
    """The page as HTML; equal reports and thumbnails give equal text.

    Args:
        report: The report.
        thumbnails: By split and path, small pictures for those that `pictured` names.

    Raises:
        ValueError: A thumbnail is no picture.
    """
    pairs, groups = shown_pairs(report), shown_groups(report)
    return html.render(
        "contamination.html.j2",
        report=report,
        kind="contamination report",
        title=f"{text.short(report.subject.name)}: contamination report",
        head=words.headline(report),
        risk_words=words.RISKS[report.summary.overall_risk],
        looks=words.LOOKS,
        planted=words.planted(report.summary),
        diluted=words.diluted(report),
        quality_lines=words.quality_lines(report),
        faults=words.FAULTS,
        fault_heads=[
            (words.FAULTS.get(each.kind, each.kind).capitalize(), "num")
            for each in (report.quality[0].faults if report.quality else ())
        ],
        pairs=pairs,
        groups=groups,
        clusters=shown_clusters(report),
        mislabelled=mislabelled(report),
        histograms=histograms(report),
        thumbs=_within(thumbnails or {}, pictured(report)),
        first=FIRST,
        members=MEMBERS,
    )


def shown_pairs(report: ContaminationReport) -> tuple[Pair, ...]:
    """The pairs with pictures: confirmed copies, then the closest across splits; some within one only if none is."""
    across = [each for each in report.pairs if each.across]
    return tuple((across or report.pairs)[:PAIRS])


def shown_groups(report: ContaminationReport) -> tuple[Group, ...]:
    """The groups of equal content with pictures."""
    return report.groups[:GROUPS]


def shown_clusters(report: ContaminationReport) -> tuple[Group, ...]:
    """The clusters of three pictures and more: those of two are among the pairs and groups."""
    return tuple(each for each in report.clusters if each.n > 2)[:GROUPS]


def mislabelled(report: ContaminationReport) -> list[tuple[str, tuple[Member, ...]]]:
    """Pictures that are the same and have different classes: why, and which."""
    rows = [("equal content", each.members) for each in report.groups if each.labels_differ]
    rows += [
        ("near copy", (each.first, each.second))
        for each in report.pairs
        if each.confirmed and each.labels_differ
    ]
    return rows


def pictured(report: ContaminationReport) -> list[Name]:
    """The pictures that the page shows, the most important first, each once."""
    members: list[Member] = []
    for group in shown_groups(report):
        members += group.members[:MEMBERS]
    for pair in shown_pairs(report):
        members += [pair.first, pair.second]
    for _, found in mislabelled(report)[: html.LIMITS.rows]:
        members += found[:MEMBERS]
    names = [(each.split, each.path) for each in members]
    for planted in report.settings.planted:
        names += [(planted.source_split, planted.source_path), (planted.split, planted.path)]
    for cluster in shown_clusters(report):
        names += [(each.split, each.path) for each in cluster.members[:MEMBERS]]
    return list(dict.fromkeys(names))


def histograms(report: ContaminationReport) -> tuple[Histogram, ...]:
    """Pairs at each distance, across splits first; at most 6."""
    order = sorted(report.between, key=lambda each: each.first == each.second)
    near, weak = report.settings.near_distance, report.settings.weak_distance
    return tuple(_histogram(each, near, weak) for each in order[:6] if sum(each.histogram))


def _histogram(between: Between, near: int, weak: int) -> Histogram:
    counts = between.histogram[: REACH + 1]
    most = math.log10(1 + max(counts)) or 1.0
    title = between.first if between.first == between.second else f"{between.first} × {between.second}"

    def x(distance: int) -> float:
        return round(4 + distance * 10.0, 1)

    bars = tuple(
        Bar(
            x(distance),
            round(90 * math.log10(1 + n) / most, 1),
            "near" if distance <= near else "weak" if distance <= weak else "far",
            f"{text.plural(n, 'pair')} at distance {distance}",
        )
        for distance, n in enumerate(counts)
        if n
    )
    ticks = tuple(Tick(x(distance) + 4, str(distance)) for distance in (0, near, weak, REACH))
    return Histogram(title, bars, ticks, between.signal_diluted)


def _within(thumbnails: Mapping[Name, bytes], order: Iterable[Name]) -> dict[Name, str]:
    """Data URIs in the order of importance, until the page's share is used up."""
    found, room = {}, PICTURE_BYTES
    for name in order:
        if name in thumbnails:
            uri = html.data_uri(thumbnails[name])
            if len(uri) <= room:
                found[name] = uri
                room -= len(uri)
    return found
