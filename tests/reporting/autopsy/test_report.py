"""The report reads back as it was written, and adds up."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from app.errors import UserError
from app.report import schema
from app.reporting.autopsy.report import load


def test_what_is_written_reads_back(report, tmp_path):
    path = schema.write_json(report, tmp_path / "report.json")
    again = load(path)
    assert schema.dumps(again) == schema.dumps(report)
    assert schema.dumps(report) == path.read_text()
    assert again.findings[0].cause_type == report.findings[0].cause_type


def test_the_keys_that_others_read(report):
    body = json.loads(schema.dumps(report))
    assert {"accuracy", "accuracy_ci", "macro_f1", "ece", "autopsy_score"} <= set(body["summary"])
    for each in body["findings"]:
        assert {"cause_type", "confidence", "evidence", "affected", "recommendations"} <= set(each)
        assert all(math.isfinite(value) for value in each["evidence"].values())
    assert {"sub_scores", "calibration", "confusion", "hard_examples", "dataset_quality"} <= set(body)


def test_numbers_agree_with_each_other(report):
    matrix = np.array(report.confusion)
    assert np.trace(matrix) / matrix.sum() == pytest.approx(report.summary.accuracy)
    assert sum(each.count for each in report.confused) == matrix.sum() - np.trace(matrix)
    bins = report.calibration.bins
    ece = sum(each.n * abs(each.accuracy - each.confidence) for each in bins if each.n) / 400
    assert ece == pytest.approx(report.summary.ece)
    names = [each.name for each in report.per_class]
    for each in report.findings:
        if each.cause_type in {"class_overlap", "class_confusion"}:
            a, b = map(names.index, each.affected)
            both = each.cause_type == "class_overlap"
            assert len(each.cases) == matrix[a, b] + (matrix[b, a] if both else 0)


def test_another_report_is_refused(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"schema": {"artifact": "assay.mutate", "version": 1}}')
    with pytest.raises(UserError, match=r"holds assay\.mutate, but assay\.autopsy is needed"):
        load(path)
