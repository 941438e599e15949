"""The embedded subject."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch
from torch import nn

from app.errors import UserError
from app.subjects import fashion as room
from app.subjects.fashion import fashion, fashion_cnn
from app.subjects.subject import Subject

ORIGINALS = "e181c713d508ce1ab9ca30ee309126d3666011c04e229125258d51fd6c93e553"
"""Digest of those images of t10k-images-idx3-ubyte and of their labels, taken from the original files."""


def test_the_model_is_right_on_the_embedded_test_images():
    subject = Subject(fashion_cnn(), fashion())
    assert subject.name == "fashion_cnn@fashion_test"
    batch = subject.model.preprocess.to_batch([subject.dataset.load(i) for i in range(len(subject))])
    with torch.inference_mode():
        outputs = subject.model.module(batch)
    subject.check_outputs(outputs.shape[1])
    assert (outputs.argmax(1).numpy() == subject.labels).mean() >= 0.88


def test_the_model_offers_targets_to_every_operator():
    module = fashion_cnn().module
    assert not module.training
    assert 60_000 <= sum(parameter.numel() for parameter in module.parameters()) <= 120_000
    kinds = [type(each) for each in module.modules()]
    assert kinds.count(nn.ReLU) == 4
    assert kinds[-2:] == [nn.Dropout, nn.Linear]


@pytest.mark.parametrize(("split", "per_class"), [("test", 200), ("train", 400)])
def test_splits_are_balanced(split, per_class):
    data = fashion(split)
    assert np.bincount(data.labels).tolist() == [per_class] * 10
    assert data.load(0).size == (28, 28)
    assert data.load(0).mode == "L"
    assert len(set(data.paths)) == len(data)
    assert fashion(split, max_samples=50, seed=1).labels.tolist() == sorted_by_path(data, 50)


def sorted_by_path(data, size):
    drawn = data.sample(size, seed=1)
    assert list(drawn.paths) == sorted(drawn.paths)
    return drawn.labels.tolist()


def test_the_splits_share_no_image():
    test, train = ({bytes(row) for row in fashion(split).case_digests} for split in ("test", "train"))
    assert not test & train


def test_images_and_labels_are_the_originals_at_the_indices_that_paths_hold():
    data = fashion()
    indices = [int(path.removeprefix("test/")) for path in data.paths]
    assert (len(indices), indices[:3]) == (2000, [1, 11, 13])
    pixels = b"".join(np.asarray(data.load(i)).tobytes() for i in range(len(data)))
    found = hashlib.sha256(pixels + np.asarray(data.labels, np.uint8).tobytes()).hexdigest()
    assert found == ORIGINALS


def test_sizes_stay_small():
    assert (room.ASSETS / room.IMAGES_FILE).stat().st_size <= 3.5e6
    assert (room.ASSETS / room.WEIGHTS_FILE).stat().st_size <= 500_000


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    for name in (room.IMAGES_FILE, room.WEIGHTS_FILE):
        content = bytearray((room.ASSETS / name).read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(room, "ASSETS", tmp_path)
    with pytest.raises(UserError, match=r"fashion-mnist.npz is not what was shipped"):
        fashion()
    with pytest.raises(UserError, match=r"fashion-cnn.pt is not what was shipped"):
        fashion_cnn()
    (tmp_path / room.WEIGHTS_FILE).unlink()
    with pytest.raises(UserError, match=r"fashion-cnn.pt cannot be read"):
        fashion_cnn()


def test_an_unknown_split():
    with pytest.raises(UserError, match="split must be test or train, not 'val'"):
        fashion("val")
