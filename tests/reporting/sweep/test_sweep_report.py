"""The summary of a sweep against jobs worked out by hand."""

from __future__ import annotations

import csv
import html
import json
import math
import re
from dataclasses import replace
from urllib.parse import unquote, urlsplit

import pytest

from app.comparison.readings import Readings, read
from app.measures import Value
from app.report import schema
from app.report.lineage import Run
from app.reporting.figures import png
from app.reporting.sweep import figures, page, tables, words
from app.reporting.sweep.assembly import Done, chosen_by, differing, sweep_report
from app.reporting.sweep.report import read_sweep

RUN = Run(
    "r" * 32, None, "2026-01-01T00:00:00+00:00", "2026-01-01T00:01:00+00:00", 60.0, "python -m app -m", "x"
)


def readings(score: float | None, low: float | None, high: float | None, accuracy: float = 0.9) -> Readings:
    """Of a mutate report with a mutation score and an accuracy."""
    body = {
        "schema": {"artifact": "assay.mutate", "version": 1},
        "subject": {
            "name": "net@data",
            "model": "net",
            "dataset": "data",
            "model_digest": "m",
            "data_digest": "d",
        },
        "summary": {
            "mutants": 10,
            "killed": 5,
            "mutation_score": score,
            "mutation_score_ci": None if low is None else [low, high],
        },
        "original": {"accuracy": accuracy, "accuracy_ci": [0.8, 0.95], "ece": None},
    }
    return read(body)


def done(number: int, *chosen: str, found: Readings | None = None, status: str = "finished", **more) -> Done:
    values = {
        "number": number,
        "command": ("python", "-m", "app", "task=mutate", *chosen, "output=out/s"),
        "status": status,
        "reason": "",
        "task": "mutate",
        "subject": "net@data",
        "run_id": f"{number}" * 32,
        "link": f"http://x/{number}",
        "page": f"{number}/report.html" if found else "",
        "folder": f"/s/{number}",
        "seconds": 2.5,
        "resumable": False,
        "readings": found,
    }
    return Done(**{**values, **more})


@pytest.fixture
def report():
    jobs = [
        done(1, "seed=2", "+a=<b>", found=readings(0.6, 0.5, 0.7)),
        done(0, "seed=1", found=readings(0.4, 0.3, 0.5)),
        done(2, "seed=3", status="failed", reason="KeyError: 'lost'", resumable=True),
        done(3, "seed=-1", status="refused", reason="seed must be 0 or more, not -1", run_id="", link=""),
    ]
    return sweep_report(jobs, RUN)


def test_what_differs_is_told_by_key():
    chosen = chosen_by(["python", "-m", "app", "--config-dir", "conf", "+x=1", "~y", "++z=[a,b]", "k=v=w"])
    assert chosen == {"x": "1", "y": "left out", "z": "[a,b]", "k": "v=w"}
    assert differing([{"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}]) == ("b", "c")
    assert differing([{"a": "1"}]) == differing([]) == ()


def test_numbers_over_the_jobs_are_those_worked_out_by_hand(report):
    assert vars(report.summary) == {"jobs": 4, "finished": 2, "failed": 1, "interrupted": 0, "refused": 1}
    assert report.swept == ("seed", "a")
    assert [each.job for each in report.jobs] == [0, 1, 2, 3]
    assert [each.label for each in report.jobs] == ["seed=1", "seed=2, a=<b>", "seed=3", "seed=-1"]
    score = next(each for each in report.spreads if each.key == "mutation_score")
    assert (score.n, score.mean, score.least, score.most, score.best) == (2, 0.5, 0.4, 0.6, 1)
    assert score.sd == pytest.approx(math.sqrt(0.02))
    assert score.overlap  # they touch at 0.5
    accuracy = next(each for each in report.spreads if each.key == "accuracy")
    assert (accuracy.best, accuracy.overlap, accuracy.sd) == (None, True, 0)
    assert report.subject.name == "net@data"
    assert (report.subject.model_digest, report.subject.data_digest) == ("m", "d")
    assert report.jobs[1].command == "python -m app task=mutate seed=2 '+a=<b>' output=/s/1"
    assert report.jobs[2].command == f"python -m app task=mutate seed=3 output=/s/2 resume={'2' * 32}"


def test_intervals_apart_are_no_noise_and_a_lower_error_is_better():
    apart = sweep_report(
        [done(i, found=readings(*v)) for i, v in enumerate([(0.2, 0.1, 0.3), (0.6, 0.5, 0.7)])], RUN
    )
    assert not apart.spreads[0].overlap
    assert "overlap" not in words.headline(apart).meaning
    with_error = [
        replace(found, items=tuple(_as_error(each) for each in found.items))
        for found in (readings(0.2, 0.1, 0.3), readings(0.6, 0.5, 0.7))
    ]
    spreads = sweep_report([done(i, found=each) for i, each in enumerate(with_error)], RUN).spreads
    assert next(each for each in spreads if each.key == "mutation_score").best == 0


@pytest.mark.parametrize(
    ("keys", "best"), [(["seed"], None), (["seed", "dataset.seed"], None), (["seed", "a"], 1)]
)
def test_no_seed_is_the_best(keys, best):
    jobs = [done(i, *(f"{key}={i}" for key in keys), found=readings(i / 2, None, None)) for i in range(2)]
    report = sweep_report(jobs, RUN)
    assert report.spreads[0].best == best
    assert ("best with" in words.headline(report).sentence) == (best is not None)
    assert ("Best with" in page.sweep_page(report)) == (best is not None)


def _as_error(reading: Value) -> Value:
    return replace(reading, measure=replace(reading.measure, better="lower"))


def test_words_say_what_happened(report):
    head = words.headline(report)
    assert head.sentence == "2 of 4 jobs finished; mutation score is 40.0–60.0 %, best with seed=2, a=<b>."
    assert head.meaning == (
        "Mean 50.0 %, standard deviation between jobs 14.1 points. The intervals of all jobs overlap: what differs "
        "may be noise, which task=compare tells. 1 failed, 1 was refused for a mistake."
    )
    lines = words.closing_lines(report, "out/report.html", "http://x")
    assert lines[1].split("  ")[0] == "job"
    assert re.fullmatch(r"1 +2 +<b> +finished +60.0 % \(50.0–70.0 %\) +90.0 % \(.*\)", lines[3])
    assert re.fullmatch(r"2 +3 +failed +– +–", lines[4])
    assert "Job 2 (seed=3) failed: KeyError: 'lost'" in lines
    assert f"  Go on with it: {report.jobs[2].command}" in lines
    assert not [line for line in lines if "0 or more" in line]  # it is said where errors are
    assert words.note(report)[-1] == "Job 3 (seed=-1) was refused: seed must be 0 or more, not -1"
    assert lines[-2:] == ["Report: out/report.html", "MLflow: http://x"]


@pytest.mark.parametrize(
    "jobs", [[], [done(0, status="failed")], [done(0, found=readings(None, None, None))]]
)
def test_few_jobs_and_none_have_words_too(jobs):
    report = sweep_report(jobs, RUN)
    told = words.closing_lines(report, "page")
    assert f"{sum(each.status == 'finished' for each in jobs)} of {len(jobs)} job" in "\n".join(told)
    assert page.sweep_page(report).startswith("<!DOCTYPE html>")
    assert len(page.panels(report)) == (figures.measures(report) is not None)
    assert list(tables.job_columns(report)["job"]) == list(range(len(jobs)))


def test_the_page_shows_every_job_and_escapes_what_was_chosen(report):
    text = page.sweep_page(report)
    assert page.sweep_page(report) == text
    assert "a=<b>" not in text
    assert "a=&lt;b&gt;" in text
    assert text.count('<circle class="dot') == 2 * len(page.panels(report)) == 4
    assert 'href="1/report.html"' in text
    assert "KeyError: &#39;lost&#39;" in text
    [score, _] = page.panels(report)
    first, second = score.dots
    assert first.low is not None
    assert second.x is not None
    assert first.low < first.x < first.high == second.low < second.x < second.high
    assert (first.best, second.best) == (False, True)


def test_the_page_leads_to_folders_of_any_name():
    folder = "a=50%, #1 & b?/ü"
    text = page.sweep_page(
        sweep_report([done(0, found=readings(0.4, 0.3, 0.5), page=f"{folder}/x.html")], RUN)
    )
    [link] = re.findall(r'href="([^"]*x\.html)"', text)
    parts = urlsplit(html.unescape(link))
    assert (unquote(parts.path), parts.query, parts.fragment) == (f"{folder}/x.html", "", "")


def test_a_report_reads_back_and_its_tables_say_the_same(report, tmp_path):
    path = schema.write_json(report, tmp_path / "report.json")
    again = read_sweep(path)
    assert schema.dumps(again) == schema.dumps(report)
    assert json.loads(path.read_text())["schema"]["artifact"] == "assay.sweep"
    with tables.write_jobs(report, tmp_path / "jobs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["mutation_score"] for row in rows] == ["0.4", "0.6", "", ""]
    assert [row["mutation_score_high"] for row in rows] == ["0.5", "0.7", "", ""]
    assert [row["a"] for row in rows] == ["", "<b>", "", ""]
    assert tables.series(report)["jobs/mutation_score"] == [(0, 0.4), (1, 0.6)]
    figure = figures.measures(report)
    assert figure is not None
    assert png(figure).startswith(b"\x89PNG")
