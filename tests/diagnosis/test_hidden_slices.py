import numpy as np
import pytest
from scipy import stats

from app.diagnosis import hidden_slices
from app.diagnosis.hidden_slices import _tail, slices

from .models import names, sound_model


def planted(rng, *, sure):
    """A sound model of 4 classes, and 60 cases of two of them, apart in the embedding, half of them wrong."""
    rows, labels, embeddings = sound_model(rng, 1000, 4)
    group = np.flatnonzero(labels < 2)[:60]
    embeddings[group] = 12 + rng.normal(size=(60, 8))
    right = rows.argmax(axis=1) == labels
    right[group] = np.arange(60) < 30
    confidence = rows.max(axis=1)
    confidence[group] = sure
    return embeddings, labels, right, confidence, group


@pytest.mark.parametrize("clusters", [5, None])
def test_a_planted_slice_is_found_with_its_cases(clusters):
    rng = np.random.default_rng(0)
    embeddings, labels, right, confidence, group = planted(rng, sure=0.9)
    found = slices(embeddings, labels, right, confidence, classes=4, rng=rng, clusters=clusters)
    findings = list(hidden_slices.find(found, tuple(names(4)), 1000))
    cases = {case for finding in findings for case in finding.cases}
    assert cases == {case for each in found if each.hidden for case in each.cases}
    assert len(set(group) & cases) >= 50
    assert len(cases - set(group)) <= 5
    for finding in findings:
        assert set(finding.affected) == {"class0", "class1"}
        assert finding.evidence["error_rate"] == pytest.approx(0.5, abs=0.25)
        assert finding.evidence["rest_error_rate"] < 0.12


def test_a_slice_in_which_the_model_is_unsure_is_weak_and_not_hidden():
    rng = np.random.default_rng(0)
    embeddings, labels, right, confidence, _ = planted(rng, sure=0.5)
    found = slices(embeddings, labels, right, confidence, classes=4, rng=rng, clusters=5)
    assert found[0].weak
    assert not found[0].hidden
    assert list(hidden_slices.find(found, tuple(names(4)), 1000)) == []


def test_a_hard_class_is_not_hidden():
    rng = np.random.default_rng(2)
    rows, labels, embeddings = sound_model(rng, 800, 4)
    right = np.where(labels == 3, rng.random(800) < 0.5, rows.argmax(axis=1) == labels)
    found = slices(embeddings, labels, right, rows.max(axis=1), classes=4, rng=rng)
    assert not any(each.weak for each in found)


def test_sound_models_have_none():
    hidden = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows, labels, embeddings = sound_model(rng, 500, 4, sharp=4)
        right = rows.argmax(axis=1) == labels
        found = slices(embeddings, labels, right, rows.max(axis=1), classes=4, rng=rng)
        assert sum(len(each.cases) for each in found) == 500
        assert sum(each.expected for each in found) == pytest.approx((~right).sum())
        hidden += any(each.hidden for each in found)
    assert hidden <= 1


def test_the_tail_of_one_class_is_fishers_and_of_two_is_sampled():
    one = _tail(np.array([10]), np.array([50]), np.array([12]), 5)
    table = [[5, 5], [7, 33]]
    assert one == pytest.approx(stats.fisher_exact(table, alternative="greater").pvalue)
    rng = np.random.default_rng(0)
    drawn = rng.hypergeometric(12, 38, 10, 200_000) + rng.hypergeometric(3, 20, 8, 200_000)
    two = _tail(np.array([10, 8, 0]), np.array([50, 23, 9]), np.array([12, 3, 9]), 6)
    assert two == pytest.approx((drawn >= 6).mean(), abs=0.005)
    assert _tail(np.array([5]), np.array([5]), np.array([0]), 0) == 1


def test_one_cluster_has_no_rest():
    rng = np.random.default_rng(0)
    right = np.ones(10, dtype=bool)
    (only,) = slices(np.ones((10, 2)), np.zeros(10, dtype=int), right, np.ones(10), classes=2, rng=rng)
    assert np.isnan(only.rest_error_rate)
    assert (only.errors, only.p_value, only.weak) == (0, 1, False)
