"""Populations from tables: the published CSVs as they are, and any CSV, Parquet or NPZ with named columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError
from app.estimation.leakage import Leak, leaks
from app.estimation.population import BoolArray, FloatArray, Population
from app.tables import PREDICTED, TRUE, Column, Table, canonical, known, read_table, refuse_headless
from app.tables.classes import unlike
from app.tables.numerals import whole
from app.tables.table import CASES, short

_ROLES = ("id", "outcome", "predicted", "label", "neurons")
_ALIASES = {
    "outcome": ("outcome", "failure", "failed"),
    "predicted": PREDICTED,
    "label": TRUE,
    "neurons": ("neurons",),
    "confidence": ("confidence", "conf"),
    "combined": ("combined", canonical("conf*(1-norm_dsa)")),
}
_OTHERS = ("dsa", "lsa", "margin", "entropy")
ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".npz", ".json", ".jsonl")
"""Of populations."""
_SHOWN = 5
_THOUSAND = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_FAILED = {"fail", "failed", "failure", "1", "true", "1.0"}
_PASSED = {"pass", "passed", "correct", "0", "false", "0.0"}


@dataclass(frozen=True)
class PopulationTable:
    """A table read: the population, and the outcomes if it had any."""

    population: Population
    """The cases."""
    failures: BoolArray | None
    """(N,) outcomes, from an outcome column or from labels and predicted classes; None without."""
    leaks: tuple[Leak, ...]
    """Columns that know the outcome; kept in the population, never to be used by a model of failure."""
    class_names: tuple[str, ...] = ()
    """Names of the classes in the order of their numbers, where the table has names and no numbers."""
    true: NDArray[np.int64] | None = None
    """(N,) true classes; None without a column of labels."""


def _outcomes(column: Column, table: Table) -> BoolArray:
    words = np.char.lower(np.char.strip(np.asarray(column.words(), dtype=np.str_)))
    failed, passed = np.isin(words, list(_FAILED)), np.isin(words, list(_PASSED))
    bad = np.flatnonzero(~(failed | passed))
    if len(bad):
        raise UserError(
            f"{table.shown}: column {column.name!r} holds {str(words[bad[0]])!r} in {table.where(bad[0])}; "
            "allowed are Pass, Fail, 0, 1"
        )
    return failed


def _classes(columns: Sequence[Column], table: Table) -> tuple[list[NDArray[np.int64]], tuple[str, ...]]:
    """Columns of classes as numbers, and the names of the classes if they are not numbers already."""
    if all(column.numbers is not None for column in columns):
        found = []
        for column in columns:
            numbers = table.require_numbers(column)
            bad = np.flatnonzero(numbers != np.round(numbers))
            if len(bad):
                raise UserError(
                    f"{table.shown}: column {column.name!r} must hold class numbers, {table.where(bad[0])} does not"
                )
            found.append(numbers.astype(np.int64))
        return found, ()
    words = [[_class(word) for word in column.words()] for column in columns]
    for column, cells in zip(columns, words, strict=True):
        if "" in cells:
            raise UserError(
                f"{table.shown}: column {column.name!r} must hold classes, {table.where(cells.index(''))} is empty"
            )
    if len(words) == 2:
        twins = unlike(*words)
        if twins is not None:
            raise UserError(
                f"{table.shown}: column {columns[0].name!r} has the class {twins[0]!r} and column {columns[1].name!r} "
                f"{twins[1]!r}: spell a class alike in both"
            )
    names = np.unique(np.concatenate([np.asarray(cells, dtype=np.str_) for cells in words]))
    return [np.searchsorted(names, np.asarray(cells)).astype(np.int64) for cells in words], tuple(
        names.tolist()
    )


def _class(word: str) -> str:
    """A class among names: 1 and 1.0 are one."""
    value = whole(word)
    return word.strip() if value is None or word.strip().isdigit() else str(value)


def read_population(
    path: Path | str, columns: Mapping[str, str] | None = None, name: str | None = None
) -> PopulationTable:
    """The population in a table.

    Any table that `app.tables` reads. Without a mapping, columns are found by name whatever the case of their letters;
    every other column of numbers becomes an auxiliary variable.

    Args:
        path: The file; its ending tells the format.
        columns: Which column of the table is the id, outcome, predicted, label, neurons, confidence, dsa, lsa, margin,
            entropy, combined, or any name of your own: {"confidence": "max_softmax"}. Classes (predicted, label) are
            numbers or names. Neurons are an (N, m) array.
        name: Name of the population; the file's without one.

    Raises:
        UserError: the file is missing, of another format or broken, a mapped column is missing, or the values do not
            pass the checks of `Population`.
    """
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise UserError(f"{path}: a population is a {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]} file")
    mapping = dict(columns or {})
    titles = known(CASES, *_ALIASES.values(), _OTHERS, [canonical(each) for each in mapping.values()])
    table = read_table(path, titles)
    refuse_headless(table, "such as path and confidence")
    if not table.size:
        raise UserError(f"{table.shown} has no cases")
    places = {role: _find(table, role, mapping) for role in (*_ROLES, "confidence", "combined", *mapping)}
    taken = {column.name for column in places.values() if column is not None}
    auxiliary = {role: column for role, column in places.items() if role not in _ROLES and column is not None}
    notes = list(table.notes)
    for column in table.columns.values():
        if not column.name or column.name in taken or column.name.lower() in auxiliary:
            continue
        if column.numbers is not None:
            auxiliary[column.name.lower()] = column
        elif column.bad is not None and (column.bad[0] > 0 or _THOUSAND.fullmatch(column.bad[1].strip())):
            row, cell = column.bad
            notes.append(
                f"column {column.name!r} is not used: it holds {short(cell)} in {table.where(row)}, which is no number"
            )
    classed = [column for column in (places["predicted"], places["label"]) if column is not None]
    classes, class_names = _classes(classed, table)
    predicted = classes[0] if places["predicted"] else None
    neurons = places["neurons"]
    if neurons is not None and neurons.matrix is None:
        raise UserError(f"{table.shown}: column {neurons.name!r} must hold a list of numbers in every row")
    ids = _ids(places["id"], table)
    values = {
        role: _finite(table.require_numbers(column), column, ids, table) for role, column in auxiliary.items()
    }
    try:
        population = Population(
            name or path.stem,
            np.asarray(ids, dtype=np.str_),
            values,
            predicted,
            None if neurons is None or neurons.matrix is None else neurons.matrix.astype(np.float64),
            tuple(notes),
        )
    except UserError as error:
        raise UserError(f"{table.shown}: {error}") from None
    failures: BoolArray | None = None
    if places["outcome"]:
        failures = _outcomes(places["outcome"], table)
    true = classes[-1] if places["label"] else None
    if failures is None and true is not None and predicted is not None:
        failures = true != predicted
    return PopulationTable(population, failures, leaks(population, failures), class_names, true)


def _ids(column: Column | None, table: Table) -> list[str]:
    """The names of the cases, which are all different; their numbers without a column of names."""
    if column is None:
        return [str(row) for row in range(table.size)]
    ids = column.words()
    seen: dict[str, int] = {}
    for row, each in enumerate(ids):
        first = seen.setdefault(each, row)
        if first != row:
            raise UserError(
                f"{table.shown}: ids must be unique, but {table.where(first)} and {table.where(row)} share "
                f"{short(each)}: give each case a name of its own"
            )
    return ids


def _finite(values: FloatArray, column: Column, ids: Sequence[str], table: Table) -> FloatArray:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        where = ", ".join(f"{table.where(row)} (id {ids[row]})" for row in bad[:_SHOWN].tolist())
        more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        raise UserError(
            f"{table.shown}: column {column.name!r} must be finite; empty, NaN or infinite in {where}{more}: "
            "fill it, or leave the column out"
        )
    return values


def _find(table: Table, role: str, mapping: Mapping[str, str]) -> Column | None:
    """The table's column for a role: as mapped, else of a known name."""
    if role in mapping:
        return table.column(mapping[role], role)
    return table.cases() if role == "id" else table.find(_ALIASES.get(role, (role,)))
