"""Label noise: wrong labels, counted by a noise model and named by confident learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from app.diagnosis import scoring_rules
from app.diagnosis.causes import Finding, severity
from app.diagnosis.temperature import LIMITS, SMALLEST

NOTABLE = 0.02
"""A share of wrong labels up to this is no finding; the suspects are listed all the same."""
MOST = 0.5
"""A larger share is no finding: a model that disagrees with most labels is wrong itself."""
CRITICAL = 9.0
"""Twice the log-likelihood ratio that a share above `NOTABLE` must win by: 3 standard errors."""
LISTED = 100
"""Suspects and doubtful labels together, at most; of suspects there may be more."""
MOST_NUMBERS = 1_000_000
"""The noise model is fitted on so many probabilities at most."""


@dataclass(frozen=True)
class Suspect:
    """A test case whose label looks wrong."""

    case: int
    """The test case."""
    label: int
    """Its label."""
    suggested: int
    """The class that the model is confident of."""
    label_probability: float
    """What the model gives the label."""
    suggested_probability: float
    """What it gives the suggested class."""


@dataclass(frozen=True)
class LabelNoise:
    """What the predictions say about the labels."""

    share: float
    """Estimated share of wrong labels; 0 if the model's own uncertainty explains all disagreements."""
    surplus: float
    """Twice the log-likelihood by which this share beats the best share up to `NOTABLE`."""
    joint: NDArray[np.int64]
    """(K, K): the confident joint, labels in rows and confident classes in columns."""
    suspects: tuple[Suspect, ...]
    """Cases off the diagonal of the confident joint, most suspicious first."""
    doubtful: tuple[Suspect, ...] = ()
    """Other cases in which the model contradicts the label, in the same order: a model that is nearly always right
    and sure has few suspects, though most of what it gets wrong deserves a look."""

    @property
    def noisy(self) -> bool:
        """Whether more labels are wrong than `NOTABLE`, beyond chance, but not more than `MOST`."""
        return NOTABLE < self.share <= MOST and self.surplus >= CRITICAL and bool(self.suspects)


def label_noise(rows: NDArray[np.float64], labels: NDArray[np.int64], rng: np.random.Generator) -> LabelNoise:
    """Estimated share of wrong labels, and the suspects.

    The share comes from a model in which the true class is drawn from the model's probabilities, at a
    temperature that is fitted, and then replaced by another class with probability `share`: a model that is
    only too sure is cured by the temperature, wrong labels are not. The suspects are those of confident
    learning (Northcutt, Jiang and Chuang, JAIR 70, 2021, section 3.1).

    Args:
        rows: (N, K) probabilities, N of at least 1.
        labels: (N,) true classes.
        rng: draws the cases of the fit where there are very many.
    """
    joint, suspects = confident_joint(rows, labels)
    share, surplus = _fit(rows, labels, rng)
    return LabelNoise(share, surplus, joint, suspects, contradicted(rows, labels, suspects))


def confident_joint(
    rows: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[Suspect, ...]]:
    """The confident joint (K, K) and its off-diagonal cases, by how far the label's probability is behind.

    A case is confidently of class k if k's probability reaches the mean that k's own cases give it; of
    several such classes the most probable counts.
    """
    classes = rows.shape[1]
    own = scoring_rules.own(rows, labels)
    cases = np.bincount(labels, minlength=classes)
    mean = np.bincount(labels, own, minlength=classes) / np.maximum(cases, 1)
    threshold = np.where(cases > 0, mean, np.inf)
    reached = np.where(rows >= threshold, rows, -1.0)
    sure, best = reached.max(axis=1) >= 0, reached.argmax(axis=1)
    joint = np.bincount(labels[sure] * classes + best[sure], minlength=classes**2)
    off = np.flatnonzero(sure & (best != labels))
    behind = own[off] - rows[off, best[off]]
    ordered = off[np.argsort(behind, kind="stable")]
    suspects = tuple(
        Suspect(case, int(labels[case]), int(best[case]), float(own[case]), float(rows[case, best[case]]))
        for case in ordered.tolist()
    )
    return joint.reshape(classes, classes).astype(np.int64), suspects


def contradicted(
    rows: NDArray[np.float64], labels: NDArray[np.int64], suspects: tuple[Suspect, ...]
) -> tuple[Suspect, ...]:
    """Wrong predictions that are no suspects, by how far the label's probability is behind; up to `LISTED` in all.

    Args:
        rows: (N, K) probabilities.
        labels: (N,) true classes.
        suspects: what the confident joint names.
    """
    own, best = scoring_rules.own(rows, labels), rows.argmax(axis=1)
    rest = best != labels
    rest[[suspect.case for suspect in suspects]] = False
    cases = np.flatnonzero(rest)
    behind = own[cases] - rows[cases, best[cases]]
    first = cases[np.argsort(behind, kind="stable")][: max(0, LISTED - len(suspects))]
    return tuple(
        Suspect(case, int(labels[case]), int(best[case]), float(own[case]), float(rows[case, best[case]]))
        for case in first.tolist()
    )


def find(noise: LabelNoise, class_names: tuple[str, ...]) -> Iterator[Finding]:
    """A finding if more labels are wrong than the model's own uncertainty explains; `cases` are the suspects."""
    if noise.noisy:
        labels = np.array([suspect.label for suspect in noise.suspects])
        counts = np.bincount(labels, minlength=len(class_names))
        worst = [int(k) for k in np.argsort(-counts, kind="stable")[:3] if counts[k]]
        evidence = {
            "share": noise.share,
            "suspects": float(len(noise.suspects)),
            "likelihood_surplus": noise.surplus,
        }
        sure = 0.6 + 0.35 * severity(noise.share, NOTABLE)
        yield Finding(
            "label_noise",
            sure,
            evidence,
            tuple(class_names[k] for k in worst),
            noise.share,
            tuple(suspect.case for suspect in noise.suspects),
        )


def _fit(
    rows: NDArray[np.float64], labels: NDArray[np.int64], rng: np.random.Generator
) -> tuple[float, float]:
    """Most likely share of wrong labels, and twice the log-likelihood above the best share up to NOTABLE."""
    cases, classes = rows.shape
    if classes < 2:
        return 0.0, 0.0
    most = max(1, MOST_NUMBERS // classes)
    if cases > most:
        chosen = np.sort(rng.choice(cases, most, replace=False))
        rows, labels = rows[chosen], labels[chosen]
    logits = np.log(np.maximum(rows, SMALLEST))
    highest = 1 - 1 / classes

    def loss(log_inverse: float, ceiling: float) -> float:
        return _share(logits, labels, log_inverse, ceiling)[1]

    span = -np.log(LIMITS[1]), -np.log(LIMITS[0])
    best = {}
    for ceiling in (NOTABLE, highest):
        found = optimize.minimize_scalar(
            loss, bounds=span, args=(ceiling,), method="bounded", options={"xatol": 1e-3}
        )
        best[ceiling] = float(found.x), float(found.fun)
    share = _share(logits, labels, best[highest][0], highest)[0]
    return share, max(0.0, 2 * (best[NOTABLE][1] - best[highest][1]))


def _share(
    logits: NDArray[np.float64], labels: NDArray[np.int64], log_inverse: float, ceiling: float
) -> tuple[float, float]:
    """The share of wrong labels up to the ceiling that is most likely at a temperature, and its loss.

    The probability of a label, (1 - s) p + s (1 - p) / (K - 1), is linear in s, so the loss is convex in it.
    """
    classes = logits.shape[1]
    own = scoring_rules.own(special.log_softmax(logits * np.exp(log_inverse), axis=1), labels)
    p = np.maximum(np.exp(own), SMALLEST)
    move = (1 - p) / (classes - 1) - p

    def slope(share: float) -> float:
        return float((move / (p + share * move)).sum())

    if slope(0.0) <= 0:
        share = 0.0
    elif slope(ceiling) >= 0:
        share = ceiling
    else:
        share = float(optimize.brentq(slope, 0.0, ceiling, xtol=1e-6))
    return share, -float(np.log(p + share * move).sum())
