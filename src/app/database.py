"""The file of a store without a server: looked at before MLflow takes whatever is there for its own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from app.errors import UserError

_BESIDE = ("artifacts", "work")
"""What lies beside the file once there are runs."""


def prepare(file: Path, address: str) -> None:
    """Gives a database its write-ahead log, which takes a fifth off the time of a child; makes one that is missing.

    Args:
        file: the database.
        address: what users know it by.

    Raises:
        UserError: it holds nothing although there have been runs, or is no database.
    """
    was_there = file.exists()
    try:
        with closing(sqlite3.connect(file, timeout=20)) as database:
            database.execute("PRAGMA journal_mode=WAL")  # stays with the file
            [tables] = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # of its surroundings
            raise
        raise UserError(
            f"tracking.uri={address} is damaged ({error}): put back a copy of {file.name}; or move it away, and a new "
            "history begins"
        ) from None
    beside = [name for name in _BESIDE if any((file.parent / name).glob("*"))]
    if was_there and not tables and beside:
        raise UserError(
            f"tracking.uri={address} is empty, though {' and '.join(beside)} of its runs lie beside it: put back a "
            f"copy of {file.name}; or delete it, and a new history begins"
        )
