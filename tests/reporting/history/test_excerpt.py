"""Reports are read without their long parts, and every number is the same as if they were read whole."""

from __future__ import annotations

import json
import os

import pytest

from app.comparison import read
from app.comparison.readings import NEWEST
from app.errors import UserError
from app.reporting.history.excerpt import LARGEST, LONG, read_excerpt, read_whole

from .bodies import autopsy, write


class Watched(dict):
    """An object that remembers which of its keys were asked for."""

    def __init__(self, **given):
        super().__init__(**given)
        self.asked = set()

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key):
        self.asked.add(key)
        return super().__contains__(key)


@pytest.mark.parametrize("artifact", sorted(NEWEST))
def test_no_number_is_in_a_part_that_is_left_out(artifact):
    body = Watched(schema={"artifact": artifact, "version": 1}, subject={}, parts={})
    read(body)
    assert "subject" in body.asked
    assert not body.asked & LONG


def test_long_parts_are_left_out_and_the_numbers_stay(tmp_path):
    trap = 'a "quote",\n  "summary": {"autopsy_score": 1},\n{ and a \\ backslash'
    body = autopsy(3, hard_examples=[{"path": trap}] * 50, confusion=[[1, 2], [3, 4]], z={"": [trap]})
    found = read_excerpt(write(tmp_path / "report.json", body))
    assert {**found, "hard_examples": body["hard_examples"], "confusion": body["confusion"]} == body
    assert "hard_examples" not in found
    assert read(found) == read(body)
    assert read(found).get("autopsy_score").value == 90


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_other_forms_of_json_are_read_whole(tmp_path, indent):
    body = autopsy(3, confusion=[[1, 2], [3, 4]])
    path = tmp_path / "report.json"
    path.write_text(json.dumps(body, indent=indent))
    assert read_excerpt(path) == body


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is not JSON: Expecting value at line 1"),
        (b'{\n  "a": 1,\n  "mutants": [\n', "it is not JSON: .* at line 4"),
        (b'{\n  "a": 1,,\n  "b": 2\n}\n', "it is not JSON: .* at line 2"),
        (b'{"a": NaN}', "it is not strict JSON: it holds the token NaN"),
        (b'{\n  "a": -Infinity\n}\n', "it is not strict JSON: it holds the token -Infinity"),
        (b"[1, 2]", "it is no report of Assay: it holds no object"),
        (b'{"a": "\xff"}', "it is not JSON: not UTF-8 at byte 7"),
        (b"[" * 100_000, "it is not strict JSON: maximum recursion"),
    ],
)
def test_what_is_no_report_is_said_in_a_few_words(tmp_path, content, reason):
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=reason):
        read_excerpt(path)


def test_a_file_that_is_too_large_is_not_even_read(tmp_path):
    path = tmp_path / "report.json"
    with path.open("wb") as file:
        os.truncate(file.fileno(), LARGEST + 1)
    with pytest.raises(UserError, match="it is larger than 64 MB"):
        read_excerpt(path)


def test_what_is_no_regular_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "report.json")
    with pytest.raises(UserError, match="it is no regular file"):
        read_excerpt(tmp_path / "report.json")


@pytest.mark.parametrize("read_file", [read_excerpt, read_whole])
def test_half_a_surrogate_pair_is_written_out(tmp_path, read_file):
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"\ud800": ["a\udfffb", "\U0001f600", "\\ud800"]}, indent=2) + "\n")
    assert read_file(path) == {"\\ud800": ["a\\udfffb", "\U0001f600", "\\ud800"]}


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(UserError, match="it cannot be read: No such file"):
        read_excerpt(tmp_path / "report.json")
