from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from app.report.lineage import Subject
from app.reporting.uamt.page import operator_rows, uamt_page

HOSTILE = "<script>alert('x')</script>\"' onload=\"x\" {{ 7 * 7 }}"
VOID = {"meta", "img", "br", "wbr", "line", "circle", "polyline", "polygon"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(400)


class Page(HTMLParser):
    """What a browser would find in a page; fails where tags do not close in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).replace("\u00a0", " ").split())


def test_the_page_is_well_formed_and_loads_and_runs_nothing(whole):
    text = uamt_page(whole, {0: PNG})
    page = Page(text)
    assert "script" not in {tag for tag, _ in page.tags}
    loaded = [attrs[name] for _, attrs in page.tags for name in ("src", "href") if name in attrs]
    assert all(each.startswith(("#", "data:image/png")) for each in loaded)
    assert any(each.startswith("data:image/png") for each in loaded)
    assert not re.search(r"@import|url\(|https?://", text)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    targets = [each[1:] for each in loaded if each.startswith("#")]
    assert len(set(ids)) == len(ids)
    assert set(targets) <= set(ids)


def test_numbers_of_the_page_are_the_reports(whole):
    words = Page(uamt_page(whole)).words
    summary = whole.summary
    assert f"Your 2 images notice {summary.killed.mg} of 9 mutants" in words
    assert f"{100 * summary.obj_ms.miss:.1f} %" in words
    assert "Mutants that no image kills" in words
    for mutant in whole.mutants:
        assert mutant.key in words
    assert "one less both" in words


def test_the_verdict_comes_first(whole):
    words = Page(uamt_page(whole)).words
    order = [
        words.rindex(part)
        for part in (
            "Your 2 images",
            "Scores of the images",
            "Scores over the injected rate",
            "Scores by rate and block",
            "Scores by operator",
            "What uncertainty says",
            "Images that kill most",
            "How scores are made",
            "How to reproduce",
        )
    ]
    assert order == sorted(order)


def test_hostile_names_are_shown_as_text(make_scored, make_report, things):
    seen, log = things
    mutants = {(HOSTILE, rate, block): log(seen(0), seen()) for rate in (0.1, 0.2) for block in (1, 2)}
    suites = {HOSTILE: ["a"], "b": ["b"]}
    part = make_scored(HOSTILE, mutants, suites)
    page = Page(uamt_page(make_report(part, make_scored("x", mutants), name=HOSTILE, notes=(HOSTILE,))))
    assert "script" not in {tag for tag, _ in page.tags}
    assert not any("onload" in attrs for _, attrs in page.tags)
    assert "{{ 7 * 7 }}" in page.words


def test_equal_reports_give_equal_pages(whole):
    assert uamt_page(whole) == uamt_page(replace(whole))


def test_a_thousand_mutants_fit(whole):
    mutants = tuple(
        replace(whole.mutants[i % 9], key=f"mc_dropblock-{i}", operator="x", rate=i / 2000, block=i % 7)
        for i in range(1000)
    )
    page = uamt_page(replace(whole, mutants=mutants))
    assert len(page.encode()) < 2_000_000
    assert "The other 500 of 1,000" in Page(page).words


def test_no_mutants_and_no_images_have_a_page(make_scored, make_report):
    report = make_report(make_scored("net", {}))
    words = Page(uamt_page(report)).words
    assert "There are no mutants" in words
    empty = replace(
        report, counts=replace(report.counts, images=0), subject=Subject("n", "n", "d", "", "", 0, ())
    )
    assert Page(uamt_page(empty)).words


@pytest.mark.parametrize("profile", ["paper", "deepluq"])
def test_the_method_is_the_profiles(make_scored, make_report, things, profile):
    seen, log = things
    part = make_scored("net", {("mc_dropout", 0.5, None): log(seen(0), seen())}, profile=profile)
    words = Page(uamt_page(make_report(part))).words
    assert ("numbers of the reference implementation" in words) == (profile == "deepluq")


def test_operators_carry_their_rates_and_trends(whole):
    rows = operator_rows(whole)
    assert [(row.score.model, row.score.operator) for row in rows] == [
        ("net", "mc_dropout"),
        ("net", "mc_dropblock"),
        ("other", "mc_dropout"),
    ]
    assert [each.rate for each in rows[0].by_rate] == [0.1, 0.3, 0.5]
    assert rows[0].spearman["obj_ms_miss"] == 1.0
    assert rows[0].top == pytest.approx(5 / 6)
