"""What a mutation report draws: score by operator, by layer and operator, and effect over rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.report.charts import SERIES, Axis, BarRow, Bars, Heat, HeatCell, Line, Lines, Point, ends, shade
from app.report.pages.mutate import Report
from app.report.words import count, defined, parameters, per_cent, percent, plural, short
from app.scoring.mutant_results import MutantResult
from app.scoring.rates import RATE, rate_of
from app.scoring.results import LayerScore, OperatorScore

INPUT = "(input)"
"""The pseudo-layer of operators on images."""
MOST_CURVES = 9


def weakest_first(operator: OperatorScore) -> tuple[bool, float]:
    """The order of operators: the lowest score first, those without one last."""
    score = operator.mutation_score
    return not defined(score), score if score is not None and defined(score) else 0.0


def score_bars(report: Report) -> Bars:
    """The mutation score of each operator, the weakest on top."""
    return Bars(
        "Mutation score by operator",
        tuple(
            BarRow(
                o.operator,
                o.mutation_score if defined(o.mutation_score) else None,
                ends(o.mutation_score_ci),
                o.weak,
                o.mutation_score_thresholds,
                percent(o.mutation_score),
            )
            for o in sorted(report.result.by_operator, key=weakest_first)
        ),
        Axis("killed", "share", 0.0, 1.0),
        subtitle=_subtitle(report),
    )


def _subtitle(report: Report) -> str:
    s = report.result.summary
    return f"{short(report.subject.name, 60)}: {count(s.killed)} of {plural(s.judged, 'mutant')} killed"


def heat_maps(report: Report) -> tuple[Heat, ...]:
    """Mutation score by layer and operator: the model's layers, and apart from them the pseudo-layer `(input)`.

    They are two because no operator changes both images and layers: as one grid, half of it would be empty.
    """
    order = [o.operator for o in report.result.by_operator]
    parts = (
        [s for s in report.result.by_layer if s.layer != INPUT],
        [s for s in report.result.by_layer if s.layer == INPUT],
    )
    return tuple(_heat(part, order, _subtitle(report)) for part in parts if part)


def _heat(scores: Sequence[LayerScore], order: Sequence[str], subtitle: str) -> Heat:
    layers = tuple(dict.fromkeys(s.layer for s in scores))
    used = dict.fromkeys(s.operator for s in scores)
    operators = (*(name for name in order if name in used), *(name for name in used if name not in order))
    placed = {(s.layer, s.operator): _heat_cell(s) for s in scores}
    cells = tuple(tuple(placed.get((layer, name)) for name in operators) for layer in layers)
    title = "Mutation score by layer and operator, %"
    return Heat(title, layers, operators, cells, corner="Layer", subtitle=subtitle)


def _heat_cell(s: LayerScore) -> HeatCell:
    label = f"{s.operator} in {s.layer}: {s.killed} of {s.mutants} killed, score {percent(s.mutation_score)}"
    known = s.mutation_score is not None and defined(s.mutation_score)
    return HeatCell(
        per_cent(s.mutation_score), shade(s.mutation_score or 0.0) if known else None, short(label, 160)
    )


def curves(mutants: Iterable[MutantResult], most: int = MOST_CURVES) -> Lines | None:
    """How much accuracy stochastic mutants cost over their rate, one line an operator; None without two rates.

    Mutants without an effect are left out, and of several at one rate the first is taken.
    """
    drawn = [x for x in mutants if x.kind == "stochastic" and defined(x.effect) and rate_of(x) is not None]
    targets: dict[str, set[str]] = {}
    for x in drawn:
        targets.setdefault(x.operator, set()).add(x.target)
    groups: dict[str, dict[float, Point]] = {}
    for x in drawn:
        rest = parameters({k: v for k, v in x.params.items() if k != RATE})
        target = x.target if len(targets[x.operator]) > 1 else ""
        name = ", ".join(part for part in (x.operator, rest, target) if part)
        rate = rate_of(x) or 0.0
        groups.setdefault(name, {}).setdefault(rate, Point(rate, x.effect or 0.0, ends(x.effect_ci)))
    found = [(name, by_rate) for name, by_rate in groups.items() if len(by_rate) > 1][:most]
    if not found:
        return None
    rates = sorted({rate for _, by_rate in found for rate in by_rate})
    ticks = tuple((rate, f"{rate:g}") for rate in rates[:: -(-len(rates) // 12)])
    lines = tuple(
        Line(name, tuple(by_rate[rate] for rate in sorted(by_rate)), SERIES[i % 6], i // 6)
        for i, (name, by_rate) in enumerate(found)
    )
    lowest = min(0.0, *(v for line in lines for p in line.points for v in (p.y, *(p.interval or ()))))
    return Lines(
        "Effect of stochastic mutants over their rate",
        lines,
        Axis("rate", ticks=ticks, low=rates[0], high=rates[-1]),
        Axis("accuracy drop, points", "points", low=None if lowest < 0 else 0.0),
    )
