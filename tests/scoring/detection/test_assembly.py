import json
import math

import pytest

from app.errors import UserError
from app.report.schema import dumps, write_json
from app.reporting.uamt.report import Trio, load


def test_scores_worked_by_hand(make_scored, make_report, things):
    seen, log = things
    part = make_scored(
        "net",
        {
            ("mc_dropout", 0.1, None): log(seen(0, 1, 2), seen(0, 1, 2)),
            ("mc_dropout", 0.5, None): log(seen(0), seen()),
        },
    )
    report = make_report(part)
    unharmed, harmed = report.mutants
    assert unharmed.obj_ms == Trio(0.0, 0.0, 0.0)
    assert harmed.obj_ms == Trio(5 / 6, 0.0, 5 / 6)  # 2 + 3 of 6 objects
    assert (harmed.images, harmed.img_kills.miss, unharmed.img_kills.mg) == (2, 2, 0)
    assert report.summary.img_ms == Trio(0.5, 0.0, 0.5)
    assert report.summary.killed.miss == 1
    assert report.never_killed == ("mc_dropout_0.1_None",)
    assert [(image.image, image.kills.miss, image.mutants) for image in report.top_images] == [
        ("a", 1, 2),
        ("b", 1, 2),
    ]
    assert report.counts.objects == {"match": 7, "miss": 5, "ghost": 0}
    assert report.counts.undefined["obj_ms_ghost"] == 1  # image b without any detection


def test_one_part_is_the_summary(make_scored, make_report, things):
    seen, log = things
    report = make_report(make_scored("net", {("mc_dropout", 0.5, None): log(seen(0), seen(1))}))
    assert report.summary == report.parts[0].summary


def test_several_parts_are_pooled_over_their_mutants(whole):
    first, second = (part.summary for part in whole.parts)
    assert (first.mutants, second.mutants, whole.summary.mutants) == (6, 3, 9)
    expected = sum(mutant.obj_ms.miss for mutant in whole.mutants) / 9
    assert whole.summary.obj_ms.miss == pytest.approx(expected)
    assert whole.summary.img_ms.mg == pytest.approx(sum(m.img_killed.mg for m in whole.mutants) / 9)
    entropy = [mutant.ua.miss.ie for mutant in whole.mutants if not math.isnan(mutant.ua.miss.ie)]
    assert first.ua.miss.ie == pytest.approx(sum(entropy[: len(entropy) - 2]) / (len(entropy) - 2))
    low, high = whole.summary.obj_ms_ci.miss
    assert low == pytest.approx((6 * first.obj_ms_ci.miss[0] + 3 * second.obj_ms_ci.miss[0]) / 9)
    assert low <= expected <= high
    assert all(key.split("/")[0] in {"net", "other"} for key in whole.never_killed)


def test_the_trend_is_the_mean_over_operators(whole):
    told = [row.spearman["obj_ms_miss"] for row in whole.trend.by_operator]
    assert [row.operator for row in whole.trend.by_operator] == ["mc_dropout", "mc_dropblock", "mc_dropout"]
    assert whole.trend.obj_ms_miss_spearman == pytest.approx(sum(told) / 3)
    assert told[0] == 1.0


def test_suites_say_whose_they_are(whole):
    assert [(suite.model, suite.name, suite.n) for suite in whole.suites] == [
        ("net", "one", 1),
        ("net", "both", 2),
    ]
    assert {gap.score for gap in whole.suite_differences} >= {"obj_ms_miss", "ms_iou", "img_ms_mg"}


def test_a_report_reads_back_as_it_was_written(whole, tmp_path):
    path = write_json(whole, tmp_path / "report.json")
    assert dumps(load(path)) == path.read_text()
    body = json.loads(path.read_text())
    assert list(body)[:2] == ["schema", "run"]
    assert body["mutants"][2]["obj_ms"]["miss"] == pytest.approx(5 / 6)
    assert "NaN" not in path.read_text()


def test_a_report_that_lacks_something_says_what(whole, tmp_path):
    path = write_json(whole, tmp_path / "report.json")
    body = json.loads(path.read_text())
    del body["trend"]["obj_ms_miss_spearman"]
    path.write_text(json.dumps(body))
    with pytest.raises(UserError, match=r"lacks trend\.obj_ms_miss_spearman"):
        load(path)


def test_nothing_scored_is_refused(make_report):
    with pytest.raises(ValueError, match="at least one"):
        make_report()
