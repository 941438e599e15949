"""Positions of what a page of an autopsy draws inline: reliability diagram, confusion grid, points of embeddings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.report.words import percent, short
from app.reporting.autopsy.report import (
    AutopsyReport,
    Bin,
)

SIDE, MARGIN = 320.0, 46.0
"""Side of the reliability diagram's square, and the room left of and below it for its axes."""
MOST_CLASSES = 120
"""Rows and columns of a confusion grid; of more classes those with the most errors are shown."""
LABEL_ROOM, GRID_ROOM = 112.0, 952.0
"""Room for the names of the classes beside a large grid, and for names and grid together: a page's width."""
LEAST_CELL, MOST_CELL = 7.0, 14.0
"""Side of a cell of a large grid."""
NUMBERED = 16
"""Up to so many classes the cells hold their numbers."""
WIDE, HIGH = 760.0, 430.0
"""Canvas of the embeddings."""
COLOURED = 6
"""So many classes have a colour of their own among the embeddings."""


@dataclass(frozen=True)
class Bar:
    """One bin of the reliability diagram."""

    x: float
    """Left edge."""
    width: float
    """Width."""
    y: float
    """Top of the accuracy."""
    height: float
    """Height of the accuracy."""
    gap_y: float
    """Top of the gap between accuracy and confidence."""
    gap_height: float
    """Its height."""
    over: bool
    """Whether confidence is above accuracy."""
    low: float | None
    """Lower end of the whisker; None without."""
    high: float | None
    """Upper end."""
    share: float
    """Share of the predictions that the bin holds, over that of the fullest bin."""
    title: str
    """In words."""


def bars(bins: Sequence[Bin]) -> list[Bar]:
    """The bins that hold predictions, on a square whose origin is at the bottom left."""
    fullest = max((each.n for each in bins), default=1) or 1
    drawn = []
    for each in bins:
        if each.accuracy is None or each.confidence is None:
            continue
        top, sure = _up(each.accuracy), _up(each.confidence)
        ends = each.accuracy_ci
        drawn.append(
            Bar(
                x=round(MARGIN + SIDE * each.low + 1, 1),
                width=round(SIDE * (each.high - each.low) - 2, 1),
                y=top,
                height=round(SIDE + 10 - top, 1),
                gap_y=min(top, sure),
                gap_height=round(abs(top - sure), 1),
                over=each.confidence > each.accuracy,
                low=None if ends is None else _up(ends[0]),
                high=None if ends is None else _up(ends[1]),
                share=each.n / fullest,
                title=(
                    f"confidence {each.low:.1f} to {each.high:.1f}: {each.n} predictions, "
                    f"{percent(each.accuracy)} right at a mean confidence of {percent(each.confidence)}"
                ),
            )
        )
    return drawn


def _up(fraction: float) -> float:
    return round(10 + SIDE * (1 - fraction), 1)


@dataclass(frozen=True)
class Cell:
    """A cell of the confusion grid that holds something."""

    row: int
    """Which row."""
    column: int
    """Which column."""
    count: int
    """Test cases."""
    share: float
    """Of the row's class."""
    title: str
    """In words."""

    @property
    def step(self) -> int:
        """Step of its colour, 0-10: of blue on the diagonal, of orange elsewhere."""
        if self.row == self.column:
            return 5 + round(5 * self.share)
        return 5 - max(1, min(5, round(5 * math.sqrt(2 * self.share))))


@dataclass(frozen=True)
class Grid:
    """A confusion matrix to be drawn."""

    names: tuple[str, ...]
    """Classes shown, in the order of the model."""
    cells: tuple[Cell, ...]
    """What is not zero."""
    left_out: int
    """Classes that are not shown."""

    @property
    def numbered(self) -> bool:
        """Whether the cells are large enough for numbers."""
        return len(self.names) <= NUMBERED

    @property
    def rows(self) -> list[list[Cell | None]]:
        """All cells, row by row; None where nothing is."""
        table: list[list[Cell | None]] = [[None] * len(self.names) for _ in self.names]
        for cell in self.cells:
            table[cell.row][cell.column] = cell
        return table

    @property
    def cell(self) -> float:
        """Side of a cell; the grid is no wider than a page if it can be helped."""
        room = (GRID_ROOM - LABEL_ROOM) / max(len(self.names), 1)
        return round(min(MOST_CELL, max(LEAST_CELL, room)), 1)

    @property
    def font(self) -> float:
        """Size of the names beside the cells."""
        return round(min(9.5, 0.92 * self.cell), 1)

    @property
    def side(self) -> float:
        """Side of the whole drawing."""
        return round(LABEL_ROOM + self.cell * len(self.names), 1)


def grid(report: AutopsyReport) -> Grid:
    """The confusion matrix as a grid."""
    matrix, names = report.confusion, [each.name for each in report.per_class]
    chosen = list(range(len(names)))
    if len(names) > MOST_CLASSES:
        errors = [
            sum(row) - row[k] + sum(other[k] for other in matrix) - row[k] for k, row in enumerate(matrix)
        ]
        chosen = sorted(sorted(chosen, key=lambda k: (-errors[k], k))[:MOST_CLASSES])
    cells = []
    for row, a in enumerate(chosen):
        total = sum(matrix[a])
        for column, b in enumerate(chosen):
            count = matrix[a][b]
            if count:
                said = "right" if a == b else f"taken for {short(names[b], 40)}"
                words = f"{count} of {total} {short(names[a], 40)} {said} ({percent(count / total)})"
                cells.append(Cell(row, column, count, count / total, words))
    return Grid(tuple(names[k] for k in chosen), tuple(cells), len(names) - len(chosen))


@dataclass(frozen=True)
class Cloud:
    """Points of one colour, as one path of dots."""

    name: str
    """What they are."""
    look: str
    """Class of the path."""
    path: str
    """Moves and dots."""
    n: int
    """How many."""


@dataclass(frozen=True)
class Scatter:
    """Test cases in the plane."""

    clouds: tuple[Cloud, ...]
    """Right predictions by class, then errors."""
    marks: Mapping[int, tuple[float, float]]
    """Place of each test case shown."""


def scatter(report: AutopsyReport) -> Scatter | None:
    """The embeddings: right predictions in the colours of their classes, errors on top."""
    found = report.embeddings
    if found is None or not found.cases:
        return None
    low_x, high_x, low_y, high_y = min(found.x), max(found.x), min(found.y), max(found.y)
    place = {
        case: (
            round(10 + (WIDE - 20) * (x - low_x) / ((high_x - low_x) or 1.0), 1),
            round(HIGH - 10 - (HIGH - 20) * (y - low_y) / ((high_y - low_y) or 1.0), 1),
        )
        for case, x, y in zip(found.cases, found.x, found.y, strict=True)
    }
    groups: dict[int, list[int]] = {}
    errors = []
    for case, label, right in zip(found.cases, found.labels, found.right, strict=True):
        if right:
            groups.setdefault(label, []).append(case)
        else:
            errors.append(case)
    labels = sorted(groups)
    clouds = []
    if len(labels) > 2 * COLOURED:  # more colours than anybody can tell apart
        clouds.append(_cloud("right", "cn", [case for label in labels for case in groups[label]], place))
    else:
        for number, label in enumerate(labels):
            look = f"c{number % COLOURED}" + (" pale" if number >= COLOURED else "")
            clouds.append(_cloud(report.per_class[label].name, look, groups[label], place))
    if errors:
        clouds.append(_cloud("wrong", "ce", errors, place))
    return Scatter(tuple(clouds), place)


def _cloud(name: str, look: str, cases: Sequence[int], place: Mapping[int, tuple[float, float]]) -> Cloud:
    return Cloud(name, look, "".join(f"M{place[case][0]} {place[case][1]}h0" for case in cases), len(cases))
