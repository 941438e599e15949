"""Test suites: named parts of a data set's test cases, such as a smoke test against all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app import array_files
from app.errors import UserError
from app.subjects.dataset import Excluded

Cases = NDArray[np.int64]


class Listed(Protocol):
    """A data set whose test cases have names."""

    @property
    def paths(self) -> tuple[str, ...]:
        """(N,): what each test case is called."""
        ...

    @property
    def name(self) -> str:
        """What the data set is called."""
        ...

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Files that were left out."""
        ...


_INDEX = re.compile(r"[+-]?\d+")


def read_suites(suites: Mapping[str, str | Path | Sequence[int | str]], dataset: Listed) -> dict[str, Cases]:
    """The test cases of each suite.

    Args:
        suites: by name, a file for `read_suite`, or a list of indices and paths.
        dataset: what the suites are parts of.

    Raises:
        UserError: as `read_suite`, with the suite's name.
    """
    read: dict[str, Cases] = {}
    for name, given in suites.items():
        try:
            if isinstance(given, (str, Path)):
                read[name] = read_suite(given, dataset)
            else:
                read[name] = _cases(given, dataset, "the list")
        except UserError as error:
            raise UserError(f"suites.{name}: {error}") from None
    return read


def read_suite(path: str | Path, dataset: Listed) -> Cases:
    """(M,): the test cases that a file lists, in its order.

    Args:
        path: ``.npy`` of integers, ``.json`` with one list, or text with one entry a line. An entry is an
            index or a test case's path as the data set has it.
        dataset: what the suite is a part of.

    Raises:
        UserError: the file is missing, unreadable or empty, or an entry is unknown, out of range or there
            twice.
    """
    file = Path(path).expanduser()
    try:
        if file.suffix == ".npy":
            array = array_files.load(file)
            if isinstance(array, dict):
                raise UserError(f"{file} must be a .npy file, but holds several arrays")
            if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
                raise UserError(f"{file} must hold (M,) integers, not {array.dtype} of shape {array.shape}")
            entries: list[Any] = array.tolist()
        elif file.suffix == ".json":
            entries = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(entries, list):
                raise UserError(
                    f"{file} must hold one list of indices or paths, not a {type(entries).__name__}"
                )
        else:
            lines = file.read_text(encoding="utf-8-sig").splitlines()
            entries = [line.strip() for line in lines if line.strip()]
    except FileNotFoundError:
        raise UserError(f"{file} does not exist") from None
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{file} cannot be read as a list of test cases ({error})") from None
    return _cases(entries, dataset, str(file))


def _cases(entries: Sequence[Any], dataset: Listed, source: str) -> Cases:
    if not isinstance(entries, Sequence):
        raise UserError(f"give a file, or a list of indices and paths, not {entries!r}")
    if not entries:
        raise UserError(f"{source} lists no test case")
    place_of = {path: i for i, path in enumerate(dataset.paths)}
    reason_of = {each.path: each.reason for each in dataset.excluded}
    cases: list[int] = []
    for entry in entries:
        if isinstance(entry, str) and entry in place_of:
            cases.append(place_of[entry])
        elif isinstance(entry, str) and entry in reason_of:
            raise UserError(f"{source} lists {entry}, which was left out: it {reason_of[entry]}")
        elif isinstance(entry, bool) or not (isinstance(entry, int) or _is_index(entry)):
            raise UserError(
                f"{source} lists {entry!r}, which is no test case of {dataset.name} (nor an index)"
            )
        elif not 0 <= int(entry) < len(dataset.paths):
            raise UserError(
                f"{source} lists index {entry}, but the test cases are 0..{len(dataset.paths) - 1}"
            )
        else:
            cases.append(int(entry))
    values, counts = np.unique(cases, return_counts=True)
    if (counts > 1).any():
        twice = int(values[counts > 1][0])
        raise UserError(f"{source} lists test case {twice} ({dataset.paths[twice]}) more than once")
    return np.array(cases, dtype=np.int64)


def _is_index(entry: object) -> bool:
    return isinstance(entry, str) and _INDEX.fullmatch(entry) is not None
