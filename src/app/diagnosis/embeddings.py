"""Embeddings: what a layer of the model makes of the test cases, sampled, reduced, pictured and clustered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from app.errors import UserError

REDUCED = 50
"""Dimensions kept before the picture and the clusters."""
MOST = 2000
"""Test cases in a picture."""
METHODS = ("pca", "tsne")

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Picture:
    """Test cases as points of the plane."""

    cases: NDArray[np.int64]
    """(M,): the test cases."""
    points: Reals
    """(M, 2): where each lies."""
    method: str
    """`pca` or `tsne`."""
    explained: float
    """Share of the variance that the two axes of `pca` keep; NaN for `tsne`."""


def check(embeddings: ArrayLike, cases: int) -> Reals:
    """The embeddings in double precision.

    Args:
        embeddings: (N, D), one finite row a test case; more axes are flattened.
        cases: N.

    Raises:
        UserError: if the shape is another or a number is not finite.
    """
    given = np.asarray(embeddings)
    if given.ndim < 2 or len(given) != cases or not given.size or given.dtype.kind not in "fiu":
        raise UserError(
            f"embeddings must be numbers of shape ({cases}, D), one row a test case, not "
            f"{given.dtype} of {given.shape}"
        )
    rows = given.reshape(cases, -1).astype(np.float64)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise UserError(
            f"the embedding of test case {int(np.argmin(finite))} holds NaN or infinity "
            f"({int((~finite).sum())} do); only finite numbers are allowed"
        )
    return rows


def stratified(labels: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """At most `most` test cases in rising order, every class in its proportion and with one case at least.

    With more classes than `most`, some classes have none.
    """
    if labels.size <= most:
        return np.arange(labels.size)
    shuffled = rng.permutation(labels.size)
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]
    _, begins, counts = np.unique(labels[order], return_index=True, return_counts=True)
    place = np.arange(labels.size) - np.repeat(begins, counts)
    # The first of every class go first, then each class's cases evenly spread over (0, 1).
    turn = np.where(place == 0, -1.0, (place + rng.random(labels.size)) / np.repeat(counts, counts))
    return np.sort(order[np.argsort(turn, kind="stable")[:most]])


def pca(rows: Reals, dimensions: int) -> tuple[Reals, Reals]:
    """Principal components (N, d) and the share of the variance of each (d,), d = min(dimensions, N, D).

    By the singular values of the smaller of the two product matrices. Each component's largest loading is
    positive, so that the signs are the same everywhere.
    """
    centred = rows - rows.mean(axis=0)
    cases, width = centred.shape
    kept = min(dimensions, cases, width)
    square = centred.T @ centred if width <= cases else centred @ centred.T
    size = len(square)
    values, vectors = linalg.eigh(square, subset_by_index=(size - kept, size - 1))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    if width <= cases:
        loadings, scores = vectors, centred @ vectors
    else:
        scores = vectors * np.sqrt(values)
        loadings = centred.T @ vectors
    largest = loadings[np.abs(loadings).argmax(axis=0), np.arange(kept)]
    total = float((centred**2).sum())
    shares = values / total if total > 0 else np.zeros(kept)
    return scores * np.where(largest < 0, -1.0, 1.0), shares


def picture(
    rows: Reals, labels: NDArray[np.int64], rng: np.random.Generator, *, method: str = "pca", most: int = MOST
) -> Picture:
    """The test cases, or a stratified sample of them, in the plane.

    Args:
        rows: (N, D) embeddings.
        labels: (N,) true classes, for the sample.
        rng: draws the sample and starts t-SNE.
        method: `pca`, or `tsne` (scikit-learn; about 15 CPU-seconds for 2,000 test cases).
        most: size of the sample.

    Raises:
        ValueError: for another method.
    """
    if method not in METHODS:
        raise ValueError(f"the picture of embeddings is made by one of {', '.join(METHODS)}, not {method!r}")
    cases = stratified(labels, most, rng)
    reduced, shares = pca(rows[cases], REDUCED)
    if method == "tsne" and cases.size >= 4:
        from sklearn.manifold import TSNE  # noqa: PLC0415 -- slow to import, and only on request

        machine = TSNE(
            perplexity=min(30.0, (cases.size - 1) / 3),
            init="pca" if reduced.shape[1] >= 2 else "random",
            random_state=int(rng.integers(2**31)),
        )
        return Picture(cases, np.asarray(machine.fit_transform(reduced), dtype=np.float64), "tsne", np.nan)
    points = np.zeros((cases.size, 2))
    points[:, : min(2, reduced.shape[1])] = reduced[:, :2]
    return Picture(cases, points, "pca", float(shares[:2].sum()))


def centroid_cosine(rows: Reals, labels: NDArray[np.int64], classes: int, *, centred: bool = False) -> Reals:
    """(K, K): cosine between the classes' centroids; 0 for a class without cases or at the origin.

    Args:
        rows: (N, D) embeddings.
        labels: (N,) true classes.
        classes: K.
        centred: take the mean of the centroids off first. Behind a ReLU all centroids point into one corner,
            and the plain cosine finds every pair alike.
    """
    counts = np.bincount(labels, minlength=classes)
    sums = np.zeros((classes, rows.shape[1]))
    np.add.at(sums, labels, rows)
    centroids = sums / np.maximum(counts, 1)[:, None]
    if centred and counts.any():
        centroids = np.where(counts[:, None] > 0, centroids - centroids[counts > 0].mean(axis=0), 0.0)
    lengths = np.linalg.norm(centroids, axis=1, keepdims=True)
    unit = np.divide(centroids, lengths, out=np.zeros_like(centroids), where=lengths > 1e-12)
    cosine: Reals = np.clip(unit @ unit.T, -1.0, 1.0)
    return cosine


def kmeans(rows: Reals, clusters: int, rng: np.random.Generator, *, rounds: int = 50) -> NDArray[np.int64]:
    """(N,): cluster of each row, by Lloyd's algorithm from k-means++ seeds (Arthur and Vassilvitskii, 2007).

    Args:
        rows: (N, D), N of at least 1.
        clusters: at most so many; fewer if rows are equal.
        rng: draws the seeds.
        rounds: Lloyd steps at most.
    """
    centres = rows[rng.integers(len(rows))][None]
    nearest = ((rows - centres[0]) ** 2).sum(axis=1)
    while len(centres) < min(clusters, len(rows)) and nearest.sum() > 0:
        centre = rows[rng.choice(len(rows), p=nearest / nearest.sum())]
        centres = np.vstack([centres, centre])
        nearest = np.minimum(nearest, ((rows - centre) ** 2).sum(axis=1))
    cluster = np.full(len(rows), -1)
    for _ in range(rounds):
        # |x|^2 is the same for all centres and left out.
        closest = ((centres**2).sum(axis=1) - 2 * rows @ centres.T).argmin(axis=1)
        if (closest == cluster).all():
            break
        cluster = closest
        counts = np.bincount(cluster, minlength=len(centres))
        sums = np.zeros_like(centres)
        np.add.at(sums, cluster, rows)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return cluster.astype(np.int64)
