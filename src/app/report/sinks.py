"""Tables as files for pandas, spreadsheets and other programs."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.report.schema import write_bytes
from app.tables import csv_bytes


def write_csv(rows: Iterable[Mapping[str, object]], path: Path) -> Path:
    """Rows as CSV: the columns of all rows in the order in which they first come; what a row lacks is empty.

    Raises:
        UserError: the file cannot be written.
    """
    whole = list(rows)
    names = list(dict.fromkeys(name for row in whole for name in row))
    return write_bytes(csv_bytes(names, ([row.get(name) for name in names] for row in whole)), path)


def write_predictions(rows: Iterable[tuple[int, str, str, str, float]], path: Path) -> Path:
    """What was predicted of each test case, as CSV: runs on the same cases can be compared case by case.

    Args:
        rows: of each test case its index, its path, its true and its predicted class, and the confidence.
        path: the file.

    Raises:
        UserError: the file cannot be written.
    """
    names = ("case", "path", "label", "predicted", "confidence")
    return write_bytes(csv_bytes(names, ((*row[:4], f"{row[4]:.6g}") for row in rows)), path)


def write_kill_matrix(keys: Sequence[str], kills: NDArray[np.bool_], path: Path) -> Path:
    """The kill matrix as Parquet: one row a mutant, `key` and the sorted test cases that kill it.

    Args:
        keys: (M,) names of the mutants.
        kills: (M, N) flags.
        path: the file.

    Raises:
        UserError: the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - reports without it start faster
    from pyarrow import parquet  # noqa: PLC0415

    counts = kills.sum(axis=1)
    cases = pa.ListArray.from_arrays(
        pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32()),
        pa.array(np.nonzero(kills)[1], pa.int32()),
    )
    table = pa.table(
        {"key": pa.array(list(keys), pa.string()), "killed_by": cases, "kills": pa.array(counts)}
    )
    buffer = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({"test_cases": str(kills.shape[1])}), buffer)
    return write_bytes(buffer.getvalue(), path)
