"""The heat map's grid: mutation score by layer and operator, with images as the pseudo-layer `(input)`."""

from __future__ import annotations

from dataclasses import dataclass

from app.reporting.mutate import LayerScore, MutateReport
from app.reporting.text import percent, short

INPUT = "(input)"
"""The pseudo-layer of operators on images."""


@dataclass(frozen=True)
class HeatMap:
    """A grid of cells."""

    layers: tuple[str, ...]
    """Rows, in the order of the model."""
    operators: tuple[str, ...]
    """Columns."""
    cells: tuple[tuple[LayerScore | None, ...], ...]
    """(layers, operators): None where nothing was tried."""


def heat_maps(report: MutateReport) -> tuple[HeatMap, ...]:
    """The grids to show: the model's layers, and below it the pseudo-layer `(input)`.

    They are two because no operator changes both images and layers: as one grid, half of it would be empty. A
    grid without any cell is left out. Operators stand in the order of the campaign.
    """
    scores = report.by_layer
    campaign = [o.operator for o in report.by_operator]
    parts = ([s for s in scores if s.layer != INPUT], [s for s in scores if s.layer == INPUT])
    return tuple(_grid(part, campaign) for part in parts if part)


def _grid(scores: list[LayerScore], campaign: list[str]) -> HeatMap:
    layers = tuple(dict.fromkeys(s.layer for s in scores))
    used = dict.fromkeys(s.operator for s in scores)
    operators = (
        *(name for name in campaign if name in used),
        *(name for name in used if name not in campaign),
    )
    by_place = {(s.layer, s.operator): s for s in scores}
    cells = tuple(tuple(by_place.get((layer, name)) for name in operators) for layer in layers)
    return HeatMap(layers, operators, cells)


def shade(score: float) -> int:
    """The step of the colour scale for a fraction, 0-10; 5 stands for one half."""
    return min(10, max(0, int(10 * score + 0.5)))


def cell_label(cell: LayerScore) -> str:
    """A cell of a heat map in words."""
    score = percent(cell.mutation_score)
    judged = f"{cell.operator} in {cell.layer}: {cell.killed} of {cell.mutants} killed, score {score}"
    return short(judged, 160)
