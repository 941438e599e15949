"""A folder of reports: all of them are found, and whatever is none is listed with the reason."""

from __future__ import annotations

import os
from datetime import datetime

import pytest

from app.comparison.extraction import READERS
from app.errors import UserError
from app.reporting.history import assembly, gathering
from app.reporting.history.gathering import moment, scan

from .bodies import autopsy, write


@pytest.fixture
def folder(tmp_path):
    """Reports at several depths, among much that is none."""
    root = tmp_path / "runs"
    write(root / "report.json", autopsy(1))
    write(root / "a" / "b" / "report.json", autopsy(2))
    write(root / "c" / "nightly-report.json", autopsy(3))
    write(root / "c" / "copy" / "report.json", autopsy(2))
    write(root / "d" / "config.json", autopsy(9))
    write(root / "d" / "report.json.bak", autopsy(9))
    write(root / "foreign" / "report.json", {"coverage": 80})
    write(root / "newer" / "report.json", autopsy(4, version=99))
    write(root / "own" / "report.json", {"schema": {"artifact": "assay.history", "version": 1}})
    (root / "broken").mkdir()
    (root / "broken" / "report.json").write_text('{"schema": ')
    outside = write(tmp_path / "elsewhere" / "report.json", autopsy(8))
    (root / "link").symlink_to(outside.parent, target_is_directory=True)
    (root / "e").mkdir()
    (root / "e" / "report.json").symlink_to(outside)
    (root / "e" / "inside").symlink_to(root / "a", target_is_directory=True)
    (root / "e" / "circle").symlink_to(root / "e", target_is_directory=True)
    (root / "e" / "nowhere").symlink_to(tmp_path / "gone")
    return root


def test_reports_are_found_once_and_the_rest_is_listed(folder):
    found = scan(folder)
    assert {each.source for each in found.found} == {
        "report.json",
        "a/b/report.json",
        "c/nightly-report.json",
    }
    assert {each.readings.run_id for each in found.found} == {f"{i:032x}" for i in (1, 2, 3)}
    reasons = {each.where: each.reason for each in found.excluded}
    assert set(reasons) == {
        *("broken/report.json", "c/copy/report.json", "foreign/report.json", "newer/report.json"),
        *("own/report.json", "link", "e/report.json"),
    }
    assert reasons["broken/report.json"].startswith("it is not JSON")
    assert reasons["c/copy/report.json"] == "the same run as a/b/report.json"
    assert "no schema block" in reasons["foreign/report.json"]
    assert "version 99 of assay.autopsy" in reasons["newer/report.json"]
    assert "assay.history" in reasons["own/report.json"]
    assert reasons["link"] == reasons["e/report.json"] == "a link out of the folder: not followed"
    assert scan(folder).excluded == found.excluded


def test_depth_and_number_are_bounded(folder, monkeypatch):
    monkeypatch.setattr(gathering, "DEEPEST", 1)
    monkeypatch.setattr(gathering, "MOST_FILES", 3)
    found = scan(folder)
    assert any("deeper than 1" in each.reason and each.where == "a/b" for each in found.excluded)
    assert len(found.found) <= 3
    assert found.notes == [f"{folder} has more than 3 reports: the rest was not read"]
    monkeypatch.setattr(gathering, "MOST_ENTRIES", 4)
    assert "more than 4 files" in scan(folder).notes[0]


def test_what_is_no_folder_is_a_mistake(tmp_path):
    with pytest.raises(UserError, match="nope is no folder"):
        scan(tmp_path / "nope")


def test_the_report_says_when_it_was_and_else_the_file_does(tmp_path):
    body = autopsy(1)
    write(tmp_path / "a" / "report.json", body)
    body = autopsy(2)
    del body["run"]["started"]
    path = write(tmp_path / "b" / "report.json", body)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    said, by_file = scan(tmp_path).found
    assert (said.time.isoformat(), said.time_from) == ("2026-05-01T10:00:00+02:00", "report")
    assert (by_file.time.timestamp(), by_file.time_from) == (1_700_000_000, "file")
    assert assembly.notes([said, by_file]) == [
        "The reports of 1 of 2 runs do not say when they started: the file does."
    ]


def test_times_are_read_with_and_without_a_zone():
    assert moment("2026-05-03T10:00:00+02:00") == datetime.fromisoformat("2026-05-03T08:00:00+00:00")
    assert moment("2026-05-03").utcoffset() is not None
    assert moment("yesterday") is None
    assert moment("") is None


def test_an_odd_report_is_left_out_and_the_rest_goes_on(tmp_path, monkeypatch):
    write(tmp_path / "a" / "report.json", autopsy(1, subject="\\"))
    odd = {"n": 10**400, "classes": 5, "name": [1]}
    write(tmp_path / "b" / "report.json", {**autopsy(2), "subject": odd, "run": {"started": "0001-01-01"}})
    write(tmp_path / "c" / "report.json", autopsy(3, accuracy=1e300))
    found = scan(tmp_path)
    assert [each.n for each in found.found] == [400, 0, 400]
    assert found.found[2].readings.get("accuracy").value is None

    def broken(body):
        raise TypeError("unhashable")
        yield

    monkeypatch.setitem(READERS, "assay.autopsy", broken)
    sound = autopsy(4)
    sound["schema"]["artifact"] = "assay.mutate"
    write(tmp_path / "d" / "report.json", sound)
    found = scan(tmp_path)
    assert [each.source for each in found.found] == ["d/report.json"]
    assert {each.reason for each in found.excluded} == {"it is no sound report: unhashable"}
