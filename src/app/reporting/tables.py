"""Tables beside a report, for pandas and spreadsheets."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.reporting.mutants import Beside
from app.reporting.mutate import MutateReport
from app.reporting.schema import write_bytes
from app.tables import csv_bytes


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


def write_mutants(report: MutateReport, path: Path) -> Path:
    """One row a mutant as CSV, signals in columns of their own.

    Raises:
        UserError: the file cannot be written.
    """
    rows = []
    for mutant in report.mutants:
        row: dict[str, object] = {
            name: getattr(mutant, name)
            for name in (
                "key",
                "operator",
                "kind",
                "target",
                "seed",
                "repetitions",
                "verdict",
                "verdict_thresholds",
            )
        }
        row |= {f"param_{name}": value for name, value in mutant.params.items()}
        row |= {
            name: getattr(mutant, name)
            for name in ("p_value", "p_adjusted", "effect", "cohens_h", "accuracy", "kills")
        }
        if mutant.signals is not None:
            row |= {name: signal.value for name, signal in vars(mutant.signals).items()}
        if mutant.beside is not None:
            row |= _beside(mutant.beside)
        if mutant.difficulty is not None:
            row |= {"difficulty": mutant.difficulty.label, "difficulty_score": mutant.difficulty.score}
        row |= {"trivial": mutant.trivial, "unchanged": mutant.unchanged, "reason": mutant.reason}
        rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = ([_defined(row.get(name)) for name in names] for row in rows)
    return write_bytes(csv_bytes(names, cells), path)


def _defined(cell: object) -> object:
    return None if cell != cell else cell  # noqa: PLR0124 - NaN differs from itself


def _beside(signals: Beside) -> dict[str, object]:
    """Columns of what is shown beside a verdict; those that are not defined are left empty."""
    row: dict[str, object] = {}
    if signals.class_recall is not None:
        row |= {"class_p_adjusted": signals.class_recall.p_adjusted, "class": signals.class_recall.name}
    for name in ("ece_rise_ci", "autopsy_score_drop_ci"):
        ends = getattr(signals, name) or (None, None)
        row |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return row
