"""One number against another: how far they are apart, and how far chance alone would take them.

All differences are after less before, all intervals are of that difference at 95 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from app.stats.bootstrap import centred
from app.stats.bootstrap import p_value as bootstrap_p
from app.stats.effects import paired_difference
from app.stats.paired_tests import mcnemar_two_sided
from app.stats.proportions import wilson

Method: TypeAlias = Literal[
    "mcnemar", "paired bootstrap", "bootstrap", "paired means", "intervals", "simulation"
]
"""How chance was taken into account: `mcnemar`, `paired bootstrap` and `paired means` see the same cases in both runs;
`bootstrap` and `intervals` take the two runs as independent; `simulation` has a standard error of its own."""
Ends: TypeAlias = tuple[float, float] | None
"""An interval; None where there is none."""
LEVEL, Z = 0.95, float(special.ndtri(0.975))


@dataclass(frozen=True)
class Difference:
    """A difference, its interval, and the chance of so large a one without any change."""

    value: float
    """After less before."""
    ci: Ends
    """Its 95 % interval."""
    p_value: float | None
    """Two-sided."""
    method: Method
    """How chance was taken into account."""
    n: int | None = None
    """Pairs that were looked at; None for unpaired differences."""

    @property
    def noise(self) -> bool:
        """Whether chance alone explains it: the test decides, and the interval where there is no test."""
        if self.p_value is not None:
            return self.p_value > 1 - LEVEL
        return self.ci is not None and self.ci[0] <= 0 <= self.ci[1]


def paired_shares(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> Difference | None:
    """Difference of two shares over the same cases; None without cases.

    Exact two-sided McNemar test (Psychometrika 12, 1947), and Tango's score interval (Statistics in Medicine 17, 1998).

    Args:
        before: (N,) whether each case counts in the first run.
        after: (N,) the same in the second.
    """
    n = before.size
    if n == 0:
        return None
    lost, gained = int((before & ~after).sum()), int((~before & after).sum())
    p_value = float(mcnemar_two_sided(lost, gained))
    found = paired_difference(gained, lost, n, LEVEL)[0]
    return Difference((gained - lost) / n, (found.low, found.high), p_value, "mcnemar", n)


def paired_means(before: NDArray[np.float64], after: NDArray[np.float64]) -> Difference | None:
    """Mean difference over the same cases, by Student's t; None for less than two pairs.

    Args:
        before: (N,) numbers of the first run; NaN is left out with its partner.
        after: (N,) numbers of the second.
    """
    moved = (after - before)[np.isfinite(after - before)]
    if moved.size < 2:
        return None
    mean, error = float(moved.mean()), float(moved.std(ddof=1) / np.sqrt(moved.size))
    if error == 0:
        return Difference(mean, (mean, mean), 1.0 if mean == 0 else 0.0, "paired means", moved.size)
    half = float(stats.t.ppf((1 + LEVEL) / 2, moved.size - 1)) * error
    p_value = 2 * float(stats.t.sf(abs(mean) / error, moved.size - 1))
    return Difference(mean, (mean - half, mean + half), p_value, "paired means", moved.size)


def shares(before: tuple[int, int], after: tuple[int, int]) -> Difference | None:
    """Difference of two shares over other cases, by Newcombe's hybrid score interval; None without cases.

    Newcombe (Statistics in Medicine 17, 1998, p. 873, method 10): `independent` with Wilson's intervals.

    Args:
        before: successes and trials of the first run.
        after: of the second.
    """
    if not all(n and 0 <= k <= n for k, n in (before, after)):
        return None
    first, second = wilson(*before), wilson(*after)
    return independent(
        before[0] / before[1], (first.low, first.high), after[0] / after[1], (second.low, second.high)
    )


def copied(before: tuple[int, int], after: tuple[int, int]) -> Difference | None:
    """Difference of two shares of pictures that have a copy, over other pictures; None without pictures.

    A picture and its copy are found together or not at all: as chance goes, two pictures count as one.

    Args:
        before: pictures with a copy, and all pictures, in the first run.
        after: in the second.
    """
    if not all(n and 0 <= k <= n for k, n in (before, after)):
        return None
    first, second = (wilson(-(-k // 2), -(-n // 2)) for k, n in (before, after))
    return independent(
        before[0] / before[1], (first.low, first.high), after[0] / after[1], (second.low, second.high)
    )


def independent(before: float, before_ci: Ends, after: float, after_ci: Ends) -> Difference | None:
    """Difference of two independent numbers from their 95 % intervals; None if one has none.

    The ends are recovered from those of the two (MOVER; Zou and Donner, Statistics in Medicine 27, 2008, eq. 3). p is
    that of a normal difference whose interval has the end that lies towards 0. Of runs on the same cases the interval
    is wider than it need be.
    """
    if before_ci is None or after_ci is None:
        return None
    value = after - before
    down = float(np.hypot(after - after_ci[0], before_ci[1] - before))
    up = float(np.hypot(after_ci[1] - after, before - before_ci[0]))
    towards = down if value >= 0 else up
    if value == 0:
        p_value = 1.0
    elif towards == 0:
        p_value = 0.0
    else:
        p_value = 2 * float(special.ndtr(-Z * abs(value) / towards))
    return Difference(value, (value - down, value + up), p_value, "intervals")


def resampled(
    value: float, draws: NDArray[np.float64], *, paired: bool, n: int | None = None
) -> Difference | None:
    """A difference with the bootstrap interval of its draws, moved so that they lie around the difference itself.

    Resampling adds noise to a calibration error, more to a small one than to a large one, so that the draws of a
    difference do not lie around it; only their spread is used.

    Args:
        value: the difference.
        draws: (B,) of it; those that are not finite are left out.
        paired: whether the draws take the same cases in both runs.
        n: cases of paired draws.
    """
    ends = centred(value, draws, LEVEL)
    if not ends.known:
        return None
    return Difference(
        value,
        (ends.low, ends.high),
        bootstrap_p(value, draws),
        "paired bootstrap" if paired else "bootstrap",
        n if paired else None,
    )


def pooled(differences: Sequence[float], errors: Sequence[float]) -> Difference | None:
    """Mean of independent differences whose standard errors are known; None for none.

    Args:
        differences: one each.
        errors: their standard errors.
    """
    if not differences:
        return None
    value = float(np.mean(differences))
    error = float(np.sqrt(np.square(errors).sum())) / len(differences)
    p_value = 2 * float(special.ndtr(-abs(value) / error)) if error else float(value == 0)
    return Difference(value, (value - Z * error, value + Z * error), p_value, "simulation")
