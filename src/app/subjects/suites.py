"""Test suites: named parts of a data set's test cases, such as a smoke test against all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError
from app.subjects.dataset import Excluded
from app.tables import CaseIndex, read_entries
from app.tables.numerals import whole

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
        path: ``.npy`` of integers, ``.json`` with one list, a table with a column `path`, `id` or `index`, or text with
            one entry a line. An entry is an index, or a test case's path as the data set has it or as much of it as
            is unambiguous.
        dataset: what the suite is a part of.

    Raises:
        UserError: the file is missing, unreadable or empty, or an entry is unknown, out of range or there
            twice.
    """
    file = Path(path).expanduser()
    return _cases(read_entries(file), dataset, str(file))


def _cases(entries: Sequence[Any], dataset: Listed, source: str) -> Cases:
    if not isinstance(entries, Sequence):
        raise UserError(f"give a file, or a list of indices and paths, not {entries!r}")
    if not entries:
        raise UserError(f"{source} lists no test case")
    index = CaseIndex(dataset.paths)
    exact = set(dataset.paths)
    reason_of = {each.path: each.reason for each in dataset.excluded}
    words = [each for each in entries if isinstance(each, str) and each not in reason_of]
    found = dict(zip(words, index.rows(words), strict=True))
    cases: list[int] = []
    for entry in entries:
        number = entry if isinstance(entry, int) else whole(entry) if isinstance(entry, str) else None
        row = found.get(entry) if isinstance(entry, str) else None
        if isinstance(entry, str) and entry in reason_of and entry not in exact:
            raise UserError(f"{source} lists {entry}, which was left out: it {reason_of[entry]}")
        if isinstance(row, int) and (number is None or entry in exact):
            cases.append(row)
        elif isinstance(entry, bool) or number is None:
            more = f": {row}" if row else ""
            raise UserError(
                f"{source} lists {str(entry)[:200]!r}, which is no test case of {dataset.name} (nor an index){more}"
                if isinstance(entry, str)
                else f"{source} lists {str(entry)[:200]}, which is no test case of {dataset.name} (nor an index)"
            )
        elif not 0 <= number < len(dataset.paths):
            raise UserError(
                f"{source} lists index {number}, but the test cases are 0..{len(dataset.paths) - 1}"
            )
        else:
            cases.append(number)
    values, counts = np.unique(cases, return_counts=True)
    if (counts > 1).any():
        twice = int(values[counts > 1][0])
        raise UserError(f"{source} lists test case {twice} ({dataset.paths[twice]}) more than once")
    return np.array(cases, dtype=np.int64)
