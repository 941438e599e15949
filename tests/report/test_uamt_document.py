from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from app.comparison.extraction import READERS
from app.comparison.readings import read
from app.errors import UserError
from app.report.pages.uamt import load
from app.report.schema import dumps
from tests.report.detectors import one_mutant, whole

TRIO = ["miss", "ghost", "mg"]
SHAPE = {
    "schema": "artifact version generator",
    "run": "id parent started finished seconds command store resumed versions",
    "subject": "name model dataset model_digest data_digest n classes excluded notes preprocess output",
    "settings": "seed profile threshold alpha p0_from repetitions semantics resamples level engine "
    "predictions_digest config_digest",
    "measures": "key title better unit value interval n headline",
    "counts": "images mutants objects undefined unscorable invalid_rows",
    "summary": "mutants killed img_ms img_ms_ci img_ms_ci_mutants img_ms_any obj_ms obj_ms_ci ms_iou ms_iou_ci ua",
    "trend": "obj_ms_miss_spearman spearman by_operator",
    "parts": "model operators images p0 summary",
    "by_operator": "model operator rate block mutants img_ms obj_ms ms_iou ua",
    "mutants": "model key operator rate block images img_killed img_killed_any img_p img_p_adjusted img_kills obj_ms "
    "obj_ms_ci obj_ms_macro obj_p ms_iou ms_iou_ci rates ua miss_confidence undefined unscorable invalid_rows",
    "top_images": "model image kills mutants",
    "never_killed": "",
    "suites": "model operators name n killed img_ms img_ms_ci img_ms_ci_mutants img_ms_any obj_ms obj_ms_ci ms_iou "
    "ms_iou_ci",
    "suite_differences": "model operators a b score difference ci p_value",
}


def test_the_form_of_version_2_does_not_change() -> None:
    body = json.loads(dumps(whole().plain()))
    assert list(body) == list(SHAPE)
    for name, keys in SHAPE.items():
        block = body[name][0] if isinstance(body[name], list) else body[name]
        if keys:
            assert list(block) == keys.split(), name
    assert (body["schema"]["artifact"], body["schema"]["version"]) == ("assay.uamt", 2)
    assert list(body["summary"]["ua"]["ghost"]) == ["vr", "ie", "mi", "var", "ps"]
    assert list(body["trend"]["by_operator"][0]) == ["model", "operator", "mutants", "spearman"]
    for block in (body["summary"], body["suites"][0], body["mutants"][0]):
        assert list(block["obj_ms"]) == list(block["obj_ms_ci"]) == TRIO
        low, high = block["obj_ms_ci"]["miss"]
        assert low <= block["obj_ms"]["miss"] <= high


def test_written_and_loaded_reports_are_equal(tmp_path: Path) -> None:
    path = whole().write(tmp_path / "report.json")
    assert "NaN" not in path.read_text()
    back = load(path)
    assert dumps(back.plain()) == path.read_text(encoding="utf-8")
    assert [each.name for each in fields(back.result)] == list(SHAPE)[5:]
    assert back.result.summary.obj_ms_ci == whole().result.summary.obj_ms_ci


def test_a_report_that_lacks_something_says_what(tmp_path: Path) -> None:
    body = whole().plain()
    del body["trend"]["obj_ms_miss_spearman"]
    path = tmp_path / "report.json"
    path.write_text(json.dumps(body))
    with pytest.raises(UserError, match=r"lacks trend\.obj_ms_miss_spearman"):
        load(path)


def test_the_measures_are_the_numbers_that_version_1_is_read_for() -> None:
    for report in (whole(), one_mutant(), one_mutant("deepluq")):
        body = report.plain()
        old = [(each.measure, each.value, each.interval, each.n) for each in READERS["assay.uamt"](body)]
        new = [(each.measure, each.value, each.interval, each.n) for each in report.result.measures()]
        assert old == new
        assert {each.key for each in read(body).items} == {measure.key for measure, *_ in new}
