"""What a label means: the exact name, then the number's name, then the case where it is unambiguous, else nothing."""

from __future__ import annotations

import json
import unicodedata

import pytest

from app.errors import UserError
from app.tables import Classes, read_class_names

PETS = ("cat", "dog", "T-shirt")


@pytest.mark.parametrize(
    ("names", "label", "number"),
    [
        (PETS, "dog", 1),
        (PETS, " DOG ", 1),
        (PETS, "t-SHIRT", 2),
        (PETS, "1", 1),
        (PETS, "1.0", 1),
        (("1", "2", "3"), "1", 0),
        (("1", "2", "3"), "1.0", 0),
        (("1", "2", "3"), "3,0", 2),
        (("01", "02"), "1", 0),
        (("1", "01"), "01", 1),
        (("a", "A"), "a", 0),
        (("a", "A"), "A", 1),
        (("nan", "None", "NA"), "None", 1),
        (("False", "True"), "TRUE", 1),
        ((), "3", 3),
        ((), "True", 1),
        (("ä",), unicodedata.normalize("NFD", "ä"), 0),
        (("cat ", "cat"), "cat ", 0),
    ],
)
def test_labels_mean_classes(names, label, number):
    assert Classes(names).number(label) == number


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (PETS, "3"),
        (PETS, "-1"),
        (PETS, "0.5"),
        (PETS, "owl"),
        (PETS, ""),
        (PETS, "True"),
        (("1", "2", "3"), "0"),
        (("1", "2", "other"), "0"),
        ((), "owl"),
        ((), "-1"),
    ],
)
def test_what_is_no_class(names, label):
    with pytest.raises(KeyError):
        Classes(names).number(label)


@pytest.mark.parametrize(
    ("names", "label"), [(("Ab", "aB"), "ab"), (("01", "1.0"), "1"), (("a ", " a"), "a")]
)
def test_two_spellings_that_meet_are_not_guessed(names, label):
    with pytest.raises(KeyError, match=r"could be .* or .*: write it exactly"):
        Classes(names).number(label)


def test_class_names_from_every_file(tmp_path):
    names = ("polar bear", "dog", "1")
    (tmp_path / "a.json").write_text(json.dumps(["polar bear", "dog", 1]))
    (tmp_path / "b.txt").write_bytes("polar bear\r\n\r\n dog \r\n1".encode("utf-16"))
    (tmp_path / "c.csv").write_text("index;Name\n0;polar bear\n1;dog\n2;1\n")
    for file in ("a.json", "b.txt", "c.csv"):
        assert read_class_names(str(tmp_path / file), "model.class_names") == names
    assert read_class_names(["polar bear", "dog", 1], "model.class_names") == names


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"{}", "must hold a JSON list of class names, not a dict"),
        ("a.json", b"[" * 50_000, "nested too deeply"),
        ("a.json", b'["a", ["b"]]', "entry 1 must be the name of a class"),
        ("a.json", b'["a", true]', "entry 1 must be the name of a class in quotes, not 'True'"),
        ("a.json", b'["a", ""]', "entry 1 is empty"),
        ("a.txt", b"a\nb\na\n", "holds 'a' twice"),
        ("a.txt", b"B\xe4r\n", "line 1 is not UTF-8 text"),
        ("a.csv", b"x;y\n1;2\n", "has no column 'name'; it has: x, y"),
    ],
)
def test_files_without_class_names_are_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=rf"model.class_names=.*{name}:? .*{said}"):
        read_class_names(tmp_path / name, "model.class_names")
