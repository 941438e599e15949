from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.reporting import mutate as m
from app.reporting import text

Builder = Callable[..., m.MutateReport]


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.8, 0, "80 %"),
        (0.8049, 1, "80.5 %"),
        (1.0, 0, "100 %"),
        (0.0, 0, "0 %"),
        (0.997, 0, "99.7 %"),
        (0.9999, 0, "99.99 %"),
        (0.004, 0, "0.4 %"),
        (0.00004, 0, "0.004 %"),
        (-0.2, 0, "−20 %"),
        (None, 0, "–"),
        (math.nan, 1, "–"),
        (math.inf, 0, "–"),
    ],
)
def test_fractions_are_shown_as_per_cent(value: float | None, digits: int, shown: str) -> None:
    assert text.percent(value, digits) == shown


@settings(deadline=None)
@given(st.floats(0, 1))
def test_only_all_is_100_per_cent_and_only_nothing_is_0(value: float) -> None:
    shown = text.per_cent(value)
    if 0.00001 < value < 0.99999:
        assert shown != "100"
        assert float(shown) > 0
    assert float(shown) == pytest.approx(100 * value, abs=0.51)


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        ((0.77, 0.84), "77–84 %"),
        ((0.0, 1.0), "0–100 %"),
        ((-0.1, 0.2), "−10 to 20 %"),
        (None, "–"),
        ((math.nan, 0.5), "–"),
    ],
)
def test_intervals_are_shown_as_per_cent(interval: m.Interval, shown: str) -> None:
    assert text.percent_interval(interval) == shown


def test_other_numbers() -> None:
    assert text.points(0.0213) == "+2.1"
    assert text.points(-0.0213) == "−2.1"
    assert text.points(0.0001) == "0.0"
    assert text.points(-0.0001) == "0.0"
    assert text.points(None) == "–"
    assert text.points_interval((-0.01, 0.02)) == "−1.0 to +2.0"
    assert text.points_interval(None) == "–"
    assert text.points(12.0) == "+1,200.0"
    assert text.number(1234.5, 1) == "1,234.5"
    assert text.number(-1234.5, 1) == "−1,234.5"
    assert text.number(math.nan) == "–"
    assert text.p_value(0.0004) == "< 0.001"
    assert text.p_value(0.04) == "0.040"
    assert text.p_value(None) == "–"
    assert text.plural(1, "fault") == "1 fault"
    assert text.plural(2000, "fault") == "2,000 faults"
    assert text.plural(0, "class", "classes") == "0 classes"
    assert text.parameters({"rate": 0.3, "block": 5}) == "rate 0.3, block 5"


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(2, 30))
def test_short_text_keeps_its_ends(value: str, longest: int) -> None:
    cut = text.short(value, longest)
    assert len(cut) <= longest
    if len(value) <= longest:
        assert cut == value
    else:
        assert "…" in cut
        assert value.startswith(cut.split("…")[0] if "…" not in value else "")


def test_every_verdict_has_words() -> None:
    assert tuple(text.VERDICTS) == get_args(m.Verdict)


def summary(**counts: int) -> m.Summary:
    full = dict.fromkeys(
        (
            "killed",
            "killed_weak",
            "survived",
            "inconclusive",
            "equivalent",
            "duplicate",
            "invalid",
            "trivial",
        ),
        0,
    )
    full |= counts
    judged = sum(full[k] for k in ("killed", "killed_weak", "survived", "inconclusive"))
    score = full["killed"] / judged if judged else None
    return m.Summary(
        mutants=sum(full.values()) - full["trivial"],
        mutation_score=score,
        mutation_score_ci=(0.77, 0.84) if judged else None,
        mutation_score_ci_mutants=None,
        **full,
    )


def headline(make_report: Builder, n: int = 2000, weak: tuple[str, ...] = (), **counts: int) -> text.Headline:
    report = make_report(per_operator=1)
    operators = tuple(replace(o, weak=o.operator in weak, mutation_score=0.25) for o in report.by_operator)
    report = replace(
        report, subject=replace(report.subject, n=n), summary=summary(**counts), by_operator=operators
    )
    return text.headline(report)


def test_the_verdict_sentence(make_report: Builder) -> None:
    head = headline(make_report, killed=171, killed_weak=4, survived=38, equivalent=5, invalid=2)
    assert head.sentence == "Your 2,000 test cases notice 171 of 213 faults (80 %, 95 % interval 77–84 %)."
    assert head.meaning == (
        "38 faults go unnoticed; 4 are noticed but cost less than 1 point of accuracy. "
        "A model broken in an unnoticed way would pass these tests."
    )


def test_the_weak_areas_are_named(make_report: Builder) -> None:
    weak = ("weight_noise", "quantization", "mc_dropout", "input_blur")
    meaning = headline(make_report, weak=weak, killed=1, survived=1).meaning
    assert meaning.startswith("1 fault goes unnoticed.")
    assert meaning.endswith(
        "Under half is noticed of weight_noise (25 %), quantization (25 %), mc_dropout (25 %) and 1 more."
    )


def test_one_test_case_all_noticed(make_report: Builder) -> None:
    head = headline(make_report, n=1, killed=1)
    assert head.sentence.startswith("Your 1 test case notices 1 of 1 fault (100 %")
    assert head.meaning == "No fault that was tried goes unnoticed."


def test_undecided_and_only_weakly_noticed_faults(make_report: Builder) -> None:
    head = headline(make_report, killed_weak=1, inconclusive=3)
    assert head.sentence.startswith("Your 2,000 test cases notice 0 of 4 faults (0 %")
    assert head.meaning == "1 is noticed but costs less than 1 point of accuracy; 3 could not be decided."


def test_a_suite_too_small_for_any_verdict_says_so(make_report: Builder) -> None:
    """McNemar's smallest p is a half to the number of cases lost: 1/16 > 0.05 >= 1/32."""
    sentence = "So few tests cannot tell: it takes at least 5 that the original gets right."
    assert sentence in headline(make_report, n=4, survived=3).meaning
    assert sentence not in headline(make_report, n=20, survived=3).meaning


def test_mutants_set_aside_are_named_where_they_are_most(make_report: Builder) -> None:
    meaning = headline(make_report, killed=2, duplicate=5, invalid=1).meaning
    assert meaning.endswith("6 of 8 mutants were set aside: 1 invalid, 5 duplicates.")
    assert "set aside" not in headline(make_report, killed=7, duplicate=5, invalid=1).meaning


def test_campaigns_without_a_score_have_words(make_report: Builder) -> None:
    head = headline(make_report)
    assert head.sentence == "No mutants were made, so nothing is known about your 2,000 test cases."
    head = headline(make_report, invalid=20, equivalent=4)
    assert (
        head.sentence == "None of the 24 mutants could be judged: 20 invalid, 4 equivalent (no output moved)."
    )


def test_why_no_mutant_could_be_judged_is_said(make_report: Builder) -> None:
    report = make_report(per_operator=1)
    mutants = tuple(replace(each, verdict="invalid", reason="it raised") for each in report.mutants)
    broken = replace(report, mutants=mutants, summary=summary(invalid=len(mutants)))
    assert text.headline(broken).meaning == "There is no mutation score. Most often: it raised."


def test_the_closing_lines(make_report: Builder) -> None:
    report = make_report(per_operator=2)
    lines = text.closing_lines(report, "out/report.html", "http://localhost:5000/#/experiments/1/runs/2")
    assert lines[0] == text.headline(report).sentence
    assert lines[2:] == ["Report: out/report.html", "MLflow: http://localhost:5000/#/experiments/1/runs/2"]
    assert len(text.closing_lines(report, "out/report.html")) == 3
