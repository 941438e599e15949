"""From blocks to HTML: every block well formed, all text escaped, nothing that runs, nothing that is endless."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, cast, get_args

import pytest
from markupsafe import Markup
from PIL import Image as Pictures

from app.report import blocks, charts, render
from app.report.blocks import (
    Answer,
    Answers,
    Article,
    Badge,
    Beside,
    Block,
    Break,
    Card,
    Cards,
    Chart,
    Code,
    Column,
    Facts,
    Fold,
    Gallery,
    Headline,
    Image,
    Items,
    Legend,
    Link,
    Meter,
    Page,
    Paragraph,
    Section,
    Shot,
    Span,
    Strip,
    Subheading,
    Table,
    Text,
    Track,
    Whisker,
    joined,
    looks,
    mono,
    num,
    present,
    soft,
    strong,
    tracks,
)
from app.report.charts import Axis, BarRow, Bars, HeatCell
from app.report.lineage import Excluded
from tests.report.campaigns import campaign, changed
from tests.report.parsed import Parsed

PNG = render.data_uri(b"\x89PNG\r\n\x1a\n" + bytes(40))
HOSTILE = "<script>alert(1)</script>\"' onload=\"x\" style='a' {{ 7 * 7 }} &lt; ]]> --> </td></div>"


def drawn(shown: Block | Section) -> Parsed:
    return Parsed(str(render.block(shown)))


def said(found: Parsed) -> str:
    """Its text, an element behind another."""
    return " ".join(" ".join(found.text).replace("\u00a0", " ").split())


def of(found: Parsed, tag: str, kind: str | None = None) -> list[dict[str, str | None]]:
    return [
        attrs
        for name, attrs in found.tags
        if name == tag and (kind is None or kind in (attrs.get("class") or "").split())
    ]


def pieces(word: str) -> tuple[blocks.Piece, ...]:
    """Every kind of text, saying this word."""
    looks_of_spans = get_args(blocks.Span.__dataclass_fields__["look"].type) or ()
    assert not looks_of_spans  # annotations are strings; the looks stand below
    spans = [
        Span(word, look)  # type: ignore[arg-type]
        for look in ("soft", "mono", "strong", "bad", "good", "small", "nowrap")
    ]
    badges = [Badge(word, look) for look in get_args(blocks.Look)]
    return (word, *spans, *badges, Link(word, "#" + word), Meter(0.5), Image(PNG, word), Break())


def every(word: str) -> list[Block | Section]:
    """Every block, saying this word wherever it can."""
    text: Text = pieces(word)
    columns = [
        Column(text, lambda row: text, head=True),
        num(word, lambda row: row),
        tracks(lambda row: Track(0.5, (0.4, 0.6), mark=0.2, rule=0.3, label=word)),
        tracks(lambda row: Track(None)),
        Column(word, lambda row: Whisker(0.5, (0.2, 0.7), "bad", cut=True), "bar"),
        Column(word, lambda row: charts.Spark(word, (1.0, 2.0)), "key"),
    ]
    table = Table(word, [word] * 3, columns, "mid", most=2, first=1, rest=word)
    drawing = Bars(word, (BarRow(word, 0.5, shown=word),), Axis(word, "share", 0.0, 1.0), none=word)
    return [
        Headline(word, word, [Badge(word, "bad")]),
        Strip([("killed", word, 3, word), ("survived", word, 1, word)]),
        Cards([Card(word, text, text, word), Card(word, text)]),
        Paragraph(text),
        Subheading(text),
        Items([text, word], "ordered"),
        Facts([(text, text)]),
        Code(word),
        Chart(drawing, text, 300),
        Chart(charts.Heat(word, (word,), (word,), ((HeatCell(word, 3, word),),), word, caption=word)),
        Chart(
            charts.Lines(
                word, (charts.Line(word, (charts.Point(0.0, 1.0, label=word),)),) * 2, Axis(word), Axis(word)
            )
        ),
        Chart(charts.Panels(word, (charts.Lines(word, (), Axis(word), Axis(word)),), note=word)),
        Chart(
            charts.Forest(
                word, (charts.ForestRow(word, (charts.ForestMark(0.5, label=word),), word),), Axis(word)
            )
        ),
        Chart(
            charts.Scatter(
                word, dots=(charts.Dot(0.5, 0.5, word, full=True, label=word),), x=Axis(word), y=Axis(word)
            )
        ),
        Chart(charts.Reliability(word, (charts.Bin(0.0, 0.1, 0.05, 0.1, None, 1.0, word),), word, word)),
        Chart(
            charts.Histogram(word, (charts.Column(0.0, 1.0, "0", word),), Axis(word, ticks=((0.0, word),)))
        ),
        Legend([("h1", text), ("h2", word)], "ramp"),
        Legend([("k-good", text)]),
        Gallery([Shot([(PNG, word), ("", word)], text)], total=5),
        Fold(text, [Paragraph(word)], open=True),
        Beside([[Paragraph(word)], [Paragraph(word)]]),
        Article(text, [Paragraph(word)], "one"),
        Answers(
            [
                Answer(
                    word, Badge(word, "good"), text, text, text, text, [Paragraph(word)], Link(word, "a.html")
                )
            ]
        ),
        table,
        Section("one", word, [Paragraph(word)], folded=text),
        Section("one", word, [Paragraph(word)]),
    ]


def test_every_kind_of_block_and_of_text_is_tried() -> None:
    kinds = {each for _, each in inspect.getmembers(blocks, inspect.isclass) if issubclass(each, Block)}
    assert {type(each) for each in every("word")} == kinds - {Block} | {Section}
    assert {type(each) for each in pieces("word")} == set(get_args(blocks.Piece))
    assert {type(each.spec) for each in every("word") if isinstance(each, Chart)} | {charts.Spark} == set(
        get_args(charts.Spec)
    )


@pytest.mark.parametrize("word", ["word", HOSTILE, "", " ", "\u00e9\ud800", "a" * 9000], ids=range(6))
def test_every_block_is_well_formed(word: str) -> None:
    for each in every(word):
        drawn(each)


def test_hostile_text_is_text_everywhere() -> None:
    """In elements and in attributes: no element, no attribute and no handler comes from it."""
    for plain, hostile in zip(every("word"), every(HOSTILE), strict=True):
        usual, attacked = drawn(plain), drawn(hostile)
        told = [tag for tag, _ in attacked.tags if tag != "wbr"]
        assert told == [tag for tag, _ in usual.tags if tag != "wbr"], plain
        for (_, before), (tag, after) in zip(
            [each for each in usual.tags if each[0] != "wbr"],
            [each for each in attacked.tags if each[0] != "wbr"],
            strict=True,
        ):
            assert before.keys() == after.keys(), tag
            changed_ones = {name for name in before if before[name] != after[name]}
            assert changed_ones <= {"title", "alt", "aria-label", "href"}, tag
            assert {before.get(name) for name in ("style", "class")} == {
                after.get(name) for name in ("style", "class")
            }
        assert "<script" not in str(render.block(hostile))
        assert "alert(1)" in said(attacked) or isinstance(plain, Gallery | Strip)
        assert "49" not in said(attacked), "no template runs in it"


def test_every_piece_says_what_it_was_given() -> None:
    assert render.text("a <b>") == "a &lt;b&gt;"
    assert render.text(soft("a < b")) == '<span class="soft">a &lt; b</span>'
    assert render.text(strong(5)) == '<b class="strong">5</b>'
    assert render.text(mono("a.b/c")) == '<span class="mono">a.<wbr>b/<wbr>c</span>'
    assert render.text(Badge("good news", "good")) == '<span class="badge b-good">good news</span>'
    assert render.text(Badge("plain")) == '<span class="badge">plain</span>'
    assert render.text(Break()) == "<br>"
    assert render.text(Span("")) == ""
    assert render.text(("a", Break(), soft("b"))) == 'a<br><span class="soft">b</span>'
    assert render.text(()) == ""
    assert render.text("80 %, p < 0.05") == "80\u00a0%, p\u00a0&lt;\u00a00.05"
    assert render.text(Image(PNG, 'a "b"')).startswith('<img class="thumb" src="data:image/png;base64,')
    assert 'alt="a &#34;b&#34;"' in render.text(Image(PNG, 'a "b"'))
    assert render.text(Markup("<b>")) == "&lt;b&gt;", "nothing that comes with text is trusted"


def test_meters_are_as_long_as_their_values() -> None:
    assert 'style="width:25.0%"' in render.text(Meter(0.25))
    assert 'class="weak"' in render.text(Meter(0.25, weak=True))
    assert [render.text(Meter(value)) for value in (None, float("nan"), float("inf"))] == [""] * 3
    assert 'style="width:100.0%"' in render.text(Meter(3.0))
    assert 'style="width:0.0%"' in render.text(Meter(-1.0))


@pytest.mark.parametrize(
    ("to", "safe"),
    [
        ("#operators", True),
        ("#a:b", True),
        ("mutate/report.html", True),
        ("../a.html#x", True),
        ("https://example.org/a", True),
        ("http://localhost:5000/#/runs", True),
        ("javascript:alert(1)", False),
        ("JavaScript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("java\tscript:alert(1)", False),
        ("\x01javascript:alert(1)", False),
        ("data:text/html,<script>", False),
        ("vbscript:x", False),
        ("file:///etc/passwd", False),
        ("ftp://example.org", False),
        ("mailto:a@b", False),
        ("a/b:c", False),
        ("https:alert(1)", False),
    ],
)
def test_links_run_nothing(to: str, safe: bool) -> None:
    [attrs] = of(Parsed(str(render.text(Link("go", to)))), "a")
    assert attrs == {"href": to if safe else "#"}


@pytest.mark.parametrize(
    ("source", "safe"),
    [
        (PNG, True),
        ("data:image/jpeg;base64,AAAA", True),
        ("https://example.org/a.png", False),
        ("javascript:alert(1)", False),
        ("data:text/html;base64,AAAA", False),
        ("data:image/svg+xml;base64,AAAA", False),
        ("a.png", False),
    ],
)
def test_images_come_from_the_page_itself(source: str, safe: bool) -> None:
    shown = [
        Parsed(str(render.text(Image(source, "alt")))),
        drawn(Gallery([Shot([(source, "alt")], "caption")])),
    ]
    for found in shown:
        assert [attrs["src"] for attrs in of(found, "img")] == ([source] if safe else [])


def test_data_uris_are_of_images() -> None:
    assert render.data_uri(b"\xff\xd8\xff\x00").startswith("data:image/jpeg;base64,")
    assert render.image_uri(Pictures.new("RGB", (2, 2))).startswith("data:image/png;base64,iVBOR")
    with pytest.raises(ValueError, match="no PNG, JPEG, GIF or WebP"):
        render.data_uri(b"<svg>")


# Tables


def rows_of(found: Parsed) -> int:
    return len(of(found, "tr")) - len(of(found, "thead"))


def table(n: int, **more: Any) -> Table:
    return Table(
        "numbers", range(n), [Column("n", str, head=True), num("square", lambda i: str(i * i))], **more
    )


def test_a_table_shows_its_items() -> None:
    found = drawn(table(3, look="dense"))
    assert of(found, "table")[0]["class"] == "dense"
    assert [(attrs.get("scope"), attrs.get("class")) for attrs in of(found, "th")] == [
        ("col", None),
        ("col", "num"),
        *[("row", None)] * 3,
    ]
    assert said(found) == "n square 0 0 1 1 2 4"
    region = of(found, "div", "scroll")[0]
    assert (region["role"], region["aria-label"], region["tabindex"]) == ("region", "numbers", "0")


def test_rows_after_the_first_are_folded() -> None:
    found = drawn(table(7, first=3))
    text = str(render.block(table(7, first=3)))
    before, after = text.split("<details>")
    assert rows_of(Parsed(before)) == 3
    assert (rows_of(Parsed("<details>" + after)), rows_of(found)) == (4, 7)
    assert "More 4" in said(found)
    assert len(of(found, "thead")) == 2, "the folded rows have their headings"
    for first in (7, 9, None):
        assert not of(drawn(table(7, first=first)), "details")


@pytest.mark.parametrize(
    ("made", "rest"),
    [
        (table(7, most=5), "The other 2 of 7 are in report.json."),
        (table(7, most=5, rest="mutants.csv"), "The other 2 of 7 are in mutants.csv."),
        (table(7, most=5, first=2), "The other 2 of 7 are in report.json."),
        (table(7, total=4000), "The other 3,993 of 4,000 are in report.json."),
        (table(7, most=5, total=4000), "The other 3,995 of 4,000 are in report.json."),
        (table(101), "The other 1 of 101 are in report.json."),
        (table(100), None),
        (table(7, most=7, first=2), None),
        (table(7, total=7), None),
    ],
)
def test_a_table_says_where_the_rest_is(made: Table, rest: str | None) -> None:
    found = drawn(made)
    assert rows_of(found) == min(len(made.items), made.most)
    assert (rest in said(found).replace(" .", ".")) if rest else "The other" not in said(found)


def test_bars_and_whiskers_of_a_table_stand_at_their_values() -> None:
    def styles(shown: Track | Whisker) -> list[tuple[str | None, str | None]]:
        found = Parsed(str(render.cell(shown)))
        return [(attrs["class"], attrs.get("style")) for attrs in of(found, "i")]

    assert styles(Track(0.25, (0.1, 0.4), weak=True, mark=0.75, rule=0.5)) == [
        ("fill weak", "width:25.0%"),
        ("whisker", "left:10.0%;width:30.0%"),
        ("whisker", "left:50.0%;width:0"),
        ("mark", "left:75.0%"),
    ]
    assert styles(Track(None)) == []
    assert styles(Whisker(0.5, (0.25, 0.75))) == [("span", "left:25.0%;width:50.0%"), ("dot", "left:50.0%")]
    assert styles(Whisker(1.5, (-1.0, 2.0), cut=True)) == [
        ("span cut", "left:0.0%;width:100.0%"),
        ("dot", "left:100.0%"),
    ]
    [track] = of(Parsed(str(render.cell(Track(0.25, (0.1, 0.4))))), "div", "track")
    assert (track["role"], track["aria-label"]) == ("img", "25 %, interval 10–40 %")
    [named] = of(Parsed(str(render.cell(Track(0.25, label="a quarter")))), "div", "track")
    assert named["aria-label"] == "a quarter"


def test_lists_say_where_the_rest_is() -> None:
    found = drawn(Items([str(i) for i in range(130)]))
    assert len(of(found, "li")) == 100
    assert "The other 30 of 130 are in report.json" in said(found)
    assert "The other" not in said(drawn(Items(["a", "b"])))
    gallery = drawn(Gallery([Shot([(PNG, "a")], "b")], total=12))
    assert "The other 11 of 12" in said(gallery)
    assert [tag for tag, _ in drawn(Items(["a"], "steps")).tags] == ["ol", "li"]


def test_long_text_is_cut() -> None:
    assert len(render.text("x" * 9000)) == render.LONGEST
    assert len(render.text(mono("x" * 9000, 40))) == 40 + len('<span class="mono"></span>')
    assert "…" in render.text(Badge("x" * 100))


# What is empty

EMPTY: list[Block] = [
    Headline(""),
    Strip([]),
    Cards([]),
    Paragraph(""),
    Paragraph(()),
    Subheading(""),
    Items([]),
    Facts([]),
    Code(""),
    Legend([]),
    Gallery([]),
    Gallery([Shot([], "")], total=0),
    Fold("", []),
    Beside([]),
    Beside([[], []]),
    Article("", []),
    Answers([]),
    Answers([Answer("", Badge(""), "", "", "", "", [])]),
    Table("", [], []),
    Table("nothing", [], [Column("n", str)], first=5),
    Table("no columns", [1, 2], []),
]


@pytest.mark.parametrize("shown", EMPTY, ids=lambda each: type(each).__name__)
def test_what_is_empty_is_well_formed_and_says_nothing(shown: Block) -> None:
    found = drawn(shown)
    assert said(found) in {"", "n"}
    assert "None" not in str(render.block(shown))


def test_rows_with_nothing_in_them_are_closed() -> None:
    found = drawn(Chart(Bars("t", (BarRow("", 0.5), BarRow("", None, shown="")), none="")))
    assert len(of(found, "span")) == 4
    assert said(drawn(Table("t", [1], [Column("", lambda _: ""), Column("", lambda _: ())]))) == ""


# Sections and pages


def test_a_section_has_its_name_and_may_be_folded() -> None:
    shown = Section("one", "The title", [Paragraph("text")], short="Title")
    found = drawn(shown)
    assert [tag for tag, _ in found.tags] == ["section", "h2", "p"]
    assert (of(found, "section")[0]["id"], said(found)) == ("one", "The title text")
    folded = drawn(replace(shown, folded="12 rows"))
    assert [tag for tag, _ in folded.tags] == ["details", "summary", "span", "p"]
    assert (of(folded, "details")[0]["id"], said(folded)) == ("one", "The title 12 rows text")
    assert "open" not in of(folded, "details")[0]
    assert drawn(replace(shown, folded="")).tags[0][0] == "details"


def test_a_fold_may_be_open_and_an_article_has_a_name() -> None:
    assert "open" in of(drawn(Fold("a", [], open=True)), "details")[0]
    assert "open" not in of(drawn(Fold("a", [])), "details")[0]
    assert of(drawn(Article("a", [], "x")), "article")[0]["id"] == "x"
    assert "id" not in of(drawn(Article("a", [])), "article")[0]


def small(**more: Any) -> Page:
    whole: dict[str, Any] = {
        "kind": "report",
        "title": "a title",
        "verdict": [Headline("It is good.")],
        "sections": [Section("one", "First", [Paragraph("a")], short="1st"), Section("two", "Second", [])],
    }
    return Page(**{**whole, **more})


def test_a_page_has_a_frame_and_contents() -> None:
    report = campaign(per_operator=1)
    found = Parsed(render.page(small(method=[Paragraph("how")], chosen=[("Seed", mono("7"))]), report))
    links = [(attrs["href"]) for attrs in of(found, "a")]
    assert links == ["#one", "#two", "#method", "#reproduce"]
    assert {link[1:] for link in links} <= set(found.all("id"))
    shown = said(found)
    for words in ("a title", "It is good.", "1st Second", "how", "Seed 7", report.run.id, report.run.command):
        assert words in shown, words
    assert report.subject.notes[0] in shown
    assert "1 test case left out of every number on this page" in shown
    bare = said(Parsed(render.page(small(notes=False, data="no images"), report)))
    assert report.subject.notes[0] not in bare
    assert "no images" in bare
    assert "#method" not in Parsed(render.page(small(), report)).all("href")


def test_a_page_without_anything_is_well_formed() -> None:
    report = campaign(per_operator=0)
    subject = replace(report.subject, name="", model="", model_digest="", notes=(), excluded=())
    run = replace(report.run, versions={}, parent="p1", resumed=True)
    found = Parsed(render.page(Page("", "", [], []), changed(report, subject=subject, run=run)))
    assert "part of p1" in said(found)
    assert "resumed" in said(found)
    assert "notes" not in found.all("id")


def test_the_frame_is_safe_from_hostile_names() -> None:
    report = campaign(per_operator=0)
    subject = replace(
        report.subject,
        name=HOSTILE,
        model=HOSTILE,
        dataset=HOSTILE,
        notes=(HOSTILE,),
        excluded=(Excluded(HOSTILE, HOSTILE),),
    )
    run = replace(report.run, id=HOSTILE, command=HOSTILE, store=HOSTILE, versions={HOSTILE: HOSTILE})
    shown = small(
        kind=HOSTILE,
        title=HOSTILE,
        method=[Paragraph(HOSTILE)],
        method_title=HOSTILE,
        data=HOSTILE,
        chosen=[(HOSTILE, HOSTILE)],
    )
    text = render.page(shown, changed(report, subject=subject, run=run))
    found = Parsed(text)
    assert "<script" not in text
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    assert "default-src 'none'" in text


def test_pages_are_written_whole(tmp_path: Any) -> None:
    report = campaign(per_operator=0)
    path = render.write_page(small(title="\ud800 é"), report, tmp_path / "report.html")
    assert "\\ud800 é" in path.read_text(encoding="utf-8")


# Pieces put together


def test_texts_are_joined() -> None:
    assert joined([]) == ()
    assert joined(["a"]) == ("a",)
    assert joined(["a", (soft("b"), "c")]) == ("a", "; ", soft("b"), "c")
    assert joined(["a", "b"], Break()) == ("a", Break(), "b")


def test_sections_that_there_are() -> None:
    one = Section("one", "First", [])
    assert present([None, one, None]) == (one,)


def test_words_are_badges() -> None:
    assert looks({"not_bad": "good"}, "not_bad") == Badge("not bad", "good")
    assert looks({}, "odd") == Badge("odd", "")


def test_an_unknown_block_is_a_mistake_of_the_programmer() -> None:
    class Unknown(Block):
        pass

    with pytest.raises(Exception, match="unknown"):
        render.block(cast("Block", Unknown()))
