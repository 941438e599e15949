from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.report.blocks import Table
from app.report.pages.mutate import Report
from app.report.pages.mutate.page import page
from app.report.pages.mutate.words import agreement, note, threshold
from app.report.render import data_uri
from app.report.render import page as rendered
from tests.report.campaigns import changed, m
from tests.report.parsed import Parsed

Builder = Callable[..., Report]

HOSTILE = "<script>alert('x')</script>\"' onload=\"x\" {{ 7 * 7 }} &lt; ]]> -->"
PNG = data_uri(b"\x89PNG\r\n\x1a\n" + bytes(400))


def mutate_page(report: Report, thumbnails: dict[int, str] | None = None) -> str:
    return rendered(page(report, thumbnails), report)


def hostile(make_report: Builder) -> Report:
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
    found = Parsed(mutate_page(report, {c.case: PNG for c in report.result.kill_matrix.top_cases}))
    assert {tag for tag, _ in found.tags}.isdisjoint({"script", "link", "iframe", "object", "base", "form"})
    assert all(link.startswith("#") for link in found.all("href"))
    assert found.all("src")
    assert all(source.startswith("data:image/png;base64,") for source in found.all("src"))
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    anchors = found.all("id")
    assert len(anchors) == len(set(anchors))
    assert {link[1:] for link in found.all("href")} <= set(anchors)


def test_hostile_names_are_shown_as_text(make_report: Builder) -> None:
    report = hostile(make_report)
    found = mutate_page(report)
    assert "<script" not in found
    assert "{{" in found
    assert "<script>alert" in Parsed(found).words


def test_no_address_is_loaded(make_report: Builder) -> None:
    found = mutate_page(make_report())
    assert not re.search(r"https?://|url\(|@import|//cdn", found)
    assert "default-src 'none'" in found


def test_the_order_of_the_page(make_report: Builder) -> None:
    found = Parsed(mutate_page(make_report()))
    assert [a for tag, attrs in found.tags if tag in {"section", "details"} and (a := attrs.get("id"))] == [
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
    assert found.words.index("kills 157 of 206 mutants") < found.words.index("Mutation score")
    folded = {attrs.get("id"): "open" in attrs for tag, attrs in found.tags if tag == "details"}
    assert folded["signals"] is False
    assert folded["mutants"] is False


def test_numbers_of_the_page_are_the_reports(make_report: Builder) -> None:
    report = make_report()
    found = Parsed(mutate_page(report))
    cells = [attrs["aria-label"] for tag, attrs in found.tags if tag == "td" and "aria-label" in attrs]
    assert len(cells) == len(report.result.by_layer)
    one = next(c for c in report.result.by_layer if c.mutation_score == 0.5)
    label = f"{one.operator} in {one.layer}: {one.killed} of {one.mutants} killed, score 50 %"
    assert label in cells
    assert (
        "The test suite of 2,000 test cases kills 157 of 206 mutants (mutation score 69 %, 95 % interval 65–74 %)."
        in found.words
    )
    assert found.words.count("…") == 0
    strip = next(
        attrs["style"] for tag, attrs in found.tags if tag == "i" and attrs.get("class") == "v-survived"
    )
    assert strip == f"flex:{report.result.summary.survived} 0 0"


def test_the_autopsy_score_says_what_it_is_of(make_report: Builder) -> None:
    """Fewer sub-scores than in an autopsy make another score of the same name."""
    report = make_report()
    assert "of the 6 sub-scores that a mutation run knows" in mutate_page(report)
    whole = dict.fromkeys(report.result.original.sub_scores, 90.0)
    report = changed(report, original=replace(report.result.original, sub_scores=whole))
    assert "sub-scores that a mutation run knows" not in mutate_page(report)


def test_equal_reports_give_equal_pages_but_for_the_run(make_report: Builder) -> None:
    one, two = mutate_page(make_report(per_operator=4)), mutate_page(make_report(per_operator=4))
    assert one == two
    report = make_report(per_operator=4)
    other = mutate_page(changed(report, run=replace(report.run, id="f" * 32, seconds=1.0)))
    assert one.split('id="reproduce"')[0] == other.split('id="reproduce"')[0]


def test_500_mutants_in_60_layers_fit(make_report: Builder) -> None:
    report = make_report(per_operator=42, layers=60)
    assert len(report.result.mutants) > 500
    long = changed(
        report,
        mutants=tuple(replace(x, key="k" * 300, reason="r" * 5000) for x in report.result.mutants),
        by_layer=tuple(
            m.LayerScore(f"backbone.stage{i // 9}.block{i % 9}.conv", o.operator, 9, 5, 5 / 9)
            for i in range(60)
            for o in report.result.by_operator
        ),
    )
    thumbnails = {
        c.case: data_uri(b"\x89PNG\r\n\x1a\n" + bytes(50_000)) for c in report.result.kill_matrix.top_cases
    }
    found = mutate_page(long, thumbnails)
    assert len(found.encode()) <= 2_000_000
    words = Parsed(found).words
    assert (
        f"The other {len(report.result.mutants) - 500} of {len(report.result.mutants)} are in report.json."
        in words
    )
    assert "backbone.stage6.block5.conv" in words


def test_endless_lists_and_texts_fit(make_report: Builder) -> None:
    base = make_report(per_operator=4)
    classes = tuple(f"class {i} " + "x" * 3000 for i in range(3000))
    report = changed(
        base,
        mutants=base.result.mutants * 200,
        survivors=base.result.survivors * 200,
        signal_coverage=tuple(
            replace(c, layer=f"{c.layer}{i}") for i in range(100) for c in base.result.signal_coverage
        ),
        by_layer=tuple(replace(c, layer=f"{c.layer}{i}") for i in range(300) for c in base.result.by_layer),
        subject=replace(base.subject, classes=classes, excluded=base.subject.excluded * 5000),
        original=replace(
            base.result.original, per_class=tuple(m.ClassScore(c, 1, None, None) for c in classes)
        ),
        kill_matrix=replace(
            base.result.kill_matrix,
            never_killed=tuple(classes),
            dominators=tuple(classes),
            smallest_suite=tuple(range(9000)),
        ),
    )
    assert len(mutate_page(report).encode()) <= 2_000_000


def test_a_campaign_without_mutants_has_a_page(make_report: Builder) -> None:
    found = Parsed(mutate_page(make_report(per_operator=0)))
    assert "No mutants were made" in found.words
    assert "How to reproduce" in found.words


def test_a_campaign_without_valid_mutants_has_a_page(make_report: Builder) -> None:
    base = make_report(per_operator=2)
    dead = tuple(
        replace(
            x,
            **dict.fromkeys(("p_value", "p_adjusted", "effect", "effect_ci", "cohens_h", "accuracy"), None),
            **{"verdict": "invalid", "verdict_thresholds": "invalid", "signals": None, "difficulty": None},
            reason="it raised",
        )
        for x in base.result.mutants
    )
    counts = dict.fromkeys(("killed", "killed_weak", "survived", "equivalent", "duplicate", "trivial"), 0)
    scores = {"mutation_score": None, "mutation_score_ci": None}
    operators = {k: v for k, v in counts.items() if k != "trivial"}
    report = changed(
        base,
        mutants=dead,
        summary=replace(base.result.summary, invalid=24, mutation_score_ci_mutants=None, **counts, **scores),
        summary_thresholds=m.ThresholdSummary(0, 0, 24, float("nan")),
        by_operator=tuple(
            replace(o, invalid=2, weak=False, mutation_score_thresholds=None, **operators, **scores)
            for o in base.result.by_operator
        ),
        by_layer=tuple(replace(c, killed=0, mutation_score=None) for c in base.result.by_layer),
        survivors=(),
        kill_matrix=m.KillMatrix(0, (), None, (), (), tuple(x.key for x in dead)),
        suites=(m.Suite("all", 2000, None, None, 0),),
        suite_differences=(m.SuiteDifference("all", "all", None, None, None),),
    )
    found = Parsed(mutate_page(report))
    assert "None of the 24 mutants could be judged: 24 invalid." in found.words
    assert "No mutant survived." in found.words
    assert "it raised" in found.words
    assert "nan" not in found.words.lower().split()
    assert "None %" not in found.words


def test_verdicts_are_counted_against_thresholds(make_report: Builder) -> None:
    base = make_report(per_operator=1).result.mutants[0]
    pairs = [
        ("killed", "killed"),
        ("killed", "survived"),
        ("killed_weak", "survived"),
        ("survived", "killed"),
    ]
    mutants = tuple(replace(base, verdict=a, verdict_thresholds=b) for a, b in pairs)
    report = changed(make_report(per_operator=1), mutants=mutants)
    [section] = [each for each in page(report).sections if each.id == "profiles"]
    table = next(each for each in section.blocks if isinstance(each, Table))
    rows = [[column.cell(item) for column in table.columns[1:4]] for item in table.items]
    assert (table.items, rows) == (
        ["killed", "killed_weak", "survived"],
        [["1", "1", "0"], ["0", "1", "0"], ["1", "0", "0"]],
    )
    assert agreement(mutants) == (
        "The thresholds count 1 mutant as killed whose change is not statistically significant. "
        "The thresholds overlook 2 mutants whose small change is statistically significant."
    )
    assert agreement(mutants[:1]) == "Both ways of judging agree on every mutant that could be judged."


def test_signal_coverage_has_a_column_a_signal(make_report: Builder) -> None:
    a = m.SignalCoverage("conv", "weight", "accuracy_drop", 1, 2, 0, 1)
    b = m.SignalCoverage("fc", "module", "ece_rise", 0, 2, 1, 0)
    shown = page(changed(make_report(per_operator=1), signal_coverage=(a, b)))
    [section] = [each for each in shown.sections if each.id == "signals"]
    table = next(each for each in section.blocks if isinstance(each, Table))
    assert [column.heading for column in table.columns[2:]] == ["accuracy drop", "ECE rise"]
    cells = [[column.cell(place) for column in table.columns[2:]] for place in table.items]
    assert [[str(cell[0]) for cell in row] for row in cells] == [["1 of 3", "–"], ["–", "0 of 2"]]


def test_notes_and_thresholds_in_words(make_report: Builder) -> None:
    base = make_report(per_operator=1).result.mutants[0]
    fired, calm = m.Signal(0.5, 0.1, fired=True), m.Signal(0.0, 0.1, fired=False)
    signals = m.Signals(fired, calm, fired, calm, m.NewCauses(0, 1, fired=False))
    shown = replace(base, trivial=True, unchanged=False, reason=None, signals=signals)
    assert note(shown) == "trivial, accuracy drop, ECE rise"
    assert note(replace(shown, signals=None, trivial=False, unchanged=True)) == "changed no parameter"
    assert note(replace(shown, reason="it raised")) == "it raised"
    said = [
        threshold(0.02, "accuracy_drop"),
        threshold(5.0, "autopsy_score_drop"),
        threshold(1, "new_causes"),
    ]
    assert [x.replace("\u00a0", " ") for x in said] == ["≥ 2 points", "≥ 5 points", "≥ 1"]
