from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from app.reporting import mutate as m
from app.reporting.mutate_page import (
    agreement,
    coverage_table,
    cross_table,
    mutant_note,
    mutate_page,
    threshold,
)

Builder = Callable[..., m.MutateReport]

HOSTILE = "<script>alert('x')</script>\"' onload=\"x\" {{ 7 * 7 }} &lt; ]]> -->"
VOID = {"meta", "img", "br", "wbr", "line", "circle", "polyline"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(400)


class Page(HTMLParser):
    """What a browser would find in a page; fails where tags do not close in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).replace("\u00a0", " ").split())

    def all(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.tags if attribute in attrs]


def hostile(make_report: Builder) -> m.MutateReport:
    """A report whose every text is an attack."""
    report = make_report(per_operator=4, classes=(HOSTILE, "b"), path=HOSTILE + "{label}/{case}")
    return _poison(report)


def _poison(value: Any) -> Any:
    """The value with the attack in every free text."""
    free = {
        *(
            "key",
            "target",
            "layer",
            "path",
            "label",
            "name",
            "reason",
            "needed",
            "command",
            "store",
            "id",
            "parent",
        ),
        *(
            "started",
            "finished",
            "model",
            "dataset",
            "model_digest",
            "data_digest",
            "engine",
            "config_digest",
        ),
        *("operator", "decided_by", "closest_signal", "signal", "cause_type", "a", "b"),
    }
    if isinstance(value, tuple):
        return tuple(_poison(item) for item in value)
    if not hasattr(value, "__dataclass_fields__"):
        return HOSTILE if isinstance(value, str) else value
    changes: dict[str, Any] = {}
    for name in value.__dataclass_fields__:
        item = getattr(value, name)
        if isinstance(item, str):
            changes[name] = HOSTILE if name in free else item
        elif name != "schema":
            changes[name] = _poison(item)
    return replace(value, **changes)


@pytest.mark.parametrize("build", [lambda make: make(), hostile], ids=["usual", "hostile"])
def test_pages_are_well_formed_and_load_and_run_nothing(build: Any, make_report: Builder) -> None:
    report = build(make_report)
    page = Page(mutate_page(report, {c.case: PNG for c in report.kill_matrix.top_cases}))
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "iframe", "object", "base", "form"})
    assert all(link.startswith("#") for link in page.all("href"))
    assert page.all("src")
    assert all(source.startswith("data:image/png;base64,") for source in page.all("src"))
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    anchors = page.all("id")
    assert len(anchors) == len(set(anchors))
    assert {link[1:] for link in page.all("href")} <= set(anchors)


def test_hostile_names_are_shown_as_text(make_report: Builder) -> None:
    report = hostile(make_report)
    page = mutate_page(report)
    assert "<script" not in page
    assert "{{" in page
    assert "<script>alert" in Page(page).words


def test_no_address_is_loaded(make_report: Builder) -> None:
    page = mutate_page(make_report())
    assert not re.search(r"https?://|url\(|@import|//cdn", page)
    assert "default-src 'none'" in page


def test_the_order_of_the_page(make_report: Builder) -> None:
    page = Page(mutate_page(make_report()))
    assert [a for tag, attrs in page.tags if tag in {"section", "details"} and (a := attrs.get("id"))] == [
        *(
            "operators",
            "layers",
            "rates",
            "profiles",
            "survivors",
            "cases",
            "kill-matrix",
            "suites",
            "original",
        ),
        *("signals", "mutants", "notes", "method", "reproduce"),
    ]
    assert page.words.index("notice 157 of 206 faults") < page.words.index("Mutation score")
    folded = {attrs.get("id"): "open" in attrs for tag, attrs in page.tags if tag == "details"}
    assert folded["signals"] is False
    assert folded["mutants"] is False


def test_numbers_of_the_page_are_the_reports(make_report: Builder) -> None:
    report = make_report()
    page = Page(mutate_page(report))
    cells = [attrs["aria-label"] for tag, attrs in page.tags if tag == "td" and "aria-label" in attrs]
    assert len(cells) == len(report.by_layer)
    one = next(c for c in report.by_layer if c.mutation_score == 0.5)
    label = f"{one.operator} in {one.layer}: {one.killed} of {one.mutants} killed, score 50 %"
    assert label in cells
    assert "Your 2,000 test cases notice 157 of 206 faults (69 %, 95 % interval 65–74 %)." in page.words
    assert page.words.count("…") == 0
    strip = next(
        attrs["style"] for tag, attrs in page.tags if tag == "i" and attrs.get("class") == "v-survived"
    )
    assert strip == f"flex:{report.summary.survived} 0 0"


def test_the_autopsy_score_says_what_it_is_of(make_report: Builder) -> None:
    """Fewer sub-scores than in an autopsy make another score of the same name."""
    report = make_report()
    assert "of the 6 sub-scores that a mutation run knows" in mutate_page(report)
    whole = dict.fromkeys(report.original.sub_scores, 90.0)
    report = replace(report, original=replace(report.original, sub_scores=whole))
    assert "sub-scores that a mutation run knows" not in mutate_page(report)


def test_equal_reports_give_equal_pages_but_for_the_run(make_report: Builder) -> None:
    one, two = mutate_page(make_report(per_operator=4)), mutate_page(make_report(per_operator=4))
    assert one == two
    report = make_report(per_operator=4)
    other = mutate_page(replace(report, run=replace(report.run, id="f" * 32, seconds=1.0)))
    assert one.split('id="reproduce"')[0] == other.split('id="reproduce"')[0]


def test_500_mutants_in_60_layers_fit(make_report: Builder) -> None:
    report = make_report(per_operator=42, layers=60)
    assert len(report.mutants) > 500
    long = replace(
        report,
        mutants=tuple(replace(x, key="k" * 300, reason="r" * 5000) for x in report.mutants),
        by_layer=tuple(
            m.LayerScore(f"backbone.stage{i // 9}.block{i % 9}.conv", o.operator, 9, 5, 5 / 9)
            for i in range(60)
            for o in report.by_operator
        ),
    )
    thumbnails = {c.case: PNG + bytes(200_000) for c in report.kill_matrix.top_cases}
    page = mutate_page(long, thumbnails)
    assert len(page.encode()) <= 2_000_000
    words = Page(page).words
    assert f"The other {len(report.mutants) - 500} of {len(report.mutants)} are in report.json." in words
    assert "backbone.stage6.block5.conv" in words


def test_endless_lists_and_texts_fit(make_report: Builder) -> None:
    base = make_report(per_operator=4)
    classes = tuple(f"class {i} " + "x" * 3000 for i in range(3000))
    report = replace(
        base,
        mutants=base.mutants * 200,
        survivors=base.survivors * 200,
        signal_coverage=tuple(
            replace(c, layer=f"{c.layer}{i}") for i in range(100) for c in base.signal_coverage
        ),
        by_layer=tuple(replace(c, layer=f"{c.layer}{i}") for i in range(300) for c in base.by_layer),
        subject=replace(base.subject, classes=classes, excluded=base.subject.excluded * 5000),
        original=replace(base.original, per_class=tuple(m.ClassScore(c, 1, None, None) for c in classes)),
        kill_matrix=replace(
            base.kill_matrix,
            never_killed=tuple(classes),
            dominators=tuple(classes),
            smallest_suite=tuple(range(9000)),
        ),
    )
    assert len(mutate_page(report).encode()) <= 2_000_000


def test_a_campaign_without_mutants_has_a_page(make_report: Builder) -> None:
    page = Page(mutate_page(make_report(per_operator=0)))
    assert "No mutants were made" in page.words
    assert "How to reproduce" in page.words


def test_a_campaign_without_valid_mutants_has_a_page(make_report: Builder) -> None:
    base = make_report(per_operator=2)
    dead = tuple(
        replace(
            x,
            **dict.fromkeys(("p_value", "p_adjusted", "effect", "effect_ci", "cohens_h", "accuracy"), None),
            **{"verdict": "invalid", "verdict_thresholds": "invalid", "signals": None, "difficulty": None},
            reason="it raised",
        )
        for x in base.mutants
    )
    counts = dict.fromkeys(("killed", "killed_weak", "survived", "equivalent", "duplicate", "trivial"), 0)
    scores = {"mutation_score": None, "mutation_score_ci": None}
    operators = {k: v for k, v in counts.items() if k != "trivial"}
    report = replace(
        base,
        mutants=dead,
        summary=replace(base.summary, invalid=24, mutation_score_ci_mutants=None, **counts, **scores),
        summary_thresholds=m.ThresholdSummary(0, 0, 24, float("nan")),
        by_operator=tuple(
            replace(o, invalid=2, weak=False, mutation_score_thresholds=None, **operators, **scores)
            for o in base.by_operator
        ),
        by_layer=tuple(replace(c, killed=0, mutation_score=None) for c in base.by_layer),
        survivors=(),
        kill_matrix=m.KillMatrix(0, (), None, (), (), tuple(x.key for x in dead)),
        suites=(m.Suite("all", 2000, None, None, 0),),
        suite_differences=(m.SuiteDifference("all", "all", None, None, None),),
    )
    page = Page(mutate_page(report))
    assert "None of the 24 mutants could be judged: 24 invalid." in page.words
    assert "No mutant survived." in page.words
    assert "it raised" in page.words
    assert "nan" not in page.words.lower().split()
    assert "None %" not in page.words


def test_verdicts_are_counted_against_thresholds(make_report: Builder) -> None:
    base = make_report(per_operator=1).mutants[0]
    pairs = [
        ("killed", "killed"),
        ("killed", "survived"),
        ("killed_weak", "survived"),
        ("survived", "killed"),
    ]
    mutants = tuple(replace(base, verdict=a, verdict_thresholds=b) for a, b in pairs)
    assert [(row.name, row.counts) for row in cross_table(mutants)] == [
        ("killed", (1, 1, 0)),
        ("killed_weak", (0, 1, 0)),
        ("survived", (1, 0, 0)),
    ]
    assert agreement(mutants) == (
        "The thresholds count 1 mutant as killed whose change may be chance. "
        "The thresholds overlook 2 mutants whose small change is beyond chance."
    )
    assert agreement(mutants[:1]) == "Both ways of judging agree on every mutant that could be judged."


def test_signal_coverage_has_a_column_a_signal(make_report: Builder) -> None:
    a = m.SignalCoverage("conv", "weight", "accuracy_drop", 1, 2, 0, 1)
    b = m.SignalCoverage("fc", "module", "ece_rise", 0, 2, 1, 0)
    table = coverage_table(replace(make_report(per_operator=1), signal_coverage=(a, b)))
    assert table.columns == [("accuracy drop", "num"), ("ECE rise", "num")]
    assert [(row.layer, row.cells) for row in table.rows] == [("conv", (a, None)), ("fc", (None, b))]


def test_notes_and_thresholds_in_words(make_report: Builder) -> None:
    base = make_report(per_operator=1).mutants[0]
    fired, calm = m.Signal(0.5, 0.1, fired=True), m.Signal(0.0, 0.1, fired=False)
    signals = m.Signals(fired, calm, fired, calm, m.NewCauses(0, 1, fired=False))
    shown = replace(base, trivial=True, unchanged=False, reason=None, signals=signals)
    assert mutant_note(shown) == "trivial, accuracy drop, ECE rise"
    assert mutant_note(replace(shown, signals=None, trivial=False, unchanged=True)) == "changed no parameter"
    assert mutant_note(replace(shown, reason="it raised")) == "it raised"
    said = [
        threshold(0.02, "accuracy_drop"),
        threshold(5.0, "autopsy_score_drop"),
        threshold(1, "new_causes"),
    ]
    assert [x.replace("\u00a0", " ") for x in said] == ["≥ 2 points", "≥ 5 points", "≥ 1"]
