import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.diagnosis import embeddings
from app.errors import UserError


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 12))
def test_pca_equals_scikit_learn_but_for_the_sign(seed, cases, width):
    from sklearn.decomposition import PCA

    rows = np.random.default_rng(seed).normal(size=(cases, width)) * np.arange(1, width + 1)
    kept = min(3, cases - 1, width)
    scores, shares = embeddings.pca(rows, kept)
    oracle = PCA(kept, svd_solver="full").fit(rows)
    np.testing.assert_allclose(np.abs(scores), np.abs(oracle.transform(rows)), atol=1e-6 * width)
    np.testing.assert_allclose(shares, oracle.explained_variance_ratio_, atol=1e-9)


def test_pca_of_equal_rows():
    scores, shares = embeddings.pca(np.ones((4, 3)), 2)
    assert np.abs(scores).max() < 1e-9
    assert shares.tolist() == [0, 0]


@pytest.mark.parametrize("method", embeddings.METHODS)
def test_a_picture_keeps_clusters_apart(method):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 30)
    rows = rng.normal(size=(60, 20)) + 20 * labels[:, None]
    found = embeddings.picture(rows, labels, rng, method=method)
    assert found.points.shape == (60, 2)
    first, second = (found.points[labels == k].mean(axis=0) for k in (0, 1))
    spread = max(found.points[labels == k].std() for k in (0, 1))
    assert np.linalg.norm(first - second) > 2 * spread
    assert np.isnan(found.explained) == (method == "tsne")


def test_a_picture_of_one_number_and_of_one_case():
    rng = np.random.default_rng(0)
    flat = embeddings.picture(np.arange(5.0)[:, None], np.zeros(5, dtype=int), rng)
    assert (flat.points[:, 1] == 0).all()
    assert embeddings.picture(np.ones((1, 3)), np.zeros(1, dtype=int), rng).points.tolist() == [[0, 0]]
    with pytest.raises(ValueError, match="pca, tsne"):
        embeddings.picture(np.ones((1, 3)), np.zeros(1, dtype=int), rng, method="umap")


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(5, 60))
def test_a_stratified_sample_keeps_proportions_and_every_class(seed, most):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1, 2, 3], [100, 40, 10, 1]))
    cases = embeddings.stratified(labels, most, rng)
    counts = np.bincount(labels[cases], minlength=4)
    assert cases.size == most == np.unique(cases).size
    assert (np.diff(cases) > 0).all()
    assert counts.min() >= 1
    assert np.abs(counts - most * np.array([100, 40, 10, 1]) / 151).max() <= 4
    np.testing.assert_array_equal(embeddings.stratified(labels, 151, rng), np.arange(151))


def test_centroid_cosine_by_hand():
    rows = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    labels = np.array([0, 0, 1, 2])
    plain = embeddings.centroid_cosine(rows, labels, 4)
    half = np.sqrt(0.5)
    expected = [[1, 0, half, 0], [0, 1, half, 0], [half, half, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(plain, expected, atol=1e-12)
    centred = embeddings.centroid_cosine(rows, labels, 4, centred=True)
    # Centroids around their mean (1, 1): (1, -1), (-1, 1), (0, 0).
    np.testing.assert_allclose(
        centred, [[1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], atol=1e-12
    )


def test_kmeans_finds_separate_clusters_and_no_more_than_there_are():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 25)
    rows = rng.normal(size=(100, 3)) + 30 * rng.normal(size=(4, 3))[truth]
    found = embeddings.kmeans(rows, 4, rng)
    assert {len(set(found[truth == k])) for k in range(4)} == {1}
    assert len(set(found)) == 4
    assert set(embeddings.kmeans(np.ones((10, 2)), 3, rng)) == {0}
    again = (
        embeddings.kmeans(rows, 6, np.random.default_rng(7)),
        embeddings.kmeans(rows, 6, np.random.default_rng(7)),
    )
    np.testing.assert_array_equal(*again)


def test_check():
    np.testing.assert_array_equal(embeddings.check(np.ones((2, 3, 2)), 2), np.ones((2, 6)))
    bad = np.ones((3, 2))
    bad[1] = np.inf
    with pytest.raises(UserError, match="test case 1 holds"):
        embeddings.check(bad, 3)
    for wrong in (np.ones(3), np.ones((2, 2)), np.ones((3, 0)), np.full((3, 1), "a")):
        with pytest.raises(UserError, match=r"\(3, D\)"):
            embeddings.check(wrong, 3)
