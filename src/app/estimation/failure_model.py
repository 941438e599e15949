"""A model of failure that works before any label: MAP-logistic with fixed priors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit

from app.estimation.population import FloatArray, IntArray, Population

_CLIP = 1e-4
"""Softmax outputs closer than this to 0 or 1 tell no more than this: their logits are cut there."""
_LEVEL_SD = 0.7
"""Prior sd of the intercept: the odds of failure are within a factor of 4 of those claimed (95 %)."""
_SLOPE_SD = 0.25
"""Prior sd of the slope on logit(1 - confidence): a temperature of about 0.7 to 2 (95 %)."""
_COLUMN_SD = 0.25
"""Prior sd of the effect of one standard deviation of another column: none on average."""
_UNKNOWN_SD = 1.5
"""Prior sd of the intercept, and of column effects half of it, when there is no confidence to start from."""
_UNKNOWN_RATE = 0.1
"""Failure rate assumed then."""
_STEPS = 25
_SHORTEST = 1e-6
_TOLERANCE = 1e-4


class FailureModel:
    """Failure probability of every case, refitted as labels come in.

    logit P(failure) = a + b · logit(1 - confidence) + Σ c_j · normal score of column j, with independent normal priors
    centred on a = 0, b = 1, c = 0: "failure probability = 1 - confidence". Cases are chosen by these variables alone,
    so the likelihood needs no weights.

    Args:
        population: The cases; without a confidence the prior is a wide one around 10 % failures.
        columns: Other columns to use; constant ones are left out.
    """

    def __init__(self, population: Population, columns: Sequence[str] = ()) -> None:
        size = population.size
        used = [name for name in columns if population.has(name) and not population.is_constant(name)]
        scores = [population.scores(name) for name in used]
        self.used: tuple[str, ...] = tuple(used)
        """The columns beside the confidence that the model uses."""
        self.has_confidence = population.has("confidence") and not population.is_constant("confidence")
        """Whether there is a confidence that tells cases apart."""
        if population.has("confidence"):
            claimed = logit(np.clip(1 - population.column("confidence"), _CLIP, 1 - _CLIP))
            basis = [np.ones(size), claimed]
            mean, sd = [0.0, 1.0], [_LEVEL_SD, _SLOPE_SD]
            effect = _COLUMN_SD
        else:
            basis = [np.ones(size)]
            mean, sd = [float(logit(_UNKNOWN_RATE))], [_UNKNOWN_SD]
            effect = _UNKNOWN_SD / 2
        self._features: FloatArray = np.stack([*basis, *scores])
        self._mean = np.asarray(mean + [0.0] * len(scores))
        self._precision = 1 / np.asarray(sd + [effect] * len(scores)) ** 2
        self.coefficients: FloatArray = self._mean.copy()
        """Current a, b, c."""

    def fit(self, cases: IntArray, outcomes: FloatArray) -> None:
        """Moves the coefficients to the posterior mode given some labels: Newton steps, halved while they lead uphill.

        Args:
            cases: (n,) labelled cases.
            outcomes: (n,) 1.0 for a failure.
        """
        features = self._features[:, cases].T
        prior = np.diag(self._precision)
        beta = self.coefficients
        loss = self._loss(features, outcomes, beta)
        for _ in range(_STEPS):
            rate = expit(features @ beta)
            slope = features.T @ (outcomes - rate) - self._precision * (beta - self._mean)
            curvature = (features * (rate * (1 - rate))[:, None]).T @ features + prior
            step = np.linalg.solve(curvature, slope)
            size, trial = 1.0, beta + step
            # Far from the mode a full Newton step can make things worse, and then swing for ever.
            while (lower := self._loss(features, outcomes, trial)) > loss and size > _SHORTEST:
                size /= 2
                trial = beta + size * step
            beta, loss = trial, lower
            if float(np.abs(step).max()) < _TOLERANCE:
                break
        self.coefficients = beta

    def _loss(self, features: FloatArray, outcomes: FloatArray, beta: FloatArray) -> float:
        """Negative log posterior but for a constant."""
        eta = features @ beta
        prior = float((self._precision * (beta - self._mean) ** 2).sum()) / 2
        return float(np.logaddexp(0.0, eta).sum() - outcomes @ eta) + prior

    def logits(self) -> FloatArray:
        """(N,) log odds of failure of every case."""
        return np.asarray(self.coefficients @ self._features, dtype=np.float64)

    def predict(self) -> FloatArray:
        """(N,) failure probability of every case."""
        return np.asarray(expit(self.logits()), dtype=np.float64)
