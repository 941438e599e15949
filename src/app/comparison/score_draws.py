"""The autopsy score of two runs from the sub-scores that both have, and how much of its difference is chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from app.comparison.body import Body, at, block, number
from app.comparison.cases import Cases, Shared
from app.comparison.differences import Difference, resampled
from app.diagnosis.resampled_signals import Resamples
from app.diagnosis.score import WEIGHTS, WORST_GAP
from app.stats.bootstrap import case_weights

RATES = (
    "macro_recall",
    "macro_precision",
    "macro_f1",
    "weighted_recall",
    "weighted_precision",
    "weighted_f1",
    "balanced_accuracy",
)
"""Means over the classes that are resampled."""
BUDGET = 20_000_000
"""At most about so many cases are drawn."""


@dataclass(frozen=True)
class SharedScore:
    """The autopsy score over the sub-scores that both runs have."""

    names: tuple[str, ...]
    """Those sub-scores."""
    left_out: tuple[str, ...]
    """Sub-scores that only one of the runs has."""
    before: float
    after: float

    @property
    def value(self) -> float:
        """After less before."""
        return self.after - self.before


def shared_score(before: Body, after: Body) -> SharedScore | None:
    """The score of both runs from what both have; None if they share nothing.

    The weights are those of the second run.
    """
    first, second = _sub_scores(before), _sub_scores(after)
    weights = _weights(after)
    names = tuple(name for name in second if name in first and weights.get(name, 1.0) > 0)
    if not names:
        return None
    if set(first) == set(second) and _weights(before) == weights:
        reported = [number(_score(each)) for each in (before, after)]
        if reported[0] is not None and reported[1] is not None:
            return SharedScore(names, (), reported[0], reported[1])
    total = sum(weights.get(name, 1.0) for name in names)
    means = [sum(weights.get(name, 1.0) * each[name] for name in names) / total for each in (first, second)]
    return SharedScore(names, tuple(sorted(set(first) ^ set(second))), round(means[0], 1), round(means[1], 1))


def _score(body: Body) -> object:
    found = at(body, "summary", "autopsy_score")
    return at(body, "original", "autopsy_score") if found is None else found


def _sub_scores(body: Body) -> dict[str, float]:
    return _numbers(block(body, "sub_scores") or block(body, "original", "sub_scores"))


def _weights(body: Body) -> dict[str, float]:
    """Weights that differ from 1."""
    profile = str(at(body, "settings", "profile") or "assay")
    return {**WEIGHTS.get(profile, {}), **_numbers(block(body, "settings", "weights"))}


def _numbers(found: Body) -> dict[str, float]:
    return {name: each for name, value in found.items() if (each := number(value)) is not None}


def noise(
    before: tuple[Body, Cases],
    after: tuple[Body, Cases],
    score: SharedScore | None,
    *,
    resamples: int,
    seed: int,
    shared: Shared | None = None,
) -> dict[str, Difference | None]:
    """What chance does to the score, the calibration error and the mean rates of two runs, by their keys.

    Bootstrap over test cases: the same ones drawn for both runs if they share them, else each run's own.

    Args:
        before: report and test cases of the first run.
        after: of the second.
        score: the scores to compare.
        resamples: bootstrap samples; fewer, but 200 at least, for very many test cases.
        seed: of what is drawn.
        shared: the cases both saw.
    """
    both = (before[1], after[1]) if shared is None else (shared.before, shared.after)
    if not len(both[0]) or not len(both[1]):
        return {}
    names = dict.fromkeys(name for each in both for name in (*each.labels, *each.predicted))
    classes = {name: k for k, name in enumerate(names)}
    samples = min(resamples, max(200, BUDGET // max(map(len, both))))
    weights = case_weights(len(both[0]), samples, np.random.default_rng([seed, 0]))
    others = weights
    if shared is None:
        others = case_weights(len(both[1]), samples, np.random.default_rng([seed, 1]))
    first = _draws(before[0], both[0], classes, weights)
    second = _draws(after[0], both[1], classes, others)
    paired, n = shared is not None, len(both[0])
    found: dict[str, Difference | None] = {}
    if score is not None:
        drawn = [_weighed(each, score.names, _weights(after[0])) for each in (first, second)]
        found["autopsy_score"] = resampled(score.value, drawn[1] - drawn[0], paired=paired, n=n)
    for name in ("ece", *RATES):
        values = [_value(each, name) for each in (before[0], after[0])]
        if values[0] is not None and values[1] is not None:
            found[name] = resampled(values[1] - values[0], second[name] - first[name], paired=paired, n=n)
    return found


def _value(body: Body, name: str) -> float | None:
    for place in (("metrics", name, "value"), ("summary", name), ("original", name)):
        if (found := number(at(body, *place))) is not None:
            return found
    return None


def _draws(
    body: Body, of: Cases, classes: Mapping[str, int], weights: NDArray[np.uint8]
) -> dict[str, NDArray[np.float64]]:
    """Each sub-score in [0, 1], the calibration error and the mean rates on each resample."""
    labels = np.array([classes[name] for name in of.labels])
    top1 = np.array([classes[name] for name in of.predicted])
    found = dict(Resamples(labels, len(classes), weights).sub_scores(top1, of.confidence))
    found |= _rates(labels, top1, len(classes), weights)
    training = number(at(body, "training", "accuracy"))
    if training is not None:
        accuracy = (weights.astype(np.float32) @ of.right.astype(np.float32)) / len(of)
        found["generalization"] = 1 - np.clip((training - accuracy) / WORST_GAP, 0.0, 1.0)
    return found


def _rates(
    labels: NDArray[np.integer], top1: NDArray[np.integer], classes: int, weights: NDArray[np.uint8]
) -> dict[str, NDArray[np.float64]]:
    """Macro and weighted rates on each resample, over the classes that it has."""
    columns = weights.T.astype(np.float32)
    every, right = np.arange(labels.size), np.flatnonzero(labels == top1)
    hits, cases, named = (
        (sparse.csr_array((np.ones(k.size, np.float32), (k, i)), (classes, labels.size)) @ columns).astype(
            float
        )
        for k, i in ((labels[right], right), (labels, every), (top1, every))
    )
    found, there = {}, cases > 0
    for name, whole in (("recall", cases), ("precision", named), ("f1", (cases + named) / 2)):
        rate = np.divide(hits, whole, out=np.zeros_like(hits), where=whole > 0)
        found[f"macro_{name}"] = (rate * there).sum(axis=0) / there.sum(axis=0)
        found[f"weighted_{name}"] = (rate * cases).sum(axis=0) / cases.sum(axis=0)
    found["balanced_accuracy"] = found["macro_recall"]
    return found


def _weighed(
    draws: Mapping[str, NDArray[np.float64]], names: Sequence[str], weights: Mapping[str, float]
) -> NDArray[np.float64]:
    """The score of each resample, without what does not vary."""
    total = sum(weights.get(name, 1.0) for name in names)
    whole = np.zeros(len(draws["ece"]))
    for name in names:
        if name in draws:
            whole += weights.get(name, 1.0) * draws[name]
    return 100 * whole / total
