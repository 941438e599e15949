"""Everything that users hand over as a table, a list or names, read the same way wherever it is given.

One reader of tables (`read_table`), one of what a class is called (`Classes`), one of which case is meant
(`CaseIndex`), and one writer of CSV (`csv_bytes`), whose files the reader gives back unchanged.
"""

from __future__ import annotations

from app.tables.cases import CaseIndex
from app.tables.classes import Classes, read_class_names
from app.tables.columnar import read_array
from app.tables.content import read_bytes, read_content
from app.tables.delimited import refuse_headless
from app.tables.json_content import parse_json, read_json
from app.tables.lists import read_entries
from app.tables.reading import ENDINGS, read_table
from app.tables.table import CASES, LABELS, PREDICTED, TRUE, Column, Table, canonical, known, repeated
from app.tables.writing import csv_bytes

__all__ = [
    "CASES",
    "ENDINGS",
    "LABELS",
    "PREDICTED",
    "TRUE",
    "CaseIndex",
    "Classes",
    "Column",
    "Table",
    "canonical",
    "csv_bytes",
    "known",
    "parse_json",
    "read_array",
    "read_bytes",
    "read_class_names",
    "read_content",
    "read_entries",
    "read_json",
    "read_table",
    "refuse_headless",
    "repeated",
]
