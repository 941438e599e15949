"""Estimates of two runs: who still waits for labels, and whether estimators need more of them for the same error."""

from __future__ import annotations

import math
from typing import TypeAlias

from app.comparison.body import Body, at, number, rows
from app.comparison.differences import Difference, pooled
from app.comparison.results import Section
from app.measures import Value, measure

LARGER = 0.05
"""A ratio of errors that moved by this much matters."""
_Ratio: TypeAlias = tuple[float, int, float | None]
"""Ratio, repetitions, and the ratio's standard error if the report has it."""


def waiting(before: Body, after: Body) -> list[Section]:
    """Which of two runs of labelling for real have no estimate yet, and how to go on."""
    found = []
    for name, body in (("before", before), ("after", after)):
        asked = len(rows(body, "labelling", "asked"))
        if asked and not rows(body, "estimates"):
            cases = "1 case" if asked == 1 else f"{asked:,} cases"
            command = at(body, "labelling", "next_command") or "the same command with labels=to_label.csv"
            told = f"the labels of {cases} are missing; give them, run `{command}` and compare again"
            found.append(Section(name, told))
    return found


def error_ratio(before: Body, after: Body) -> tuple[Value, Value, Difference] | None:
    """The error of the estimators against simple random sampling: geometric mean over what both runs evaluated.

    Each ratio has the standard error of its report. Where a report has none, it is 1 / √(2R) of the ratio with R
    repetitions, as that of normal errors.

    Returns:
        Both means and their difference; None if nothing was evaluated in both.
    """
    first, second = _ratios(before), _ratios(after)
    common = [key for key in first if key in second]
    if not common:
        return None
    logs = [math.log(second[key][0]) - math.log(first[key][0]) for key in common]
    errors = [_error(first[key], second[key]) for key in common]
    found = pooled(logs, errors)
    if found is None or found.ci is None:
        return None
    base, last = (
        math.exp(sum(math.log(side[key][0]) for key in common) / len(common)) for side in (first, second)
    )
    what = measure("rmse_ratio", headline=True)
    scaled = Difference(
        last - base,
        (base * math.expm1(found.ci[0]), base * math.expm1(found.ci[1])),
        found.p_value,
        found.method,
    )
    return Value(what, base, n=len(common)), Value(what, last, n=len(common)), scaled


def _error(before: _Ratio, after: _Ratio) -> float:
    """Standard error of the difference of two logarithms."""
    if before[2] is not None and after[2] is not None:
        return math.hypot(before[2] / before[0], after[2] / after[0])
    return math.sqrt(1 / (2 * before[1]) + 1 / (2 * after[1]))


def _ratios(body: Body) -> dict[tuple[str, str, str], _Ratio]:
    """By population, estimator and budget; exact estimates have no ratio."""
    found = {}
    for each in rows(body, "results"):
        ratio, repetitions = number(each.get("rmse_ratio_srs")), each.get("repetitions")
        if ratio and ratio > 0 and isinstance(repetitions, int) and repetitions > 0:
            key = str(each.get("subject")), str(each.get("estimator")), str(each.get("budget"))
            found[key] = ratio, repetitions, number(each.get("rmse_ratio_srs_se"))
    return found
