"""The page, section by section; reports without mutants, or without images, have one too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.report.blocks import (
    Badge,
    Beside,
    Block,
    Card,
    Cards,
    Chart,
    Column,
    Facts,
    Fold,
    Headline,
    Items,
    Legend,
    Meter,
    Page,
    Paragraph,
    Section,
    Subheading,
    Table,
    Text,
    Track,
    mono,
    num,
    present,
    soft,
    strong,
    tracks,
)
from app.report.pages.uamt import Report
from app.report.pages.uamt.charts import by_rate, curves, heat_maps
from app.report.pages.uamt.method import method
from app.report.pages.uamt.words import KINDS, METRICS, SETS, headline, left_out, score_words, undefined
from app.report.words import (
    UNDEFINED,
    Interval,
    count,
    defined,
    has_ends,
    name_words,
    number,
    p_value,
    percent,
    percent_interval,
    plural,
    points,
    points_interval,
    short,
)
from app.scoring.detection.results import ScoreSummary

MOST_GRIDS, MOST_TRENDS = 8, 8


def page(report: Report) -> Page:
    """The page."""
    chosen, result = report.settings, report.result
    tried = result.summary.mutants > 0
    sections = [
        _scores(report) if tried else None,
        _rates(report),
        _blocks(report),
        _operators(report) if tried else None,
        _uncertainty(report) if tried else None,
        _images(report) if tried else None,
        _suites(report) if result.suites else None,
        _mutants(report) if tried else None,
        _counts(report),
    ]
    facts: list[tuple[str, Text]] = [
        ("Profile", mono(chosen.profile)),
        ("Seed", str(chosen.seed)),
        ("Class rows", name_words(chosen.semantics)),
        ("Engine", short(chosen.engine, 40)),
        ("Saved detections", mono(chosen.predictions_digest, 90) if chosen.predictions_digest else ""),
        ("Configuration", mono(chosen.config_digest, 90) if chosen.config_digest else ""),
    ]
    return Page(
        kind="detector mutation report",
        title=f"{short(report.subject.name)}: detector mutation report",
        verdict=_verdict(report),
        sections=present(sections),
        method=method(report),
        method_title="How scores are made",
        chosen=[fact for fact in facts if fact[1]],
        data=f"{short(report.subject.dataset, 120)}, {plural(report.subject.n, 'image')}",
    )


def _verdict(report: Report) -> list[Block]:
    s, level = report.result.summary, percent(report.settings.level)

    def card(title: str, value: str, ci: Interval, digits: int, otherwise: str = "not defined") -> Card:
        shown = f"{level} interval {percent_interval(ci, digits)}" if has_ends(ci) else otherwise
        return Card(title, value, shown)

    misses, ghosts = s.obj_ms["miss"], s.obj_ms["ghost"]
    killed = "share of the mutants that the images kill"
    cards = [
        card("Img-MS", percent(s.img_ms["mg"]), s.img_ms_ci["mg"].ends, 0, killed),
        card("Obj-MS, misses", percent(misses, 1), s.obj_ms_ci["miss"].ends, 1),
        card("Obj-MS, ghosts", percent(ghosts, 1), s.obj_ms_ci["ghost"].ends, 1),
        card("MS_iou", percent(s.ms_iou, 1), s.ms_iou_ci.ends, 1),
        Card(
            "Trend of misses",
            number(report.result.trend.obj_ms_miss_spearman),
            "rank correlation (Spearman) of Obj-MS with the injected rate",
        ),
    ]
    notes = [Paragraph((strong("Note."), f" {sentence}")) for sentence in left_out(report)]
    return [Headline(*headline(report)), *notes, Cards(cards)]


def _model(report: Report) -> list[Column]:
    """The column that names the model, where there are several."""
    several = len({part.model for part in report.result.parts}) > 1
    return [Column("Model", lambda x: mono(x.model, 40))] if several else []


def _scored(summary: Callable[[Any], ScoreSummary]) -> list[Column]:
    """The columns of the main scores with their intervals."""

    def share(heading: str, name: str, kind: str, digits: int) -> list[Column]:
        return [
            num(heading, lambda x: percent(getattr(summary(x), name)[kind], digits)),
            num(
                "Interval",
                lambda x: soft(percent_interval(getattr(summary(x), f"{name}_ci")[kind].ends, digits)),
            ),
        ]

    return [
        *share("Img-MS", "img_ms", "mg", 0),
        *share("Obj-MS miss", "obj_ms", "miss", 1),
        *share("ghost", "obj_ms", "ghost", 1),
        num("MS_iou", lambda x: percent(summary(x).ms_iou, 1)),
        num("Interval", lambda x: soft(percent_interval(summary(x).ms_iou_ci.ends, 1))),
    ]


def _scores(report: Report) -> Section:
    s, parts = report.result.summary, report.result.parts
    columns = [
        Column("", lambda kind: KINDS[kind], head=True),
        num(
            "Img-MS",
            lambda kind: (
                percent(s.img_ms[kind]),
                soft(f" ({count(s.killed[kind])} of {count(s.mutants)})"),
            ),
        ),
        tracks(lambda kind: Track(s.img_ms[kind], s.img_ms_ci[kind].ends, mark=s.img_ms_any[kind])),
        num("Obj-MS", lambda kind: percent(s.obj_ms[kind], 1)),
        tracks(lambda kind: Track(s.obj_ms[kind], s.obj_ms_ci[kind].ends)),
        num("Interval", lambda kind: soft(percent_interval(s.obj_ms_ci[kind].ends, 1))),
    ]
    about = (
        "Img-MS: share of the mutants that the images kill beyond chance; the diamond is the legacy rule, by which "
        "any miss or ghost anywhere kills. Obj-MS: share of the objects that are missed, or are ghosts, averaged "
        f"over the mutants. Whiskers are {percent(report.settings.level)} intervals over images."
    )
    blocks: list[Block] = [Paragraph(about), Table("Scores of the images", list(KINDS), columns, "mid even")]
    if len(parts) > 1:
        columns = [
            Column("Model", lambda part: mono(part.model, 40), head=True),
            Column("Operators", lambda part: mono(", ".join(part.operators), 60)),
            num("Images", lambda part: count(part.images)),
            num("Mutants", lambda part: count(part.summary.mutants)),
            *_scored(lambda part: part.summary),
        ]
        blocks += [
            Subheading("By model and operator"),
            Table("Scores by model and operator", parts, columns, "dense"),
        ]
    return Section("scores", "Scores of the images", blocks, short="Scores")


def _rates(report: Report) -> Section | None:
    drawn = curves(report.result)
    if drawn is None:
        return None
    about = (
        "One line an operator and block; bands are 95 % intervals, over images for the first three scores and "
        "Wilson’s for the share of images that kill a mutant."
    )
    return Section("rates", "Scores over the injected rate", [Paragraph(about), Chart(drawn)], short="Rates")


def _blocks(report: Report) -> Section | None:
    found = heat_maps(report.result)
    if not found:
        return None
    blocks: list[Block] = [Paragraph("In per cent; rows are rates, columns are block sizes.")]
    several = len(found) > 1 or bool(_model(report))
    for name, grids in list(found.items())[:MOST_GRIDS]:
        blocks += [Subheading(mono(name, 80))] if several else []
        blocks.append(Chart(grids))
    if len(found) > MOST_GRIDS:
        blocks.append(Paragraph(f"The first {MOST_GRIDS} of {plural(len(found), 'operator')}.", "note"))
    ends = {5: "0 %", 10: "the largest of its grid, of images 100 %"}
    blocks += [
        Legend([(f"h{step}", ends.get(step, "")) for step in range(5, 11)], "ramp"),
        Paragraph("“–”: undefined; blank: not tried.", "note"),
    ]
    return Section("blocks", "Scores by rate and block", blocks, short="Rates and blocks")


def _operators(report: Report) -> Section:
    result, model = report.result, _model(report)

    def along(heading: str, name: str) -> Column:
        return num(heading, lambda o: number(result.spearman(o).get(name)))

    words = {"miss": "miss", "ghost": "ghost", "mg": "either"}
    columns = [
        *model,
        Column("Operator", lambda o: mono(o.operator, 40), "nowrap", head=True),
        num("Mutants", lambda o: count(o.mutants)),
        *(
            num(f"Img-MS {words[kind]}" if kind == "miss" else words[kind], _of("img_ms", kind, 0))
            for kind in KINDS
        ),
        *(
            num(f"Obj-MS {words[kind]}" if kind == "miss" else words[kind], _of("obj_ms", kind, 1))
            for kind in KINDS
        ),
        num("MS_iou", lambda o: percent(o.ms_iou, 1)),
        along("With rate: miss", "obj_ms_miss"),
        along("ghost", "obj_ms_ghost"),
        along("either", "obj_ms_mg"),
        along("MS_iou", "ms_iou"),
    ]
    about = (
        "Means over an operator’s mutants. The last columns say how each score goes with the injected rate "
        "(Spearman’s rank correlation: 1 is always up, −1 always down)."
    )
    blocks: list[Block] = [Paragraph(about), Table("Scores by operator", result.operators, columns, "dense")]
    for operator in result.operators[:15]:
        rows = result.by_rate(operator)
        if len(rows) > 1:
            name = f"{operator.operator}, {operator.model}" if model else operator.operator
            blocks.append(Fold((mono(name, 80), soft(" by rate")), [Chart(by_rate(operator, rows[:100]))]))
    return Section("operators", "Scores by operator", blocks, short="Operators")


def _of(name: str, kind: str, digits: int) -> Callable[[Any], str]:
    return lambda x: percent(getattr(x, name)[kind], digits)


def _uncertainty(report: Report) -> Section:
    result, model = report.result, _model(report)
    about = (
        "Matches: how far an object’s uncertainty moves from the original to the mutant. Misses and ghosts: how "
        "certain the model was of what it then missed or invented, weighted by how often. Mean over the objects of "
        "each mutant, then over mutants; “–” where a metric says nothing."
    )
    if report.settings.profile == "deepluq":
        about = (
            "Change of the uncertainty of matched objects, penalised by their rate; of misses and ghosts, how "
            "certain they were. Mean over images and mutants, as the reference computes it."
        )

    def metered(metric: str) -> Column:
        def cell(kind: str) -> Text:
            value = result.summary.ua[kind][metric]
            return (Meter(value), number(value, 3)) if defined(value) else UNDEFINED

        return Column(METRICS[metric], cell, "nowrap")

    def plain(metric: str) -> Column:
        return num(METRICS[metric], lambda row: number(row[0].ua[row[1]][metric], 3))

    columns = [Column("", lambda kind: SETS[kind], head=True), *map(metered, METRICS)]
    blocks: list[Block] = [Paragraph(about), Table("UA-MS by set and metric", list(SETS), columns)]
    operators = result.operators
    if len(operators) > 1:
        columns = [
            *(Column("Model", lambda row: mono(row[0].model, 40)) for _ in model),
            Column("Operator", lambda row: mono(row[0].operator, 40), "nowrap"),
            Column("Set", lambda row: SETS[row[1]]),
            *map(plain, METRICS),
        ]
        rows = [(operator, kind) for operator in operators for kind in SETS]
        table = Table("UA-MS by operator", rows, columns, "dense", most=45)
        blocks.append(Fold(("By operator ", soft(count(len(operators)))), [table]))
    spearman = result.trend.spearman
    if names := [name for name in spearman if defined(spearman[name])]:
        blocks.append(
            Fold(
                ("How every score goes with the rate ", soft("Spearman’s rank correlation")),
                _trend(report, names),
            )
        )
    return Section("ua", "What uncertainty says (UA-MS)", blocks, short="Uncertainty")


def _trend(report: Report, names: list[str]) -> list[Block]:
    found, model = report.result.trend.by_operator, _model(report)

    def column(place: int) -> Column:
        trend = found[place]
        heading = f"{trend.operator}, {trend.model}" if model else trend.operator
        return num(short(heading, 60), lambda name: number(trend.spearman.get(name)))

    columns = [
        Column("Score", score_words, "nowrap", head=True),
        *map(column, range(min(len(found), MOST_TRENDS))),
    ]
    blocks: list[Block] = [Table("Rank correlation of every score with the rate", names, columns, "dense")]
    if len(found) > MOST_TRENDS:
        blocks.append(
            Paragraph(
                (
                    "The other ",
                    count(len(found) - MOST_TRENDS),
                    " operators are in ",
                    mono("report.json"),
                    ".",
                )
            )
        )
    return blocks


def _images(report: Report) -> Section:
    result, chosen = report.result, report.settings
    blocks: list[Block] = [Paragraph("No image kills a mutant on its own.")]
    if result.top_images:
        columns = [
            *_model(report),
            Column("Image", lambda x: mono(x.image, 100), "path"),
            Column(
                "Mutants killed",
                lambda x: (
                    Meter(min(x.kills["mg"] / x.mutants, 1.0) if x.mutants else 0.0),
                    f"{count(x.kills['mg'])} of {count(x.mutants)}",
                ),
                "nowrap",
            ),
            num("By misses", lambda x: count(x.kills["miss"])),
            num("By ghosts", lambda x: count(x.kills["ghost"])),
        ]
        once = "; with one repetition, when it holds a miss or a ghost" if 1 in chosen.repetitions else ""
        about = (
            "An image kills a mutant when its own test, adjusted over all images (Holm), is at most "
            f"{chosen.alpha:g}{once}."
        )
        table = Table("Images that kill most", result.top_images, columns, "snug", most=30)
        blocks = [Paragraph(about), table]
    blocks.append(Subheading("Mutants that no image kills"))
    if result.never_killed:
        blocks += [
            Paragraph(f"{plural(len(result.never_killed), 'mutant')} of {count(result.summary.mutants)}."),
            Items([mono(key) for key in result.never_killed], "keys", most=60),
        ]
    else:
        blocks.append(Paragraph("None."))
    return Section("images", "Images that kill most", blocks, short="Images")


def _suites(report: Report) -> Section:
    result, level = report.result, percent(report.settings.level)
    operators = (
        [Column("Operators", lambda x: mono(", ".join(x.operators), 60))] if len(result.parts) > 1 else []
    )
    columns = [
        *_model(report),
        Column("Suite", lambda x: short(x.name, 60), head=True),
        *operators,
        num("Images", lambda x: count(x.n)),
        num("Mutants killed", lambda x: count(len(x.killed["mg"]))),
        *_scored(lambda x: x),
    ]
    differences = [
        *_model(report),
        Column("Difference", lambda d: f"{short(d.a, 60)} less {short(d.b, 60)}", head=True),
        *operators,
        Column("Score", lambda d: score_words(d.score)),
        num("Points", lambda d: points(d.difference)),
        num(f"{level} interval", lambda d: soft(points_interval(d.ci.ends))),
        num("p", lambda d: p_value(d.p_value)),
    ]
    blocks: list[Block] = [Table("Suites", result.suites, columns, "dense")]
    if result.suite_differences:
        table = Table("Differences between suites", result.suite_differences, differences, "dense")
        blocks += [Subheading("Differences"), table]
    return Section("suites", "Suites", blocks)


def _mutants(report: Report) -> Section:
    mutants = report.result.mutants
    columns = [
        *_model(report),
        Column("Mutant", lambda x: mono(x.key), "key"),
        num("Rate", lambda x: f"{x.rate:g}" if defined(x.rate) else UNDEFINED),
        num("Block", lambda x: UNDEFINED if x.block is None else str(x.block)),
        Column(
            "Img-MS", lambda x: Badge("killed", "good") if x.img_killed["mg"] else Badge("survived", "bad")
        ),
        num("p, adjusted", lambda x: p_value(x.img_p_adjusted["mg"])),
        num("Images that kill", lambda x: count(x.img_kills["mg"])),
        num("Obj-MS miss", _of("obj_ms", "miss", 1)),
        num("ghost", _of("obj_ms", "ghost", 1)),
        num("either", _of("obj_ms", "mg", 1)),
        num("MS_iou", lambda x: percent(x.ms_iou, 1)),
        num("Entropy: match", lambda x: number(x.ua["match"]["ie"], 3)),
        num("miss", lambda x: number(x.ua["miss"]["ie"], 3)),
        num("ghost", lambda x: number(x.ua["ghost"]["ie"], 3)),
        Column("Legacy", lambda x: soft("killed" if x.img_killed_any["mg"] else "survived")),
    ]
    table = Table("All mutants", mutants, columns, "dense", most=500)
    return Section("mutants", "All mutants", [table], folded=count(len(mutants)))


def _counts(report: Report) -> Section:
    counts, repetitions = report.result.counts, report.settings.repetitions
    each = f", {' or '.join(map(str, repetitions))} repetitions of each" if repetitions else ""
    there: list[tuple[Text, Text]] = [
        ("Images", f"{count(counts.images)}{each}"),
        ("Mutants", count(counts.mutants)),
        *((SETS[kind], f"{plural(counts.objects[kind], 'object')} over all mutants") for kind in SETS),
        ("Rows of NaN", count(counts.unscorable)),
        ("Class rows that are no probabilities", count(counts.invalid_rows)),
    ]
    nothing = [("Undefined", "nothing: every score has a number everywhere")]
    blocks = [Beside([[Facts(there)], [Facts([*(undefined(report) or nothing)])]])]
    return Section("counts", "How much there was, and what the scores leave out", blocks, short="Counts")
