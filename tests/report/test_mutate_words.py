"""What a mutation report comes down to, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from app.report.pages.mutate import Report, words
from tests.report.campaigns import changed, m

Builder = Callable[..., Report]


def test_every_verdict_has_words() -> None:
    assert tuple(words.VERDICTS) == get_args(m.Verdict)


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


def headline(
    make_report: Builder, n: int = 2000, weak: tuple[str, ...] = (), **counts: int
) -> tuple[str, str]:
    report = make_report(per_operator=1)
    operators = tuple(
        replace(o, weak=o.operator in weak, mutation_score=0.25) for o in report.result.by_operator
    )
    report = changed(
        report, subject=replace(report.subject, n=n), summary=summary(**counts), by_operator=operators
    )
    return words.headline(report)


def test_the_verdict_sentence(make_report: Builder) -> None:
    head = headline(make_report, killed=171, killed_weak=4, survived=38, equivalent=5, invalid=2)
    assert head[0] == (
        "The test suite of 2,000 test cases kills 171 of 213 mutants (mutation score 80 %, 95 % interval 77–84 %)."
    )
    assert head[1] == (
        "38 mutants survive; 4 are killed but cost less than 1 point of accuracy. "
        "A model broken in one of these ways would pass the tests."
    )


def test_the_weak_areas_are_named(make_report: Builder) -> None:
    weak = ("weight_noise", "quantization", "mc_dropout", "input_blur")
    meaning = headline(make_report, weak=weak, killed=1, survived=1)[1]
    assert meaning.startswith("1 mutant survives.")
    assert meaning.endswith(
        "Fewer than half of the mutants are killed of weight_noise (25 %), quantization (25 %), mc_dropout (25 %) "
        "and 1 more."
    )


def test_one_test_case_that_kills_all(make_report: Builder) -> None:
    head = headline(make_report, n=1, killed=1)
    assert head[0].startswith("The test suite of 1 test case kills 1 of 1 mutant (mutation score 100 %")
    assert head[1] == "No mutant that was tried survives."


def test_undecided_and_only_weakly_killed_mutants(make_report: Builder) -> None:
    head = headline(make_report, killed_weak=1, inconclusive=3)
    assert head[0].startswith("The test suite of 2,000 test cases kills 0 of 4 mutants (mutation score 0 %")
    assert head[1] == "1 is killed but costs less than 1 point of accuracy; 3 could not be decided."


def test_a_suite_too_small_for_any_verdict_says_so(make_report: Builder) -> None:
    """McNemar's smallest p is a half to the number of cases lost: 1/16 > 0.05 >= 1/32."""
    sentence = "So few tests cannot tell: it takes at least 5 that the original gets right."
    assert sentence in headline(make_report, n=4, survived=3)[1]
    assert sentence not in headline(make_report, n=20, survived=3)[1]


def test_excluded_mutants_are_named_where_they_are_most(make_report: Builder) -> None:
    meaning = headline(make_report, killed=2, duplicate=5, invalid=1)[1]
    assert meaning.endswith("6 of 8 mutants were excluded: 1 invalid, 5 duplicates.")
    assert "excluded" not in headline(make_report, killed=7, duplicate=5, invalid=1)[1]


def test_campaigns_without_a_score_have_words(make_report: Builder) -> None:
    head = headline(make_report)
    assert head[0] == "No mutants were made, so nothing is known about your 2,000 test cases."
    head = headline(make_report, invalid=20, equivalent=4)
    assert head[0] == "None of the 24 mutants could be judged: 20 invalid, 4 equivalent (no output moved)."


def test_why_no_mutant_could_be_judged_is_said(make_report: Builder) -> None:
    report = make_report(per_operator=1)
    mutants = tuple(replace(each, verdict="invalid", reason="it raised") for each in report.result.mutants)
    broken = changed(report, mutants=mutants, summary=summary(invalid=len(mutants)))
    assert words.headline(broken)[1] == "There is no mutation score. Most often: it raised."


def test_the_closing_lines(make_report: Builder) -> None:
    report = make_report(per_operator=2)
    lines = words.closing_lines(report, "out/report.html", "http://localhost:5000/#/experiments/1/runs/2")
    assert tuple(lines[:2]) == words.headline(report)
    assert lines[2:] == ["Report: out/report.html", "MLflow: http://localhost:5000/#/experiments/1/runs/2"]
    assert words.closing_lines(report, "out/report.html") == lines[:3]
