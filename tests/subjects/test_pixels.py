"""Pictures in NumPy arrays and files."""

from __future__ import annotations

import numpy as np
import pytest

from app.errors import UserError
from app.subjects.pixels import arrays

GREY = np.arange(24, dtype=np.uint8).reshape(4, 2, 3)
LABELS = np.array([0, 1, 1, 2])


@pytest.mark.parametrize("shape", [(4, 2, 3), (4, 2, 3, 1)])
def test_grey(shape):
    data = arrays(GREY.reshape(shape), LABELS)
    assert (data.name, data.class_names, data.named) == ("arrays", ("0", "1", "2"), False)
    assert (data.load(2).mode, data.load(2).size) == ("L", (3, 2))
    np.testing.assert_array_equal(np.asarray(data.load(2)), GREY[2])


def test_colour_with_names():
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 6, 3)).astype(np.uint8)
    data = arrays(pixels, LABELS.astype(np.uint8), class_names=["a", "b", "c", "d"], name="mine")
    assert (data.name, data.class_names, data.named) == ("mine", ("a", "b", "c", "d"), True)
    assert (data.load(1).mode, data.labels.dtype) == ("RGB", np.int32)
    np.testing.assert_array_equal(np.asarray(data.load(1)), pixels[1])


def test_floats_are_taken_as_shares_of_white():
    data = arrays(np.array([[[0.0, 1.0, 0.5, 20 / 255]]], dtype=np.float32), np.array([0]))
    assert np.asarray(data.load(0)).tolist() == [[0, 255, 128, 20]]
    assert data.notes == ("float images were rounded to 256 steps",)


def test_files_equal_arrays(tmp_path):
    np.save(tmp_path / "x.npy", GREY)
    np.save(tmp_path / "y.npy", LABELS)
    np.savez(tmp_path / "both.npz", images=GREY, labels=LABELS)
    digest = arrays(GREY, LABELS).digest
    assert arrays(tmp_path / "x.npy", str(tmp_path / "y.npy")).digest == digest
    assert arrays(tmp_path / "both.npz").digest == digest
    assert arrays(tmp_path / "both.npz", LABELS).name == "both"


def test_a_sample():
    data = arrays(np.zeros((100, 2, 2), np.uint8), np.arange(100) % 4, max_samples=8, seed=3)
    assert np.bincount(data.labels).tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("images", "labels", "names", "sentence"),
    [
        (GREY, LABELS[:3], None, "there are 4 images but 3 labels"),
        (GREY, LABELS - 1, None, "labels must not be negative, but case 0 has -1"),
        (GREY, LABELS, ["a", "b"], r"labels must be in 0..1 .*but case 3 has 2"),
        (GREY, LABELS - 1, ["a", "b"], r"labels must be in 0..1 .*but case 0 has -1"),
        (GREY, LABELS * 10**6, None, "must number the classes from 0"),
        (GREY, LABELS, ["a", "b", "a"], "dataset.class_names holds 'a' twice"),
        (GREY, LABELS, [], "class_names is empty"),
        (GREY, LABELS / 1, None, r"labels must be \(N,\) integers, not float64"),
        (GREY, LABELS[:, None], None, r"integers, not int64 of shape \(4, 1\)"),
        (GREY, None, None, "dataset.labels is missing"),
        (GREY.astype(np.int64), LABELS, None, "images must be uint8, or floats in"),
        (GREY.astype(float), LABELS, None, r"floats in 0..23: scale them to \[0, 1\]"),
        (np.where(GREY == 9, np.nan, 0.5), LABELS, None, "hold NaN or infinity, first in case 1"),
        (GREY[0], LABELS, None, r"must be \(N, H, W\)"),
        (np.zeros((4, 3, 8, 9), np.uint8), LABELS, None, "channels first"),
        (np.zeros((4, 8, 9, 2), np.uint8), LABELS, None, "with C 1 or 3"),
        (GREY[:0], LABELS[:0], None, "hold no picture"),
    ],
)
def test_what_is_wrong_is_said(images, labels, names, sentence):
    with pytest.raises(UserError, match=sentence):
        arrays(images, labels, class_names=names)


def test_bad_files(tmp_path):
    np.savez(tmp_path / "only.npz", images=GREY)
    with pytest.raises(UserError, match="it has no array 'labels', only images"):
        arrays(tmp_path / "only.npz")
    with pytest.raises(UserError, match=r"images .*none.npy does not exist"):
        arrays(tmp_path / "none.npy", LABELS)
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    with pytest.raises(UserError, match=r"cannot be read as .npy or .npz: it holds pickled Python objects"):
        arrays(tmp_path / "objects.npy", LABELS)
    for content in (b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04cut"):
        (tmp_path / "cut.npy").write_bytes(content)
        with pytest.raises(UserError, match="cannot be read as"):
            arrays(tmp_path / "cut.npy", LABELS)
