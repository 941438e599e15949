"""The page of a comparison: the verdict, then every number before and after, then what moved underneath."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.comparison.results import CauseChange, Comparison, Delta
from app.report import words as text
from app.report.blocks import Headline
from app.reporting import html
from app.reporting.autopsy.words import CAUSES
from app.reporting.compare import words
from app.reporting.compare.forest import Axis, Mark, axis
from app.reporting.compare.report import CompareReport

HEADLINES = 4
"""Numbers on cards."""
GROUPS = (
    ("Sub-scores of the autopsy score", ("sub_score",)),
    ("Operators", ("mutation_score", "img_ms_mg", "obj_ms_mg", "ms_iou")),
    ("Estimates", ("estimated_accuracy", "accuracy")),
    ("Estimators", ("rmse_ratio_srs", "failures_mean", "coverage")),
    ("Kinds of errors", ("error",)),
    ("Splits", ("share_sure", "share_faulty")),
)
"""Numbers of one operator, estimator or split, by the stem of their keys."""
_OF_CLASSES = ("recall", "precision", "f1", "ap", "coco_ap")


@dataclass(frozen=True)
class Row:
    """One number."""

    delta: Delta
    mark: Mark | None
    """Where its difference stands on the axis of its table."""


@dataclass(frozen=True)
class Table:
    """Numbers that belong together."""

    title: str
    rows: tuple[Row, ...]
    reach: float
    """Points from the middle of the axis to its ends."""

    @property
    def marked(self) -> bool:
        """Whether any of its differences stands on the axis."""
        return any(row.mark is not None for row in self.rows)


@dataclass(frozen=True)
class Piece:
    """One part of two checkups."""

    name: str
    reason: str
    """Why it could not be compared."""
    verdict: str
    look: str
    head: Headline | None
    table: Table | None


def compare_page(report: CompareReport) -> str:
    """The page as HTML; equal reports give equal text."""
    main = [each for each in report.deltas if each.headline]
    others = [each for each in report.deltas if not each.headline and "/" not in each.key]
    return html.render(
        "compare.html.j2",
        report=report,
        kind="comparison",
        title=f"{text.short(report.subject.name)}: comparison",
        head=words.headline(report),
        look=words.LOOKS,
        judgements=words.JUDGEMENTS,
        cards=_cards(report),
        main=table("Numbers that stand for the reports", main),
        others=table("Other numbers", others),
        groups=groups(report.deltas),
        facts=words.facts(report.comparability),
        cause=cause,
        value=words.value,
        moved=words.moved,
        moved_interval=words.moved_interval,
        test=words.test,
        class_headings=_class_headings,
        class_names=[name for name in _OF_CLASSES if any(name in each.after for each in report.classes)],
        pieces=[piece(part.name, part.comparison, part.reason) for part in report.parts],
        points=words.plural_points,
    )


def _class_headings(names: Sequence[str]) -> list[tuple[str, str]]:
    """Of the columns of a table of classes."""
    titles = {
        "recall": "Recall, %",
        "precision": "Precision, %",
        "f1": "F1, %",
        "ap": "AP, %",
        "coco_ap": "COCO AP, %",
    }
    headings = [pair for name in names for pair in ((titles[name], "num"), ("Points", "num"))]
    return [*headings, ("", "")] if "recall" in names else headings


def _cards(report: CompareReport) -> list[Delta]:
    """The number that decided, then the others that stand for the reports; of checkups one a part."""
    known = [each for each in words.leading(report) if each.difference is not None]
    return sorted(known, key=lambda each: each.key != report.decision.key)[:HEADLINES]


def table(title: str, deltas: Sequence[Delta]) -> Table:
    """Numbers with their places on one axis."""
    scale: Axis = axis(deltas)
    return Table(title, tuple(Row(each, scale.mark(each)) for each in deltas), scale.reach)


def groups(deltas: Sequence[Delta]) -> list[Table]:
    """Numbers of operators, estimators, splits and kinds, those that moved most for the worse first."""
    found = []
    for title, stems in GROUPS:
        mine = [
            each
            for each in deltas
            if not each.headline and each.key.partition("/")[0] in stems and "/" in each.key
        ]
        if mine:
            found.append(table(title, sorted(mine, key=_worst)))
    return found


def _worst(delta: Delta) -> tuple[bool, float]:
    sign = -1 if delta.better == "lower" else 1
    return delta.difference is None, sign * (delta.difference or 0.0)


def piece(name: str, found: Comparison | None, reason: str) -> Piece:
    """One part of two checkups, for the page."""
    if found is None:
        return Piece(name, reason, "not compared", "inconclusive", None, None)
    head = words.verdict_words(found.verdict, found.decision, found.deltas, found.comparability)
    main = table(name, [each for each in found.deltas if each.headline])
    return Piece(name, "", found.verdict, words.LOOKS[found.verdict], head, main)


def cause(change: CauseChange) -> str:
    """A cause in a few words, with what it is about."""
    known = CAUSES.get(change.cause_type)
    name = known.title if known else change.cause_type.replace("_", " ").capitalize()
    shown = ", ".join(text.short(each, 40) for each in change.affected[:3])
    more = f" and {len(change.affected) - 3} more" if len(change.affected) > 3 else ""
    return f"{name}: {shown}{more}" if shown else name
