from __future__ import annotations

import math

import pytest

from app.scoring.detection.assembly import detector_mutation_result
from tests.report.detectors import log, scored, seen, whole


def test_scores_worked_by_hand() -> None:
    part = scored(
        "net",
        {
            ("mc_dropout", 0.1, None): log(seen(0, 1, 2), seen(0, 1, 2)),
            ("mc_dropout", 0.5, None): log(seen(0), seen()),
        },
    )
    result = detector_mutation_result([part])
    unharmed, harmed = result.mutants
    assert unharmed.obj_ms == {"miss": 0.0, "ghost": 0.0, "mg": 0.0}
    assert harmed.obj_ms == {"miss": 5 / 6, "ghost": 0.0, "mg": 5 / 6}  # 2 + 3 of 6 objects
    assert (harmed.images, harmed.img_kills["miss"], unharmed.img_kills["mg"]) == (2, 2, 0)
    assert result.summary.img_ms == {"miss": 0.5, "ghost": 0.0, "mg": 0.5}
    assert result.summary.killed["miss"] == 1
    assert result.never_killed == ("mc_dropout_0.1_None",)
    assert [(image.image, image.kills["miss"], image.mutants) for image in result.top_images] == [
        ("a", 1, 2),
        ("b", 1, 2),
    ]
    assert result.counts.objects == {"match": 7, "miss": 5, "ghost": 0}
    assert result.counts.undefined["obj_ms_ghost"] == 1  # image b without any detection


def test_one_part_is_the_summary() -> None:
    part = scored("net", {("mc_dropout", 0.5, None): log(seen(0), seen(1))})
    result = detector_mutation_result([part])
    assert result.summary == result.parts[0].summary


def test_several_parts_are_pooled_over_their_mutants() -> None:
    result = whole().result
    first, second = (part.summary for part in result.parts)
    assert (first.mutants, second.mutants, result.summary.mutants) == (6, 3, 9)
    expected = sum(mutant.obj_ms["miss"] for mutant in result.mutants) / 9
    assert result.summary.obj_ms["miss"] == pytest.approx(expected)
    assert result.summary.img_ms["mg"] == pytest.approx(sum(m.img_killed["mg"] for m in result.mutants) / 9)
    entropy = [
        mutant.ua["miss"]["ie"] for mutant in result.mutants if not math.isnan(mutant.ua["miss"]["ie"])
    ]
    assert first.ua["miss"]["ie"] == pytest.approx(sum(entropy[: len(entropy) - 2]) / (len(entropy) - 2))
    low, high = result.summary.obj_ms_ci["miss"].low, result.summary.obj_ms_ci["miss"].high
    assert low == pytest.approx((6 * first.obj_ms_ci["miss"].low + 3 * second.obj_ms_ci["miss"].low) / 9)
    assert low <= expected <= high
    assert all(key.split("/")[0] in {"net", "other"} for key in result.never_killed)


def test_the_trend_is_the_mean_over_operators() -> None:
    result = whole().result
    told = [row.spearman["obj_ms_miss"] for row in result.trend.by_operator]
    assert [row.operator for row in result.trend.by_operator] == ["mc_dropout", "mc_dropblock", "mc_dropout"]
    assert result.trend.obj_ms_miss_spearman == pytest.approx(sum(told) / 3)
    assert told[0] == 1.0


def test_suites_say_whose_they_are() -> None:
    result = whole().result
    assert [(suite.model, suite.name, suite.n) for suite in result.suites] == [
        ("net", "one", 1),
        ("net", "both", 2),
    ]
    assert {gap.score for gap in result.suite_differences} >= {"obj_ms_miss", "ms_iou", "img_ms_mg"}


def test_nothing_scored_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        detector_mutation_result([])


def test_measures_name_operators_by_their_model_where_there_are_several() -> None:
    several = {each.key for each in whole().result.measures() if "/" in each.key}
    assert "obj_ms_mg/other/mc_dropout" in several
    alone = detector_mutation_result([scored("net", {("mc_dropout", 0.5, None): log(seen(0), seen(1))})])
    assert {each.key for each in alone.measures() if "/" in each.key} == {
        f"{name}/mc_dropout" for name in ("img_ms_mg", "obj_ms_mg", "ms_iou")
    }
