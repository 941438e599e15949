"""Labels that people gave: a filled `to_label.csv`, a Label Studio export, or a folder with several of them.

Every case that got two different labels, every path that is no case and every class that the model does not know is
named; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError
from app.estimation.population import IntArray, Population
from app.tables import (
    CASES,
    LABELS,
    PREDICTED,
    CaseIndex,
    Classes,
    Table,
    known,
    read_json,
    read_table,
)
from app.tables.label_studio import Given, read_export

_WORDS = {"correct": 0, "pass": 0, "wrong": 1, "fail": 1, "failure": 1}
"""What may be said of a case in place of its class."""
_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
"""Of the files of labels in a folder."""
_SHOWN = 3


@dataclass(frozen=True)
class Labels:
    """What is known of a population so far."""

    outcomes: NDArray[np.int8]
    """(N,) 1 failure, 0 correct, -1 no label yet."""
    classes: IntArray
    """(N,) true class; -1 without a label, or where only the outcome was given."""
    notes: tuple[str, ...] = ()
    """What a reader must know of the files they came in."""

    @property
    def count(self) -> int:
        """How many cases have a label."""
        return int((self.outcomes >= 0).sum())

    def over(self, others: Labels) -> Labels:
        """These labels, and those of others where these say nothing."""
        mine = self.outcomes >= 0
        return Labels(
            np.where(mine, self.outcomes, others.outcomes),
            np.where(mine, self.classes, others.classes),
            tuple(dict.fromkeys((*self.notes, *others.notes))),
        )


def no_labels(population: Population) -> Labels:
    """Nothing is known yet."""
    return Labels(np.full(population.size, -1, np.int8), np.full(population.size, -1, np.int64))


def read_labels(path: Path | str, population: Population, class_names: Sequence[str] = ()) -> Labels:
    """The labels in a file, or in all tables and exports of a folder.

    A table has a column `path` (or `id`) and a column `label`; rows without a label are still to do. JSON is Label
    Studio's export, whole or minimal. A label is the name of a class, its number (`Classes`), or `correct` and `wrong`
    where the true class does not matter; these two count for the prediction they were given for.

    Args:
        path: the file or folder.
        population: the cases; predicted classes are needed unless all labels say correct or wrong.
        class_names: names of the classes; without any, labels are class numbers.

    Raises:
        UserError: what is missing or broken, unknown paths or classes, cases with two different labels, and `correct`
            or `wrong` that were said about another prediction.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        files = sorted(each for each in place.iterdir() if each.suffix.lower() in _ENDINGS)
        if not files:
            raise UserError(f"labels={place} holds no .csv and no .json file")
    elif place.is_file():
        files = [place]
    else:
        raise UserError(f"labels={place} does not exist")
    index, classes, notes = CaseIndex(population.ids.tolist()), Classes(class_names), list[str]()
    given: list[Given] = []
    rows: list[int] = []
    for file in files:
        some, some_rows, some_notes = _read(file, index, population.name)
        given += some
        rows += some_rows
        notes += some_notes
    return _labels(given, rows, population, classes, notes=notes, place=str(place))


def _labels(
    given: Sequence[Given],
    rows: Sequence[int],
    population: Population,
    classes: Classes,
    *,
    notes: Sequence[str],
    place: str,
) -> Labels:
    labels = no_labels(population)
    said: dict[int, tuple[int, int]] = {}
    by: dict[int, Given] = {}
    strange: list[str] = []
    twice: list[str] = []
    for each, row in zip(given, rows, strict=True):
        try:
            meant = _meant(each, row, population, classes)
        except KeyError as error:
            strange.append(error.args[0] or f"{each.label!r} ({each.where})")
            continue
        if row in said and said[row] != meant:
            twice.append(
                f"{each.path} is {by[row].label!r} ({by[row].where}) and {each.label!r} ({each.where})"
            )
        said[row], by[row] = meant, each
    about = f"; {'; '.join(notes)}" if any("Latin-1" in note for note in notes) else ""
    if strange:
        words = f"{classes.listed}, correct, wrong" if classes.names else "class numbers"
        raise UserError(f"labels={place}: unknown class {_few(strange)}; allowed: {words}{about}")
    if twice:
        raise UserError(
            f"labels={place}: labelled twice with different values: {_few(twice)}: keep the right one"
        )
    for row, (outcome, label) in said.items():
        labels.outcomes[row], labels.classes[row] = outcome, label
    return Labels(labels.outcomes, labels.classes, tuple(dict.fromkeys(notes)))


def _few(found: Sequence[str]) -> str:
    rest = len(found) - _SHOWN
    return "; ".join(found[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")


def _meant(given: Given, row: int, population: Population, classes: Classes) -> tuple[int, int]:
    """(outcome, class) of a label.

    Raises:
        KeyError: it is no class.
    """
    word = given.label.strip()
    try:
        index = classes.number(given.label)
    except KeyError as error:
        outcome = _WORDS.get(word.casefold())
        if outcome is None or error.args[0]:
            raise KeyError(f"{error.args[0]} ({given.where})" if error.args[0] else "") from None
        _check_same_prediction(given, row, population, classes)
        return outcome, -1
    if population.predicted is None:
        raise UserError(
            f"population {population.name!r} has no predicted classes to compare labels with: give 'correct' or"
            f" 'wrong' as label, not {word!r}"
        )
    return int(index != population.predicted[row]), index


def _check_same_prediction(given: Given, row: int, population: Population, classes: Classes) -> None:
    """Sees to it that what was said about a prediction does not serve another one."""
    if population.predicted is None or not given.predicted.strip():
        return
    now = int(population.predicted[row])
    try:
        same = classes.number(given.predicted) == now
    except KeyError:
        same = False
    if not same:
        name = classes.names[now] if now < len(classes.names) else str(now)
        raise UserError(
            f"{given.where}: {given.label.strip()!r} was said of {given.path} when the predicted class was "
            f"{given.predicted.strip()!r}; now it is {name!r}: give the true class instead, or clear the label"
        )


# -- files --------------------------------------------------------------------------------------------------------


def _read(path: Path, index: CaseIndex, subject: str) -> tuple[list[Given], list[int], tuple[str, ...]]:
    """The labels in one file, the cases they are of, and what is to be said about the file."""
    if path.suffix.lower() in {".json", ".jsonl", ".ndjson"}:
        given, notes = list(read_export(read_json(path), path)), tuple[str, ...]()
        return given, _rows(given, index.rows([each.path for each in given]), path, subject, notes), notes
    table = read_table(path, known(CASES, LABELS, PREDICTED))
    best: tuple[list[Given], list[int | str]] | None = None
    for case in _case_columns(table):  # of several that could name the cases, the one whose names are known
        given = list(_in_table(table, case))
        rows = index.rows([each.path for each in given])
        if best is None or _lost(rows) < _lost(best[1]):
            best = given, rows
    assert best is not None  # noqa: S101 - there is a column, or it was refused
    return best[0], _rows(best[0], best[1], path, subject, table.notes), table.notes


def _lost(rows: Sequence[int | str]) -> int:
    return sum(isinstance(row, str) for row in rows)


def _rows(
    given: Sequence[Given], rows: Sequence[int | str], path: Path, subject: str, notes: Sequence[str]
) -> list[int]:
    unknown = [
        f"{each.path} ({each.where}{', ' + row if row else ''})"
        for each, row in zip(given, rows, strict=True)
        if isinstance(row, str)
    ]
    if unknown:
        about = f"; {'; '.join(notes)}" if any("Latin-1" in note for note in notes) else ""
        raise UserError(f"labels={path}: no case of {subject} is {_few(unknown)}{about}")
    return [row for row in rows if not isinstance(row, str)]


def _case_columns(table: Table) -> Sequence[str | None]:
    """The columns that may name the cases; None where an index counts them."""
    if not table.header:
        if len(table.columns) == 2:
            return list(table.columns)[:1]
        raise UserError(
            f"{table.shown}: line {table.lines[0]} is no header, and there are {len(table.columns)} columns: put a "
            "line with the names of the columns before it, path and label"
        )
    found: list[str | None] = [column.name for column in table.candidates(CASES)]
    if not found and table.numbered:
        found = [None]
    lacking = "path" if not found else "label" if table.find(LABELS) is None else None
    if lacking is not None:
        raise UserError(f"{table.shown} has no column {lacking!r}; it has: {table.listed}")
    return found


def _in_table(table: Table, case: str | None) -> Iterator[Given]:
    label = table.find(LABELS) if table.header else list(table.columns.values())[1]
    assert label is not None  # noqa: S101 - `_case_columns` has refused it
    paths = list(map(str, range(table.size))) if case is None else table.columns[case].words()
    words = label.words()
    before = table.find(PREDICTED) if table.header else None
    predicted = [""] * table.size if before is None else before.words()
    for row, (path, word, was) in enumerate(zip(paths, words, predicted, strict=True)):
        if word.strip():
            yield Given(path, word, f"{table.path.name} {table.where(row)}", was)
