"""The one reader of tables: which format a file has is told by its ending, all else by what it holds."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from app.errors import UserError
from app.tables.columnar import from_records, read_npz, read_parquet
from app.tables.content import called, read_content
from app.tables.delimited import read_delimited
from app.tables.json_content import LINES, read_json
from app.tables.table import Table

TEXT = (".csv", ".tsv", ".tab", ".txt")
ENDINGS = (*TEXT, ".parquet", ".pq", ".npz", ".json", *LINES)
"""Of tables, in small letters."""


def read_table(path: Path, names: Collection[str] = (), key: str = "") -> Table:
    """The table in a file.

    Text may be UTF-8, UTF-16 or Latin-1 (which is noted); its cells are separated by commas, semicolons, tabs, bars or
    blanks, and where that is no comma, a comma may be decimal. A first line is a header if it holds one of the names
    that are known here, or words above numbers.

    Args:
        path: the file.
        names: what columns may be called, as `known` gives them.
        key: the configuration's key the file was given as, for messages.

    Raises:
        UserError: it does not exist, has another ending, or is broken; the message names the file, and the line.
    """
    shown, ending = called(path, key), path.suffix.lower()
    if not path.is_file():
        raise UserError(f"{shown} " + ("is no file" if path.exists() else "does not exist"))
    if ending in TEXT:
        return read_delimited(read_content(path, key, latin=True), names)
    if ending in {".parquet", ".pq"}:
        return read_parquet(path, key)
    if ending == ".npz":
        return read_npz(path, key)
    if ending in {".json", *LINES}:
        records = read_json(path, key)
        if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
            raise UserError(f"{shown} must hold a JSON list of objects, one a row")
        return from_records(records, path, shown)
    if ending == ".gz":
        raise UserError(f"{shown} is compressed: unpack it first (gunzip)")
    raise UserError(f"{shown} must end in {', '.join(ENDINGS)}")
