"""The embedding space of a model: its picture, its classes' centroids and its weak regions, in one look."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from app.diagnosis import embeddings, hidden_slices
from app.diagnosis.embeddings import Picture
from app.diagnosis.hidden_slices import Slice
from app.diagnosis.probabilities import Probabilities
from app.errors import UserError


@dataclass(frozen=True)
class EmbeddingSpace:
    """What the embeddings of M test cases show."""

    cases: NDArray[np.int64]
    """(M,): the embedded test cases, as positions among those that were kept."""
    picture: Picture
    """Some or all of them in the plane."""
    similarity: NDArray[np.float64]
    """(K, K): cosine between the classes' centroids."""
    slices: tuple[Slice, ...]
    """Clusters, most suspicious first."""


def embedding_space(
    rows: ArrayLike,
    cases: ArrayLike | None,
    given: Probabilities,
    rng: np.random.Generator,
    *,
    method: str = "pca",
    centred: bool = True,
) -> EmbeddingSpace:
    """The embedding space of some test cases.

    Args:
        rows: (M, D) embeddings.
        cases: (M,) which rows of the given predictions they belong to; None means all, in order.
        given: the checked predictions. Embeddings of dropped rows are left out.
        rng: draws samples and starts clusters.
        method: `pca` or `tsne`.
        centred: whether cosines are taken around the mean of the centroids.

    Raises:
        UserError: if embeddings and test cases do not belong together, or the method is unknown.
    """
    if method not in embeddings.METHODS:
        raise UserError(f"embeddings are pictured by one of {', '.join(embeddings.METHODS)}, not {method!r}")
    total = given.cases.size + len(given.dropped)
    which = np.arange(total) if cases is None else np.asarray(cases)
    if which.ndim != 1 or which.dtype.kind not in "iu" or np.unique(which).size != which.size:
        raise UserError("embedding_cases must be different row numbers of the predictions, (M,)")
    if which.size and not 0 <= int(which.min()) <= int(which.max()) < total:
        raise UserError(f"embedding_cases must be rows in 0..{total - 1}, not {which.min()}..{which.max()}")
    array = np.asarray(rows)
    if array.ndim < 2 or len(array) != which.size:
        embeddings.check(array, which.size)
    position = np.full(total, -1)
    position[given.cases] = np.arange(given.cases.size)
    kept = position[which] >= 0
    if not kept.any():
        raise UserError("no embedding belongs to a test case that was kept; at least one is needed")
    space, found = embeddings.check(array[kept], int(kept.sum())), position[which][kept]
    labels, classes = given.labels[found], len(given.class_names)
    right, confidence = given.rows[found].argmax(axis=1) == labels, given.rows[found].max(axis=1)
    picture_rng, slice_rng = rng.spawn(2)
    picture = embeddings.picture(space, labels, picture_rng, method=method)
    slices = hidden_slices.slices(space, labels, right, confidence, classes=classes, rng=slice_rng)
    return EmbeddingSpace(
        cases=found,
        picture=replace(picture, cases=found[picture.cases]),
        similarity=embeddings.centroid_cosine(space, labels, classes, centred=centred),
        slices=tuple(replace(each, cases=tuple(found[list(each.cases)].tolist())) for each in slices),
    )
