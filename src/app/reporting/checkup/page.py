"""The front page of a checkup: four questions, an answer and a picture each, what to do next, and the way on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.report import words as text
from app.reporting import html
from app.reporting.checkup import drawing, words
from app.reporting.checkup.previous import day, moved_by
from app.reporting.checkup.report import Change, CheckupReport, Question
from app.scoring.mutant_results import Interval

BARS = 6
"""Operators that the picture of the mutation score names, the least noticed first."""
PICTURE_BYTES = 600_000
"""All pictures of the page together, as they stand in it."""


@dataclass(frozen=True)
class Bar:
    """One bar of a picture."""

    name: str
    """What it stands for."""
    value: float | None
    """Its length, 0 to 1."""
    ci: Interval
    """Its interval."""
    shown: str
    """Its number in words."""
    weak: bool
    """Whether it falls short."""


@dataclass(frozen=True)
class Pictures:
    """What the parts know beyond the report, to be pictured."""

    operators: tuple[Bar, ...] = ()
    """Mutation score of each operator."""
    sub_scores: tuple[Bar, ...] = ()
    """What the autopsy score is made of."""
    mistakes: Mapping[str, bytes] | None = None
    """Small picture files, by the name in the report."""


@dataclass(frozen=True)
class Card:
    """A question as the page shows it."""

    question: Question
    """As in the report."""
    answer: str
    """The answer, without the interval that stands at its number."""
    figure: str
    """Its one number."""
    note: str
    """What that is, and its interval."""
    look: str
    """Its badge."""
    page: str
    """Where the whole answer is; empty for nowhere."""
    title: str
    """What that page is called."""


def checkup_page(report: CheckupReport, pictures: Pictures) -> str:
    """The page as HTML; equal arguments give equal text.

    Args:
        report: the report.
        pictures: what the parts show.

    Raises:
        ValueError: a picture that is none.
    """
    operators = sorted(pictures.operators, key=lambda each: (each.value is None, each.value or 0.0))
    return html.render(
        "checkup.html.j2",
        report=report,
        kind="checkup",
        title=f"{text.short(report.subject.name)}: checkup",
        head=words.headline(report),
        cards=[card(report, each) for each in report.questions],
        titles=words.TITLES,
        operators=operators[:BARS],
        all_operators=len(operators),
        sub_scores=pictures.sub_scores,
        operation=drawing.operation(report),
        since=drawing.since(report),
        wide=drawing.WIDTH,
        uris=_uris(pictures.mistakes or {}),
        changes=[] if report.previous is None else [_row(each) for each in report.previous.changes],
        day=day,
        pages={name: _page(each.report) for name, each in report.parts.items()},
    )


def card(report: CheckupReport, question: Question) -> Card:
    """A question with what stands for its answer."""
    figure, note = words.figure(report, question)
    part = report.parts.get(question.part)
    return Card(
        question=question,
        answer=re.sub(r" \([^()]*interval[^()]*\)", "", question.answer) if figure else question.answer,
        figure=figure,
        note=note,
        look=words.LOOKS[question.verdict],
        page="" if part is None else _page(part.report),
        title=words.TITLES.get(question.part, ""),
    )


def _page(report: str) -> str:
    """The page beside a report's file."""
    return report.removesuffix(".json") + ".html" if report else ""


def _row(each: Change) -> tuple[Change, str, str, str]:
    """A change with its numbers in words."""
    score = each.key == "autopsy_score"
    before, after = (
        text.number(one.value, 1) if score else drawing.in_words(one) for one in (each.before, each.after)
    )
    return each, before, after, moved_by(each)


def _uris(pictures: Mapping[str, bytes]) -> dict[str, str]:
    found, room = {}, PICTURE_BYTES
    for name, content in pictures.items():
        uri = html.data_uri(content)
        if len(uri) <= room:
            found[name], room = uri, room - len(uri)
    return found
