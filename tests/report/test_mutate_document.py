from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from app.errors import UserError
from app.report.pages.mutate import Report, load
from app.report.schema import dumps, write_plain
from tests.report.campaigns import changed, m

Builder = Callable[..., Report]

SHAPE = {
    "schema": "artifact version generator",
    "run": "id parent started finished seconds command store resumed versions",
    "subject": "name model dataset model_digest data_digest n classes excluded notes preprocess output",
    "settings": "seed engine q delta p0 repetitions thresholds config_digest",
    "measures": "key title better unit value interval n headline",
    "original": "accuracy accuracy_ci ece autopsy_score sub_scores causes per_class",
    "summary": "mutants killed killed_weak survived inconclusive equivalent duplicate invalid trivial "
    "mutation_score mutation_score_ci mutation_score_ci_mutants",
    "summary_thresholds": "killed survived invalid mutation_score",
    "by_operator": "operator kind mutants killed killed_weak survived equivalent duplicate invalid "
    "mutation_score mutation_score_ci mutation_score_thresholds weak",
    "by_layer": "layer operator mutants killed mutation_score",
    "mutants": "key operator kind params target seed repetitions verdict decided_by verdict_thresholds trivial "
    "p_value p_adjusted effect effect_ci cohens_h accuracy signals difficulty kills unchanged reason secondary",
    "survivors": "key distance nearness closest_signal needed",
    "signal_coverage": "layer kind signal fired below unmeasured only_killer",
    "kill_matrix": "distinct_kill_sets dominators minimal_mutation_score smallest_suite top_cases never_killed",
    "suites": "name n mutation_score mutation_score_ci killed",
    "suite_differences": "a b difference ci p_value",
}


def test_the_form_of_version_2_does_not_change(make_report: Builder) -> None:
    body = json.loads(dumps(make_report(per_operator=5).plain()))
    assert list(body) == list(SHAPE)
    for name, keys in SHAPE.items():
        block = body[name][0] if isinstance(body[name], list) else body[name]
        assert list(block) == keys.split(), name
    judged = next(x for x in body["mutants"] if x["signals"])
    assert list(judged["signals"]) == [
        *("accuracy_drop", "recall_drop", "ece_rise", "autopsy_score_drop", "new_causes")
    ]
    assert list(judged["signals"]["ece_rise"]) == ["value", "threshold", "fired"]
    assert list(judged["difficulty"]) == ["score", "label"]
    assert body["schema"]["artifact"] == "assay.mutate"
    assert body["schema"]["version"] == 2


@pytest.mark.parametrize("per_operator", [0, 1, 6])
def test_written_and_loaded_reports_are_equal(
    make_report: Builder, tmp_path: Path, per_operator: int
) -> None:
    report = make_report(per_operator=per_operator)
    path = report.write(tmp_path / "report.json")
    assert load(path) == report
    assert dumps(load(path).plain()) == path.read_text(encoding="utf-8")


def test_equal_reports_give_equal_bytes_but_for_the_run_block(make_report: Builder) -> None:
    one, two = make_report(per_operator=3), make_report(per_operator=3)
    assert one is not two
    assert one.plain() == two.plain()
    later = changed(two, run=replace(two.run, id="other", seconds=1.0))
    bodies = [report.plain() for report in (one, later)]
    assert bodies[0]["run"] != bodies[1]["run"]
    assert {k: v for k, v in bodies[0].items() if k != "run"} == {
        k: v for k, v in bodies[1].items() if k != "run"
    }


def test_numbers_that_are_not_defined_come_back_as_none(make_report: Builder, tmp_path: Path) -> None:
    report = make_report(per_operator=1)
    report = changed(
        report, original=replace(report.result.original, ece=math.nan, accuracy_ci=(math.nan, 0.5))
    )
    back = load(report.write(tmp_path / "report.json"))
    assert back.result.original.ece is None
    assert back.result.original.accuracy_ci is not None
    assert math.isnan(back.result.original.accuracy_ci[0])


def test_a_report_that_lacks_a_block_is_refused(make_report: Builder, tmp_path: Path) -> None:
    body = make_report(per_operator=1).plain()
    del body["kill_matrix"], body["summary"]["trivial"]
    with pytest.raises(UserError, match=r"lacks summary\.trivial, kill_matrix$"):
        load(write_plain(body, tmp_path / "report.json"))


def test_verdict_counts_cover_every_verdict(make_report: Builder) -> None:
    summary = make_report().result.summary
    counts = [getattr(summary, verdict) for verdict in get_args(m.Verdict)]
    assert sum(counts) == summary.mutants
    assert summary.judged == summary.mutants - summary.equivalent - summary.duplicate - summary.invalid


def test_reading_a_report_needs_no_drawing_and_no_statistics() -> None:
    heavy = {"matplotlib", "jinja2", "scipy", "pandas", "torch", "mlflow"}
    code = f"import sys, app.report.pages.mutate; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
