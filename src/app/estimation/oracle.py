"""Who knows the outcomes: estimators ask an oracle, in waves of cases, which of them the model fails on.

For labelled data the oracle is an array. For unlabelled data it knows what a person has labelled so far and raises
`LabelsNeeded` for the rest; since estimators are deterministic in their generator, running the same estimator
again with more labels comes to the same wave and goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from app.errors import UserError
from app.estimation.population import BoolArray, FloatArray, IntArray


class Reason(StrEnum):
    """Why a case was chosen for labelling."""

    CERTAIN = "certain"
    """Taken for sure: its expected failure is worth a label by itself."""
    UNIFORM = "uniform"
    """Drawn with the same probability as every other case left."""
    WEIGHT = "weight"
    """Drawn with a probability that grows with the belief in its failure."""
    STRATUM = "stratum"
    """Drawn uniformly inside its stratum."""
    GROUP = "group"
    """Member of the group that brought the sample closest to the population."""


class LabelsNeeded(Exception):  # noqa: N818 -- a request to the caller, not an error
    """An oracle lacks labels; nothing was estimated.

    Args:
        items: Indices of the cases that have no label yet, in the order they should be labelled.
    """

    def __init__(self, items: ArrayLike) -> None:
        self.items: IntArray = np.asarray(items, dtype=np.int64)
        """Indices into the population of the cases to label; only those of the unfinished wave that lack a label."""
        self.reasons: tuple[Reason, ...] = ()
        """Why each of `items` was chosen; filled in by the estimator that was asking."""
        self.spent: int = 0
        """Labels of finished waves used so far; filled in by the estimator that was asking."""
        self.answered: int = 0
        """Labels that the unfinished wave has already; filled in by the estimator that was asking."""
        super().__init__(f"{len(self.items)} cases need a label")

    def __reduce__(self) -> tuple[type[LabelsNeeded], tuple[IntArray], dict[str, object]]:
        state = {"reasons": self.reasons, "spent": self.spent, "answered": self.answered}
        return type(self), (self.items,), state


class Oracle(Protocol):
    """Anything that tells outcomes."""

    def ask(self, cases: IntArray) -> BoolArray:
        """Whether each of these cases is a failure.

        Args:
            cases: (k,) distinct indices into the population; one wave.

        Raises:
            LabelsNeeded: some of them have no label yet; its `items` name them, and only them.
        """
        ...


class ArrayOracle:
    """Outcomes that are all known.

    Args:
        failures: (N,) true where the model is wrong.
    """

    def __init__(self, failures: ArrayLike) -> None:
        values = np.asarray(failures)
        if values.ndim != 1 or (values.dtype != np.bool_ and not np.isin(values, (0, 1)).all()):
            raise UserError("outcomes must be one row of 0 (correct) and 1 (failure), nothing else")
        self.failures: BoolArray = values.astype(np.bool_)

    def ask(self, cases: IntArray) -> BoolArray:
        """Whether each of these cases is a failure."""
        return self.failures[cases]


class PartialOracle:
    """Outcomes known for some cases only: what has been labelled so far.

    Args:
        outcomes: (N,) 1 failure, 0 correct, -1 not labelled yet.
    """

    def __init__(self, outcomes: ArrayLike) -> None:
        values = np.asarray(outcomes)
        if values.ndim != 1 or not np.isin(values, (-1, 0, 1)).all():
            raise UserError(
                "outcomes must be one row of 1 (failure), 0 (correct) and -1 (no label yet), nothing else"
            )
        self.outcomes = values.astype(np.int8)

    def ask(self, cases: IntArray) -> BoolArray:
        """Whether each of these cases is a failure.

        Raises:
            LabelsNeeded: for those with no label yet.
        """
        outcomes = self.outcomes[cases]
        if (outcomes < 0).any():
            raise LabelsNeeded(cases[outcomes < 0])
        return np.asarray(outcomes == 1)


class Ledger:
    """The labels of one run of an estimator: asks the oracle, never twice for one case, and keeps the order.

    Args:
        oracle: Who knows.
        population_size: N.
    """

    def __init__(self, oracle: Oracle, population_size: int) -> None:
        self._oracle = oracle
        self.population_size = population_size
        """N."""
        self._known = np.full(population_size, -1, dtype=np.int8)
        self._cases: list[IntArray] = []
        self._reasons: list[Reason] = []

    @property
    def cases(self) -> IntArray:
        """The cases drawn, in order; one drawn twice (with replacement) is there twice."""
        return np.concatenate(self._cases) if self._cases else np.empty(0, dtype=np.int64)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why each was drawn."""
        return tuple(self._reasons)

    @property
    def outcomes(self) -> FloatArray:
        """1.0 for each drawn case that fails, else 0.0."""
        return self._known[self.cases].astype(np.float64)

    @property
    def unseen(self) -> IntArray:
        """The cases without a label, ascending."""
        return np.flatnonzero(self._known < 0)

    @property
    def spent(self) -> int:
        """How many labels were paid for."""
        return int((self._known >= 0).sum())

    @property
    def failures_known(self) -> int:
        """How many distinct failures were found so far."""
        return int((self._known == 1).sum())

    def ask(self, cases: IntArray, reasons: Sequence[Reason] | Reason) -> FloatArray:
        """Outcomes of one wave: 1.0 a failure, 0.0 correct.

        Args:
            cases: (k,) indices into the population.
            reasons: Why each was chosen, or one for all.

        Raises:
            LabelsNeeded: from the oracle, with the reasons added. The wave is not recorded then.
        """
        why = [reasons] * len(cases) if isinstance(reasons, Reason) else list(reasons)
        first = np.sort(np.unique(cases, return_index=True)[1])
        asked = cases[first]
        asked = asked[self._known[asked] < 0]
        if len(asked):
            try:
                answers = np.asarray(self._oracle.ask(asked))
            except LabelsNeeded as needed:
                of_case = dict(zip(cases.tolist(), why, strict=True))
                needed.reasons = tuple(of_case[case] for case in needed.items.tolist())
                needed.spent = self.spent
                needed.answered = len(asked) - len(needed.items)
                raise
            if answers.shape != asked.shape:
                raise ValueError(f"the oracle gave {answers.shape} answers to {asked.shape} questions")
            self._known[asked] = answers.astype(np.int8)
        self._cases.append(cases)
        self._reasons.extend(why)
        return self._known[cases].astype(np.float64)
