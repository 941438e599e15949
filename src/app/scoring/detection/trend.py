"""How scores go with what was injected: by operator, by rate, by block, and their rank correlation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from app.scoring.detection.objects import METRICS, SETS
from app.scoring.detection.overlap import Indices, Reals
from app.scoring.detection.ratios import nan_mean
from app.scoring.detection.results import GroupScores, Strength, Trend
from app.scoring.detection.significance import KILLS


def spearman(first: Reals, second: Reals) -> float:
    """Spearman's rank correlation over the pairs without NaN; NaN under three pairs or if one is constant."""
    told = ~(np.isnan(first) | np.isnan(second))
    if told.sum() < 3:
        return float("nan")
    one, other = rankdata(first[told]), rankdata(second[told])
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(np.clip(one @ other / scale, -1.0, 1.0)) if scale > 0 else float("nan")


def trends(strengths: Sequence[Strength], scores: Mapping[str, Reals]) -> tuple[Trend, ...]:
    """The trend of every score (M,) over the mutants of each operator."""
    rates = np.array([strength.rate for strength in strengths], dtype=np.float64)
    return tuple(
        Trend(
            operator,
            len(rows),
            {name: spearman(rates[rows], values[rows]) for name, values in scores.items()},
        )
        for operator, rows in _operators(strengths)
    )


def groups(
    strengths: Sequence[Strength], scores: Mapping[str, Reals], killed: NDArray[np.bool_]
) -> tuple[GroupScores, ...]:
    """Means of scores (M,) and of killed (M, 3) by operator, by its rates over blocks, by its blocks over rates."""
    found: list[GroupScores] = []
    nothing = float("nan")
    for operator, rows in _operators(strengths):
        found.append(_group(Strength(operator, nothing), rows, scores, killed))
        for rate in sorted({r for row in rows if not np.isnan(r := strengths[row].rate)}):
            chosen = np.array([row for row in rows if strengths[row].rate == rate], dtype=np.int64)
            found.append(_group(Strength(operator, rate), chosen, scores, killed))
        for block in sorted({b for row in rows if (b := strengths[row].block) is not None}):
            chosen = np.array([row for row in rows if strengths[row].block == block], dtype=np.int64)
            found.append(_group(Strength(operator, nothing, block), chosen, scores, killed))
    return tuple(found)


def _operators(strengths: Sequence[Strength]) -> list[tuple[str, Indices]]:
    names = list(dict.fromkeys(strength.operator for strength in strengths))
    every = np.array([strength.operator for strength in strengths], dtype=object)
    return [(name, np.flatnonzero(every == name).astype(np.int64)) for name in names]


def _group(
    which: Strength,
    rows: Indices,
    scores: Mapping[str, Reals],
    killed: NDArray[np.bool_],
) -> GroupScores:
    def mean(name: str) -> float:
        return float(nan_mean(scores[name][rows]))

    return GroupScores(
        operator=which.operator,
        rate=None if np.isnan(which.rate) else which.rate,
        block=which.block,
        mutants=len(rows),
        img_ms={kind: float(killed[rows, index].mean()) for index, kind in enumerate(KILLS)},
        obj_ms={kind: mean(f"obj_ms_{kind}") for kind in KILLS},
        ms_iou=mean("ms_iou"),
        ua={name: {metric: mean(f"ua_{name}_{metric}") for metric in METRICS} for name in SETS},
    )
