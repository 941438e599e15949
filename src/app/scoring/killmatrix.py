"""Which test case kills which mutant: dominators, the smallest suite, what each test case is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

BLOCK = 256
"""Rows unpacked at once."""


@dataclass(frozen=True)
class KillMatrix:
    """M mutants by N test cases, eight test cases a byte."""

    packed: NDArray[np.uint8]
    """(M, ceil(N / 8)): bit j of a row says whether test case j kills the mutant, first case in the highest
    bit."""
    cases: int
    """N."""

    @classmethod
    def pack(cls, kills: Flags) -> KillMatrix:
        """The matrix of (M, N) flags."""
        return cls(np.packbits(kills, axis=1), kills.shape[1])

    @property
    def mutants(self) -> int:
        """M."""
        return len(self.packed)

    def kills(self) -> NDArray[np.int64]:
        """(M,): how many test cases kill each mutant."""
        counts: NDArray[np.int64] = np.bitwise_count(self.packed).sum(axis=1, dtype=np.int64)
        return counts

    def select(self, mutants: Indices | Flags) -> KillMatrix:
        """Some of the mutants."""
        return KillMatrix(self.packed[mutants], self.cases)

    def unpack(self) -> Flags:
        """(M, N) flags."""
        return np.unpackbits(self.packed, axis=1, count=self.cases).view(np.bool_)

    def killed_by(self, case: int) -> Flags:
        """(M,): which mutants one test case kills."""
        return (self.packed[:, case >> 3] >> (7 - (case & 7)) & 1).astype(np.bool_)

    def weighed(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,): for each test case, the sum of the weights of the mutants it kills."""
        total = np.zeros(self.cases)
        for first in range(0, self.mutants, BLOCK):
            rows = slice(first, first + BLOCK)
            total += weights[rows] @ self.select(np.arange(self.mutants)[rows]).unpack()
        return total


@dataclass(frozen=True)
class KillFacts:
    """What a kill matrix says about a suite. Mutants and test cases are indices into the matrix."""

    distinct_kill_sets: int
    """Different sets of killing test cases among the mutants that some test case kills."""
    dominators: tuple[int, ...]
    """Mutants whose kill set is not empty and contains no other mutant's as a proper part; one mutant, the
    first, stands for all with the same kill set. A suite that meets every dominator's kill set meets them
    all."""
    minimal_mutation_score: float
    """Share of the dominators whose verdict is killed; NaN without dominators."""
    smallest_suite: tuple[int, ...]
    """Test cases, chosen greedily, such that each killed mutant is killed by at least one of them; a killed
    mutant with an empty kill set asks for none."""
    kills: NDArray[np.int64]
    """(N,): mutants that each test case kills."""
    kill_value: NDArray[np.float64]
    """(N,): share in the killing, summing to 1: each mutant's worth is divided equally among the test cases
    that kill it (the Shapley value of 'is killed by some case'), so a test case that no other replaces
    weighs most."""
    never_killed: tuple[int, ...]
    """Mutants that no test case kills."""

    def top_cases(self, count: int) -> tuple[int, ...]:
        """The test cases of largest kill value, the largest first; none that kills nothing."""
        order = np.argsort(-self.kill_value, kind="stable")[:count]
        return tuple(int(case) for case in order if self.kills[case])


def kill_facts(matrix: KillMatrix, killed: Flags) -> KillFacts:
    """Facts of a kill matrix.

    Args:
        matrix: the mutants to look at.
        killed: (M,) whether the verdict of each mutant is killed.
    """
    sizes = matrix.kills()
    met = np.flatnonzero(sizes)
    _, first = np.unique(matrix.packed[met], axis=0, return_index=True)
    representatives = np.sort(met[first])
    dominators = _minimal(matrix.packed, representatives, sizes)
    worth = np.divide(1.0, sizes, out=np.zeros(sizes.shape), where=sizes > 0) / max(met.size, 1)
    return KillFacts(
        distinct_kill_sets=representatives.size,
        dominators=tuple(int(row) for row in dominators),
        minimal_mutation_score=float(killed[dominators].mean()) if dominators.size else float("nan"),
        smallest_suite=_greedy_cover(matrix.select(np.flatnonzero(killed & (sizes > 0)))),
        kills=np.rint(matrix.weighed(np.ones(matrix.mutants))).astype(np.int64),
        kill_value=matrix.weighed(worth),
        never_killed=tuple(int(row) for row in np.flatnonzero(sizes == 0)),
    )


def _minimal(packed: NDArray[np.uint8], rows: Indices, sizes: NDArray[np.int64]) -> Indices:
    """The rows, all different and not empty, that contain no other of them.

    Going by size, a set contains another if and only if it contains one already found minimal.
    """
    padded = np.zeros((rows.size, -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed[rows]
    words = padded.view(np.uint64)
    minimal: list[int] = []
    found = np.empty_like(words)
    for row in np.argsort(sizes[rows], kind="stable"):
        known = found[: len(minimal)]
        if not ((known & ~words[row]) == 0).all(axis=1).any():
            found[len(minimal)] = words[row]
            minimal.append(int(row))
    return rows[np.sort(np.array(minimal, dtype=np.intp))]


def _greedy_cover(matrix: KillMatrix) -> tuple[int, ...]:
    """Test cases until every mutant is killed: each time the first that kills most of those left."""
    left = np.ones(matrix.mutants, dtype=np.bool_)
    value = matrix.weighed(np.ones(matrix.mutants))
    chosen: list[int] = []
    while left.any():
        case = int(value.argmax())
        now = matrix.killed_by(case) & left
        value -= matrix.select(now).weighed(np.ones(int(now.sum())))
        left &= ~now
        chosen.append(case)
    return tuple(chosen)
