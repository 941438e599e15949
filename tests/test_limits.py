"""Ranges, forms and places that annotations state."""

from __future__ import annotations

import os
import re
import typing

import pytest
from PIL import Image

from app import limits


def problem(limit, value):
    [stated] = limit.__metadata__
    return stated.problem(value)


@pytest.mark.parametrize(
    ("limit", "fine", "wrong", "words"),
    [
        (limits.Positive, 1, 0, " must be 1 or more, not 0"),
        (limits.NotNegative, 0, -1, " must be 0 or more, not -1"),
        (limits.Share, 1.0, 1.5, " must be from 0 to 1, not 1.5"),
        (limits.Level, 0.5, 1, " must lie between 0 and 1, not 1"),
        (limits.Level, 0.5, float("nan"), " must lie between 0 and 1, not nan"),
        (limits.MoreThanNothing, 0.1, 0, " must be more than 0, not 0"),
        (limits.Bits, 64, 65, " must be from 0 to 64, not 65"),
        (limits.RunId, "0af", "mine", "=mine must be the id of a run, or the beginning of one"),
        (
            limits.Moment,
            "2026-05-03",
            "2026-13-45",
            "=2026-13-45 must be a day or time such as 2026-05-03 or .*",
        ),
    ],
)
def test_ranges_and_forms(limit, fine, wrong, words):
    assert problem(limit, fine) is None
    assert re.fullmatch(words, problem(limit, wrong))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "hollow.txt").write_text("")
    for folder in ("bare", "classes/a", "classes/.hidden", "half/a", "half/b", "deep/a/b"):
        (tmp_path / folder).mkdir(parents=True)
    for picture in ("classes/a/0.PNG", "half/a/0.png", "deep/a/b/0.jpg"):
        Image.new("L", (2, 2)).save(tmp_path / picture)
    (tmp_path / "half" / "b" / "notes.txt").write_text("x")
    (tmp_path / "half" / "b" / ".0.png").write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        (limits.File, "file.txt", None),
        (limits.File, "~/file.txt", None),
        (limits.File, "gone", "=gone does not exist; give a file"),
        (limits.File, "bare", "=bare is a folder; give a file"),
        (limits.File, "hollow.txt", "=hollow.txt is empty; give a file that holds something"),
        (limits.File, "x" * 300, f"={'x' * 300} cannot be opened (File name too long.; give another file"),
        (limits.File, "a\0b", "=a\0b does not exist; give a file"),
        (limits.File, "~nobody-of-that-name/x", "=~nobody-of-that-name/x cannot be opened (Could .*; give another .*"),
        (limits.File, os.devnull, None),
        (limits.Folder, "file.txt", "=file.txt is no folder; give a folder"),
        (limits.Folder, "bare", "=bare is an empty folder; give one that holds something"),
        (limits.FileOrFolder, "gone", "=gone does not exist; give a file or folder"),
        (limits.ImageFolder, "bare", "=bare holds no image; give a folder of images, at any depth"),
        (limits.ImageFolder, "deep", None),
        (limits.ClassFolders, "deep", None),
        (limits.ClassFolders, "classes", None),
        (limits.ClassFolders, "bare", "=bare has no subfolders: put .* named after it"),
        (limits.ClassFolders, "half", "=half has the class folder b, which holds no image: .*"),
        (limits.ModelFile, "models:/net/3", None),
        (limits.ModelFile, "DEFAULT", "=DEFAULT does not exist; give a file or folder"),
        (limits.Weights, "DEFAULT", None),
        (limits.Weights, "IMAGENET1K_V1", None),
        (limits.Weights, "pretrained", None),
        (limits.Weights, "best.pt", "=best.pt does not exist; give a file or folder"),
        (limits.Report, "latest", None),
        (limits.Report, "net@photos", None),
        (limits.Report, "0af3", None),
        (limits.Report, "gone.json", "=gone.json does not exist; give a file or folder"),
        (limits.Report, "out/gone", "=out/gone does not exist; give a file or folder"),
        (limits.Report, "classes/a", None),
    ],
)  # fmt: skip
def test_places(limit, value, words, place):
    said = problem(limit, value)
    assert (said is None) if words is None else re.fullmatch(words.replace("(", r"\("), said)


def test_what_annotations_are_for_callers_in_python():
    hints = typing.get_type_hints(limits.Place.problem)
    assert hints["return"] == str | None
    assert typing.get_args(limits.File)[0] is str
