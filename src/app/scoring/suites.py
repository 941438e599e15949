"""Several test suites against the same mutants: their scores, and whether one is better than another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from app.scoring.judgement import Judgement
from app.scoring.paired import measure
from app.scoring.verdict import decide, killed_draws
from app.stats import Interval
from app.stats.bootstrap import case_weights, p_value, widened

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SuiteScore:
    """One suite."""

    name: str
    """Its name."""
    cases: int
    """How many test cases it has."""
    killed: tuple[int, ...]
    """Indices of the mutants it kills."""
    mutation_score: float
    """Killed over the scored mutants of the campaign; NaN if none is scored."""
    mutation_score_ci: Interval
    """Bootstrap over its test cases."""


@dataclass(frozen=True)
class Difference:
    """One score against another."""

    value: float
    """First minus second."""
    ci: Interval
    """Its bootstrap interval."""
    p_value: float
    """Two-sided bootstrap p that they are equal."""


@dataclass(frozen=True)
class SuiteDifference:
    """Mutation score of suite `first` minus that of suite `second`."""

    first: str
    """Name of one suite."""
    second: str
    """Name of the other."""
    difference: Difference
    """Paired bootstrap: the same mutants, and shared test cases drawn equally often in both."""


@dataclass(frozen=True)
class SuiteScores:
    """All suites and all pairs of them."""

    suites: tuple[SuiteScore, ...]
    """In the given order."""
    differences: tuple[SuiteDifference, ...]
    """Every pair, in the given order."""


def score_suites(
    judgement: Judgement, suites: Mapping[str, ArrayLike], rng: np.random.Generator
) -> SuiteScores:
    """Score parts of the judged test cases as suites of their own.

    Each suite tests and adjusts the mutants on its own test cases; which mutants are scored (not invalid,
    equivalent or duplicate) stays as judged on all test cases, so that the scores share their denominator.
    One set of weights over all test cases serves every suite; a resample of a part therefore varies a little
    in size.

    Args:
        judgement: of the mutants on all test cases.
        suites: by name, the indices of its test cases, each once.
        rng: draws the bootstrap resamples.

    Raises:
        ValueError: if a suite names a test case twice or one that does not exist.
    """
    rule, scored = judgement.rule, np.flatnonzero(judgement.scored)
    compared = judgement.screening.discordance.select(scored)
    weights = case_weights(compared.cases, rule.resamples, rng)
    scores, draws = [], {}
    for name, indices in suites.items():
        cases = _indices(name, indices, compared.cases)
        part = compared.take(cases)
        killed = decide(measure(part, np.ones((1, cases.size), dtype=np.uint8), rule.p0), rule).killed[0]
        score = float(killed.mean()) if scored.size else float("nan")
        draws[name] = killed_draws(part, weights[:, cases], rule).sum(axis=1) / max(scored.size, 1)
        found = tuple(int(index) for index in scored[killed])
        ci = widened(score, draws[name], rule.level)
        scores.append(SuiteScore(name, cases.size, found, score, ci))
    differences = (
        SuiteDifference(
            a.name,
            b.name,
            difference(a.mutation_score, b.mutation_score, draws[a.name], draws[b.name], rule.level),
        )
        for a, b in combinations(scores, 2)
    )
    return SuiteScores(tuple(scores), tuple(differences))


def difference(
    first: float, second: float, first_draws: Floats, second_draws: Floats, level: float
) -> Difference:
    """Paired bootstrap of the difference of two scores, whose draws (B,) come from the same weights."""
    value, draws = first - second, first_draws - second_draws
    return Difference(value, widened(value, draws, level), p_value(value, draws))


def _indices(name: str, indices: ArrayLike, cases: int) -> NDArray[np.intp]:
    chosen = np.asarray(indices, dtype=np.intp).ravel()
    if chosen.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < cases:
        raise ValueError(f"suite {name} names a test case outside 0..{cases - 1}")
    if np.unique(chosen).size != chosen.size:
        raise ValueError(f"suite {name} names a test case twice; each may be in it once")
    return chosen
