from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from app.errors import UserError
from app.report import schema
from app.reporting.checkup import drawing, words
from app.reporting.checkup.assembly import metrics
from app.reporting.checkup.page import Bar, Pictures, checkup_page
from app.reporting.checkup.previous import better, previous
from app.reporting.checkup.report import Number, load

PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def later(make_checkup):
    """A checkup with one before it."""
    now = make_checkup({**make_checkup().summary, "accuracy": Number(0.80, (0.78, 0.82))})
    found = previous([make_checkup(model="old", run_id="f" * 32)], now.subject, now.settings, now.summary)
    return replace(now, previous=found, questions=(*now.questions[:3], better(found, now.subject)))


def test_it_reads_back_as_it_was_written(later, tmp_path):
    path = schema.write_json(later, tmp_path / "report.json")
    assert load(path) == later
    body = json.loads(path.read_text())
    assert (body["schema"]["artifact"], body["schema"]["version"]) == ("assay.checkup", 1)
    assert body["parts"]["mutate"]["summary"]["mutation_score"]["value"] == 0.6
    del body["questions"]
    path.write_text(json.dumps(body))
    with pytest.raises(UserError, match="lacks questions"):
        load(path)


def test_the_page_shows_every_answer_and_escapes(later):
    bars = tuple(Bar(f"blur{i}", i / 10, (0.0, 1.0), f"{10 * i} %", i < 5) for i in range(9, -1, -1))
    page = checkup_page(later, Pictures(operators=bars, mistakes={"estimate/failures/1.png": PNG}))
    for each in later.questions:
        assert each.question in page
        assert each.label in page
    assert "blur0" in page  # the least noticed
    assert "blur9" not in page
    assert "there is &lt;no&gt; disk" in page
    assert "<b>1.png" not in page
    assert page.count("data:image/png") == 1
    assert "http://" not in page
    assert set(re.findall(r'href="([^"#]+)"', page)) == {"autopsy/report.html", "mutate/report.html"}
    assert checkup_page(later, Pictures()) == checkup_page(later, Pictures())
    assert f"before={'f' * 32} after={'a' * 32}" in page


def test_pictures_stop_at_their_share_of_the_page(later, monkeypatch):
    monkeypatch.setattr("app.reporting.checkup.page.PICTURE_BYTES", 10)
    assert "data:image/png" not in checkup_page(later, Pictures(mistakes={"estimate/failures/1.png": PNG}))


def test_drawings_keep_to_their_canvas(make_checkup, later):
    drawn = [drawing.operation(later), drawing.since(later), drawing.since(make_checkup())]
    for each in drawn:
        for row in each.rows:
            for mark in row.marks:
                assert all(
                    drawing.LEFT - 0.1 <= x <= drawing.RIGHT + 0.1
                    for x in (mark.x, mark.low, mark.high)
                    if x is not None
                )
                assert mark.y < each.bottom
        assert [tick.at for tick in each.ticks] == sorted(tick.at for tick in each.ticks)
    operation = drawn[0].rows[1].marks
    assert [each.look for each in operation] == ["now", "truth"]
    assert operation[1].x < operation[0].x  # 83 % left of 84 %
    then, now = next(row for row in drawn[1].rows if row.name.startswith("Accuracy on")).marks
    assert now.x < then.x
    assert drawing.operation(make_checkup({})) is None
    assert drawing.since(make_checkup({})) is None


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_a_single_number_can_be_drawn(make_checkup, value):
    drawn = drawing.operation(make_checkup({"operational_accuracy": Number(value)}))
    assert drawn.rows[0].marks[0].low is None
    assert drawing.LEFT <= drawn.rows[0].marks[0].x <= drawing.RIGHT


def test_the_headline_and_the_last_lines(make_checkup):
    report = make_checkup()
    said = words.headline(report)
    assert said == (
        "net looks healthy; its tests miss 40 % of the faults; in operation it loses 8.0 points of accuracy."
    )
    lines = words.closing_lines(report, "out/report.html", "http://x")
    assert [line[:20] for line in lines[:4]] == [each.question[:20] for each in report.questions]
    assert lines[4:] == ["Report: out/report.html", "MLflow: http://x"]
    nothing = tuple(replace(each, verdict="unknown") for each in report.questions)
    assert words.headline(replace(report, questions=nothing)) == "net: little is known yet."


def test_metrics_have_stable_names(make_checkup):
    found = metrics(make_checkup())
    assert (found["mutation_score"], found["accuracy_low"], found["operational_accuracy_high"]) == (
        0.6,
        0.9,
        0.88,
    )
    assert "autopsy_score_low" not in found
