"""The report of a history: from readings to JSON and back, to words, a page, a table and figures."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from app.report.schema import dumps, write_json
from app.reporting.figures import png
from app.reporting.history import charts, figures, page, report, tables, words

from .bodies import autopsy


@pytest.fixture
def stepped(history):
    """Twenty runs out of order, with a step at the thirteenth, gaps, and what changed on the way."""
    rng = np.random.default_rng(0)
    bodies = []
    for i in range(20):
        value = round(float(rng.normal(0.9 if i < 12 else 0.86, 0.004)), 4)
        bodies.append(
            autopsy(
                i + 1,
                value if i not in {4, 5} else None,
                model="m1" if i < 12 else "m2",
                data="d1" if i < 16 else "d2",
                classes=("cat", "dog") if i < 18 else ("cat", "dog", "owl"),
                score=None if i == 7 else 90.0 + 0.1 * (7 * i % 5),
            )
        )
    return history(*bodies[10:], *bodies[:10], {"schema": {"artifact": "assay.autopsy", "version": 2}})


def by_key(history):
    return {each.key: each for each in history.series}


def test_runs_are_in_order_of_time_and_what_changed_is_marked(stepped):
    assert [each.run_id for each in stepped.runs] == [f"{i + 1:032x}" for i in range(20)]
    changed = {i: each.changed for i, each in enumerate(stepped.runs) if each.changed}
    assert changed == {12: ("model",), 16: ("data",), 18: ("classes",)}
    assert stepped.n_excluded == 1
    assert "version 2 of assay.autopsy" in stepped.excluded[0].reason
    assert stepped.subject.classes == ("cat", "dog", "owl")
    assert "do not all have the same classes" in stepped.subject.notes[0]


def test_every_number_is_the_reports(stepped):
    series = by_key(stepped)
    assert {"accuracy", "autopsy_score", "ece", "sub_score/performance", "recall/<b>cat</b>"} <= set(series)
    assert "sub_score/generalization" not in series  # no run has it
    accuracy = series["accuracy"]
    assert [each.value is None for each in accuracy.points] == [i in {4, 5} for i in range(20)]
    assert accuracy.points[4].reason
    run, point = stepped.runs[13], accuracy.points[13]
    assert (run.model_digest, run.data_digest) == ("m2", "d1")
    assert point.high - point.low == pytest.approx(0.02)
    assert [each.headline for each in stepped.series] == sorted(
        (each.headline for each in stepped.series), reverse=True
    )


def test_the_step_is_the_verdict(stepped):
    accuracy = by_key(stepped)["accuracy"]
    assert [each.index for each in accuracy.change_points] == [12]
    assert accuracy.trend == "worse"
    assert stepped.verdict == "regressed"
    head = words.headline(stepped)
    assert head.sentence.startswith("Accuracy is worse (")
    assert "20 runs of autopsy, 1 to 20 May 2026" in head.sentence
    assert "on 13 May 2026, when the model changed too: accuracy (90." in head.meaning
    lines = words.closing_lines(stepped, "out/report.html", "http://x")
    assert lines[0] == "As asked for: autopsy about net@photos."
    assert lines[-2:] == ["Report: out/report.html", "MLflow: http://x"]
    assert "1 run or file left out" in lines[2]


@pytest.mark.parametrize(
    ("bodies", "verdict", "said"),
    [
        ([autopsy(1), autopsy(2)], "unchanged", "No clear change in accuracy"),
        ([autopsy(1, 0.8), autopsy(2, 0.9)], "improved", "Accuracy is better (80.0 to 90.0 %)"),
        ([autopsy(1, 0.9), autopsy(2, 0.8)], "regressed", "Accuracy is worse (90.0 to 80.0 %)"),
    ],
)
def test_two_runs_are_a_history(history, bodies, verdict, said):
    made = history(*bodies)
    assert made.verdict == verdict
    assert made.sentence.startswith(said)
    assert made.sentence.endswith("over 2 runs of autopsy, 1 to 2 May 2026.")
    assert "from 8 numbers on" in words.headline(made).meaning


def test_other_mutants_are_said(history):
    def campaign(number, mutants, operators):
        body = autopsy(number)
        body["schema"]["artifact"] = "assay.mutate"
        body["summary"] = {"mutants": mutants, "mutation_score": 0.1 * number}
        body["by_operator"] = [{"operator": name, "mutation_score": 0.5} for name in operators]
        return body

    equal = history(campaign(1, 10, "ab"), campaign(2, 10, "ab"))
    assert equal.subject.notes == ()
    mixed = history(campaign(1, 10, "ab"), campaign(2, 10, "ac"), campaign(3, 20, "ac"), autopsy(4))
    [note] = mixed.subject.notes
    assert note.startswith("The runs have 3 different sets of mutants: ")
    assert words.closing_lines(mixed, "x")[-2].startswith("Note: The runs have 3 different sets of mutants")
    assert note in page.history_page(mixed)


def test_json_goes_there_and_back(stepped, tmp_path):
    path = write_json(stepped, tmp_path / "report.json")
    assert report.load(path) == stepped
    body = json.loads(path.read_text())
    assert body["schema"]["artifact"] == "assay.history"
    assert body["schema"]["version"] == 1
    assert list(body)[:2] == ["schema", "run"]
    assert dumps(stepped) == path.read_text()


def test_the_page_is_whole_safe_and_still(stepped):
    text = page.history_page(stepped)
    assert text == page.history_page(stepped)
    assert "<b>cat</b>" not in text
    assert "&lt;b&gt;cat" in text
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) == len(stepped.series) - 1  # one beside the headlines never moved
    for each in drawings:
        ElementTree.fromstring(each)
    assert "Left out" in text


def test_a_page_of_500_runs_stays_small(history):
    rng = np.random.default_rng(1)
    made = history(*(autopsy(i, float(rng.normal(0.9, 0.01)), day=1 + i // 20) for i in range(500)))
    text = page.history_page(made)
    assert len(text) < 400_000
    chart = charts.chart(by_key(made)["accuracy"], made.runs)
    assert len(chart.dots) == 3  # the best, the worst, the newest
    assert len(chart.lines) == 1
    assert len(charts.spark(by_key(made)["accuracy"]).lines[0].split()) <= 2 * charts.SPARK_COLUMNS + 1


def test_gaps_break_the_line_and_the_band(stepped):
    chart = charts.chart(by_key(stepped)["accuracy"], stepped.runs)
    assert [len(line.split()) for line in chart.lines] == [4, 14]
    assert [len(band.split()) for band in chart.bands] == [8, 28]
    assert len(chart.dots) == 18
    assert {each.look for each in chart.dots} >= {"plain", "best", "worst"}
    assert len(chart.levels) == 2
    assert chart.levels[0].y < chart.levels[1].y  # up is small
    assert {name: len(ticks) for name, _, ticks in chart.rugs} == {"model": 1, "data": 1}
    assert len(chart.crossings) == 2


def test_thinned_lines_keep_every_extreme():
    values = np.random.default_rng(2).normal(size=5000)
    values[1234], values[4321] = 50, -50
    (kept,) = charts._thinned([list(enumerate(values.tolist()))], 100)
    assert len(kept) <= 201
    assert {(1234, 50), (4321, -50), (4999, values[-1])} <= set(kept)
    assert [i for i, _ in kept] == sorted(i for i, _ in kept)


def test_the_table_has_every_number(stepped, tmp_path):
    path = tables.write_history(stepped, tmp_path / "history.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(stepped.series) * 20
    accuracy = [row for row in rows if row["key"] == "accuracy"]
    assert [row["value"] == "" for row in accuracy] == [i in {4, 5} for i in range(20)]
    assert float(accuracy[0]["value"]) == by_key(stepped)["accuracy"].points[0].value
    assert [row["time"] for row in accuracy if row["change_point"] == "worse"] == [
        "2026-05-13T10:00:00+02:00"
    ]
    columns = tables.series_columns(stepped)
    assert {len(each) for each in columns.values()} == {len(stepped.series)}


def test_figures_are_the_same_each_time_and_have_names_of_their_own(stepped):
    accuracy = by_key(stepped)["accuracy"]
    first = png(figures.over_time(accuracy, stepped))
    assert first.startswith(b"\x89PNG")
    assert first == png(figures.over_time(accuracy, stepped))
    names = figures.names([replace(accuracy, key=key) for key in ("a/b", "a b", "accuracy", "../x")])
    assert list(names.values()) == [
        *("over_time_a_b.png", "over_time_a_b_2.png", "over_time_accuracy.png", "over_time_x.png")
    ]


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (["2026-05-03T10:00:00+00:00"] * 2, "3 May 2026, 10:00"),
        (["2026-05-03T10:00:00+00:00", "2026-05-03T16:30:00+00:00"], "3 May 2026, 10:00 to 16:30"),
        (["2026-05-03T10:00:00+00:00", "2026-05-09T10:00:00+00:00"], "3 to 9 May 2026"),
        (["2026-05-03T10:00:00+00:00", "2026-06-03T10:00:00+00:00"], "3 May to 3 Jun 2026"),
        (["2025-05-03T10:00:00+00:00", "2026-05-03T10:00:00+00:00"], "3 May 2025 to 3 May 2026"),
        ([], ""),
    ],
)
def test_spans_are_short(times, said):
    assert words.span(times) == said


@pytest.mark.parametrize(
    ("value", "unit", "said", "moved"),
    [
        (0.912, "share", "91.2 %", "+91.2"),
        (-0.004, "share", "−0.4 %", "−0.4"),
        (91.25, "score", "91.2", "+91.2"),
        (-12.0, "count", "−12", "−12"),
        (1234.0, "count", "1,234", "+1,234"),
        (0.12345, "number", "0.123", "+0.123"),
        (0.0, "count", "0", "0"),
        (None, "share", "–", "–"),
    ],
)
def test_numbers_are_shown_by_their_unit(value, unit, said, moved):
    assert words.shown(value, unit) == said
    assert words.moved(value, unit) == moved
