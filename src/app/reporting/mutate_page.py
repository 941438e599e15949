"""The page of the mutate report: what it shows, taken from the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from app.reporting import html, text
from app.reporting.curves import curves
from app.reporting.heatmap import INPUT, heat_maps
from app.reporting.mutants import Kind, MutantResult, SignalCoverage, Verdict
from app.reporting.mutate import MutateReport, OperatorScore
from app.reporting.plot import plot


@dataclass(frozen=True)
class VerdictCount:
    """One part of the strip of all verdicts."""

    name: Verdict
    """The verdict."""
    label: str
    """In words."""
    meaning: str
    """What it says."""
    count: int
    """How many mutants have it."""


@dataclass(frozen=True)
class CrossRow:
    """One statistical verdict against those by thresholds."""

    name: Verdict
    """The statistical verdict."""
    label: str
    """In words."""
    counts: tuple[int, int, int]
    """Mutants that are killed, survived and invalid by thresholds."""


@dataclass(frozen=True)
class CoverageRow:
    """The signals on the mutants of one layer and kind."""

    layer: str
    """Target of the mutants."""
    kind: Kind
    """Kind of their operators."""
    cells: tuple[SignalCoverage | None, ...]
    """One entry a column; None where nothing is known."""


@dataclass(frozen=True)
class CoverageTable:
    """Signal coverage, one row a layer and kind."""

    columns: list[tuple[str, str]]
    """Heading and look of each signal's column."""
    rows: list[CoverageRow]
    """In the order of the report."""


def mutate_page(report: MutateReport, thumbnails: Mapping[int, bytes | str] | None = None) -> str:
    """The page of a mutate report as HTML; equal reports and thumbnails give equal text.

    Args:
        report: The report; campaigns without mutants, or without valid ones, have a page too.
        thumbnails: By test case, small pictures (files' bytes or data URIs) for those that kill most.

    Raises:
        ValueError: A thumbnail is no picture.
    """
    order = [case.case for case in report.kill_matrix.top_cases[: html.LIMITS.cases]]
    return html.render(
        "mutate.html.j2",
        report=report,
        kind="mutation report",
        title=f"{text.short(report.subject.name)}: mutation report",
        head=text.headline(report),
        verdicts=verdict_counts(report),
        operators=sorted(report.by_operator, key=_weakest_first),
        heat=heat_maps(report),
        images=any(cell.layer == INPUT for cell in report.by_layer),
        plot=plot(curves(report.mutants)[: html.LIMITS.curves]),
        cross=cross_table(report.mutants),
        coverage=coverage_table(report),
        agreement=agreement(report.mutants),
        thumbnails=html.data_uris(thumbnails or {}, order),
        words_of=text.VERDICTS,
        mutant_note=mutant_note,
        beside=beside,
        score_interval=text.score_interval,
        threshold=threshold,
    )


def verdict_counts(report: MutateReport) -> list[VerdictCount]:
    """The verdicts that occur, with their counts."""
    counted = [
        VerdictCount(name, words.label, words.meaning, getattr(report.summary, name))
        for name, words in text.VERDICTS.items()
    ]
    return [entry for entry in counted if entry.count]


def cross_table(mutants: tuple[MutantResult, ...]) -> list[CrossRow]:
    """Statistical verdicts that occur, against the verdicts by thresholds."""
    pairs = Counter((x.verdict, x.verdict_thresholds) for x in mutants)
    rows = [
        CrossRow(name, words.label, (pairs[name, "killed"], pairs[name, "survived"], pairs[name, "invalid"]))
        for name, words in text.VERDICTS.items()
    ]
    return [row for row in rows if any(row.counts)]


def coverage_table(report: MutateReport) -> CoverageTable:
    """Signal coverage with one column a signal."""
    signals = list(dict.fromkeys(c.signal for c in report.signal_coverage))
    places = dict.fromkeys((c.layer, c.kind) for c in report.signal_coverage)
    found = {(c.layer, c.kind, c.signal): c for c in report.signal_coverage}
    rows = [
        CoverageRow(layer, kind, tuple(found.get((layer, kind, signal)) for signal in signals))
        for layer, kind in places
    ]
    return CoverageTable([(html.words(signal), "num") for signal in signals], rows)


def agreement(mutants: tuple[MutantResult, ...]) -> str:
    """Where thresholds and statistics part, in words."""
    by_chance = sum(x.verdict == "survived" and x.verdict_thresholds == "killed" for x in mutants)
    overlooked = sum(
        x.verdict in {"killed", "killed_weak"} and x.verdict_thresholds == "survived" for x in mutants
    )
    said = []
    if by_chance:
        killed = text.plural(by_chance, "mutant")
        said.append(f"The thresholds count {killed} as killed whose change may be chance.")
    if overlooked:
        missed = text.plural(overlooked, "mutant")
        said.append(f"The thresholds overlook {missed} whose small change is beyond chance.")
    return " ".join(said) or "Both ways of judging agree on every mutant that could be judged."


def mutant_note(mutant: MutantResult) -> str:
    """What else is to say about a mutant: the reason of its verdict, the signals that fired."""
    if mutant.reason:
        return mutant.reason
    notes = ["trivial"] if mutant.trivial else []
    if mutant.unchanged:
        notes.append("changed no parameter")
    if mutant.signals is not None:
        names = ("accuracy_drop", "recall_drop", "ece_rise", "autopsy_score_drop", "new_causes")
        notes += [html.words(name) for name in names if getattr(mutant.signals, name).fired]
    return ", ".join(notes)


def beside(mutant: MutantResult) -> list[str]:
    """Signals beside a verdict, a line each; nothing for a mutant that is not scored."""
    signals = mutant.beside
    lines: list[str] = []
    if signals is None:
        return lines
    if signals.class_recall is not None:
        name = f" ({text.short(signals.class_recall.name, 24)})" if signals.class_recall.name else ""
        lines.append(f"class p {text.p_value(signals.class_recall.p_adjusted)}{name}")
    if signals.ece_rise_ci is not None:
        lines.append(f"ECE {text.points_interval(signals.ece_rise_ci)}")
    if signals.autopsy_score_drop_ci is not None:
        # Shown as the score moves: a drop is negative.
        low, high = (-end / 100 for end in reversed(signals.autopsy_score_drop_ci))
        lines.append(f"score {text.points_interval((low, high))}")
    return lines


def threshold(value: float, signal: str) -> str:
    """A signal's threshold: points of 100, but cause types are counted."""
    if signal == "new_causes":
        return f"≥\u00a0{value:g}"
    shown = value if signal == "autopsy_score_drop" else 100 * value
    return f"≥\u00a0{round(shown, 6):g}\u00a0{'point' if shown == 1 else 'points'}"


def _weakest_first(operator: OperatorScore) -> tuple[bool, float]:
    score = operator.mutation_score
    return not text.defined(score), score if score is not None and text.defined(score) else 0.0
