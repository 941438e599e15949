"""Runs that measured different things: named first, and nothing is called better or worse for it."""

from __future__ import annotations

import numpy as np
import pytest

from app.comparison import Limits, Side, compare_all
from app.reporting.compare.words import verdict_words

from .bodies import autopsy, changed, probabilities

QUICK = Limits(resamples=100)


def run(skill, **known):
    labels = np.arange(400) % 5
    rows = probabilities(np.random.default_rng(3), labels, 5, skill=skill)
    return autopsy(rows, labels, **known)


def pair(before, after, **known):
    """Two runs of one model on the same cases, the first much worse."""
    sides = [run(1.0), run(4.0, **known)]
    bodies = [changed(side.body, **more) for side, more in zip(sides, (before, after), strict=True)]
    return [Side(body, side.cases) for body, side in zip(bodies, sides, strict=True)]


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        (
            {"subject__preprocess": "resize 32, crop 224"},
            {"subject__preprocess": "resize 32"},
            "preprocessing (resize 32, crop 224, now resize 32)",
        ),
        (
            {"subject__output": "logits"},
            {"subject__output": "probs"},
            "reading of the outputs (logits, now probs)",
        ),
        ({}, {"subject__classes": ["dog", "cat", "owl", "fox", "eel"]}, "order of the classes"),
    ],
)
def test_a_model_that_is_read_otherwise_is_not_better(before, after, named):
    found = compare_all(*pair(before, after), QUICK)
    assert (found.verdict, found.decision.rule) == ("unknown", "different things")
    assert found.comparability.otherwise == (named,)
    assert found.comparability.notes[0].startswith(f"other {named}: the runs measured different things")
    assert not {each.judgement for each in found.deltas} & {"better", "worse"}
    said = verdict_words(found.verdict, found.decision, found.deltas, found.comparability)
    assert f"measured different things: other {named}" in said.sentence


def test_of_another_model_the_preprocessing_is_a_part():
    sides = pair({"subject__preprocess": "resize 32"}, {"subject__preprocess": "resize 64"}, model="m2")
    assert compare_all(*sides, QUICK).verdict == "improved"


def test_a_report_that_does_not_say_is_taken_to_be_the_same():
    assert compare_all(*pair({}, {"subject__preprocess": "resize 64"}), QUICK).verdict == "improved"


def test_another_rule_bars_its_number_only():
    found = compare_all(*pair({}, {"settings__weights": {"class_balance": 0}}), QUICK)
    assert (found.verdict, found.decision.key) == ("improved", "accuracy")
    assert found.delta("autopsy_score").judgement == "changed"
    assert "autopsy_score follows another rule in each run" in found.comparability.notes[0]
