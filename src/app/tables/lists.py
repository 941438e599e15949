"""Lists of cases that a user hands over: indices or names, in an array, a table, JSON, or a line each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from app.errors import UserError
from app.tables.columnar import read_array
from app.tables.content import read_content
from app.tables.json_content import LINES, read_json
from app.tables.reading import read_table
from app.tables.table import CASES, known


def read_entries(path: Path) -> list[Any]:
    """The entries of a list.

    Args:
        path: ``.npy`` of integers, ``.json`` with one list, a table with a column `path`, `id` or `index`, or text with
            one entry a line.

    Raises:
        UserError: the file is missing, unreadable, or none of these.
    """
    ending = path.suffix.lower()
    if ending == ".npy":
        array = read_array(path)
        if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
            raise UserError(f"{path} must hold (M,) integers, not {array.dtype} of shape {array.shape}")
        return list(array.tolist())
    if ending == ".json" or ending in LINES:
        found = read_json(path)
        if not isinstance(found, list):
            raise UserError(f"{path} must hold one list of indices or paths, not a {type(found).__name__}")
        return found
    if ending in {".csv", ".tsv", ".parquet"}:
        table = read_table(path, known(CASES))
        column = table.cases() if table.header else None
        if column is None and len(table.columns) == 1:
            column = next(iter(table.columns.values()))
        if column is None:
            raise UserError(f"{path} has no column 'path'; it has: {table.listed}")
        return list(column.words())
    return list(read_content(path).entries())
