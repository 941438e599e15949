"""The page of the report of detector scores: what it shows, taken from the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.report import words as text
from app.reporting import html
from app.reporting.uamt import words
from app.reporting.uamt.canvas import HEIGHT, WIDTH, drawings
from app.reporting.uamt.curves import grids, largest, panels, tint
from app.reporting.uamt.report import OperatorScore, UamtReport

MOST_CURVES, MOST_GRIDS, MOST_TRENDS = 12, 8, 8


@dataclass(frozen=True)
class OperatorRow:
    """One operator's means, with how they go with the rate."""

    score: OperatorScore
    """Over all its mutants."""
    spearman: Mapping[str, float]
    """Rank correlations with the rate."""
    by_rate: tuple[OperatorScore, ...]
    """By rate, over blocks."""

    @property
    def top(self) -> float:
        """The largest Obj-MS of a rate."""
        return largest([v for each in self.by_rate for v in vars(each.obj_ms).values()])

    @property
    def top_iou(self) -> float:
        """The largest MS_iou of a rate."""
        return largest([each.ms_iou for each in self.by_rate])


def uamt_page(report: UamtReport, thumbnails: Mapping[int, bytes | str] | None = None) -> str:
    """The page as HTML; equal reports and thumbnails give equal text.

    Args:
        report: The report; one without mutants or images has a page too.
        thumbnails: By place among the images that kill most, small pictures (files' bytes or data URIs).

    Raises:
        ValueError: A thumbnail is no picture.
    """
    found, several = panels(report.mutants), len({part.model for part in report.parts}) > 1
    order = list(range(len(report.top_images[: html.LIMITS.cases])))
    return html.render(
        "uamt.html.j2",
        report=report,
        kind="detector mutation report",
        title=f"{text.short(report.subject.name)}: detector mutation report",
        head=words.headline(report),
        level=text.percent(report.settings.level),
        kinds=words.KINDS,
        sets=words.SETS,
        metrics=words.METRICS,
        drawings=drawings(found, MOST_CURVES),
        curves=len(found[0].curves) if found else 0,
        most_curves=MOST_CURVES,
        canvas=(WIDTH, HEIGHT),
        grids=grids(report.mutants)[:MOST_GRIDS],
        operators=operator_rows(report),
        several=several,
        parted=len(report.parts) > 1,
        tint=tint,
        left_out=words.left_out(report),
        undefined=words.undefined(report),
        score_words=words.score_words,
        thumbnails=html.data_uris(thumbnails or {}, order),
        ua_heads=[(word, "") for word in words.METRICS.values()],
        metric_heads=[(word, "num") for word in words.METRICS.values()],
        trend_heads=[
            (f"{trend.operator}, {trend.model}" if several else trend.operator, "num")
            for trend in report.trend.by_operator[:MOST_TRENDS]
        ],
        trended=any(text.defined(value) for value in report.trend.spearman.values()),
        trend_names=("obj_ms_miss", "obj_ms_ghost", "obj_ms_mg", "ms_iou"),
    )


def operator_rows(report: UamtReport) -> list[OperatorRow]:
    """Each model's operators, with their trends and their means by rate."""
    trends = {(trend.model, trend.operator): trend.spearman for trend in report.trend.by_operator}
    rows = []
    for score in report.by_operator:
        if score.rate is None and score.block is None:
            by_rate = tuple(
                each
                for each in report.by_operator
                if (each.model, each.operator) == (score.model, score.operator)
                and each.rate is not None
                and each.block is None
            )
            rows.append(OperatorRow(score, trends.get((score.model, score.operator), {}), by_rate))
    return rows
