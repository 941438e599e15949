"""Always-valid intervals of a mean by betting: they hold at every time, however the number of draws was chosen.

Each draw gives an unbiased estimate Z_t of a mean m in [0, 1], given the past. A gambler who bets λ_t on "the mean is
above m" (below, for λ < 0) has capital Π(1 + λ_t(Z_t - m)), a martingale if m is the mean; by Ville's inequality it
passes 1/α with probability at most α, ever (Waudby-Smith and Ramdas, JRSS B 86, 2024; Shekhar, Xu, Lipton,
Liang and Ramdas, arXiv 2305.06884, 2023, for draws without replacement). What it does not pass for is the interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.stats.interval import Floats, Interval, check_level

_GRID = 2001
"""Candidate means; spaced like sin², finest near 0 and 1. An interval is widened by one step on both sides."""
_CAUTION = 0.75
"""Largest share of the capital at stake in one draw."""


@dataclass(frozen=True)
class Bets:
    """T draws as bets on a mean in [0, 1]."""

    estimates: Floats
    """(T,) Z_t, each unbiased for the mean given the past."""
    lows: Floats
    """(T,) smallest value Z_t could have taken, known before the draw."""
    highs: Floats
    """(T,) largest one."""
    is_bet: NDArray[np.bool_]
    """(T,) false where a case was taken for certain: no randomness, nothing to bet on."""
    known_low: Floats
    """(T,) what the mean is at least, by what is known for certain after each draw."""
    known_high: Floats
    """(T,) what it is at most."""
    prior: float = 0.5
    """Guess of the mean before any draw; a bad one widens the sequence, never invalidates it."""

    def confidence_sequence(self, level: float = 0.95) -> tuple[Interval, ...]:
        """The intervals of the mean after each draw; each lies inside the one before.

        Bets are the approximate growth-optimal ones (aGRAPA; Waudby-Smith and Ramdas 2024, appendix B), cut so that
        capital stays positive.

        Args:
            level: probability that all of them cover, in (0, 1).

        Raises:
            ValueError: the level is not in (0, 1).
        """
        limit = -np.log(1 - check_level(level))
        means = np.sin(np.linspace(0.0, np.pi / 2, _GRID)) ** 2
        log_capital = np.zeros(_GRID)
        alive = np.ones(_GRID, dtype=np.bool_)
        mean, variance, count = self.prior, max(self.prior * (1 - self.prior), 1e-4), 1.0
        total, squares = mean, variance
        low, high = 0.0, 1.0
        intervals = []
        for t in range(len(self.estimates)):
            if self.is_bet[t]:
                bottom, top, value = float(self.lows[t]), float(self.highs[t]), float(self.estimates[t])
                edge = mean - means
                stake = edge / (variance + edge * edge)
                floor = -_CAUTION / np.maximum(top - means, 1e-12)
                ceiling = _CAUTION / np.maximum(means - bottom, 1e-12)
                log_capital += np.log1p(np.clip(stake, floor, ceiling) * (value - means))
                alive &= (log_capital < limit) & (means >= bottom - 1e-12) & (means <= top + 1e-12)
                count += 1
                total += value
                squares += (value - mean) ** 2
                mean = min(max(total / count, 0.0), 1.0)
                variance = squares / count
            kept = np.flatnonzero(alive)
            if len(kept):
                low = max(low, float(means[max(kept[0] - 1, 0)]))
                high = min(high, float(means[min(kept[-1] + 1, _GRID - 1)]))
            low, high = max(low, float(self.known_low[t])), min(high, float(self.known_high[t]))
            # After a miss nothing may be left: then the interval shrinks to a point and stays.
            low, high = min(low, high), max(low, high)
            intervals.append(Interval(low, high, level))
        return tuple(intervals)

    def then(self, later: Bets) -> Bets:
        """These bets followed by later ones."""
        return Bets(
            np.concatenate([self.estimates, later.estimates]),
            np.concatenate([self.lows, later.lows]),
            np.concatenate([self.highs, later.highs]),
            np.concatenate([self.is_bet, later.is_bet]),
            np.concatenate([self.known_low, later.known_low]),
            np.concatenate([self.known_high, later.known_high]),
            self.prior,
        )
