"""The one reader of tables: every form that spreadsheets and programs write gives the same, all else is one line."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import UserError
from app.tables import CASES, LABELS, Table, csv_bytes, known, read_array, read_json, read_table
from app.tables.delimited import refuse_headless

NAMES = known(CASES, LABELS)
PLAIN = "path,confidence,label\na/1.png,0.9,cat\nb/007.png,0.125,dog\n"
GERMAN = PLAIN.replace(",", ";").replace("0.", "0,")


def read(tmp_path, content: str | bytes, name: str = "t.csv") -> Table:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, NAMES)


def words(table: Table) -> dict[str, list[str]]:
    return {name: column.words() for name, column in table.columns.items()}


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        PLAIN.encode("utf-16-be"),
        PLAIN.encode("utf-32"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.removesuffix("\n"),
        PLAIN.replace("\n", "\n\n") + " , ,\n",
        PLAIN.replace("\n", ",\n"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", "|"),
        PLAIN.replace(",", "  "),
        GERMAN,
        GERMAN.replace(";", "\t").encode("utf-16"),
        "sep=;\r\n" + GERMAN,
        '"path","confidence","label"\n"a/1.png","0.9","cat"\n"b/007.png","0.125","dog"\n',
    ],
)
def test_every_form_gives_the_same(tmp_path, content):
    table = read(tmp_path, content)
    assert table.header
    assert table.notes == ()
    assert words(table)["path"] == ["a/1.png", "b/007.png"]
    assert words(table)["label"] == ["cat", "dog"]
    assert table.columns["confidence"].numbers.tolist() == [0.9, 0.125]
    assert list(table.columns) == ["path", "confidence", "label"]


def test_other_text_is_latin_and_said(tmp_path):
    table = read(tmp_path, "path,label\n1.png,Bär\n".encode("latin-1"))
    assert words(table)["label"] == ["Bär"]
    assert table.notes == ("t.csv is not UTF-8: it was read as Latin-1 (Windows-1252)",)


def test_cells_stay_as_they_are(tmp_path):
    table = read(tmp_path, 'id,label\n007,"a; ""b"",\r\nc"\n1E+05,nan\n 7 ,None\n')
    assert words(table) == {"id": ["007", "1E+05", " 7 "], "label": ['a; "b",\r\nc', "nan", "None"]}
    assert [table.where(row) for row in range(3)] == ["line 2", "line 4", "line 5"]


@pytest.mark.parametrize(
    ("content", "header", "size"),
    [
        ("a/1.png,cat\na/2.png,dog\n", False, 2),
        ("a/1.png,0.5\na/2.png,0.75\n", False, 2),
        ("0.5,0.5\n0.25,0.75\n", False, 2),
        ("1,2,3\n4,5,6\n", False, 2),
        ("3\n1\n2\n", False, 3),
        ("cat\ndog\n", False, 2),
        ("Path;x\na;1\n", True, 1),
        ("score,other\n0.5,1\n", True, 1),
        ("0,1,2\n0.2,0.3,0.5\n", True, 1),
        (",0,1\n0,0.5,0.5\n1,0.2,0.8\n", True, 2),
        ("0,1\n0.5,0.5\n", True, 1),
        ("# cat,dog\n0.5,0.5\n", True, 1),
        ("# cat dog\n0.5 0.5\n", True, 1),
    ],
)
def test_a_first_line_is_a_header_or_a_case(tmp_path, content, header, size):
    table = read(tmp_path, content)
    assert (table.header, table.size) == (header, size)
    if header:
        refuse_headless(table, "path")
    else:
        with pytest.raises(UserError, match=r"t.csv: line 1 is no header but a case .*, path"):
            refuse_headless(table, "path")


def test_pandas_index_is_no_column(tmp_path):
    table = read(tmp_path, ",path\n0,a\n1,b\n")
    assert list(table.columns) == ["path"]
    assert table.numbered
    assert "has no name and counts the rows" in table.notes[0]
    twice = read(tmp_path, "Unnamed: 0.1,Unnamed: 0,path\n0,0,a\n1,1,b\n")
    assert list(twice.columns) == ["path"]
    names = read(tmp_path, ",confidence\na,0.5\nb,0.75\n")
    assert names.cases().words() == ["a", "b"]
    shuffled = read(tmp_path, ",confidence\n1,0.5\n0,0.75\n")
    assert shuffled.cases().words() == ["1", "0"]


def test_numbers(tmp_path):
    table = read(tmp_path, "id;a;b;c;d;e\nx;1,5;1.5;;1;1\ny;-2;NA;;x;2,5\nz;1,5E-3;3;;2;3.5\n")
    assert table.columns["a"].numbers.tolist() == [1.5, -2, 0.0015]
    np.testing.assert_array_equal(table.columns["b"].numbers, [1.5, np.nan, 3])
    assert table.columns["c"].numbers is None
    with pytest.raises(UserError, match="column 'd' must hold numbers only, but line 3 holds 'x'"):
        table.require_numbers(table.columns["d"])
    assert table.columns["e"].bad == (2, "3.5")  # commas and points in one column
    tabs = read(tmp_path, "id\ta\tb\nx\t1,234\t0,125\n", "t.tsv")
    assert tabs.columns["a"].numbers is None  # a thousand, or more than one
    assert tabs.columns["b"].numbers.tolist() == [0.125]
    assert read(tmp_path, "id,a\nx,1_000\n").columns["a"].numbers is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "t.csv: the file is empty"),
        ("path,label\na,b\nc\n", "t.csv: line 3 has 1 fields, the header has 2"),
        ("path;label\na;b\nc;d;e\n", "t.csv: line 3 has 3 fields, the header has 2"),
        ("path,label,label\na,b,c\n", r"two columns have the same name: 'label' \(columns 2 and 3\)"),
        ('path,label\na,"b\n', "t.csv: line 2: a quote is opened and not closed"),
        ("path,label\na,b\0\n", "t.csv: line 2 holds a NUL byte"),
        ("path,label\n" + "a" * 300_000 + ",b\n", "t.csv: line 2: a cell is larger than 131,072 characters"),
        (b"PK\x03\x04....", "t.csv is a zip archive, such as an Excel workbook: save the table as CSV UTF-8"),
        (gzip.compress(b"path,label\n", mtime=0), r"t.csv is compressed: unpack it first \(gunzip\)"),
        (b"\xff\xfea", "t.csv: line 1 is not UTF-16-LE text"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path, content, said):
    with pytest.raises(UserError, match=said) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_files_of_other_kinds(tmp_path):
    for name, said in (("none.csv", "does not exist"), ("", "is no file"), ("t.xlsx", "must end in")):
        (tmp_path / "t.xlsx").write_text("x")
        with pytest.raises(UserError, match=f"probs=.*{name} {said}"):
            read_table(tmp_path / name, (), "probs")
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 50_000)
    with pytest.raises(
        UserError, match=r"labels=.*deep.json is not JSON that can be read: it is nested too deeply"
    ):
        read_json(deep, "labels")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**37,)})
    (tmp_path / "huge.npy").write_bytes(header.getvalue())
    with pytest.raises(UserError, match=r"huge.npy cannot be read as an array: its header promises 1 TiB"):
        read_array(tmp_path / "huge.npy")


def test_json_records_and_lines(tmp_path):
    rows = [{"path": "a", "x": 1.5}, {"path": "b", "x": None}]
    for name, text in (
        ("t.json", json.dumps(rows)),
        ("t.jsonl", "\n".join(map(json.dumps, rows)) + "\n"),
        ("lines.json", "\n".join(map(json.dumps, rows))),
    ):
        table = read(tmp_path, text, name)
        assert table.cases().words() == ["a", "b"]
        np.testing.assert_array_equal(table.columns["x"].numbers, [1.5, np.nan])


def test_parquet(tmp_path):
    import pandas as pd

    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"label": pd.Categorical(["x", "y"]), "n": [1, 2], "v": [[1.0, 2.0], [3.0, 4.0]]})
    frame.set_index(pd.Index(["a", "b"], name="path")).to_parquet(path)
    table = read_table(path, NAMES)
    found = {name: table.columns[name].words() for name in ("label", "n", "path")}
    assert found == {"label": ["x", "y"], "n": ["1", "2"], "path": ["a", "b"]}
    assert table.columns["v"].matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "nested", [[{"a": 1}, {"a": 2}], [[1.0], [1.0, 2.0]], [[[1.0]], [[2.0]]], [b"a", b"b"]]
)
def test_nested_parquet_is_one_line(tmp_path, nested):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"path": pa.array(nested)}), tmp_path / "t.parquet")
    with pytest.raises(UserError, match=r"t.parquet: column 'path' must hold"):
        read_table(tmp_path / "t.parquet").columns["path"].words()


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(CELLS, CELLS, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=8
    ),
    st.sampled_from(",;\t"),
    st.booleans(),
)
def test_what_is_written_is_read_back(tmp_path_factory, rows, separator, marked):
    path = tmp_path_factory.mktemp("round") / "t.csv"
    path.write_bytes(csv_bytes(("path", "label", "x"), rows, separator=separator, marked=marked))
    table = read_table(path, NAMES)
    assert words(table)["path"] == [row[0] for row in rows]
    assert words(table)["label"] == [row[1] for row in rows]
    assert table.columns["x"].numbers.tolist() == [row[2] for row in rows]
    assert table.marked == marked


def test_columns_that_could_both_be_meant_are_not_guessed(tmp_path):
    table = read(tmp_path, "path,label,Label ,x,X\na,b,c,1,2\n")
    with pytest.raises(
        UserError, match=r"t.csv has the columns 'label' and 'Label', which could both be meant"
    ):
        table.find(LABELS)
    assert table.cases().words() == ["a"]
