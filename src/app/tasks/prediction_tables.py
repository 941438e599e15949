"""What a classifier said, from files and without the model: arrays or tables of probabilities, labels, class names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError
from app.tables import (
    CASES,
    LABELS,
    CaseIndex,
    Classes,
    Column,
    Table,
    canonical,
    known,
    read_array,
    read_class_names,
    read_table,
)
from app.tables.table import repeated, short

ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq")
"""Of tables; arrays end in .npy."""
NAME_FILES = ("classes.json", "classes.txt")
"""Where class names are looked for beside an array of probabilities."""
CLASS_NAMES = "task.class_names"
"""The key that gives them."""


@dataclass(frozen=True, eq=False)
class PredictionTable:
    """What a classifier said about N test cases, as files hold it; `diagnose` checks it."""

    probs: NDArray[Any]
    """(N, K)."""
    labels: NDArray[Any]
    """(N,) numbers of the true classes."""
    class_names: tuple[str, ...]
    """K names."""
    paths: tuple[str, ...]
    """(N,) names of the test cases."""
    names: tuple[str, str]
    """What the two files are called."""
    digests: tuple[str, str]
    """SHA-256 of the probabilities, and of the labels."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""


@dataclass(frozen=True, eq=False)
class _Columns:
    """A file read."""

    path: Path
    values: NDArray[Any]
    """What it holds beside names and labels; (N, K), or (N,) for an array of labels."""
    columns: tuple[str, ...] = ()
    """Names of the K columns; empty for an array."""
    labels: NDArray[Any] | None = None
    paths: tuple[str, ...] | None = None
    lines: tuple[str, ...] = ()
    """Where each row is, in words; empty for an array."""
    notes: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        """A row in words."""
        return self.lines[row] if self.lines else f"row {row}"


def read_predictions(
    probs: str,
    labels: str | None = None,
    *,
    class_names: str | Sequence[str] | None = None,
    given: NDArray[Any] | None = None,
    cases: Sequence[str] = (),
) -> PredictionTable:
    """Predictions and labels from files.

    A table has a column for each class, named like it, and may have one of labels (`label`) and one that names the
    test cases (`path`); two tables with such names are matched by them. Labels are numbers or names of classes.

    Args:
        probs: an array (N, K) or a table of probabilities or logits.
        labels: an array (N,) or a table of labels; None where the table of probabilities holds them.
        class_names: K names in training order, or a file of them (JSON list, or one a line); None takes the columns'
            names, else a `classes.json` or `classes.txt` beside the array, else numbers.
        given: (N,) labels that are known from elsewhere.
        cases: (N,) names of the test cases that are known from elsewhere; a table is put in their order.

    Raises:
        UserError: what is missing, cannot be read, or does not fit together.
    """
    wanted = None if class_names is None else read_class_names(class_names, CLASS_NAMES)
    table = _read(Path(probs).expanduser(), "probs", wanted or ())
    if table.values.ndim != 2:
        shape = table.values.shape
        raise UserError(f"probs={probs} must hold one row a test case and one column a class, not {shape}")
    table = _in_order(table, cases)
    names, notes = _class_names(table, wanted)
    if table.columns and set(names) == set(table.columns):
        order = [table.columns.index(name) for name in names]
        table = replace(table, values=table.values[:, order])
    source, found, more = _labels_of(table, labels, given)
    numbers = _numbered(source, found, names, f"labels={labels}" if labels else f"probs={probs}")
    size = len(table.values)
    return PredictionTable(
        probs=table.values,
        labels=numbers,
        class_names=names,
        paths=table.paths or tuple(f"case-{case:05d}" for case in range(size)),
        names=(_stem(Path(probs)), _stem(Path(labels)) if labels else _stem(Path(probs))),
        digests=(_digest(table.values), _digest(numbers)),
        notes=tuple(dict.fromkeys((*table.notes, *notes, *more))),
    )


def _in_order(table: _Columns, cases: Sequence[str]) -> _Columns:
    """The table in the order of test cases that are known from elsewhere.

    Raises:
        UserError: it names others.
    """
    size = len(table.values)
    if not cases or len(cases) != size:
        return table
    if table.paths is None or table.paths == tuple(map(str, range(size))):
        return replace(table, paths=tuple(cases))
    rows = CaseIndex(cases).rows(table.paths)
    seen: set[int | str] = set()
    for row, path in enumerate(table.paths):
        if isinstance(rows[row], str) or rows[row] in seen:
            raise UserError(
                f"{table.path} names {path!r} ({table.where(row)}), which is no test case of the dataset or is there "
                "twice: correct the name, or leave the column out if both are in one order"
            )
        seen.add(rows[row])
    place = {row: number for number, row in enumerate(rows)}
    order = [place[row] for row in range(size)]
    return replace(
        table,
        values=table.values[order],
        labels=None if table.labels is None else table.labels[order],
        paths=tuple(cases),
        lines=tuple(table.where(row) for row in order),
    )


def _labels_of(
    table: _Columns, labels: str | None, given: NDArray[Any] | None
) -> tuple[NDArray[Any], tuple[str, ...], tuple[str, ...]]:
    """The labels in the order of the probabilities; where each stands, in words; and what is to be said about them."""
    if labels is None:
        found = table.labels if table.labels is not None else given
        if found is None:
            endings = f".npy, {', '.join(ENDINGS)}"
            raise UserError(
                f"labels must be given: labels=FILE ({endings}), or a column {LABELS[0]!r} in {table.path}"
            )
        return found, table.lines if table.labels is not None else (), ()
    other = _read(Path(labels).expanduser(), "labels")
    found = other.labels
    if found is None:
        found = other.values
        if found.ndim == 2 and found.shape[1] != 1:
            raise UserError(
                f"labels={labels} must hold one column of labels, or one called {LABELS[0]!r}, "
                f"not {found.shape[1]} columns"
            )
        found = found.reshape(-1) if found.ndim == 2 else found
    order = _paired(table, other, labels)
    if order is None:
        return found, other.lines, other.notes
    lines = tuple(other.where(row) for row in order)
    return found[order], lines, other.notes


def _paired(table: _Columns, other: _Columns, labels: str) -> list[int] | None:
    """The row of the labels that belongs to each row of the probabilities; None where their order is the same.

    Raises:
        UserError: the labels name their test cases and the probabilities do not, or their names do not fit.
    """
    if other.paths is None or other.paths == table.paths:
        return None
    twice = repeated(other.paths)
    if twice is not None:
        raise UserError(f"labels={labels} names {twice!r} twice: give each test case one label")
    size = len(table.values)
    own = table.paths
    if own is None:
        if set(other.paths) != {str(row) for row in range(size)}:
            raise UserError(
                f"labels={labels} names its test cases (the first: {other.paths[0]!r}) and {table.path} does not, so "
                "that it is not known which row is which: give the probabilities a column of the same names, or leave "
                "the names out if both are in one order"
            )
        own = tuple(map(str, range(size)))
    rows = CaseIndex(own).rows(other.paths)
    place = {row: number for number, row in enumerate(rows) if isinstance(row, int)}
    lacking = [path for row, path in enumerate(own) if row not in place]
    if lacking:
        raise UserError(
            f"labels={labels} has no label for {len(lacking)} test cases of {table.path} (first: {lacking[0]})"
        )
    if len(place) < sum(isinstance(row, int) for row in rows):
        seen: dict[int, str] = {}
        for row, path in zip(rows, other.paths, strict=True):
            if isinstance(row, int) and row in seen:
                raise UserError(
                    f"labels={labels}: {seen[row]!r} and {path!r} are both {own[row]!r}: give each test case one label"
                )
            if isinstance(row, int):
                seen[row] = path
    return [place[row] for row in range(size)]


def _numbered(labels: NDArray[Any], lines: Sequence[str], names: tuple[str, ...], where: str) -> NDArray[Any]:
    """Labels as numbers; names of classes are looked up."""
    if labels.dtype.kind not in "OUS":
        return labels
    classes = Classes(names)
    numbers = []
    for row, word in enumerate(labels.astype(np.str_).tolist()):
        try:
            numbers.append(classes.number(word))
        except KeyError as error:
            place = lines[row] if lines else f"row {row}"
            if not word.strip():
                raise UserError(f"{where} has no label in {place}") from None
            shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            raise UserError(
                f"{where} has labels that are no class, the first is {error.args[0] or repr(word)} ({place}); allowed: "
                f"{shown} ({CLASS_NAMES} gives the names in training order)"
            ) from None
    return np.array(numbers, dtype=np.int64)


# -- class names --------------------------------------------------------------------------------------------------


def _class_names(table: _Columns, given: tuple[str, ...] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if given is not None:
        return given, ()
    if table.columns:
        return table.columns, ()
    for name in NAME_FILES:
        beside = table.path.with_name(name)
        if beside.is_file():
            return read_class_names(beside, ""), (
                f"class names are taken from {name} beside the probabilities",
            )
    return tuple(map(str, range(table.values.shape[1]))), ("no class names were given: classes are numbers",)


# -- files --------------------------------------------------------------------------------------------------------


def _read(path: Path, key: str, classes: Sequence[str] = ()) -> _Columns:
    ending = path.suffix.lower()
    if ending == ".npy":
        return _Columns(path, read_array(path, key))
    if path.is_file() and ending not in ENDINGS:
        raise UserError(f"{key}={path} must end in .npy, {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    names = known(CASES, LABELS, [canonical(each) for each in classes])
    table = read_table(path, names, key)
    if not table.size:
        raise UserError(f"{key}={path} has no rows")
    if not table.header:
        return _array(table, key)
    label = next((each for each in table.candidates(LABELS) if not _of_class(each, classes)), None)
    case = next((each for each in [table.cases()] if each is not None and not _of_class(each, classes)), None)
    rest = [column for column in table.columns.values() if column is not label and column is not case]
    if key == "probs":
        values = _matrix(table, rest)
    elif label is None and len(rest) == 1:
        label, values = rest[0], np.zeros((table.size, 0))
    else:
        values = np.zeros((table.size, len(rest)))
    return _Columns(
        path=path,
        values=values,
        columns=tuple(column.name for column in rest),
        labels=None if label is None else np.array(label.words(), dtype=object),
        paths=None if case is None else tuple(case.words()),
        lines=tuple(table.where(row) for row in range(table.size)),
        notes=table.notes,
    )


def _of_class(column: Column, classes: Sequence[str]) -> bool:
    """Whether a column that is called like names or labels is a class's: its values are none of either."""
    return column.name in classes or (column.numbers is not None and not column.whole)


def _matrix(table: Table, columns: Sequence[Column]) -> NDArray[np.float64]:
    """(N, K): the numbers of the columns.

    Raises:
        UserError: a cell is none.
    """
    for column in columns:
        if column.bad is not None:
            row, cell = column.bad
            raise UserError(
                f"{table.shown}: column {column.name!r} holds {short(cell)} in {table.where(row)}, which is no number: "
                "beside labels and names there may only be one column a class"
            )
    if not columns:
        raise UserError(f"{table.shown} must hold one column a class; it has: {table.listed}")
    return np.stack([table.require_numbers(column) for column in columns], axis=1)


def _array(table: Table, key: str) -> _Columns:
    """A table without a header line: what an array would hold."""
    columns = list(table.columns.values())
    note = f"{table.path.name} has no header line: it was read as an array"
    lines = tuple(table.where(row) for row in range(table.size))
    if all(column.numbers is not None for column in columns):
        values = np.stack([table.require_numbers(column) for column in columns], axis=1)
        if key == "labels" and len(columns) == 1:
            return _Columns(table.path, values, labels=_words(columns[0]), lines=lines, notes=(note,))
        return _Columns(table.path, values, lines=lines, notes=(*table.notes, note))
    if key == "labels" and len(columns) == 1:
        return _Columns(
            table.path, np.zeros((table.size, 0)), labels=_words(columns[0]), lines=lines, notes=(note,)
        )
    first = ", ".join(short(column.words()[0]) for column in columns[:3])
    raise UserError(
        f"{table.shown}: {table.where(0)} is no header but a case ({first}): put a line with the names of the columns "
        f"before it, such as {'path and a name for each class' if key == 'probs' else 'path and label'}"
    )


def _words(column: Column) -> NDArray[Any]:
    return np.array(column.words(), dtype=object)


def _stem(path: Path) -> str:
    return path.stem.replace("@", "_")


def _digest(values: NDArray[Any]) -> str:
    """SHA-256 of shape, type and content."""
    head = f"{values.dtype.str}|{values.shape}|".encode()
    return hashlib.sha256(head + np.ascontiguousarray(values).tobytes()).hexdigest()
