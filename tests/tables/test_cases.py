"""Which case is meant: by the shortest unambiguous end of its path, or it is said why none is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.tables import CaseIndex

JULY = ("july/img_1.png", "july/img_2.png", "august/img_2.png", "7")


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("july/img_1.png", 0),
        (" july/img_1.png ", 0),
        ("./july//img_1.png", 0),
        ("july\\img_1.png", 0),
        ("img_1.png", 0),
        ("IMG_1.PNG", 0),
        ("C:\\data\\july\\img_1.png", 0),
        ("/srv/camera/august/img_2.png", 2),
        ("/data/upload/3/0a1b2c3d-img_1.png", 0),
        ("0a1b2c3d-img_1.png", 0),
        ("/data/local-files/?d=camera%2Fjuly%2Fimg_1.png", 0),
        ("https://host:8080/camera/august/img_2.png?size=9", 2),
        ("7.0", 3),
        ("007", 3),
    ],
)
def test_names_are_found(name, row):
    assert CaseIndex(JULY).rows([name]) == [row]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("AUGUST/img_1.png", ""),
        ("img_9.png", ""),
        ("g_1.png", ""),
        ("", ""),
        ("img_2.png", "it fits july/img_2.png and august/img_2.png: write more of the path"),
        (
            "/data/upload/3/0a1b2c3d-img_2.png",
            "it fits july/img_2.png and august/img_2.png: write more of the path",
        ),
        ("1.23457E+11", "a spreadsheet has shortened it: format the column as text"),
    ],
)
def test_nothing_is_guessed(name, why):
    assert CaseIndex(JULY).rows([name]) == [why]


def test_an_exact_name_comes_first():
    names = ("007", "7", "a/7", "0a1b2c3d-x.png", "x.png", unicodedata.normalize("NFC", "ü"))
    assert CaseIndex(names).rows([*names, unicodedata.normalize("NFD", "ü")]) == [0, 1, 2, 3, 4, 5, 5]


def test_longer_paths_lie_in_one_folder():
    index = CaseIndex(("img_1.png", "img_2.png"))
    assert index.rows(["x/july/img_1.png", "x/july/img_2.png"]) == [0, 1]
    first, second = index.rows(["july/img_1.png", "august/img_1.png"])
    assert first == 0
    assert second == "it lies in another folder than july/img_1.png: name the cases as the data does"


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text("ab/.7 \\", min_size=1, max_size=6), min_size=1, max_size=8, unique=True))
def test_every_case_has_its_own_name(names):
    assert CaseIndex(names).rows(names) == list(range(len(names)))
