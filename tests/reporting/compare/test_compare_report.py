"""The report, page, picture and tables of a comparison, from made-up runs of every kind."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

from app.comparison import Limits, Side, compare_all
from app.report import schema
from app.report.lineage import Run, Subject
from app.reporting.compare import figures, forest, page, report, tables, words
from app.reporting.figures import png
from tests.comparison import bodies

RUN = Run(
    "9" * 32,
    None,
    "2026-02-01T10:00:00+00:00",
    "2026-02-01T10:00:01+00:00",
    1.0,
    "python -m app",
    "sqlite:///x",
)


def made(before, after, **limits):
    """The report of a comparison."""
    found = compare_all(before, after, Limits(**({"resamples": 200} | limits)))
    known = after.body["subject"]
    source = report.Source("a file", "x/report.json", "", "autopsy", known["name"], known["n"], "", "m", "d")
    return report.compare_report(
        found,
        words.decided_by(found.decision, found.deltas),
        run=RUN,
        subject=Subject(
            known["name"], known["model"], known["dataset"], "m", "d", known["n"], tuple(known["classes"])
        ),
        settings=report.Settings("previous", "latest", None, 1.0, 0.01, 200, 0, "c"),
        before=source,
        after=source,
    )


def model(seed, skill, **known):
    labels = np.arange(300) % 5
    base = np.random.default_rng(9).normal(size=(300, 5))
    rows = bodies.probabilities(np.random.default_rng(seed), labels, 5, skill=skill, base=base)
    return bodies.autopsy(rows, labels, **known)


@pytest.fixture(scope="module")
def regressed():
    before, after = model(1, 3.0), model(2, 1.0)
    cause = {"cause_type": "class_overlap", "affected": ["cat", "dog"], "confidence": 0.7, "severity": "high"}
    return made(Side(before.body, before.cases), Side({**after.body, "findings": [cause]}, after.cases))


@pytest.fixture(scope="module")
def every(regressed):
    """A comparison of each kind of report."""
    keys = {f"op-{i}": "killed" if i < 9 else "survived" for i in range(20)}
    fewer = {key: "survived" if key < "op-5" else each for key, each in keys.items()}
    killed = {f"k{i}": i < 3 for i in range(8)}
    half = dict.fromkeys(killed, 0.5)
    front = bodies.checkup(autopsy={}, estimate={})
    first = model(1, 3.0)
    return {
        "autopsy": regressed,
        "mutate": made(Side(bodies.mutate(keys)), Side(bodies.mutate(fewer))),
        "uamt": made(
            Side(bodies.detectors(killed, half)), Side(bodies.detectors(dict.fromkeys(killed, True), half))
        ),
        "labelling": made(Side(bodies.estimate(0.9, [0.85, 0.94])), Side(bodies.estimate(0.8, [0.7, 0.9]))),
        "evaluation": made(
            Side(bodies.estimate(0.9, None, use="evaluation", ratios=(0.9,))),
            Side(bodies.estimate(0.9, None, use="evaluation", ratios=(0.5,))),
        ),
        "contaminate": made(
            Side(bodies.contaminate(exact=3)), Side(bodies.contaminate(exact=1, spec="other"))
        ),
        "detect_eval": made(
            Side(bodies.detect_eval(0.4, [0.3, 0.5])), Side(bodies.detect_eval(0.6, [0.5, 0.7]))
        ),
        "checkup": made(
            Side(front, parts={"autopsy": first, "estimate": Side(bodies.estimate(0.9, None))}),
            Side(front, parts={"autopsy": first}),
        ),
        "unknown": made(Side(bodies.estimate(None, None)), Side(bodies.estimate(0.9, [0.8, 0.95]))),
    }


KINDS = (
    "autopsy",
    "mutate",
    "uamt",
    "labelling",
    "evaluation",
    "contaminate",
    "detect_eval",
    "checkup",
    "unknown",
)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_reads_back(kind, every, tmp_path):
    path = schema.write_json(every[kind], tmp_path / "report.json")
    assert schema.dumps(report.load(path)) == schema.dumps(every[kind])
    body = json.loads(path.read_text())
    assert body["schema"]["artifact"] == "assay.compare"
    assert body["verdict"] in {"improved", "regressed", "unchanged", "unknown"}
    assert {"within_noise", "decided_by", "comparability", "deltas"} <= set(body)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page_and_words(kind, every):
    text = page.compare_page(every[kind])
    head = words.headline(every[kind])
    assert re.sub(r"\s+", " ", re.search(r"<h1>(.*?)</h1>", text)[1]) == re.sub(r"\s+", " ", head.sentence)
    assert "<script" not in text
    assert "None" not in re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    lines = words.closing_lines(every[kind], "out/report.html", "http://x")
    assert lines[0].startswith(every[kind].verdict.capitalize())
    assert lines[-2:] == ["Report: out/report.html", "MLflow: http://x"]
    assert "\n" not in words.gate(every[kind])


def test_the_verdict_comes_first_and_says_why(regressed):
    head = words.headline(regressed)
    delta = regressed.deltas[0]
    fell = f"from {words.value(delta.before, 'share')} to {words.value(delta.after, 'share')}"
    assert head.sentence == f"It got worse: accuracy fell {fell}."
    assert "exact McNemar test on the same 300 test cases" in head.meaning
    assert "beyond chance, and at least 1 point" in regressed.decided_by
    text = page.compare_page(regressed)
    assert (
        text.index("<h1>")
        < text.index('id="numbers"')
        < text.index('id="classes"')
        < text.index('id="common"')
    )


def test_names_cannot_become_markup():
    names = ("<b>cat</b>", *bodies.CLASSES[1:])
    labels = np.arange(100) % 5
    rows = bodies.probabilities(np.random.default_rng(1), labels, 5, skill=2.0)
    text = page.compare_page(made(bodies.autopsy(rows, labels, names), bodies.autopsy(rows, labels, names)))
    assert "<b>cat" not in text
    assert "&lt;b&gt;cat" in text


def test_the_table_has_every_number(regressed, tmp_path):
    path = tables.write_deltas(regressed, tmp_path / "deltas.csv")
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["key"] for row in rows] == [each.key for each in regressed.deltas]
    first = rows[0]
    assert float(first["after"]) - float(first["before"]) == pytest.approx(float(first["difference"]))
    found = tables.metrics(regressed)
    assert found["delta/accuracy"] == regressed.deltas[0].difference
    assert (found["regressed"], found["improved"], found["causes_new"]) == (1.0, 0.0, 1)
    assert len(found) <= 60


def test_better_stands_at_the_right_whichever_direction_that_is(regressed):
    by_key = {each.key: each for each in regressed.deltas}
    scale = forest.axis(list(by_key.values()))
    worse_ece = by_key["ece"].difference > 0
    assert (scale.mark(by_key["ece"]).at < 0.5) == worse_ece
    mark = scale.mark(by_key["accuracy"])
    assert mark.low < mark.at < 0.5
    assert scale.mark(by_key["test_cases"]) is None


def test_the_picture_is_the_same_twice(regressed, every):
    first = png(figures.differences(regressed))
    assert first.startswith(b"\x89PNG")
    assert first == png(figures.differences(regressed))
    assert figures.differences(every["contaminate"]) is None


def test_equal_runs_have_calm_words():
    side = model(1, 3.0)
    found = made(side, side)
    head = words.headline(found)
    assert head.sentence.startswith("Nothing changed: accuracy is ")
    assert head.meaning == "The same 300 test cases were compared one by one."
    assert not found.within_noise


def test_who_waits_for_labels_and_how_to_go_on():
    """An unfinished wave of labels is no answer: the page says so, and not that nothing can be compared."""
    asked = {"asked": [{"case": 1}], "next_command": "python -m app labels=x.csv"}
    done = bodies.estimate(0.9, [0.8, 0.95])
    waiting = bodies.changed(done, estimates=[], labelling=asked)
    found = made(Side(done), Side(waiting))
    head = words.headline(found)
    assert head.sentence == "Nobody can tell: the second run still waits for labels and has no estimate yet."
    assert "run `python -m app labels=x.csv` and compare again." in head.meaning
    assert words.gate(found) == "unknown: the second run still waits for labels and has no estimate yet"
    assert "the first run still waits" in words.headline(made(Side(waiting), Side(done))).sentence
    assert "both runs still wait" in words.headline(made(Side(waiting), Side(waiting))).sentence
    assert "still waits for labels" in page.compare_page(found)


def test_what_is_not_in_points_says_so_where_others_have_a_picture():
    sides = [bodies.contaminate(exact=n, data=f"d{n}") for n in (1, 2)]
    text = page.compare_page(made(*map(Side, sides)))
    assert '<small class="soft off">a count, not in points</small>' in text
    evaluations = [
        bodies.estimate(0.9, [0.85, 0.95], use="evaluation", ratios=(ratio,)) for ratio in (0.8, 0.7)
    ]
    evaluations[1]["populations"][0]["accuracy"] = 0.85
    text = page.compare_page(made(*map(Side, evaluations)))
    assert '<small class="soft off">not in points</small>' in text
    row = text[text.index('scope="row">True accuracy') :]
    assert row.index('class="forest') < row.index("</tr>")


def test_cards_of_checkups_answer_its_questions():
    summary = {"accuracy": 0.9, "autopsy_score": 80.0, "ece": 0.02, "macro_f1": 0.9}
    parts = {
        "autopsy": Side(bodies.changed(model(1, 3.0).body, summary=summary, metrics={})),
        "mutate": Side(bodies.mutate({f"op-{i}": "killed" for i in range(9)})),
        "estimate": Side(bodies.estimate(0.9, [0.8, 0.95], use="evaluation", ratios=(0.8,))),
        "contaminate": Side(bodies.contaminate(exact=1)),
    }
    front = Side(bodies.checkup(**{name: {} for name in parts}), parts=parts)
    found = made(front, front)
    assert [each.key for each in words.leading(found)] == [
        "autopsy/accuracy",
        "mutate/mutation_score",
        "estimate/accuracy",
        "estimate/estimated_accuracy",
        "contaminate/copies_across",
    ]
    assert len({each.title for each in words.leading(found)}) == 5


def test_differences_in_words():
    assert words.moved(0.012, "share") == "+1.2"
    assert words.moved(-0.0004, "share") == "−0.04"
    assert words.moved(3, "count") == "+3"
    assert words.moved(None, "score") == "–"
    assert words.moved_interval((-0.0201, 0.0004), "share") == "−2.0 to 0.0"
    assert words.plural_points(1.0) == "1 point"
    assert words.plural_points(0.5) == "0.5 points"
