from __future__ import annotations

from dataclasses import replace

import pytest

from app.comparison.differences import independent
from app.reporting.checkup.previous import better, changes, moved_by, previous
from app.reporting.checkup.report import Number


def test_a_change_counts_from_where_the_two_intervals_end():
    then = {"accuracy": Number(0.80, (0.77, 0.83)), "autopsy_score": Number(80.0)}
    now = {"accuracy": Number(0.85, (0.81, 0.89)), "autopsy_score": Number(74.9)}
    by_key = {each.key: each for each in changes(then, now)}
    assert by_key["accuracy"].margin == pytest.approx(0.05)  # half widths 3 and 4 points make 5
    assert by_key["accuracy"].verdict == "same"
    assert by_key["accuracy"].difference == pytest.approx(0.05)
    assert by_key["autopsy_score"].margin == pytest.approx(5.0)  # as uncertain as the accuracy
    assert by_key["autopsy_score"].verdict == "worse"
    assert [moved_by(each) for each in by_key.values()] == ["−5.1", "+5.0 points"]
    [sure] = changes({"accuracy": Number(0.80, (0.77, 0.83))}, {"accuracy": Number(0.86, (0.82, 0.90))})
    assert sure.verdict == "better"


@pytest.mark.parametrize(
    ("then", "now"),
    [({}, {}), ({"accuracy": Number(0.5)}, {}), ({"accuracy": Number(None)}, {"accuracy": Number(0.5)})],
)
def test_what_one_of_them_does_not_know_is_not_compared(then, now):
    assert changes(then, now) == ()


def test_the_very_same_things_are_passed_over(make_checkup):
    now = make_checkup(run_id="c" * 32)
    same, other = make_checkup(run_id="d" * 32), make_checkup(run_id="e" * 32, model="old")
    oldest = make_checkup(run_id="f" * 32, model="older")
    found = previous(iter([same, other, oldest]), now.subject, now.settings, now.summary)
    assert (found.run_id, found.differs) == ("e" * 32, ("model",))
    assert {each.verdict for each in found.changes} == {"same"}
    assert previous([same], now.subject, now.settings, now.summary) is None


def test_mutation_scores_of_other_operators_are_not_compared(make_checkup, make_settings):
    now = make_checkup()
    other = make_checkup(settings=make_settings(operators=("layer_freezing",), config_digest="x"))
    found = previous([other], now.subject, now.settings, now.summary)
    assert found.differs == ("operators", "settings")
    assert "mutation_score" not in {each.key for each in found.changes}
    assert len(found.changes) == 3


@pytest.mark.parametrize(
    ("changed", "label", "verdict"),
    [
        ({}, "the same", "good"),
        ({"accuracy": Number(0.99, (0.98, 1.0))}, "better", "good"),
        ({"accuracy": Number(0.60, (0.58, 0.62))}, "worse", "bad"),
        (
            {"accuracy": Number(0.60, (0.58, 0.62)), "mutation_score": Number(0.9, (0.85, 0.95))},
            "mixed",
            "warning",
        ),
    ],
)
def test_the_fourth_answer(make_checkup, changed, label, verdict):
    before, now = make_checkup(model="old"), make_checkup()
    found = previous([before], now.subject, now.settings, {**now.summary, **changed})
    answer = better(found, now.subject)
    assert (answer.label, answer.verdict) == (label, verdict)
    assert "since the checkup of 2026-01-02 03:04" in answer.answer
    assert "What differs: model." in answer.meaning


def test_without_a_number_in_common_nothing_is_claimed(make_checkup):
    now = make_checkup()
    found = previous([make_checkup({}, model="old")], now.subject, now.settings, now.summary)
    assert better(found, now.subject).verdict == "unknown"
    assert better(None, now.subject).label == "first checkup"
    assert "net@test" in better(None, now.subject).answer
    same = replace(found, differs=("settings",))
    assert "The model is the same as then." in better(same, now.subject).meaning


def test_chance_counts_as_in_a_comparison():
    """Intervals that reach far only away from each other leave little to chance; those of half the width do not say."""
    then, now = {"accuracy": Number(0.90, (0.82, 0.91))}, {"accuracy": Number(0.93, (0.92, 0.99))}
    [found] = changes(then, now)
    noise = independent(0.90, (0.82, 0.91), 0.93, (0.92, 0.99))
    assert (found.verdict, noise.noise) == ("better", False)
    assert found.margin == pytest.approx(0.03 - noise.ci[0])
    [back] = changes(now, then)
    assert back.verdict == "worse"


@pytest.mark.parametrize(("after", "verdict"), [(0.505, "same"), (0.51, "better"), (0.48, "worse")])
def test_without_an_interval_the_size_decides(after, verdict):
    [found] = changes({"mutation_score": Number(0.5)}, {"mutation_score": Number(after)})
    assert (found.verdict, found.margin) == (verdict, 0.01)


def test_a_change_too_small_to_matter_is_none():
    [found] = changes({"accuracy": Number(0.9, (0.899, 0.901))}, {"accuracy": Number(0.905, (0.904, 0.906))})
    assert found.verdict == "same"


@pytest.mark.parametrize(
    ("subject", "settings", "named", "barred"),
    [
        ({"preprocess": "resize 32, crop 224"}, {}, "preprocessing", 4),
        ({"output": "probs"}, {}, "reading of the outputs", 4),
        ({"classes": ("dog", "cat")}, {}, "classes or their order", 4),
        ({"data_digest": "old"}, {}, "test data", 3),
        ({}, {"stream_digest": "july"}, "operational data", 1),
        ({}, {"rules": {"mutation_score": "q=0.1"}}, "mutants or when they are killed", 1),
        ({}, {"rules": {"autopsy_score": "other weights"}}, "rule of the autopsy score", 1),
    ],
)
def test_numbers_of_different_things_are_neither_better_nor_worse(
    *, make_checkup, make_settings, subject, settings, named, barred
):
    """All numbers rose far: nothing of it is said of those that were measured otherwise, and the reason comes first."""
    now = make_checkup(
        settings=make_settings(rules={"mutation_score": "q=0.05", "autopsy_score": "weights"}),
        subject=replace(make_checkup().subject, preprocess="resize 32", output="logits"),
    )
    low = {key: Number(each.value * 0.7) for key, each in now.summary.items()}
    before = replace(
        now,
        summary=low,
        subject=replace(now.subject, **subject),
        settings=replace(now.settings, **settings),
    )
    found = previous([before], now.subject, now.settings, now.summary)
    assert found.differs[0] == named
    verdicts = [each.verdict for each in found.changes]
    assert (verdicts.count("not comparable"), verdicts.count("better")) == (barred, 4 - barred)
    answer = better(found, now.subject)
    if barred == 4:
        assert (answer.label, answer.verdict) == ("not comparable", "unknown")
        assert answer.answer.startswith(f"Other {named} than at the checkup of")
    else:
        assert answer.label == "better"
        assert answer.meaning.startswith(f"With other {named}, nothing is said about ")


def test_an_older_report_does_not_say_how_the_model_was_read(make_checkup):
    before, now = make_checkup(model="old"), make_checkup()
    now = replace(now, subject=replace(now.subject, preprocess="resize 32", output="logits"))
    assert previous([before], now.subject, now.settings, now.summary).differs == ("model",)
