"""The capital of a gambler against every mean, as confseq computes it from the same bets."""

import importlib

import numpy as np
import pytest

from app.estimation.simple import simple_bets
from app.stats.confidence_sequences import Bets

pytestmark = pytest.mark.oracles
GRID = np.sin(np.linspace(0.0, np.pi / 2, 401)) ** 2
"""Every fifth of the candidates that our sequence looks at."""


@pytest.fixture
def betting(monkeypatch):
    pytest.importorskip("confseq")
    monkeypatch.setattr(np, "float_", np.float64, raising=False)  # it is of the time before NumPy 2
    return importlib.import_module("confseq.betting")


def agrapa(values, means):
    """The approximate growth-optimal bet on each of some means before each draw, (T,)."""
    count = np.arange(1, values.size + 1)
    mean = (0.5 + np.concatenate([[0.0], np.cumsum(values)[:-1]])) / count
    squares = np.concatenate([[0.0], np.cumsum((values - mean) ** 2)[:-1]])
    variance = (0.25 + squares) / count
    return (mean - means) / (variance + (mean - means) ** 2)


def kept(capital, level):
    """The ends of the means whose capital never passed 1/(1 - level), after each draw."""
    alive = np.maximum.accumulate(capital, axis=1) < 1 / (1 - level)
    return [(GRID[row].min(), GRID[row].max()) for row in alive.T]


def step(end):
    """How far an end may be off: one step of their grid and one of ours."""
    return 2 * np.max(np.diff(GRID)[np.abs(GRID[:-1] - end).argmin() + np.array([-1, 0])]) + 1e-3


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("share", [0.08, 0.5])
def test_draws_with_replacement(betting, level, share):
    values = (np.random.default_rng(0).random(120) < share).astype(float)
    capital = np.array(
        [betting.betting_mart(values, m, theta=1, trunc_scale=0.75, lambdas_fn_positive=agrapa) for m in GRID]
    )
    zeros, ones = np.zeros(values.size), np.ones(values.size)
    found = Bets(values, zeros, ones, ones.astype(bool), zeros, ones).confidence_sequence(level)
    for interval, (low, high) in zip(found, kept(capital, level), strict=True):
        assert interval.low == pytest.approx(low, abs=step(low))
        assert interval.high == pytest.approx(high, abs=step(high))


def test_draws_without_replacement(betting):
    outcomes = (np.random.default_rng(1).random(400) < 0.2).astype(float)[:150]
    left = 400 - np.arange(150)
    bets = simple_bets(outcomes, 400)

    def stakes(_, m):
        # They bet on what is left, whose mean moves 400 / left times as far as that of the population.
        return agrapa(bets.estimates, m) * left / 400

    with np.errstate(all="ignore"):
        capital = np.array(
            [
                betting.betting_mart(
                    outcomes, m, N=400, theta=1, trunc_scale=0.75, lambdas_fn_positive=stakes
                )
                for m in GRID
            ]
        )
    impossible = (GRID[:, None] < bets.known_low) | (GRID[:, None] > bets.known_high)
    capital[impossible] = np.inf
    for interval, (low, high) in zip(bets.confidence_sequence(), kept(capital, 0.95), strict=True):
        assert interval.low == pytest.approx(low, abs=step(low))
        assert interval.high == pytest.approx(high, abs=step(high))
