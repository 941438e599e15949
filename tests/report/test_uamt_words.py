from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.report.pages.uamt import Report, words
from tests.report.detectors import whole


def with_trend(value: float) -> Report:
    trend = replace(whole().result.trend, obj_ms_miss_spearman=value)
    return replace(whole(), result=replace(whole().result, trend=trend))


def with_counts(**counts: Any) -> Report:
    result = whole().result
    return replace(whole(), result=replace(result, counts=replace(result.counts, **counts)))


def test_the_headline_counts_mutants() -> None:
    sentence, meaning = words.headline(whole())
    killed = whole().result.summary.killed["mg"]
    assert sentence.startswith(f"The test suite of 2 images kills {killed} of 9 mutants (Img-MS ")
    assert "of the original's objects, and 0 % of its own detections are ghosts." in meaning


def test_the_trend_in_words() -> None:
    assert "as it should be" in words.trend_words(with_trend(0.9))[0]
    assert "only loosely" in words.trend_words(with_trend(0.5))[0]
    assert "do not rise" in words.trend_words(with_trend(-0.2))[0]
    assert words.trend_words(with_trend(float("nan"))) == []


def test_scores_in_words() -> None:
    assert words.score_words("obj_ms_miss") == "Obj-MS, misses"
    assert words.score_words("obj_ms_macro_mg") == "Obj-MS, macro, either"
    assert words.score_words("img_ms_ghost") == "Img-MS, ghosts"
    assert words.score_words("ms_iou") == "MS_iou"
    assert words.score_words("ua_match_ie") == "UA-MS, matches, entropy"
    assert words.score_words("rate_miss") == "rate of misses"


def test_what_is_left_out_is_said() -> None:
    first, second = words.left_out(with_counts(unscorable=1, invalid_rows=2))
    assert first.startswith("1 row of an image and mutant is NaN in all columns")
    assert second.startswith("2 class rows are negative")
    assert words.left_out(whole()) == []


def test_what_is_undefined_is_grouped() -> None:
    undefined = {"ms_iou": 3, "ua_ghost_vr": 2, "ua_ghost_mi": 2, "ua_miss_vr": 9, "obj_ms_miss": 0}
    assert words.undefined(with_counts(undefined=undefined)) == [
        ("MS_iou", "undefined on 3 images"),
        ("UA-MS, ghosts", "undefined on 2 objects: variation ratio, mutual information"),
    ]


def test_a_command_ends_with_where_things_are() -> None:
    lines = words.closing_lines(whole(), "out/report.html", "http://localhost/run")
    assert lines[-2:] == ["Report: out/report.html", "MLflow: http://localhost/run"]
