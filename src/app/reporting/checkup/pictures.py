"""What the front page pictures of the reports of the parts."""

from __future__ import annotations

from collections.abc import Mapping

from app.diagnosis.health import SOUND
from app.report import words as text
from app.reporting.autopsy import words as autopsy_words
from app.reporting.checkup.page import Bar, Pictures
from app.reporting.checkup.parts import Reports


def pictures(reports: Reports, mistakes: Mapping[str, bytes]) -> Pictures:
    """The bars of the answers; a sub-score falls short below what is sound for the whole score.

    Args:
        reports: of the parts.
        mistakes: small picture files of failures in operation, by the name in the report.
    """
    operators = [] if reports.mutate is None else list(reports.mutate.result.by_operator)
    sub_scores = {} if reports.autopsy is None else reports.autopsy.sub_scores
    return Pictures(
        operators=tuple(
            Bar(
                each.operator,
                each.mutation_score,
                each.mutation_score_ci,
                text.percent(each.mutation_score),
                each.weak,
            )
            for each in operators
            if each.mutation_score is not None
        ),
        sub_scores=tuple(
            Bar(
                autopsy_words.SUB_SCORES.get(name, name),
                value / 100,
                None,
                text.number(value, 1),
                value < SOUND,
            )
            for name, value in sub_scores.items()
            if value is not None
        ),
        mistakes=mistakes,
    )
