"""Secondary signals, from outcomes to report, table and page; and intervals without width."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from app.diagnosis.signals import signals
from app.records import Predictions
from app.report import render
from app.report.pages.mutate import Report, load, words
from app.report.pages.mutate.page import page
from app.report.pages.mutate.tables import mutant_rows
from app.report.schema import dumps, write_plain
from app.report.sinks import write_csv
from app.scoring import Rule, Thresholds, judge
from app.scoring.assembly import Campaign, Measured, mutation_result
from tests.report.campaigns import changed, m

Builder = Callable[..., Report]
CASES, NAMES = 200, ("ant", "bee", "cat")
LABELS = np.arange(CASES) % 3


@dataclass(frozen=True)
class Seen:
    """Outcomes of a mutant."""

    predictions: Predictions | None
    reason: str | None = None
    probe_shift: float = 1.0
    unchanged: bool = False


def seen(top1: Any, confidence: float = 0.8) -> Predictions:
    rows = np.atleast_2d(top1).astype(np.int32)
    return Predictions(
        rows, np.full(rows.shape, confidence, np.float32), np.full(rows.shape, 0.5, np.float32)
    )


def report_of(shape: Report, mutants: list[Predictions | None], seed: int = 7) -> Report:
    """The report on mutants of a model that is always right with confidence 0.8."""
    original = replace(seen(LABELS), shift=np.zeros((1, CASES), np.float32))
    judgement = judge(
        original, mutants, LABELS, classes=3, rng=np.random.default_rng(0), rule=Rule(resamples=50)
    )
    measured = [
        Measured(
            SimpleNamespace(
                key=f"m{i}",
                operator=SimpleNamespace(name="op"),
                kind="weight",
                params={},
                target="fc",
                seed=i,
                repetitions=1 if each is None else each.repetitions,
            ),
            Seen(each, None if each is not None else "it raised"),
            None if each is None else signals(each, LABELS, 3),
        )
        for i, each in enumerate(mutants)
    ]
    campaign = Campaign(
        original, LABELS, [f"{i}.png" for i in range(CASES)], measured, ["fc"], judgement, Thresholds()
    )
    return replace(
        shape,
        subject=replace(shape.subject, n=CASES, classes=NAMES),
        settings=replace(shape.settings, seed=seed),
        result=mutation_result(campaign, NAMES, seed),
    )


def page_of(report: Report) -> str:
    return render.page(page(report), report)


@pytest.fixture
def found(make_report: Builder) -> Report:
    lost = np.where((LABELS == 1) & (np.arange(CASES) < 30), 2, LABELS)
    noisy = np.stack([lost, LABELS, LABELS])
    return report_of(
        make_report(per_operator=1), [seen(lost), seen(LABELS, 0.7), seen(noisy), None, seen(lost)]
    )


def test_the_class_that_lost_is_named_with_its_holm_adjusted_p(found: Report) -> None:
    assert found.result.mutants[0].secondary is not None
    recall = found.result.mutants[0].secondary.class_recall
    assert recall is not None
    assert recall.name == "bee"
    lost = sum(i % 3 == 1 for i in range(30))
    assert recall.p_adjusted == pytest.approx(3 * stats.binomtest(lost, lost, 0.5, "greater").pvalue)
    assert found.result.mutants[1].secondary is not None
    assert found.result.mutants[1].secondary.class_recall == m.ClassRecall(1.0, None)


def test_intervals_hold_the_signal_and_widen_only_where_cases_differ(found: Report) -> None:
    first, surer = found.result.mutants[0], found.result.mutants[1]
    assert first.secondary is not None
    assert surer.secondary is not None
    assert first.signals is not None
    assert surer.signals is not None
    drop, ends = first.signals.autopsy_score_drop.value, first.secondary.autopsy_score_drop_ci
    assert drop is not None
    assert ends is not None
    assert ends[0] <= drop <= ends[1]
    assert ends[0] > 0
    # Every case of the second mutant is right with 0.7 and not with 0.8: no resample can say otherwise.
    assert surer.secondary.ece_rise_ci == pytest.approx((0.1, 0.1), abs=1e-6)
    # In 200 cases, 10 more are wrong at confidence 0.8: the error falls from 0.2 to 0.15, give or take the
    # binomial error of the ten, 1.96 * sqrt(0.05 * 0.95 / 200) = 0.03.
    assert first.secondary.ece_rise_ci == pytest.approx((-0.08, -0.02), abs=0.012)


def test_stochastic_mutants_have_no_class_test_and_others_are_left_alone(found: Report) -> None:
    stochastic, invalid, twin = found.result.mutants[2:]
    assert stochastic.secondary is not None
    assert stochastic.secondary.class_recall is None
    assert stochastic.secondary.ece_rise_ci is not None
    assert (invalid.verdict, invalid.secondary) == ("invalid", None)
    assert (twin.verdict, twin.secondary) == ("duplicate", None)
    assert twin.reason == f"same outputs as {found.result.mutants[0].key}"


def test_equal_seeds_give_equal_numbers(make_report: Builder) -> None:
    rng = np.random.default_rng(0)
    mutants = [seen(np.where(rng.random(CASES) < 0.1, 0, LABELS)) for _ in range(2)]
    shape = make_report(per_operator=1)
    one, two, other = (report_of(shape, list(mutants), seed) for seed in (7, 7, 8))
    assert dumps(one.plain()) == dumps(two.plain())
    assert [x.secondary for x in one.result.mutants] != [x.secondary for x in other.result.mutants]


def test_json_csv_and_page_show_them(found: Report, tmp_path: Path) -> None:
    path = found.write(tmp_path / "report.json")
    assert dumps(load(path).plain()) == dumps(found.plain())
    with write_csv(mutant_rows(found.result), tmp_path / "mutants.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    signal = found.result.mutants[0].secondary
    assert signal is not None
    assert signal.ece_rise_ci is not None
    assert signal.class_recall is not None
    assert rows[0]["class"] == "bee"
    assert float(rows[0]["class_p_adjusted"]) == pytest.approx(signal.class_recall.p_adjusted)
    assert float(rows[0]["ece_rise_ci_low"]) == pytest.approx(signal.ece_rise_ci[0])
    assert rows[3]["autopsy_score_drop_ci_high"] == ""
    shown = page_of(found)
    lines = words.secondary(found.result.mutants[0])
    assert len(lines) == 3
    for line in lines:
        assert render.text(line) in shown
    made = replace(
        found.result.mutants[0],
        secondary=m.SecondarySignals(m.ClassRecall(0.012, "bee"), (-0.01, 0.021), (-0.5, 3.0)),
    )
    assert words.secondary(made) == ["class p 0.012 (bee)", "ECE −1.0 to +2.1", "score −3.0 to +0.5"]
    assert words.secondary(replace(made, secondary=None)) == []


def test_reports_from_before_have_no_secondary_signals(found: Report, tmp_path: Path) -> None:
    body = json.loads(dumps(found.plain()))
    for mutant in body["mutants"]:
        del mutant["secondary"]
    old = load(write_plain(body, tmp_path / "report.json"))
    assert all(mutant.secondary is None for mutant in old.result.mutants)
    mutants = tuple(replace(x, secondary=None) for x in found.result.mutants)
    assert dumps(old.plain()) == dumps(changed(found, mutants=mutants).plain())
    assert "Secondary signals" in page_of(old)


def test_nothing_killed_is_not_said_with_certainty(make_report: Builder) -> None:
    report = report_of(make_report(per_operator=1), [seen(LABELS, 0.5 + 0.01 * i) for i in range(20)])
    summary = report.result.summary
    assert (summary.killed, summary.judged) == (0, 20)
    assert summary.mutation_score_ci == (0.0, 0.0)
    # Wilson's upper end for 0 of 20: z² / (n + z²) = 3.84 / 23.84.
    sentence = words.headline(report)[0]
    assert sentence == (
        "The test suite of 200 test cases kills 0 of 20 mutants (mutation score 0 %, 95 % interval over "
        "mutants 0–16 %)."
    )
    assert words.closing_lines(report, "report.html")[0] == sentence
    shown = page_of(report).replace("\u00a0", " ")
    assert shown.count("95 % interval over mutants 0–16 %") == 2
    assert "shown with the score where no resample changes it" in shown


def test_an_interval_with_width_is_the_one_over_test_cases(make_report: Builder) -> None:
    summary = make_report(per_operator=1).result.summary
    usual = replace(summary, mutation_score_ci=(0.5, 0.75), mutation_score_ci_mutants=(0.25, 0.9))
    assert words.score_interval(usual) == "95 % interval 50–75 %"
    assert words.score_interval(replace(usual, mutation_score_ci=None)) == ""
    bare = replace(usual, mutation_score_ci=(0.0, 0.0), mutation_score_ci_mutants=None)
    assert words.score_interval(bare) == "95 % interval 0–0 %"
