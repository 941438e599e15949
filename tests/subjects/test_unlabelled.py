"""Operational pictures without classes."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from app.errors import UserError
from app.subjects.fashion import fashion, fashion_cnn
from app.subjects.subject import Subject
from app.subjects.unlabelled import UnlabelledImages, unlabelled_folder, without_labels


def test_a_folder_of_pictures(tmp_path):
    (tmp_path / "july" / "deep").mkdir(parents=True)
    for i, name in enumerate(("b.png", "deep/a.png", "c.png")):
        Image.fromarray(np.full((8, 8), 40 * i, np.uint8)).save(tmp_path / "july" / name)
    (tmp_path / "july" / "broken.png").write_bytes(b"no picture")
    (tmp_path / "july" / "notes.txt").write_text("not a picture either")
    found = unlabelled_folder(tmp_path / "july")
    assert isinstance(found, UnlabelledImages)
    assert found.paths == ("b.png", "c.png", "deep/a.png")
    assert found.load(1).getpixel((0, 0)) == 80
    assert [each.path for each in found.excluded] == ["broken.png"]
    (tmp_path / "july" / "broken.png").unlink()
    assert len(unlabelled_folder(tmp_path / "july", max_samples=2, seed=1)) == 2
    assert isinstance(found.subset([1]), UnlabelledImages)


def test_a_model_names_the_classes():
    few = without_labels(fashion(max_samples=20))
    subject = Subject(fashion_cnn(), few)
    assert subject.classes == fashion_cnn().class_names
    assert few.paths == fashion(max_samples=20).paths


def test_mistakes_are_named(tmp_path):
    with pytest.raises(UserError, match="is no folder"):
        unlabelled_folder(tmp_path / "none")
    with pytest.raises(UserError, match="holds no picture"):
        unlabelled_folder(tmp_path)
    with pytest.raises(UserError, match="max_samples"):
        unlabelled_folder(tmp_path, max_samples=0)
