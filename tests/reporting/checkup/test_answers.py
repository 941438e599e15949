from __future__ import annotations

import math

import pytest

from app.report.lineage import Run, Subject
from app.report.schema import Schema
from app.reporting.checkup.answers import answers
from app.reporting.checkup.parts import Reports, finished, headline_numbers
from app.reporting.checkup.report import PARTS, Number, Part
from app.reporting.checkup.steps import next_steps, unnoticed
from app.reporting.estimate import report as e

LEFT_OUT = {name: Part("left out", "It was not asked. Ask for it.") for name in PARTS}


def estimate(value, interval, truth=math.nan, labelling=None) -> e.EstimateReport:
    row = e.EstimateRow(
        "net@camera", "adaptive", 100, value, 0.02, interval, None, truth, 100, 20, True, e.Course((), (), ())
    )
    asked = labelling is not None
    return e.EstimateReport(
        Schema(e.ARTIFACT, e.VERSION),
        Run("id", None, "", "", 1.0, "", ""),
        Subject("net@camera", "net", "camera", "m", "d", 1000, ("cat", "dog")),
        e.Settings(
            "labelling" if asked else "evaluation", 0, (100,), 1, 0.95, None, {"adaptive": "Adaptive"}
        ),
        (e.PopulationBlock("net@camera", "model", 1000, truth, None, (), 0, "p"),),
        estimates=() if asked else (row,),
        labelling=labelling,
        example="" if asked else "adaptive",
    )


@pytest.mark.parametrize(
    ("interval", "tested", "grade", "label"),
    [
        ((0.80, 0.86), 0.92, "bad", "much less than tested"),  # 6 points at least
        ((0.80, 0.88), 0.92, "warning", "less than tested"),
        ((0.80, 0.93), 0.92, "good", "as tested"),
        (None, 0.92, "bad", "much less than tested"),
        (None, 0.85, "warning", "less than tested"),
        ((0.80, 0.86), None, "unknown", "no comparison"),
    ],
)
def test_operation_is_held_against_the_test_set(interval, tested, grade, label):
    reports = Reports(estimate=estimate(0.84, interval))
    found = answers(reports, LEFT_OUT, {"accuracy": Number(tested)})[2]
    assert (found.verdict, found.label) == (grade, label)
    assert "84.0 %" in found.answer
    assert ("interval" in found.answer) == (interval is not None)
    assert "100 labels of 1,000 cases showed 20 failures." in found.meaning
    if grade in {"bad", "warning"}:
        assert f"{100 * (tested - 0.84):.1f} points less" in found.meaning


def test_a_known_truth_is_told():
    reports = Reports(estimate=estimate(0.84, (0.80, 0.88), truth=0.79))
    found = answers(reports, LEFT_OUT, {})[2]
    assert "the truth is 79.0 %, outside the interval" in found.meaning


def test_missing_labels_are_asked_for():
    asked = e.Asked(3, "3.png", "cat", 0.5, "doubtful")
    stand = e.Labelling("labels needed", 0, 0, 20, (asked,), "python -m app labels=x.csv")
    reports = Reports(estimate=estimate(0.84, None, labelling=stand))
    found = answers(reports, LEFT_OUT, {})
    assert (found[2].verdict, found[2].label) == ("unknown", "needs labels")
    [step] = next_steps(reports, {"estimate": Part("finished")}, found)
    assert step.title == "1 case needs a label"
    assert "estimate/to_label.csv" in step.text


def test_what_was_not_asked_is_not_answered():
    found = answers(Reports(), {**LEFT_OUT, "mutate": Part("failed", "no disk")}, {})
    assert [each.verdict for each in found] == ["unknown"] * 3
    assert [each.label for each in found] == ["failed", "not asked", "not asked"]
    assert (found[0].answer, found[0].meaning) == ("The part mutate failed.", "no disk")
    assert (found[1].answer, found[1].meaning) == ("It was not asked.", "Ask for it.")


def test_tests_are_graded_by_the_mutation_score(make_report):
    report = make_report(per_operator=4, layers=3, n=100)
    reports = Reports(mutate=report)
    parts = {**LEFT_OUT, **finished(reports)}
    numbers = headline_numbers(reports, parts)
    score = report.result.summary.mutation_score
    assert numbers["mutation_score"].value == score
    assert numbers["accuracy"].value == report.result.original.accuracy  # the autopsy did not say
    found = answers(reports, parts, numbers)
    assert found[0].verdict == ("good" if score >= 0.8 else "warning" if score >= 0.5 else "bad")
    first, *rest = unnoticed(report)
    distances = {each.key: each.distance for each in report.result.survivors}
    assert distances[first.key] == max(distances.values())
    assert all(distances[each.key] <= distances[first.key] for each in rest)
    steps = next_steps(reports, parts, found)
    assert steps[0].title.startswith(f"{report.result.summary.survived} fault")
    assert [each.part for each in steps[1:]] == ["autopsy", "estimate", "contaminate"]


def test_a_campaign_without_mutants_has_no_answer(make_report):
    reports = Reports(mutate=make_report(per_operator=0))
    found = answers(reports, {**LEFT_OUT, **finished(reports)}, {})
    assert (found[0].verdict, found[0].label) == ("unknown", "not known")
