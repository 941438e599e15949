"""The table that people fill in with labels: rewritten in every round, and what they added to it stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import UserError
from app.estimation.labels import Labels
from app.reporting import schema
from app.reporting.estimate.assembly import Cases
from app.reporting.estimate.report import EstimateReport
from app.tables import CASES, LABELS, PREDICTED, CaseIndex, Table, csv_bytes, known, read_table

TO_LABEL = "to_label.csv"
COLUMNS = ("path", "predicted_class", "confidence", "why", "label")
"""Ours; all others are the user's."""
_NAMES = {
    "path": CASES,
    "predicted_class": PREDICTED,
    "confidence": ("confidence",),
    "why": ("why",),
    "label": LABELS,
}


@dataclass(frozen=True)
class _Earlier:
    """What an earlier round's table holds."""

    names: tuple[str, ...]
    """Of its columns, in the user's order."""
    ours: Mapping[str, str]
    """What the columns that are ours are called there."""
    rows: Sequence[dict[str, str]]
    separator: str = ","
    marked: bool = False

    @property
    def own(self) -> list[str]:
        """The user's columns."""
        return [name for name in self.names if name not in self.ours.values()]


_NOTHING = _Earlier(COLUMNS, {name: name for name in COLUMNS}, ())


def write_to_label(report: EstimateReport, output: Path, cases: Cases, labels: Labels) -> Path:
    """The table to fill in: what is asked first, with an empty label; then what has a label already.

    Columns that the user has added stay, in the user's order; so do rows with something in them, and the separator that
    the user's spreadsheet has chosen.

    Raises:
        UserError: the file cannot be written.
    """
    earlier = _earlier(output / TO_LABEL)
    asked = [] if report.labelling is None else report.labelling.asked
    rows = [
        (each.case, [each.id, each.predicted_class, f"{each.confidence:.6g}", each.reason, ""])
        for each in asked
    ]
    for case in (labels.outcomes >= 0).nonzero()[0].tolist():
        label = cases.class_name(int(labels.classes[case])) or (
            "wrong" if labels.outcomes[case] else "correct"
        )
        about = [str(cases.population.ids[case]), cases.predicted(case), f"{cases.confidence(case):.6g}"]
        rows.append((case, [*about, "has a label", label]))
    filled = (
        [row.get(name, "") for name in earlier.names]
        for row in _with_own(rows, earlier, cases.population.ids.tolist())
    )
    content = csv_bytes(earlier.names, filled, separator=earlier.separator, marked=earlier.marked)
    return schema.write_bytes(content, output / TO_LABEL)


def holds_labels(output: Path) -> bool:
    """Whether somebody has filled in a label in a folder; also if that cannot be read."""
    try:
        table = _read(output / TO_LABEL)
    except UserError:
        return (output / TO_LABEL).exists()
    label = table.find(LABELS) if table.header else list(table.columns.values())[-1]
    return label is not None and any(word.strip() for word in label.words())


def _read(path: Path) -> Table:
    return read_table(path, known(CASES, LABELS, PREDICTED, COLUMNS))


def _earlier(path: Path) -> _Earlier:
    try:
        table = _read(path)
    except UserError:
        return _NOTHING
    case = table.cases()
    if not table.header or case is None or not case.name:
        return _NOTHING
    found = {role: case if role == "path" else table.find(names) for role, names in _NAMES.items()}
    ours = {role: role if column is None else column.name for role, column in found.items()}
    columns = {name: column for name, column in table.columns.items() if column.name}
    words = {name: column.words() for name, column in columns.items()}
    return _Earlier(
        (*columns, *(name for name in ours.values() if name not in columns)),
        ours,
        [{name: cells[row] for name, cells in words.items()} for row in range(table.size)],
        table.separator if table.separator in {";", "\t"} else ",",
        table.marked,
    )


def _with_own(
    rows: Sequence[tuple[int, Sequence[str]]], earlier: _Earlier, ids: Sequence[str]
) -> Iterator[dict[str, str]]:
    """The rows with what the user added to them, and the user's rows that are none of them but hold something."""
    path, label = earlier.ours["path"], earlier.ours["label"]
    before: dict[int | str, list[dict[str, str]]] = {}
    places = CaseIndex(ids).rows([row[path] for row in earlier.rows])
    for place, row in zip(places, earlier.rows, strict=True):
        before.setdefault(place, []).append(row)
    for case, cells in rows:
        known_as = before.pop(case, [{}])
        some = any(row.get(label, "").strip() for row in known_as)
        for row in known_as:
            ours = {earlier.ours[name]: cell for name, cell in zip(COLUMNS, cells, strict=True)}
            if some and not row[label].strip():  # another row of the case has the label
                ours[label] = ""
            yield row | ours
    for others in before.values():
        yield from (row for row in others if any(row[name].strip() for name in earlier.own))
