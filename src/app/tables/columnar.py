"""Tables in binary files, Parquet and NumPy's, and in lists of JSON records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app import array_files
from app.errors import UserError
from app.tables.content import called
from app.tables.table import MOST_CELLS, Column, Table, without_index

_INDEX = "__index_level_0__"
"""What pandas calls an index without a name in Parquet."""


def read_parquet(path: Path, key: str = "") -> Table:
    """The table in a Parquet file; categories are their words, an index is a column.

    Raises:
        UserError: it is no Parquet file, too large, or a column holds neither text nor numbers nor lists of them.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and only needed for Parquet
    from pyarrow import parquet  # noqa: PLC0415

    shown = called(path, key)
    try:
        file = parquet.ParquetFile(path)
        about = file.metadata
        if about.num_rows * max(1, about.num_columns) > MOST_CELLS:
            raise UserError(f"{shown} has more than {MOST_CELLS:,} cells, the most that is read: cut it")
        table = file.read()
    except (pa.ArrowException, ValueError, OSError, RecursionError, MemoryError) as error:
        raise UserError(f"{shown} cannot be read as a Parquet file: {_line(error)}") from None
    if len(set(table.column_names)) < len(table.column_names):
        raise UserError(f"{shown}: two columns have the same name")
    columns = {}
    for name, values in zip(table.column_names, table.columns, strict=True):
        called_ = "" if name == _INDEX else name
        columns[called_] = _from_arrow(called_, values, shown)
    if "" in columns:  # the index stands last, where CSV has it first
        columns = {"": columns.pop("")} | columns
    found, numbered, notes = without_index(columns, table.num_rows, path.name)
    return Table(path, shown, found, table.num_rows, numbered=numbered, notes=notes)


def _from_arrow(name: str, values: Any, shown: str) -> Column:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import types  # noqa: PLC0415

    kind = values.type
    if types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return Column(name, lambda: _no_words(name, shown), matrix=_matrix(name, values, shown))
    if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return Column(name, lambda: _no_words(name, shown), bad=(0, str(kind)[:60]))
    if types.is_decimal(kind):
        values = values.cast(pa.float64())
    if types.is_float16(values.type):
        values = values.cast(pa.float32())
    numeric = types.is_integer(values.type) or types.is_floating(values.type) or types.is_boolean(values.type)
    numbers = None
    if numeric and values.null_count < len(values):
        numbers = values.cast(pa.float64(), safe=False).to_numpy().astype(np.float64)

    def words() -> list[str]:
        return [_word(each) for each in values.to_pylist()]

    bad = None if numeric else next(((row, word) for row, word in enumerate(words()[:1])), None)
    return Column(name, words, numbers, bad=bad)


def _matrix(name: str, values: Any, shown: str) -> NDArray[Any]:
    try:
        rows = np.asarray([] if not len(values) else values.to_pylist(), dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2:
        raise UserError(
            f"{shown}: column {name!r} must hold lists of numbers that are equally long in every row, and not "
            "deeper: leave the column out"
        )
    return rows


def _no_words(name: str, shown: str) -> list[str]:
    raise UserError(f"{shown}: column {name!r} must hold text or numbers, one a row")


def _word(value: object) -> str:
    """A value as text files have it; whole floats keep their point."""
    return "" if value is None or value != value else str(value)  # noqa: PLR0124 - NaN


def read_npz(path: Path, key: str = "") -> Table:
    """The table in an NPZ archive: every array a column, of one dimension or, for lists of numbers, of two.

    Raises:
        UserError: it is no archive of plain arrays, or an array is larger than its file.
    """
    shown = called(path, key)
    try:
        arrays = array_files.load(path)
    except FileNotFoundError:
        raise UserError(f"{shown} does not exist") from None
    except array_files.UnsoundFileError as reason:
        raise UserError(f"{shown} is not an NPZ file of plain arrays: {reason}") from None
    if not isinstance(arrays, dict):
        raise UserError(f"{shown} holds one array; give an NPZ file with an array a column")
    size = max((len(values) for values in arrays.values() if values.ndim), default=0)
    columns = {name: _from_array(name, values, shown) for name, values in arrays.items() if values.ndim}
    return Table(path, shown, columns, size)


def _from_array(name: str, values: NDArray[Any], shown: str) -> Column:
    if values.ndim > 1:
        return Column(name, lambda: _no_words(name, shown), matrix=values)
    numbers = values.astype(np.float64) if values.dtype.kind in "fiub" else None
    bad = (0, str(values[0])) if numbers is None and len(values) else None
    return Column(name, lambda: [_word(each) for each in values.tolist()], numbers, bad=bad)


def read_array(path: Path, key: str = "") -> NDArray[Any]:
    """The array in a NumPy file.

    Raises:
        UserError: it is none, holds objects, or its header promises more than the file holds.
    """
    shown = called(path, key)
    if not path.is_file():
        raise UserError(f"{shown} " + ("is no file" if path.exists() else "does not exist"))
    try:
        array = array_files.load(path)
    except array_files.UnsoundFileError as reason:
        raise UserError(f"{shown} cannot be read as an array: {reason}") from None
    if isinstance(array, dict):
        raise UserError(f"{shown} must be a .npy file, but holds several arrays")
    return array


def from_records(records: Sequence[Mapping[str, Any]], path: Path, shown: str) -> Table:
    """The table in a list of JSON objects, a row each, as pandas writes with `orient="records"`.

    Raises:
        UserError: a cell is an object, or a list among plain cells.
    """
    names = list(dict.fromkeys(name for record in records for name in record))
    if len(names) * len(records) > MOST_CELLS:
        raise UserError(f"{shown} has more than {MOST_CELLS:,} cells, the most that is read: cut it")
    columns = {name: _from_values(name, [each.get(name) for each in records], shown) for name in names}
    return Table(path, shown, columns, len(records))


def _from_values(name: str, values: list[Any], shown: str) -> Column:
    if any(isinstance(each, dict | list) for each in values):
        try:
            rows = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            rows = np.empty(0)
        if rows.ndim != 2:
            raise UserError(
                f"{shown}: column {name!r} must hold text, numbers or lists of numbers, one a row"
            )
        return Column(name, lambda: _no_words(name, shown), matrix=rows)
    numeric = all(each is None or isinstance(each, int | float) for each in values)
    numbers = None
    if numeric and any(each is not None for each in values):
        try:
            numbers = np.array([np.nan if each is None else float(each) for each in values])
        except OverflowError:
            numbers = None
    bad = next(
        ((row, str(each)) for row, each in enumerate(values) if not isinstance(each, int | float | None)),
        None,
    )
    return Column(name, lambda: [_word(each) for each in values], numbers, bad=bad)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
