"""DSA and LSA against a plain double loop and SciPy, and where they are not defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gaussian_kde

from app.errors import UserError
from app.estimation import nearest
from app.estimation.nearest import NearestSearch, TrainingTraces
from app.estimation.surprise import combined, dsa, lsa, scaled


def plain_dsa(training, classes, traces, predicted):
    values = []
    for trace, label in zip(traces, predicted, strict=True):
        best, winner = np.inf, None
        for other, its in zip(training, classes, strict=True):
            distance = np.sqrt(((trace - other) ** 2).sum())
            if its == label and distance < best:
                best, winner = distance, other
        second = min(
            np.sqrt(((winner - other) ** 2).sum())
            for other, its in zip(training, classes, strict=True)
            if its != label
        )
        values.append(best / second)
    return np.array(values)


def some_traces(seed, *, training=120, cases=40, width=6, classes=4, offset=0.0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=2, size=(classes, width)) + offset
    labels, predicted = rng.integers(classes, size=training), rng.integers(classes, size=cases)
    labels[:classes] = np.arange(classes)
    noise = rng.normal(size=(training + cases, width))
    return centres[labels] + noise[:training], labels, centres[predicted] + noise[training:], predicted


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("block", [1 << 24, 37])
def test_dsa_equals_a_double_loop(offset, block, monkeypatch):
    monkeypatch.setattr(nearest, "_BLOCK", block)
    data = some_traces(0, offset=offset)
    result = dsa(*data)
    assert result.values == pytest.approx(plain_dsa(*data), rel=1e-9)
    assert result.notes == ()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_dsa_is_exact_on_grids_full_of_ties_and_duplicates(seed, classes):
    rng = np.random.default_rng(seed)
    training, labels = rng.integers(0, 3, (30, 3)).astype(float), rng.integers(classes, size=30)
    queries = rng.integers(0, 3, (10, 3)).astype(float)
    known = TrainingTraces.of(training, labels)
    search = NearestSearch(known)
    for label in range(classes):
        span = known.span(label)
        inside = search.inside(queries - known.centre, span)
        outside = search.outside(queries - known.centre, np.full(10, label))
        for query, near, far in zip(queries, inside.distance, outside.distance, strict=True):
            distances = np.linalg.norm(training - query, axis=1)
            for found, allowed in ((near, labels == label), (far, labels != label)):
                expected = distances[allowed].min() if allowed.any() else np.nan
                assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_columns_are_cut_into_blocks_too(monkeypatch):
    data = some_traces(3)
    known = TrainingTraces.of(data[0], data[1])
    queries = data[2] - known.centre
    whole = NearestSearch(known).outside(queries, np.sort(data[3]))
    monkeypatch.setattr(nearest, "_COLUMNS", 17)
    parts = NearestSearch(known).outside(queries, np.sort(data[3]))
    assert parts.index.tolist() == whole.index.tolist()
    assert parts.distance.tolist() == whole.distance.tolist()


def test_dsa_of_a_class_without_training_traces_takes_the_nearest_of_all():
    training, labels, traces, predicted = some_traces(1, classes=3)
    strange = np.where(np.arange(len(predicted)) == 5, 9, predicted)
    result = dsa(training, labels, traces, strange)
    assert result.notes == ("no training trace of class 9: DSA took the nearest of all classes",)
    winner = np.linalg.norm(training - traces[5], axis=1).argmin()
    other = training[labels != labels[winner]]
    expected = (
        np.linalg.norm(training[winner] - traces[5]) / np.linalg.norm(other - training[winner], axis=1).min()
    )
    assert result.values[5] == pytest.approx(expected)


def test_dsa_with_one_training_class_is_the_distance():
    training, _, traces, _ = some_traces(2)
    result = dsa(training, np.zeros(len(training), int), traces, np.zeros(len(traces), int))
    distances = np.linalg.norm(traces[:, None] - training[None], axis=2).min(axis=1)
    assert result.values == pytest.approx(distances)
    assert "of one class" in result.notes[0]


def test_dsa_of_touching_classes_is_finite():
    training = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [9.0, 9.0]])
    result = dsa(training, np.array([0, 1, 0, 1]), np.array([[1.0, 0.0], [3.0, 4.0]]), np.array([0, 0]))
    assert result.values.tolist() == pytest.approx([1 / 5, 0.0])
    assert "equal one of another class" in result.notes[0]


def test_lsa_equals_scipy():
    training, labels, traces, predicted = some_traces(4, training=400)
    training[:, 2] = 0.25  # a flat column is left out
    result = lsa(training, labels, traces, predicted)
    kept = [0, 1, 3, 4, 5]
    for trace, label, value in zip(traces, predicted, result.values, strict=True):
        density = gaussian_kde(training[labels == label][:, kept].T)
        assert value == pytest.approx(-density.logpdf(trace[kept])[0], rel=1e-9)
    assert result.notes == ()


def test_lsa_does_not_underflow():
    training, labels, traces, predicted = some_traces(5)
    far = lsa(training, labels, traces + 1e3, predicted).values
    assert np.isfinite(far).all()
    assert (far > 1e4).all()


def test_lsa_of_small_empty_and_singular_classes_is_finite_and_noted():
    rng = np.random.default_rng(0)
    training = np.concatenate([rng.normal(size=(60, 5)), rng.normal(size=(4, 5)), rng.normal(size=(1, 5))])
    labels = np.array([0] * 60 + [1] * 4 + [2])
    traces, predicted = rng.normal(size=(8, 5)), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    result = lsa(training, labels, traces, predicted)
    assert np.isfinite(result.values).all()
    assert result.notes == (
        "fewer than two training traces of classes 2, 3: LSA used those of all classes",
        "singular covariance in class 1: LSA added a ridge",
    )
    everything = gaussian_kde(training.T)
    assert result.values[4:] == pytest.approx(-everything.logpdf(traces[4:].T))


def test_lsa_of_constant_or_lonely_training_traces_is_finite():
    one = lsa(np.ones((1, 3)), np.array([0]), np.zeros((2, 3)), np.array([0, 1]))
    flat = lsa(np.ones((5, 3)), np.zeros(5, int), np.array([[1.0, 1, 1], [2, 2, 2]]), np.array([0, 0]))
    for result in (one, flat):
        assert np.isfinite(result.values).all()
        assert result.notes
    assert flat.values[1] > flat.values[0]


@pytest.mark.parametrize("measure", [dsa, lsa])
def test_no_cases_give_no_values_and_bad_traces_are_named(measure):
    training, labels, traces, predicted = some_traces(6)
    assert len(measure(training, labels, traces[:0], predicted[:0]).values) == 0
    with pytest.raises(UserError, match="of one width"):
        measure(training, labels, traces[:, :3], predicted)
    with pytest.raises(UserError, match="there are none"):
        measure(training[:0], labels[:0], traces, predicted)
    with pytest.raises(UserError, match="one class is needed"):
        measure(training, labels[:-1], traces, predicted)
    traces[7, 2] = np.nan
    with pytest.raises(UserError, match="operational trace of row 7"):
        measure(training, labels, traces, predicted)


def test_combined_scales_dsa_over_the_population():
    assert scaled(np.array([2.0, 4.0, 3.0])).tolist() == [0.0, 1.0, 0.5]
    assert scaled(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert combined(np.array([0.9, 0.8, 0.6]), np.array([2.0, 4.0, 3.0])) == pytest.approx([0.9, 0.0, 0.3])
