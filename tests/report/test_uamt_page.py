from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from app.report.lineage import Subject
from app.report.pages.uamt import Report
from app.report.pages.uamt.page import page
from app.report.render import page as rendered
from tests.report.detectors import log, one_mutant, report_of, scored, seen, whole
from tests.report.parsed import Parsed

HOSTILE = "<script>alert('x')</script>\"' onload=\"x\" {{ 7 * 7 }}"


def shown(report: Report) -> str:
    return rendered(page(report), report)


def changed(report: Report, **result: Any) -> Report:
    return replace(report, result=replace(report.result, **result))


def test_the_page_is_well_formed_and_loads_and_runs_nothing() -> None:
    text = shown(whole())
    found = Parsed(text)
    assert "script" not in {tag for tag, _ in found.tags}
    loaded = [*found.all("src"), *found.all("href")]
    assert loaded
    assert all(each.startswith("#") for each in loaded)
    assert not re.search(r"@import|url\(|https?://", text)
    ids = found.all("id")
    assert len(set(ids)) == len(ids)
    assert {each[1:] for each in loaded} <= set(ids)


def test_numbers_of_the_page_are_the_results() -> None:
    words, result = Parsed(shown(whole())).words, whole().result
    summary = result.summary
    assert f"The test suite of 2 images kills {summary.killed['mg']} of 9 mutants (Img-MS" in words
    assert f"{100 * summary.obj_ms['miss']:.1f} %" in words
    assert "Mutants that no image kills" in words
    for mutant in result.mutants:
        assert mutant.key in words
    assert "one less both" in words


def test_the_verdict_comes_first() -> None:
    words = Parsed(shown(whole())).words
    parts = (
        "The test suite of 2 images",
        "Scores of the images",
        "Scores over the injected rate",
        "Scores by rate and block",
        "Scores by operator",
        "What uncertainty says",
        "Images that kill most",
        "Differences",
        "All mutants",
        "How much there was",
        "How scores are made",
        "How to reproduce",
    )
    order = [words.rindex(part) for part in parts]
    assert order == sorted(order)


def test_curves_and_grids_are_drawn_once_for_each_score() -> None:
    text = shown(whole())
    assert text.count('class="plot small"') == 4
    assert text.count('class="band"') >= 4
    assert Parsed(text).words.count("mc_dropblock, block 1, net") == 1, "one legend for all four"
    assert text.count('class="heat little"') == 4
    assert "heat little wide" in text


def test_hostile_names_are_shown_as_text() -> None:
    mutants = {(HOSTILE, rate, block): log(seen(0), seen()) for rate in (0.1, 0.2) for block in (1, 2)}
    part = scored(HOSTILE, mutants, {HOSTILE: ["a"], "b": ["b"]})
    report = report_of(part, scored("x", mutants), name=HOSTILE, notes=(HOSTILE,))
    found = Parsed(shown(report))
    assert "script" not in {tag for tag, _ in found.tags}
    assert not any("onload" in attrs for _, attrs in found.tags)
    assert "{{ 7 * 7 }}" in found.words


def test_equal_reports_give_equal_pages() -> None:
    assert shown(whole()) == shown(replace(whole()))


def test_a_thousand_mutants_fit() -> None:
    own = whole().result.mutants
    mutants = tuple(
        replace(own[i % 9], key=f"mc_dropblock-{i}", operator="x", rate=i / 2000, block=i % 7)
        for i in range(1000)
    )
    text = shown(changed(whole(), mutants=mutants))
    assert len(text.encode()) < 2_000_000
    assert "The other 500 of 1,000" in Parsed(text).words
    assert "The first 12 of 14 curves." in Parsed(text).words


def test_no_mutants_and_no_images_have_a_page() -> None:
    report = report_of(scored("net", {}))
    assert "There are no mutants" in Parsed(shown(report)).words
    numbers = [each for each in report.result.measures() if each.measure.unit != "count"]
    assert {each.value for each in numbers} == {None}
    empty = changed(report, counts=replace(report.result.counts, images=0))
    assert Parsed(shown(replace(empty, subject=Subject("n", "n", "d", "", "", 0, ())))).words


@pytest.mark.parametrize("profile", ["paper", "deepluq"])
def test_the_method_is_the_profiles(profile: str) -> None:
    words = Parsed(shown(one_mutant(profile))).words
    assert ("numbers of the reference implementation" in words) == (profile == "deepluq")
