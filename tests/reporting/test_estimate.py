"""The report of an estimate: it reads back as it was written, flags what it should, and its pages stand alone."""

from __future__ import annotations

import base64
import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from app.errors import UserError
from app.estimation import SRSWOR, Adaptive, ArrayOracle, LabelsNeeded, PartialOracle, Population
from app.estimation.estimate import Estimate, Trace
from app.estimation.evaluation import Evaluation, KnownPopulation, Result, evaluate
from app.estimation.labels import Labels, no_labels, read_labels
from app.estimation.leakage import Leak
from app.reporting import schema
from app.reporting.estimate import assembly, charts, files, page, recording, to_label, words
from app.reporting.estimate.report import ARTIFACT, EstimateReport, Settings, read_estimate_report
from app.reporting.lineage import Run, Subject
from app.tables import csv_bytes, read_table

HOSTILE = "<script>alert('x')</script>"


def cases(n: int = 300, name: str = "shop", known: bool = True) -> assembly.Cases:
    rng = np.random.default_rng(3)
    confidence = rng.beta(6, 1, n)
    failures = rng.random(n) > confidence
    predicted = rng.integers(0, 3, n)
    population = Population(
        name, np.array([f"{HOSTILE}/{i}" for i in range(n)]), {"confidence": confidence}, predicted
    )
    return assembly.Cases(
        population,
        "table",
        failures if known else None,
        (Leak("confidence", "it tells everything"),) if known else (),
        ("ant", HOSTILE, "cat"),
        np.where(failures, (predicted + 1) % 3, predicted) if known else None,
    )


def blank(
    *found: assembly.Cases, use: str = "evaluation", budgets: tuple[int, ...] = (20, 60)
) -> EstimateReport:
    settings = Settings(use, 0, budgets, 12, 0.95, None, {"srswor": "SRSWOR", "adaptive": "Adaptive"})
    run = Run("1", None, "a", "b", 1.0, "python -m app task=estimate", "sqlite:///x")
    subject = Subject(
        HOSTILE, "m", "d", "", "", sum(each.population.size for each in found), ("ant", HOSTILE, "cat")
    )
    blocks = tuple(assembly.population_block(each) for each in found)
    return EstimateReport(schema.Schema(ARTIFACT, 1), run, subject, settings, blocks)


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    known = [KnownPopulation(each.population, each.failures) for each in (cases(), cases(name="street"))]
    return evaluate(known, [SRSWOR(), Adaptive()], (20, 60), repetitions=12)


@pytest.fixture(scope="module")
def report(evaluation) -> EstimateReport:
    both = (cases(), cases(name="street"))
    run = Adaptive().run(both[0].population, ArrayOracle(both[0].failures), 60, np.random.default_rng(0))
    return replace(
        blank(*both),
        results=assembly.result_rows(evaluation, 0.95),
        wins=assembly.win_losses(evaluation),
        estimates=(assembly.estimate_row(both[0], run, 60, 0.95),),
        failures=assembly.failure_rows(both[0], run, pictured=True),
        example="adaptive",
    )


def test_it_reads_back_as_it_was_written(report, tmp_path):
    path = schema.write_json(report, tmp_path / "report.json")
    assert schema.dumps(read_estimate_report(path)) == schema.dumps(report)
    path.write_text(path.read_text().replace("assay.estimate", "assay.mutate"))
    with pytest.raises(UserError, match=r"assay\.estimate is needed"):
        read_estimate_report(path)


def test_wins_are_those_of_the_evaluation(report, evaluation):
    table = evaluation.wins()
    for each in report.wins:
        assert table[each.a][each.b] == (each.wins, each.losses)
        assert each.pairs == 4
    grid = page.win_table(report, ["adaptive", "srswor"])
    assert grid[0][0] is None
    assert (grid[0][1].wins, grid[0][1].losses) == (grid[1][0].losses, grid[1][0].wins)


def result(**changes: object) -> Result:
    values: dict[str, object] = {
        "subject": "s", "estimator": "a", "budget": 10, "repetitions": 1000, "accuracy": 0.9, "mean": 0.9, "mse": 0.01,
        "rmse_ratio_srs": 1.0, "rmse_ratio_srs_se": 0.02, "bias": 0.0, "bias_se": 0.001, "failures_mean": 2.0,
        "failures_std": 1.0,
        "cost_mean": 10.0, "coverage": 0.95, "width_mean": 0.1, "sequence_misses": math.nan, "unbiased": True,
        "notes": (),
    }  # fmt: skip
    return Result(**{**values, **changes})


def test_what_stands_out_is_flagged():
    rows = assembly.result_rows(
        Evaluation(
            (
                result(),
                result(estimator="b", bias=0.0041, mse=0.02, failures_mean=1.0),
                result(estimator="c", coverage=0.92, mse=0.02, failures_mean=5.0),
                result(estimator="d", coverage=0.935, bias=0.0039),
            ),
            (),
        ),
        0.95,
    )
    assert [row.bias_flagged for row in rows] == [False, True, False, False]
    assert [row.coverage_flagged for row in rows] == [
        False,
        False,
        True,
        False,
    ]  # 3 standard errors are 0.0207
    assert [row.on_front for row in rows] == [True, False, True, True]


def test_the_page_stands_alone_and_escapes(report):
    pixel = io.BytesIO()
    Image.new("L", (4, 4)).save(pixel, "PNG")
    text = page.estimate_page(report, {0: pixel.getvalue()})
    assert "<script" not in text
    assert not re.findall(r'(?:src|href)="(?!data:|#)', text)
    assert text == page.estimate_page(report, {0: pixel.getvalue()})
    for heading in ("Small error, many failures", "Over the budget", "Wins and losses", "Failures found"):
        assert heading in text
    assert "do not use" in text  # the leak
    assert "Column confidence of shop" in words.headline(report).meaning
    assert len(text) < 1e6


def test_drawings_keep_to_their_canvas(report):
    for pareto in charts.paretos(report):
        assert all(0 < dot.x < charts.WIDTH and 0 < dot.y < charts.HEIGHT for dot in pareto.dots)
        assert {dot.number for dot in pareto.dots} == {1, 2}
    drawn = charts.panels(report)
    assert len(drawn) == 4
    assert {line.name for line in drawn[0].lines} == {"srswor", "adaptive"}
    [intervals] = charts.intervals(report)
    [row] = intervals.rows
    assert 0 < row.low <= row.x <= row.high < charts.WIDTH
    assert 20 < row.y < intervals.height  # its name stands above it
    assert row.covers == (
        report.estimates[0].interval[0] <= report.estimates[0].truth <= report.estimates[0].interval[1]
    )
    [curve] = charts.curves(report.populations[0].variables)
    assert len(curve.dots) == 10


def test_the_mean_ratio_is_geometric():
    rows = [result(rmse_ratio_srs=0.5), result(rmse_ratio_srs=2.0)]
    assert words.mean_ratio(assembly.result_rows(Evaluation(tuple(rows), ()), 0.95)) == pytest.approx(1.0)
    assert math.isnan(words.mean_ratio([]))


def test_the_files(report, tmp_path):
    picture = files.Pictures("shop", lambda case: Image.new("L", (8, 8), case % 255))
    files.write(report, tmp_path, [cases()], no_labels(cases().population), picture)
    names = {path.name for path in tmp_path.iterdir()}
    assert {
        "report.json",
        "report.html",
        "results.csv",
        "failures.csv",
        "pareto.png",
        "over_budget.png",
    } <= names
    copies = list(tmp_path.glob("failures/*/*.png"))
    assert len(copies) == len(report.failures) > 0
    assert all(path.resolve().is_relative_to(tmp_path.resolve()) for path in copies)


def test_asking_for_labels(tmp_path):
    unknown = cases(known=False)
    labels = no_labels(unknown.population)
    with pytest.raises(LabelsNeeded) as needed:
        Adaptive().run(unknown.population, PartialOracle(labels.outcomes), 20, np.random.default_rng(0))
    stand = assembly.labels_needed(unknown, labels, needed.value, 20, "python -m app labels=x")
    asking = replace(blank(unknown, use="labelling", budgets=(20,)), labelling=stand)
    assert asking.populations[0].failures is None
    files.write(
        asking, tmp_path, [unknown], labels, files.Pictures("shop", lambda _: Image.new("L", (600, 300)))
    )
    rows = (tmp_path / "to_label.csv").read_text().splitlines()
    assert len(rows) == 1 + len(stand.asked)
    assert all(row.endswith(",") for row in rows[1:])
    tasks = json.loads((tmp_path / "label_studio.json").read_text())
    assert len(tasks) == len(stand.asked)
    uri = tasks[0]["data"]["image"]
    assert uri.startswith("data:image/jpeg;base64,")  # reduced, so that a hundred photographs stay small
    assert Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).size == (512, 256)
    assert "&lt;script&gt;" in (tmp_path / "label_studio.xml").read_text()
    sheet = (tmp_path / "to_label.html").read_text()
    assert sheet.count("<img ") == len(stand.asked)
    assert "<script" not in sheet
    lines = words.closing_lines(asking, tmp_path, None)
    assert any("then run the same command" in line for line in lines)
    assert "  python -m app labels=x" in lines
    read = read_estimate_report(tmp_path / "report.json")
    assert read.labelling == stand
    assert math.isnan(read.populations[0].accuracy)
    before = files.asked_before(tmp_path)
    assert (before.name, before.key) == ("shop", assembly.digest_of(unknown.population))
    assert not to_label.holds_labels(tmp_path)
    (tmp_path / "to_label.csv").write_text("\n".join([rows[0], rows[1] + "cat"]))
    assert to_label.holds_labels(tmp_path)


def asking(found: assembly.Cases, labels: Labels) -> EstimateReport:
    """A report of a round that has some labels and asks for more."""
    with pytest.raises(LabelsNeeded) as needed:
        Adaptive().run(found.population, PartialOracle(labels.outcomes), 20, np.random.default_rng(0))
    stand = assembly.labels_needed(found, labels, needed.value, 20, "python -m app")
    return replace(blank(found, use="labelling", budgets=(20,)), labelling=stand)


@pytest.mark.parametrize(("separator", "marked"), [(",", False), (";", True), ("\t", False)])
def test_what_people_add_to_the_table_survives_every_round(tmp_path, separator, marked):
    unknown = cases(known=False)
    labels, path = no_labels(unknown.population), tmp_path / "to_label.csv"
    to_label.write_to_label(asking(unknown, labels), tmp_path, unknown, labels)
    table = read_table(path)
    ids, last = table.columns["path"].words(), str(unknown.population.ids[-1])
    names = ("path", "Annotator", "label", "predicted_class", "confidence", "why", "my comment")
    rows = [
        [
            name,
            f"Ann; {place}",
            "wrong" if place < 2 else "",
            *(table.columns[each].words()[place] for each in names[3:6]),
            "=1+1",
        ]
        for place, name in enumerate(ids)
    ]
    rows += [[ids[0], "Bob", "", "", "", "", "not sure"], [last, "Bob", "", "", "", "", "look again"]]
    path.write_bytes(csv_bytes(names, rows, separator=separator, marked=marked))
    assert to_label.holds_labels(tmp_path)
    for _ in range(2):
        labels = read_labels(path, unknown.population, unknown.class_names)
        to_label.write_to_label(asking(unknown, labels), tmp_path, unknown, labels)
        again = read_table(path)
        assert (tuple(again.columns), again.separator, again.marked) == (names, separator, marked)
        found = list(zip(*(again.columns[name].words() for name in names), strict=True))
        own = {(row[0], row[1], row[6]) for row in found}
        assert own >= {(row[0], row[1], row[6]) for row in rows}
        assert [row[2] for row in found if row[0] == ids[0]] == ["wrong", ""]
        assert sum(row[2] == "wrong" for row in found) == 2
    assert b"'=1+1" in path.read_bytes()


def test_pictures_are_kept_small_whatever_their_mode():
    for mode, size, kind, shown in (
        ("RGBA", (900, 300), "JPEG", (224, 75)),
        ("L", (400, 800), "JPEG", (112, 224)),
        ("P", (30, 20), "PNG", (30, 20)),
    ):
        made = files.Pictures("shop", lambda _, mode=mode, size=size: Image.new(mode, size))
        picture = Image.open(io.BytesIO(made.small(0, 224)))
        assert (picture.format, picture.size) == (kind, shown)
        assert Image.open(io.BytesIO(made.png(0))).size == size


def test_what_a_round_says_of_the_labels_it_has():
    unknown = cases(known=False)
    outcomes = np.full(300, -1)
    with pytest.raises(LabelsNeeded) as first:
        Adaptive().run(unknown.population, PartialOracle(outcomes), 40, np.random.default_rng(0))
    wave = first.value.items
    outcomes[wave[:2]] = 0
    outcomes[np.setdiff1d(np.arange(300), wave)[:3]] = 1  # nobody asked for these
    labels = Labels(outcomes.astype(np.int8), np.full(300, -1))
    with pytest.raises(LabelsNeeded) as needed:
        Adaptive().run(unknown.population, PartialOracle(outcomes), 40, np.random.default_rng(0))
    stand = assembly.labels_needed(unknown, labels, needed.value, 40, "x")
    assert (stand.answered, stand.unused, len(stand.asked)) == (2, 3, len(wave) - 2)
    meaning = words.headline(replace(blank(unknown, use="labelling"), labelling=stand)).meaning
    assert f"2 of this wave's {len(wave)} are given" in meaning
    assert "3 further labels are of cases that were not drawn" in meaning


def test_always_valid_misses_are_shown_where_they_were_checked(report):
    assert "Always-valid misses" not in page.estimate_page(report)
    checked = replace(report, results=tuple(replace(row, sequence_misses=0.01) for row in report.results))
    text = page.estimate_page(checked)
    assert "Always-valid misses" in text
    assert "1.0\u00a0%" in text


def test_an_estimate_without_an_honest_interval_has_a_page():
    found = cases()
    bare = Estimate(
        "ces", 300, 0.9, math.nan, np.array([1]), (assembly.Reason.GROUP,), np.array([True]),
        Trace(np.array([1]), np.array([0.9]), np.array([1])), unbiased=False,
    )  # fmt: skip
    done = replace(
        blank(found, use="labelling", budgets=(1,)),
        estimates=(assembly.estimate_row(found, bare, 1, 0.95),),
        failures=assembly.failure_rows(found, bare, pictured=False),
        labelling=assembly.labels_enough(no_labels(found.population), bare, 1),
    )
    text = page.estimate_page(done)
    assert "no honest interval" in text
    assert "90.0" in words.headline(done).sentence


def test_the_command_that_goes_on(tmp_path):
    given = files.with_labels(
        "python -m app task=estimate 'labels=old file.csv' seed=1", tmp_path / "a b.csv"
    )
    assert given == f"python -m app task=estimate seed=1 'labels={tmp_path}/a b.csv'"


def test_the_history_gets_a_child_per_estimator_and_budget(report, tmp_path):
    class Kept:
        def __init__(self) -> None:
            self.series, self.names = {}, []

        def log_series(self, series):
            self.series |= {name: list(points) for name, points in series.items()}

        def children(self, children):
            self.names += [child.name for child in children]

        def artifact(self, path):
            raise AssertionError(path)

    kept = Kept()
    recording.record(kept, report, tmp_path)
    assert sorted(kept.names) == ["adaptive n=20", "adaptive n=60", "srswor n=20", "srswor n=60"]
    assert [step for step, _ in kept.series["failures/adaptive"]] == [20, 60]
