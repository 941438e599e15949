"""Populations from tables: the published CSVs as they are, and any CSV, Parquet or NPZ with named columns."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app import array_files
from app.errors import UserError
from app.estimation.leakage import Leak, leaks
from app.estimation.population import BoolArray, FloatArray, Population

_ROLES = ("id", "outcome", "predicted", "label", "neurons")
_ALIASES = {
    "id": ("id", "path", "case", "image"),
    "outcome": ("outcome", "failure", "failed"),
    "predicted": ("predicted", "sut", "prediction", "predicted_class"),
    "label": ("label", "true_label", "target"),
    "confidence": ("confidence", "conf"),
    "combined": ("combined", "conf*(1-norm_dsa)"),
}
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


Raw = dict[str, NDArray[np.generic]]


def _read_csv(path: Path) -> Raw:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, None)
        if header is None:
            raise UserError(f"{path}: the file is empty, a header line is needed")
        names = [name.strip() for name in header]
        if len(set(names)) != len(names):
            raise UserError(f"{path}: two columns have the same name")
        lines = []
        for number, row in enumerate(rows, start=2):
            if not row:
                continue
            if len(row) != len(names):
                raise UserError(f"{path}: line {number} has {len(row)} fields, the header has {len(names)}")
            lines.append(row)
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(names)
    return {name: np.asarray(column, dtype=np.str_) for name, column in zip(names, columns, strict=True)}


def _read_parquet(path: Path) -> Raw:
    import pandas as pd  # noqa: PLC0415 -- slow to import, and only needed for Parquet

    try:
        table = pd.read_parquet(path)
    except (ValueError, OSError) as error:
        raise UserError(f"{path} is not a Parquet file: {error}") from error
    columns: Raw = {}
    for name in table.columns:
        values = table[name].to_numpy()
        columns[str(name)] = (
            np.stack(list(values)) if values.dtype == object and _is_nested(values) else values
        )
    return columns


def _is_nested(values: NDArray[np.generic]) -> bool:
    return len(values) > 0 and isinstance(values[0], np.ndarray)


def _read_npz(path: Path) -> Raw:
    try:
        loaded = array_files.load(path)
    except array_files.UnsoundFileError as reason:
        raise UserError(f"{path} cannot be read as an .npz file of plain arrays: {reason}") from None
    if not isinstance(loaded, dict):
        raise UserError(f"{path} is an .npy file of one array; a population is an .npz file of columns")
    return loaded


def _find(raw: Raw, role: str, mapping: Mapping[str, str], path: Path) -> str | None:
    """The table's name for a role: as mapped, else a known alias whatever its case."""
    if role in mapping:
        if mapping[role] not in raw:
            raise UserError(f"{path} has no column {mapping[role]!r} (for {role}); it has: {', '.join(raw)}")
        return mapping[role]
    lower = {name.lower(): name for name in raw}
    return next((lower[alias] for alias in _ALIASES.get(role, (role,)) if alias in lower), None)


def _outcomes(values: NDArray[np.generic], path: Path, name: str) -> BoolArray:
    words = np.char.lower(np.char.strip(values.astype(np.str_)))
    failed, passed = np.isin(words, list(_FAILED)), np.isin(words, list(_PASSED))
    bad = np.flatnonzero(~(failed | passed))
    if len(bad):
        raise UserError(
            f"{path}: column {name!r} holds {str(words[bad[0]])!r} in row {bad[0]}; allowed are Pass, Fail, 0, 1"
        )
    return failed


def _numbers(values: NDArray[np.generic], path: Path, name: str) -> FloatArray:
    """A column as numbers; empty cells become NaN, which the population names by row."""
    if values.dtype.kind == "U":
        words = np.char.strip(values.astype(np.str_))
        values = np.where(words == "", "nan", words)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise UserError(f"{path}: column {name!r} must hold numbers only") from None


def _classes(raw: Raw, names: Sequence[str], path: Path) -> tuple[list[NDArray[np.int64]], tuple[str, ...]]:
    """Columns of classes as numbers, and the names of the classes if they are not numbers already."""
    if any(not _numeric(raw[name]) for name in names):
        words = [np.char.strip(raw[name].astype(np.str_)) for name in names]
        for name, column in zip(names, words, strict=True):
            if (column == "").any():
                row = int(np.argmax(column == ""))
                raise UserError(f"{path}: column {name!r} must hold classes, row {row} is empty")
        known = np.unique(np.concatenate(words))
        return [np.searchsorted(known, column).astype(np.int64) for column in words], tuple(known.tolist())
    found = []
    for name in names:
        numbers = _numbers(raw[name], path, name)
        bad = np.flatnonzero(numbers != np.round(numbers))
        if len(bad):
            raise UserError(f"{path}: column {name!r} must hold class numbers, row {bad[0]} does not")
        found.append(numbers.astype(np.int64))
    return found, ()


def read_population(
    path: Path | str, columns: Mapping[str, str] | None = None, name: str | None = None
) -> PopulationTable:
    """The population in a table.

    CSV (with or without byte-order mark and final newline), Parquet, or NPZ. Without a mapping, columns are found by
    name whatever the case of their letters; every other column of numbers becomes an auxiliary variable.

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
    readers = {".csv": _read_csv, ".parquet": _read_parquet, ".npz": _read_npz}
    if path.suffix.lower() not in readers:
        raise UserError(f"{path}: a population is a .csv, .parquet or .npz file")
    if not path.is_file():
        raise UserError(f"{path}: there is no such file")
    raw = readers[path.suffix.lower()](path)
    mapping = dict(columns or {})
    places = {role: _find(raw, role, mapping, path) for role in (*_ROLES, "confidence", "combined", *mapping)}
    taken = {place for place in places.values() if place is not None}
    size = max((len(values) for values in raw.values() if values.ndim), default=0)
    auxiliary = {role: place for role, place in places.items() if role not in _ROLES and place is not None}
    auxiliary |= {
        other.lower(): other
        for other, values in raw.items()
        if other not in taken and values.ndim == 1 and _numeric(values) and other.lower() not in auxiliary
    }
    ids = raw[places["id"]] if places["id"] else np.arange(size)
    classed = [places[role] for role in ("predicted", "label")]
    classes, class_names = _classes(raw, [place for place in classed if place is not None], path)
    predicted = classes[0] if places["predicted"] else None
    neurons = raw[places["neurons"]] if places["neurons"] else None
    population = Population(
        name or path.stem,
        ids.astype(np.str_),
        {role: _numbers(raw[place], path, place) for role, place in auxiliary.items()},
        predicted,
        None if neurons is None else neurons.astype(np.float64),
    )
    failures: BoolArray | None = None
    if places["outcome"]:
        failures = _outcomes(raw[places["outcome"]], path, places["outcome"])
    true = classes[-1] if places["label"] else None
    if failures is None and true is not None and predicted is not None:
        failures = true != predicted
    return PopulationTable(population, failures, leaks(population, failures), class_names, true)


def _numeric(values: NDArray[np.generic]) -> bool:
    """Whether a column the user did not name is worth taking: every filled cell is a number."""
    if values.dtype.kind in "fiub":
        return True
    if values.dtype.kind != "U":
        return False
    words = np.char.strip(values.astype(np.str_))
    filled = words[words != ""]
    try:
        filled.astype(np.float64)
    except ValueError:
        return False
    return len(filled) > 0
