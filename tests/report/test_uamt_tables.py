import csv
import math

import pytest

from app.reporting.uamt.tables import mutant_columns, mutant_metrics, series, summary_metrics, write_mutants


def test_every_mutant_is_a_row(whole, tmp_path):
    path = write_mutants(whole, tmp_path / "mutants.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["key"] for row in rows] == [mutant.key for mutant in whole.mutants]
    assert float(rows[2]["obj_ms_miss"]) == pytest.approx(5 / 6)
    assert rows[2]["ua_miss_vr"] == ""


def test_metrics_are_few_enough_for_the_pages_of_the_history(whole):
    found = summary_metrics(whole)
    assert len(found) + len(series(whole)) <= 60
    assert found["obj_ms_miss"] == whole.summary.obj_ms.miss
    assert found["obj_ms_miss_low"] <= found["obj_ms_miss"] <= found["obj_ms_miss_high"]
    own = mutant_metrics(whole.mutants[5])
    assert (own["img_killed_miss"], own["obj_ms_miss"]) == (1.0, 1.0)
    assert math.isnan(own["ms_iou"])


def test_no_mutants_are_an_empty_table(make_scored, make_report):
    assert mutant_columns(make_report(make_scored("net", {})))["key"] == []
