from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from app.report.pages.uamt.tables import mutant_numbers, mutant_rows, series
from app.report.sinks import write_csv
from app.scoring.detection.over_rate import over_rate
from tests.report.detectors import report_of, scored, whole


def test_every_mutant_is_a_row(tmp_path: Path) -> None:
    path = write_csv(mutant_rows(whole().result), tmp_path / "mutants.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["key"] for row in rows] == [mutant.key for mutant in whole().result.mutants]
    assert float(rows[2]["obj_ms_miss"]) == pytest.approx(5 / 6)
    assert rows[2]["ua_miss_vr"] == ""


def test_metrics_are_few_enough_for_the_pages_of_the_history() -> None:
    result = whole().result
    measures = [each for each in result.measures() if "/" not in each.key]
    intervals = sum(2 for each in measures if each.interval and each.measure.headline)
    assert len(measures) + intervals + len(series(result)) + len(over_rate(result.mutants)) <= 60
    own = mutant_numbers(result.mutants[5])
    assert (own["img_killed_miss"], own["obj_ms_miss"]) == (1.0, 1.0)
    assert math.isnan(own["ms_iou"])


def test_no_mutants_are_no_rows() -> None:
    assert list(mutant_rows(report_of(scored("net", {})).result)) == []
