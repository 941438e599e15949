"""How far an input is from what the model saw in training: distance- and likelihood-based surprise.

Kim, Feldt & Yoo, "Guiding deep learning system testing using surprise adequacy", ICSE 2019. A trace is the vector of a
layer's activations for one input (convolution outputs averaged over space).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from app.errors import UserError
from app.estimation.nearest import NearestSearch, Traces, TrainingTraces
from app.estimation.population import FloatArray

_FLAT = 1e-5
"""Columns of less variance than this in any class take no part in LSA (Kim et al.)."""
_KERNEL_BLOCK = 1 << 22
"""Entries of one block of kernel distances (32 MiB of float64)."""
_SHOWN = 10


@dataclass(frozen=True)
class Surprise:
    """A surprise of every case, with the fallbacks that were needed."""

    values: FloatArray
    """(N,) finite; larger is more surprising."""
    notes: tuple[str, ...] = ()
    """Which classes needed a fallback, and which one."""


def _classes(labels: list[int]) -> str:
    few = ", ".join(str(label) for label in labels[:_SHOWN])
    return f"class{'es' if len(labels) > 1 else ''} {few}" + (" …" if len(labels) > _SHOWN else "")


def _check(
    training: Traces, training_classes: NDArray[np.integer], traces: Traces, predicted: NDArray[np.integer]
) -> None:
    if training.ndim != 2 or traces.ndim != 2 or training.shape[1] != traces.shape[1]:
        raise UserError(
            f"traces must be (cases, neurons) of one width, not {training.shape} and {traces.shape}"
        )
    if len(training) == 0:
        raise UserError("surprise needs training traces, there are none")
    if training_classes.shape != (len(training),) or predicted.shape != (len(traces),):
        raise UserError("one class is needed for every trace")
    for name, values in (("training", training), ("operational", traces)):
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if len(bad):
            raise UserError(
                f"the {name} trace of row {bad[0]} (and {len(bad) - 1} more) holds NaN or infinity"
            )


def dsa(
    training: Traces, training_classes: NDArray[np.integer], traces: Traces, predicted: NDArray[np.integer]
) -> Surprise:
    """Distance-based surprise: dist_a / dist_b.

    dist_a is the distance to the nearest training trace t of the predicted class, dist_b the distance of t to the
    nearest training trace of any other class (Kim et al., eq. 4-6). dist_b is computed once for each t that is ever
    nearest. Fallbacks, named in the notes: a predicted class without training traces takes the nearest of all classes;
    a single training class gives dist_b = 1; dist_b = 0 is replaced by the smallest positive one.

    Args:
        training: (T, d) training traces.
        training_classes: (T,) predictions on the training set (or its labels).
        traces: (N, d) operational traces.
        predicted: (N,) predicted classes.

    Raises:
        UserError: shapes do not fit, there are no training traces, or a trace is not finite.
    """
    _check(training, training_classes, traces, predicted)
    known = TrainingTraces.of(training, training_classes)
    search = NearestSearch(known)
    queries = np.asarray(traces, dtype=np.float64) - known.centre
    nearest = np.full(len(traces), -1, dtype=np.int64)
    dist_a = np.zeros(len(traces))
    empty: list[int] = []
    for label in np.unique(predicted).tolist():
        members = np.flatnonzero(predicted == label)
        span = known.span(label)
        if span.start == span.stop:
            empty.append(label)
            span = slice(0, len(known.classes))
        found = search.inside(queries[members], span)
        nearest[members], dist_a[members] = found.index, found.distance
    ever, position = np.unique(nearest, return_inverse=True)
    dist_b = search.outside(known.exact[ever], known.classes[ever]).distance
    notes = [f"no training trace of {_classes(empty)}: DSA took the nearest of all classes"] if empty else []
    if np.isnan(dist_b).any():
        dist_b[np.isnan(dist_b)] = 1.0
        notes.append("all training traces are of one class: DSA is the distance to the nearest")
    if (dist_b == 0).any():
        positive = dist_b[dist_b > 0]
        touching = np.unique(known.classes[ever[dist_b == 0]]).tolist()
        dist_b[dist_b == 0] = positive.min() if len(positive) else 1.0
        notes.append(
            f"traces of {_classes(touching)} equal one of another class: the smallest other distance was used"
        )
    return Surprise(dist_a / dist_b[position], tuple(notes))


def _factor(covariance: FloatArray) -> tuple[FloatArray, float]:
    """A lower Cholesky factor, and the ridge (as a share of the mean variance) that was needed for it."""
    scale = float(np.trace(covariance)) / len(covariance)
    if scale <= 0:
        return np.eye(len(covariance)), 1.0
    ridge = 0.0
    while True:
        try:
            factor = cholesky(covariance + ridge * scale * np.eye(len(covariance)), lower=True)
            if float(np.diag(factor).min()) ** 2 > 1e-10 * scale:
                return factor, ridge
        except LinAlgError:
            pass
        ridge = max(1e-8, ridge * 10)


def _log_density(data: FloatArray, points: FloatArray, covariance: FloatArray) -> tuple[FloatArray, float]:
    """Log density of a Gaussian KDE with a given kernel covariance at some points, and the ridge that was needed."""
    factor, ridge = _factor(covariance)
    centre = data.mean(axis=0)
    white = solve_triangular(factor, (data - centre).T, lower=True)
    asked = solve_triangular(factor, (points - centre).T, lower=True).T
    squares = np.einsum("ij,ij->j", white, white)
    result = np.empty(len(points))
    rows = max(1, _KERNEL_BLOCK // len(data))
    for first in range(0, len(points), rows):
        part = asked[first : first + rows]
        block = part @ white
        block -= squares / 2
        block -= np.einsum("ij,ij->i", part, part)[:, None] / 2
        top = block.max(axis=1)
        block -= top[:, None]
        np.exp(block, out=block)
        result[first : first + rows] = np.log(block.sum(axis=1)) + top
    log_norm = np.log(len(data)) + np.log(np.diag(factor)).sum() + factor.shape[0] / 2 * np.log(2 * np.pi)
    return result - log_norm, ridge


def _varying(
    training: FloatArray, classes: NDArray[np.integer], threshold: float
) -> tuple[NDArray[np.bool_], list[str]]:
    """Which columns vary in every class that can tell; all that vary at all if none does."""
    kept = np.ones(training.shape[1], dtype=np.bool_)
    for label in np.unique(classes).tolist():
        members = training[classes == label]
        if len(members) > 1:
            kept &= members.var(axis=0) >= threshold
    if kept.any():
        return kept, []
    overall = training.var(axis=0) > 0
    note = "every column is flat in some class: LSA kept all columns that vary at all"
    return (overall if overall.any() else np.ones_like(overall)), [note]


def lsa(
    training: Traces,
    training_classes: NDArray[np.integer],
    traces: Traces,
    predicted: NDArray[np.integer],
    variance_threshold: float = _FLAT,
) -> Surprise:
    """Likelihood-based surprise: -log density of each trace under a Gaussian KDE of its predicted class.

    Full covariance and Scott's factor n^(-1/(d+4)), as `scipy.stats.gaussian_kde`; by whitening and log-sum-exp, so
    it does not underflow. Fallbacks, named in the notes: a class of fewer than two traces (or none) is judged
    by the KDE of all training traces; a singular covariance gets the smallest ridge (by powers of ten) that lets it
    be factored.

    Args:
        training: (T, d) training traces.
        training_classes: (T,) predictions on the training set (or its labels).
        traces: (N, d) operational traces.
        predicted: (N,) predicted classes.
        variance_threshold: Columns of less variance in any class are removed.

    Raises:
        UserError: shapes do not fit, there are no training traces, or a trace is not finite.
    """
    _check(training, training_classes, traces, predicted)
    data = np.asarray(training, dtype=np.float64)
    kept, notes = _varying(data, training_classes, variance_threshold)
    data, points = data[:, kept], np.asarray(traces, dtype=np.float64)[:, kept]
    values = np.empty(len(points))
    ridged: list[int] = []
    small: list[int] = []
    for label in np.unique(predicted).tolist():
        members = np.flatnonzero(predicted == label)
        own = data[training_classes == label]
        if len(own) < 2:
            small.append(label)
            own = data
        spread = np.atleast_2d(np.cov(own, rowvar=False)) if len(own) > 1 else np.zeros((own.shape[1],) * 2)
        scott = len(own) ** (-1.0 / (own.shape[1] + 4))
        density, ridge = _log_density(own, points[members], spread * scott**2)
        values[members] = -density
        if ridge > 0:
            ridged.append(label)
    if small:
        notes.append(f"fewer than two training traces of {_classes(small)}: LSA used those of all classes")
    if ridged:
        notes.append(f"singular covariance in {_classes(ridged)}: LSA added a ridge")
    return Surprise(values, tuple(notes))


def scaled(values: FloatArray) -> FloatArray:
    """(N,) values moved to [0, 1] by their minimum and maximum; zeros for a constant."""
    low, high = float(values.min()), float(values.max())
    return np.zeros_like(values) if high == low else (values - low) / (high - low)


def combined(confidence: FloatArray, distances: FloatArray) -> FloatArray:
    """(N,) C = P_c · (1 - P_d), P_c the confidence and P_d the DSA scaled to [0, 1] (Guerriero et al. 2021)."""
    return confidence * (1 - scaled(distances))
