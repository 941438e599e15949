"""The embedded subject."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from app.errors import UserError
from app.subjects import fashion as room
from app.subjects.fashion import fashion, fashion_cnn
from app.subjects.subject import Subject

IDX = Path("/usr/share/datasets/fashion-mnist")


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


def test_paths_hold_the_original_indices():
    if not IDX.is_dir():
        pytest.skip("the whole of Fashion-MNIST is not on this machine")
    images = np.frombuffer(
        gzip.decompress((IDX / "t10k-images-idx3-ubyte.gz").read_bytes()), np.uint8, offset=16
    )
    labels = np.frombuffer(
        gzip.decompress((IDX / "t10k-labels-idx1-ubyte.gz").read_bytes()), np.uint8, offset=8
    )
    data = fashion()
    for i in (0, 77, 1999):
        index = int(data.paths[i].removeprefix("test/"))
        np.testing.assert_array_equal(np.asarray(data.load(i)), images.reshape(-1, 28, 28)[index])
        assert data.labels[i] == labels[index]


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
