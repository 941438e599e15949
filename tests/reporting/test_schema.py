from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import UserError
from app.reporting.schema import Schema, dumps, older, plain, read_report, write_bytes, write_json


@dataclass(frozen=True)
class Small:
    zebra: float
    apple: Any = None
    inner: dict[str, Any] = field(default_factory=dict)


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.floats(width=32).map(np.float32)
    | st.integers(-(2**31), 2**31 - 1).map(np.int64)
    | st.booleans().map(np.bool_)
    | st.lists(st.floats(), max_size=4).map(np.array)
)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        | st.builds(Small, st.floats(), inner)
    ),
    max_leaves=20,
)


def refuse(token: str) -> None:
    raise AssertionError(token)


@settings(deadline=None)
@given(TREES)
def test_json_is_strict_and_reads_back_exactly(tree: Any) -> None:
    text = dumps(tree)
    assert json.loads(text, parse_constant=refuse) == plain(tree)
    assert dumps(tree) == text
    assert "-0.0" not in [str(x) for x in _numbers(json.loads(text))]


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [x for item in value.values() for x in _numbers(item)]
    if isinstance(value, list):
        return [x for item in value for x in _numbers(item)]
    return [value] if isinstance(value, float) else []


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_read_back_bit_for_bit(value: float) -> None:
    back = json.loads(dumps(value))
    assert isinstance(back, float)
    assert back == value


def test_a_report_by_hand() -> None:
    value = Small(-0.0, apple=np.array([[1.5, np.nan]]), inner={"b": np.int32(3), "a": frozenset({"y", "x"})})
    expected = '{"zebra": 0.0, "apple": [[1.5, null]], "inner": {"b": 3, "a": ["x", "y"]}}'
    assert (
        " ".join(dumps(value).split())
        .replace("{ ", "{")
        .replace(" }", "}")
        .replace("[ ", "[")
        .replace(" ]", "]")
        == expected
    )


def test_a_row_of_a_table_is_a_line() -> None:
    table = {
        "title": "é\n",
        "rows": [{"a": 1, "b": None}, {"a": 2, "c": [0.5, 1]}, {}, {"d": {"e": []}}],
        "ids": [1, 2],
        "none": {},
    }
    assert dumps(table) == (
        '{\n  "title": "é\\n",\n  "rows": [\n    {"a": 1, "b": null},\n    {"a": 2, "c": [0.5, 1]},\n'
        '    {},\n    {\n      "d": {\n        "e": []\n      }\n    }\n  ],\n  "ids": [1, 2],\n  "none": {}\n}\n'
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf")])
def test_what_is_not_finite_is_null(value: float) -> None:
    assert dumps({"x": value}) == '{\n  "x": null\n}\n'


@pytest.mark.parametrize("value", [b"bytes", object(), {1.5: 2}, {True: 1}, {1: "a", "1": "b"}, Small])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        dumps(value)


def test_a_file_name_that_is_no_text_is_escaped(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.png")
    path = write_json({"path": name, "folder": Path("a") / "b"}, tmp_path / "r.json")
    assert json.loads(path.read_text(encoding="utf-8")) == {"path": "caf\\udce9.png", "folder": "a/b"}


def test_writing_replaces_the_whole_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.json"
    write_json({"a": "long" * 100}, path)
    write_json({"a": 1}, path)
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in path.parent.iterdir()] == ["report.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = write_json({"a": 1}, tmp_path / "report.json")
    with pytest.raises(TypeError):
        write_json({"a": object()}, path)
    assert json.loads(path.read_text()) == {"a": 1}


def test_an_unwritable_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileExistsError, match=r"report\.json"):
        write_bytes(b"x", tmp_path / "file" / "report.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder"):
        write_bytes(b"x", tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_a_report_is_read_back(tmp_path: Path) -> None:
    path = write_json({"schema": Schema("assay.x", 2), "n": 3}, tmp_path / "r.json")
    body = read_report(path, "assay.x", newest=2)
    assert body["n"] == 3
    assert body["schema"]["generator"]["tool"] == "assay"
    assert older(body, 2) is None


def test_an_older_version_is_named_as_partial(tmp_path: Path) -> None:
    path = write_json({"schema": Schema("assay.x", 2)}, tmp_path / "r.json")
    sentence = older(read_report(path, "assay.x", newest=3), 3)
    assert sentence == "version 2 of assay.x is older than 3: read partially"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b'{"a": 1', "line 1, column"),
        (b'{"schema": {"artifact": "assay.x", "version": 1}, "x": NaN}', "token NaN"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[1]", "no schema block"),
        (b'{"accuracy": 1}', "no schema block"),
        (b'{"schema": {"artifact": "assay.x"}}', "damaged schema block"),
        (b'{"schema": {"artifact": "assay.x", "version": true}}', "damaged schema block"),
        (b'{"schema": {"artifact": "assay.x", "version": "1"}}', "damaged schema block"),
        (b'{"schema": {"artifact": "assay.y", "version": 1}}', "holds assay.y, but assay.x is needed"),
        (
            b'{"schema": {"artifact": "assay.x", "version": 9}}',
            "version 9 of assay.x; this Assay reads up to",
        ),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=said) as caught:
        read_report(path, "assay.x", newest=1)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(UserError, match="cannot read the report"):
            read_report(path, "assay.x", newest=1)
