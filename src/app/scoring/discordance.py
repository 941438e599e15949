"""Where mutants disagree with the original about being right: all that the statistical verdict looks at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.records import Predictions

Counts = NDArray[np.uint8] | NDArray[np.uint16]


@dataclass(frozen=True)
class Discordance:
    """Lost and gained test cases of M mutants over N test cases."""

    right: NDArray[np.bool_]
    """(N,): whether the original is right."""
    lost: Counts
    """(M, N): repetitions in which the original is right and the mutant wrong."""
    gained: Counts
    """(M, N): repetitions in which the original is wrong and the mutant right."""
    repetitions: NDArray[np.int64]
    """(M,): T of each mutant; 1 if deterministic."""

    @property
    def mutants(self) -> int:
        """M."""
        return len(self.lost)

    @property
    def cases(self) -> int:
        """N."""
        return self.right.size

    def take(self, cases: NDArray[np.integer] | NDArray[np.bool_]) -> Discordance:
        """The same mutants on some test cases only."""
        return Discordance(self.right[cases], self.lost[:, cases], self.gained[:, cases], self.repetitions)

    def select(self, mutants: NDArray[np.integer] | NDArray[np.bool_]) -> Discordance:
        """Some of the mutants on the same test cases."""
        return Discordance(self.right, self.lost[mutants], self.gained[mutants], self.repetitions[mutants])


def compare(
    original: Predictions, mutants: Iterable[Predictions | None], labels: NDArray[np.integer]
) -> Discordance:
    """Discordance of mutants that saw the same test cases as the original.

    Args:
        original: one repetition over N test cases.
        mutants: outcomes of each mutant, T repetitions over the same test cases; None (not run) disagrees
            nowhere.
        labels: (N,) true classes.

    Raises:
        ValueError: if shapes do not fit, or a mutant has more than 65,535 repetitions.
    """
    cases = labels.size
    if original.top1.shape != (1, cases):
        raise ValueError(f"the original must be one repetition over {cases} cases, not {original.top1.shape}")
    right = original.right(labels)[0]
    lost, gained, repetitions = [], [], []
    for mutant in mutants:
        if mutant is not None and (mutant.top1.shape[1] != cases or not 1 <= mutant.repetitions <= 65_535):
            raise ValueError(
                f"a mutant must be 1 to 65535 repetitions over {cases} cases, not {mutant.top1.shape}"
            )
        repetitions.append(1 if mutant is None else mutant.repetitions)
        size = np.uint8 if repetitions[-1] <= 255 else np.uint16
        hits = np.where(right, repetitions[-1], 0) if mutant is None else mutant.right(labels).sum(axis=0)
        lost.append(np.where(right, repetitions[-1] - hits, 0).astype(size))
        gained.append(np.where(right, 0, hits).astype(size))
    empty = np.zeros((0, cases), dtype=np.uint8)
    return Discordance(
        right,
        np.stack(lost) if lost else empty,
        np.stack(gained) if gained else empty,
        np.array(repetitions, dtype=np.int64),
    )
