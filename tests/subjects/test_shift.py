"""The shifted stream: worse pictures and other class frequencies, the same ones every time, with true labels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from app.errors import UserError
from app.subjects import shift
from app.subjects.pixels import arrays
from app.subjects.shift import CORRUPTIONS

N = 120
MIX = (0.35, 0.2, 0.15, 0.12, 0.1, 0.08)


def shifted(dataset, **options):
    return shift.shifted(dataset, **{"severities": MIX, "priors": {}, **options})


@pytest.fixture(scope="module")
def clean():
    rng = np.random.default_rng(0)
    pixels = rng.integers(60, 180, size=(N, 12, 12), dtype=np.uint8)
    return arrays(pixels, np.arange(N) % 3, class_names=["a", "b", "c"], name="clean")


def pixels(dataset) -> np.ndarray:
    return np.stack([np.asarray(dataset.load(i)) for i in range(len(dataset))])


def test_the_same_seed_gives_the_same_stream(clean):
    one, two, other = shifted(clean, seed=1), shifted(clean, seed=1), shifted(clean, seed=2)
    assert np.array_equal(pixels(one), pixels(two))
    assert one.digest == two.digest
    assert not np.array_equal(pixels(one), pixels(other))
    assert one.digest != other.digest
    assert np.array_equal(pixels(pickle.loads(pickle.dumps(one))), pixels(one))


def test_no_shift_is_the_data_set_itself(clean):
    same = shifted(clean, severities=[1.0])
    assert np.array_equal(pixels(same), pixels(clean))
    assert same.digest == clean.digest
    assert same.paths == clean.paths


def test_the_mix_of_severities_is_kept(clean):
    stream = shifted(clean, severities=[0.5, 0, 0, 0, 0, 0.5], corruptions=["darkness"])
    untouched = (pixels(stream) == pixels(clean)).all(axis=(1, 2)).mean()
    assert untouched == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_every_corruption_grows_with_its_severity(clean, kind):
    moved = []
    for severity in (1, 3, 5):
        mix = np.eye(6)[severity].tolist()
        stream = shifted(clean, severities=mix, corruptions=[kind])
        assert stream.load(0).size == clean.load(0).size
        assert stream.load(0).mode == clean.load(0).mode
        moved.append(np.abs(pixels(stream).astype(float) - pixels(clean)).mean())
    assert 0 < moved[0] < moved[1] < moved[2]


def test_priors_change_the_frequencies_and_show_nothing_twice(clean):
    stream = shifted(clean, priors={"a": 2.0, "b": 0.0})
    counts = np.bincount(stream.labels, minlength=3)
    assert counts.tolist() == [40, 0, 20]
    assert len(set(stream.paths)) == len(stream)
    place = {path: i for i, path in enumerate(clean.paths)}
    assert [clean.labels[place[path]] for path in stream.paths] == stream.labels.tolist()
    assert len(shifted(clean, priors={"a": 2.0}, size=30)) == 30


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"severities": [0, 0]}, "severities must be 1 to 6 shares"),
        ({"severities": [-1, 2]}, "severities must be"),
        ({"corruptions": ["rain"]}, "'rain' is none; allowed: noise"),
        ({"corruptions": []}, "none is named"),
        ({"priors": {"z": 1}}, "'z' is no class; allowed: a, b, c"),
        ({"priors": {"a": -1}}, "priors.a must be"),
        ({"priors": {"a": 0, "b": 0, "c": 0}}, "leave no case"),
        ({"size": 121}, "size must be 1 to 120"),
        ({"seed": -1}, "seed must be 0 or more"),
    ],
)
def test_mistakes_are_named(clean, options, said):
    with pytest.raises(UserError, match=said):
        shifted(clean, **options)
