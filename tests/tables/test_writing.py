"""Cells that a spreadsheet would run are text, and are read back unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.tables.writing import csv_bytes, neutral, restored


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+cmd",
        "-x",
        "@SUM(A1)",
        "\tx",
        "\r=x",
        "\n=1",
        " =1",
        "＝1",
        "a;=1",
        "a\n@x",
        "-1-2",
        "=",
        "'=1",
    ],
)
def test_what_would_run_does_not(cell):
    written = neutral(cell)
    assert written != cell
    assert restored(written) == cell
    for part in written.replace("\t", ";").replace("\n", ";").replace("\r", ";").split(";"):
        assert not part.lstrip(" ").startswith(("=", "+", "-", "@", "＝"))


@pytest.mark.parametrize("cell", ["-0.5", "+1e-3", "-inf", "a/b-1.png", "it's", "'a", "x=1", "", "07"])
def test_numbers_and_plain_text_stay(cell):
    assert neutral(cell) == restored(cell) == cell


@settings(deadline=None, max_examples=500)
@given(st.text("'=+-@\t\r\n; a1＝,\"", max_size=8))
def test_any_cell_is_restored(cell):
    assert restored(neutral(cell)) == cell


def test_csv():
    rows = [["=a", -0.5, None], ['say "x"', 2, "a,b"], ["lone\rreturn", True, "-7"]]
    written = csv_bytes(("path", "+n", "x"), rows)
    assert written == b'path,\'+n,x\n\'=a,-0.5,\n"say ""x""",2,"a,b"\n"lone\rreturn",True,-7\n'
    assert csv_bytes(("only",), [[""], ["x"]]) == b'only\n""\nx\n'
