"""How cases are drawn: systematic with unequal probabilities, and one by one with a known conditional probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.estimation.population import BoolArray, FloatArray, IntArray


def systematic(probabilities: FloatArray, order: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """(size,) distinct positions drawn with the given inclusion probabilities, spread evenly along an order.

    Systematic πps sampling (Madow 1949): one uniform start, then equal steps along the cumulated probabilities.

    Args:
        probabilities: (N,) inclusion probabilities in [0, 1] that sum to `size`.
        order: (N,) permutation of the positions to walk along.
        size: How many to draw.
        rng: Randomness.
    """
    ladder = np.cumsum(probabilities[order])
    ladder *= size / ladder[-1]
    ladder[-1] = size  # rounding must not let the last step fall off
    steps = rng.random() + np.arange(size)
    rungs = np.searchsorted(ladder, steps, side="right")
    # A probability of 1 may round to a hair less than one step: the same rung cannot be stepped on twice.
    rungs = np.maximum.accumulate(rungs - np.arange(size)) + np.arange(size)
    return order[np.minimum(rungs, len(order) - size + np.arange(size))]


@dataclass(frozen=True)
class SequentialDraws:
    """Cases drawn one by one without replacement, with the conditional probability of each draw."""

    cases: IntArray
    """(n,) positions, in order."""
    q: FloatArray
    """(n,) probability of each draw given the ones before."""
    weighted: BoolArray
    """(n,) whether each came from the weighted half of the mixture."""
    weight_left: FloatArray
    """(n,) total weight of the cases left before each draw."""
    share: FloatArray
    """(n,) probability with which the weighted half was used: the given one, 0 once no weight is left."""

    def first(self, count: int) -> SequentialDraws:
        """The first draws only."""
        return SequentialDraws(
            self.cases[:count],
            self.q[:count],
            self.weighted[:count],
            self.weight_left[:count],
            self.share[:count],
        )


def mixture_draws(
    weights: FloatArray,
    weighted_share: float,
    size: int,
    rng: np.random.Generator,
    uniform_first: bool = False,
) -> SequentialDraws:
    """Draws by weight with probability d, else uniformly, always among the cases left.

    q_k(i) = d·w_i / Σ_left w + (1 - d)/(N - k + 1), with d = 0 once no weight is left. Drawing one by one by weight is
    the order of independent exponential clocks with these rates, so all clocks are set at once: O(N + n), not O(N·n).
    A uniform draw does not look at the clocks, so the ones left are memoryless after it.

    Args:
        weights: (N,) beliefs ≥ 0.
        weighted_share: d in [0, 1].
        size: n ≤ N draws.
        rng: Randomness.
        uniform_first: Make the first draw uniform whatever d is.
    """
    population = len(weights)
    clocks = np.full(population, np.inf)
    live = np.flatnonzero(weights > 0)
    clocks[live] = rng.standard_exponential(len(live)) / weights[live]
    wanted = min(size, len(live))
    if wanted < len(live):
        live = live[np.argpartition(clocks[live], wanted - 1)[:wanted]]
    by_weight = live[np.argsort(clocks[live])].tolist()
    by_chance = rng.permutation(population)[:size].tolist()
    choose_weight = (rng.random(size) < weighted_share).tolist()
    if uniform_first and size:
        choose_weight[0] = False
    positive = int((weights > 0).sum())
    taken: set[int] = set()
    cases: list[int] = []
    from_weight: list[bool] = []
    next_weight = next_chance = 0
    live_left: list[int] = []
    is_live = weights > 0
    for use_weight in choose_weight:
        live_left.append(positive)
        if use_weight and positive:
            while by_weight[next_weight] in taken:
                next_weight += 1
            case = by_weight[next_weight]
        else:
            while by_chance[next_chance] in taken:
                next_chance += 1
            case = by_chance[next_chance]
        taken.add(case)
        cases.append(case)
        from_weight.append(bool(use_weight and positive))
        positive -= bool(is_live[case])
    drawn = np.asarray(cases, dtype=np.int64)
    rest = weights.copy()
    rest[drawn] = 0.0
    left = rest.sum() + np.cumsum(weights[drawn][::-1])[::-1]
    some_left = np.asarray(live_left) > 0
    share = np.where(some_left, weighted_share, 0.0)
    if uniform_first and size:
        share[0] = 0.0
    q = (1 - share) / (population - np.arange(size))
    q = q + np.divide(share * weights[drawn], left, out=np.zeros(size), where=some_left & (left > 0))
    return SequentialDraws(drawn, q, np.asarray(from_weight, dtype=np.bool_), left, share)
