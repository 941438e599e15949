"""What a classifier said, from files and without the model: arrays or tables of probabilities, labels, class names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app import array_files
from app.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

LABEL_COLUMNS = ("label", "labels", "true_label", "target", "class", "y")
"""Columns that hold true classes; case does not matter."""
NAME_COLUMNS = ("path", "file", "image", "id", "case", "index")
"""Columns that name the test cases."""
ENDINGS = ".npy, .csv or .parquet"
NAME_FILES = ("classes.json", "classes.txt")
"""Where class names are looked for beside an array of probabilities."""


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


def read_predictions(
    probs: str,
    labels: str | None = None,
    *,
    class_names: str | Sequence[str] | None = None,
    given: NDArray[Any] | None = None,
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

    Raises:
        UserError: what is missing, cannot be read, or does not fit together.
    """
    table = _read(Path(probs), "probs")
    if table.values.ndim != 2:
        shape = table.values.shape
        raise UserError(f"probs={probs} must hold one row a test case and one column a class, not {shape}")
    names, notes = _class_names(table, class_names)
    if table.columns and set(names) == set(table.columns):
        order = [table.columns.index(name) for name in names]
        table = replace(table, values=table.values[:, order])
    source = _labels_of(table, labels, given)
    size = len(table.values)
    return PredictionTable(
        probs=table.values,
        labels=_numbered(source, names, labels or probs),
        class_names=names,
        paths=table.paths or tuple(f"case-{case:05d}" for case in range(size)),
        names=(_stem(Path(probs)), _stem(Path(labels)) if labels else _stem(Path(probs))),
        digests=(_digest(table.values), _digest(source)),
        notes=notes,
    )


def _labels_of(table: _Columns, labels: str | None, given: NDArray[Any] | None) -> NDArray[Any]:
    if labels is None:
        found = table.labels if table.labels is not None else given
        if found is None:
            raise UserError(
                f"labels must be given: labels=FILE ({ENDINGS}), or a column {LABEL_COLUMNS[0]!r} in {table.path}"
            )
        return found
    other = _read(Path(labels), "labels")
    found = other.labels
    if found is None:
        found = other.values
        if found.ndim == 2 and found.shape[1] != 1:
            raise UserError(
                f"labels={labels} must hold one column of labels, or one called {LABEL_COLUMNS[0]!r}, "
                f"not {found.shape[1]} columns"
            )
        found = found.reshape(-1) if found.ndim == 2 else found
    if table.paths is None or other.paths is None or other.paths == table.paths:
        return found
    place = {path: row for row, path in enumerate(other.paths)}
    if len(place) < len(other.paths):
        twice = next(path for row, path in enumerate(other.paths) if place[path] != row)
        raise UserError(f"labels={labels} names {twice!r} twice: give each test case one label")
    lacking = [path for path in table.paths if path not in place]
    if lacking:
        raise UserError(
            f"labels={labels} has no label for {len(lacking)} test cases of {table.path} (first: {lacking[0]})"
        )
    return found[[place[path] for path in table.paths]]


def _numbered(labels: NDArray[Any], names: tuple[str, ...], where: str) -> NDArray[Any]:
    """Labels as numbers; names of classes are looked up."""
    if labels.dtype.kind not in "OUS":
        return labels
    words = labels.astype(np.str_).tolist()
    place = {name: number for number, name in enumerate(names)}
    unknown = [word for word in words if word not in place]
    if unknown:
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        raise UserError(
            f"{where} has labels that are no class, the first is {unknown[0]!r}; allowed: {shown} "
            "(task.class_names gives the names in training order)"
        )
    return np.array([place[word] for word in words], dtype=np.int64)


# -- class names --------------------------------------------------------------------------------------------------


def _class_names(
    table: _Columns, given: str | Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if isinstance(given, str):
        return _names_in(Path(given)), ()
    if given is not None:
        return tuple(map(str, given)), ()
    if table.columns:
        return table.columns, ()
    for name in NAME_FILES:
        beside = table.path.with_name(name)
        if beside.is_file():
            return _names_in(beside), (f"class names are taken from {name} beside the probabilities",)
    return tuple(map(str, range(table.values.shape[1]))), ("no class names were given: classes are numbers",)


def _names_in(path: Path) -> tuple[str, ...]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() != ".json":
            return tuple(line.strip() for line in text.splitlines() if line.strip())
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise UserError(f"class names cannot be read from {path}: {_line(error)}") from None
    if not isinstance(found, list):
        raise UserError(f"{path} must hold a JSON list of class names, not a {type(found).__name__}")
    return tuple(map(str, found))


# -- files --------------------------------------------------------------------------------------------------------


def _read(path: Path, key: str) -> _Columns:
    if not path.is_file():
        raise UserError(f"{key}={path} " + ("is no file" if path.exists() else "does not exist"))
    ending = path.suffix.lower()
    if ending == ".npy":
        try:
            loaded = array_files.load(path)
        except array_files.UnsoundFileError as reason:
            raise UserError(f"{key}={path} cannot be read as an array: {reason}") from None
        if isinstance(loaded, dict):
            raise UserError(f"{key}={path} must be a .npy file, but holds several arrays")
        return _Columns(path, loaded)
    if ending not in {".csv", ".parquet"}:
        raise UserError(f"{key}={path} must end in {ENDINGS}")
    import pandas as pd  # noqa: PLC0415 - slow to import, and only needed for tables

    try:
        frame = pd.read_csv(path, encoding="utf-8-sig") if ending == ".csv" else pd.read_parquet(path)
    except Exception as error:
        raise UserError(f"{key}={path} cannot be read as a table: {_line(error)}") from None
    return _columns(frame, path, key)


def _columns(frame: pd.DataFrame, path: Path, key: str) -> _Columns:
    if not len(frame):
        raise UserError(f"{key}={path} has no rows")
    by_name = {str(name).strip().lower(): name for name in frame.columns}
    label = next((by_name[name] for name in LABEL_COLUMNS if name in by_name), None)
    named = next((by_name[name] for name in NAME_COLUMNS if name in by_name), None)
    rest = [name for name in frame.columns if name not in {label, named}]
    words = None if label is None else frame[label].to_numpy()
    if words is not None and words.dtype.kind == "f" and not np.isfinite(words).all():
        row = int(np.argmin(np.isfinite(words)))
        raise UserError(f"{key}={path} has no label in row {row}")
    values: NDArray[Any] = frame[rest].to_numpy() if rest else np.zeros((len(frame), 0))
    if key == "probs":
        for name in rest:
            if frame[name].dtype.kind not in "fiu":
                bad = frame[name][[not _is_number(each) for each in frame[name]]]
                shown = f"{bad.iloc[0]!r} in row {bad.index[0]}" if len(bad) else f"{frame[name].dtype}"
                raise UserError(
                    f"{key}={path}: column {name!r} holds {shown}, which is no number: "
                    "beside labels and names there may only be one column a class"
                )
        values = values.astype(np.float64)
    return _Columns(
        path=path,
        values=values,
        columns=tuple(map(str, rest)),
        labels=words,
        paths=None if named is None else tuple(map(str, frame[named])),
    )


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def _stem(path: Path) -> str:
    return path.stem.replace("@", "_")


def _digest(values: NDArray[Any]) -> str:
    """SHA-256 of shape, type and content."""
    plain = values if values.dtype.kind not in "O" else values.astype(np.str_)
    head = f"{plain.dtype.str}|{plain.shape}|".encode()
    return hashlib.sha256(head + np.ascontiguousarray(plain).tobytes()).hexdigest()


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
