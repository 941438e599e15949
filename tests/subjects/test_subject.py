"""Model and data together: classes are matched by name."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from app.errors import UserError
from app.subjects.folder import image_folder
from app.subjects.model import Model, assemble
from app.subjects.pixels import arrays
from app.subjects.preprocess import Preprocess
from app.subjects.subject import Subject

PIXELS = Preprocess(resize=None, crop=None, mode="L", mean=(0.0,), std=(1.0,))


def light_or_dark(class_names: list[str] | None) -> Model:
    """A model whose first output is large for light pictures and whose second for dark ones."""
    linear = nn.Linear(4, 2)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.0] * 4, [-1.0] * 4]))
        linear.bias.copy_(torch.tensor([-2.0, 2.0]))
    return assemble(nn.Sequential(nn.Flatten(), linear), "light", class_names=class_names, preprocess=PIXELS)


@pytest.fixture
def cats_and_dogs(tmp_path):
    """Dark cats and light dogs."""
    for folder, grey in (("cat", 10), ("dog", 240)):
        (tmp_path / folder).mkdir()
        for i in range(3):
            Image.new("L", (2, 2), grey + i).save(tmp_path / folder / f"{i}.png")
    return image_folder(tmp_path, name="pets")


def accuracy(subject: Subject) -> float:
    batch = subject.model.preprocess.to_batch([subject.dataset.load(i) for i in range(len(subject))])
    top1 = subject.model.module(batch).argmax(1).numpy()
    return float((top1 == subject.labels).mean())


def test_class_names_reorder_the_labels(cats_and_dogs):
    """A model trained on [dog, cat] is always wrong in the folders' order and always right in its own."""
    assert accuracy(Subject(light_or_dark(None), cats_and_dogs)) == 0.0
    subject = Subject(light_or_dark(["dog", "cat"]), cats_and_dogs)
    assert accuracy(subject) == 1.0
    assert (subject.classes, subject.labels.tolist()) == (("dog", "cat"), [1, 1, 1, 0, 0, 0])


def test_name_and_digests(cats_and_dogs):
    subject = Subject(light_or_dark(["dog", "cat"]), cats_and_dogs)
    assert subject.name == "light@pets"
    assert (subject.model_digest, subject.data_digest) == (subject.model.digest, cats_and_dogs.digest)
    assert (len(subject), subject.num_classes, subject.notes) == (6, 2, ())


def test_the_order_of_the_folders_is_noted_when_it_is_a_guess(cats_and_dogs):
    subject = Subject(light_or_dark(None), cats_and_dogs)
    assert subject.classes == ("cat", "dog")
    assert subject.notes == (
        "model.class_names was not given: its outputs are taken to be in the order cat, dog",
    )


def test_the_model_may_know_more_classes(cats_and_dogs):
    module = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    model = assemble(module, "three", class_names=["dog", "emu", "cat"], preprocess=PIXELS)
    subject = Subject(model, cats_and_dogs)
    assert (subject.num_classes, subject.labels.tolist()) == (3, [2, 2, 2, 0, 0, 0])
    subject.check_outputs(3)


def test_the_data_may_not(cats_and_dogs):
    with pytest.raises(
        UserError, match=r"classes that the model does not know: cat; model.class_names are dog, emu"
    ):
        Subject(light_or_dark(["dog", "emu"]), cats_and_dogs)


def test_numbered_labels_number_the_outputs():
    images = np.zeros((3, 2, 2), np.uint8)
    subject = Subject(light_or_dark(["dog", "cat"]), arrays(images, np.array([1, 0, 1])))
    assert (subject.classes, subject.labels.tolist(), subject.notes) == (("dog", "cat"), [1, 0, 1], ())
    with pytest.raises(
        UserError, match=r"labels of arrays go up to 2, but model.class_names has only 2 classes"
    ):
        Subject(light_or_dark(["dog", "cat"]), arrays(images, np.array([1, 0, 2])))


def test_numbered_classes_of_a_nameless_model():
    subject = Subject(light_or_dark(None), arrays(np.zeros((2, 2, 2), np.uint8), np.array([1, 0])))
    assert (subject.classes, subject.notes) == (("0", "1"), ())


@pytest.mark.parametrize(
    ("names", "width", "sentence"),
    [
        (
            None,
            1000,
            r"model light has 1000 outputs, but light@pets has 2 classes \(cat, dog\): give model.class_names",
        ),
        (["dog", "cat"], 3, "has 3 outputs, .* correct model.class_names"),
    ],
)
def test_the_outputs_must_fit_the_classes(cats_and_dogs, names, width, sentence):
    subject = Subject(light_or_dark(names), cats_and_dogs)
    subject.check_outputs(2)
    with pytest.raises(UserError, match=sentence):
        subject.check_outputs(width)
