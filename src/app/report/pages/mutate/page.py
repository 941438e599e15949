"""The page, section by section; campaigns without mutants, or without valid ones, have one too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from app.report.blocks import (
    Badge,
    Beside,
    Block,
    Break,
    Card,
    Cards,
    Cell,
    Chart,
    Column,
    Facts,
    Fold,
    Headline,
    Image,
    Items,
    Legend,
    Meter,
    Page,
    Paragraph,
    Section,
    Span,
    Strip,
    Subheading,
    Table,
    Text,
    Track,
    joined,
    mono,
    num,
    present,
    soft,
    strong,
    tracks,
)
from app.report.charts import ends
from app.report.pages.mutate import Report
from app.report.pages.mutate.charts import INPUT, curves, heat_maps, weakest_first
from app.report.pages.mutate.words import (
    VERDICTS,
    agreement,
    headline,
    note,
    score_interval,
    secondary,
    threshold,
)
from app.report.words import (
    UNDEFINED,
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
from app.scoring.results import SignalCoverage


def page(report: Report, thumbnails: Mapping[int, str] | None = None) -> Page:
    """The page.

    Args:
        report: the report.
        thumbnails: by test case, data URIs of small images of those that kill most.
    """
    chosen, tried = report.settings, report.result.summary.mutants > 0
    sections = [
        _operators(report) if report.result.by_operator else None,
        _layers(report) if report.result.by_layer else None,
        _rates(report),
        _profiles(report) if tried else None,
        _survivors(report) if tried else None,
        _cases(report, thumbnails or {}) if tried else None,
        _kill_matrix(report) if tried else None,
        _suites(report) if report.result.suites else None,
        _original(report),
        _signals(report) if report.result.signal_coverage else None,
        _mutants(report) if report.result.mutants else None,
    ]
    repetitions = plural(chosen.repetitions, "repetition")
    return Page(
        kind="mutation report",
        title=f"{short(report.subject.name)}: mutation report",
        verdict=_verdict(report),
        sections=present(sections),
        method=_method(report),
        method_title="How verdicts are made",
        chosen=(
            ("Seed", str(chosen.seed)),
            ("Engine", f"{chosen.engine}, {repetitions} of stochastic mutants"),
            ("Configuration", mono(chosen.config_digest, 90)),
        ),
    )


def _verdict(report: Report) -> list[Block]:
    s, suite = report.result.summary, report.result.kill_matrix.smallest_suite
    accuracy = report.result.original.accuracy_ci
    strip = [(name, label, getattr(s, name), meaning) for name, (label, meaning, _) in VERDICTS.items()]
    cards = [
        Card("Mutation score", percent(s.mutation_score), score_interval(s) or "not defined"),
        Card(
            "Mutants that count",
            count(s.judged),
            f"of {plural(s.mutants, 'mutant')}; equivalent, duplicate and invalid ones do not",
        ),
        Card(
            "Original accuracy",
            percent(report.result.original.accuracy, 1),
            f"95 % interval {percent_interval(accuracy, 1)}" if has_ends(accuracy) else "",
        ),
        Card(
            "By fixed thresholds",
            percent(report.result.summary_thresholds.mutation_score),
            "mutation score of the profile thresholds",
        ),
        Card(
            "Test cases that suffice",
            count(len(suite)) if s.killed else UNDEFINED,
            f"keep every kill, of {count(report.subject.n)}",
        ),
    ]
    shown = [Strip([part for part in strip if part[2]])] if s.mutants else []
    return [Headline(*headline(report)), *shown, Cards(cards)]


def _operators(report: Report) -> Section:
    columns = [
        Column("Operator", lambda o: mono(o.operator, 40), "nowrap", head=True),
        tracks(
            lambda o: Track(o.mutation_score, ends(o.mutation_score_ci), o.weak, o.mutation_score_thresholds)
        ),
        num("Score", lambda o: percent(o.mutation_score)),
        num("95 % interval", lambda o: soft(percent_interval(o.mutation_score_ci))),
        num("Killed", lambda o: count(o.killed)),
        num("Weak", lambda o: count(o.killed_weak)),
        num("Survived", lambda o: count(o.survived)),
        num("Excluded", lambda o: soft(count(o.equivalent + o.duplicate + o.invalid))),
        Column("Kind", lambda o: soft(o.kind)),
    ]
    about = (
        "Share of an operator's mutants that the test suite kills, the weakest first. The whisker is the 95 "
        "% interval over test cases; the diamond is the score by fixed thresholds."
    )
    below = (
        "Excluded: equivalent, duplicate and invalid mutants. A bar in orange is a weak area: fewer "
        "than half are killed."
    )
    table = Table(
        "Mutation score by operator", sorted(report.result.by_operator, key=weakest_first), columns, "mid"
    )
    blocks = [Paragraph(about), table, Paragraph(below, "note")]
    return Section("operators", "Mutation score by operator", blocks, short="Operators")


def _layers(report: Report) -> Section:
    about: tuple[Text, ...] = ("Mutation score in per cent of each operator in each layer of the model",)
    if any(cell.layer == INPUT for cell in report.result.by_layer):
        about += ("; operators on images have the pseudo-layer ", mono(INPUT))
    blocks: list[Block] = [
        Paragraph(joined((*about, "."), "")),
        *(Chart(each) for each in heat_maps(report)),
        Legend([(f"h{step}", {0: "0 %", 10: "100 %"}.get(step, "")) for step in range(11)], "ramp"),
        Paragraph("“–”: tried, but none could be judged; blank: not tried.", "note"),
    ]
    return Section("layers", "Mutation score by layer", blocks, short="Layers")


def _rates(report: Report) -> Section | None:
    drawn = curves(report.result.mutants)
    if drawn is None:
        return None
    about = (
        "How many points of accuracy stochastic mutants cost, over the rate of what they drop; whiskers are "
        "95 % intervals."
    )
    return Section("rates", "Effect over rate", [Paragraph(about), Chart(drawn)], short="Rates")


def _badge(verdict: str) -> Badge:
    label, _, look = VERDICTS[verdict]
    return Badge(label, look)


def _profiles(report: Report) -> Section:
    pairs = Counter((str(x.verdict), str(x.verdict_thresholds)) for x in report.result.mutants)
    found = [name for name in VERDICTS if any(verdict == name for verdict, _ in pairs)]

    def counted(other: str) -> Column:
        return num(other.capitalize(), lambda name: count(pairs[name, other]))

    columns = [
        Column("By statistics", _badge, head=True),
        num("Killed by thresholds", lambda name: count(pairs[name, "killed"])),
        counted("survived"),
        counted("invalid"),
        num("All", lambda name: strong(count(sum(n for (v, _), n in pairs.items() if v == name)))),
    ]
    table = Table("Verdicts by statistics against verdicts by thresholds", found, columns, "snug")
    blocks = [Paragraph(agreement(report.result.mutants), ""), table]
    return Section("profiles", "Verdicts by statistics and by fixed thresholds", blocks, short="Thresholds")


def _survivors(report: Report) -> Section:
    columns = [
        Column("Mutant", lambda x: mono(x.key), "key"),
        Column("Distance", lambda x: (Meter(min(x.distance or 0.0, 1.0)), number(x.distance, 2)), "nowrap"),
        Column(
            "", lambda x: Badge(x.nearness, "mid" if x.nearness == "near miss" else "") if x.nearness else ""
        ),
        Column("Closest signal", lambda x: name_words(x.closest_signal or UNDEFINED), "nowrap"),
        Column("What would kill it", lambda x: short(x.needed, 240), "words"),
    ]
    about = (
        "Distance is the largest signal over its threshold: 0 when nothing moved; from 1 on, fixed "
        "thresholds kill the mutant."
    )
    blocks: list[Block] = [Paragraph("No mutant survived.")]
    if report.result.survivors:
        blocks = [Paragraph(about), Table("Survivors", report.result.survivors, columns, first=15)]
    return Section("survivors", "Survivors, the hardest to kill first", blocks, short="Survivors")


def _cases(report: Report, thumbnails: Mapping[int, str]) -> Section:
    km, mutants = report.result.kill_matrix, report.result.summary.mutants
    blocks: list[Block] = [Paragraph("No test case kills a mutant.")]
    if km.top_cases:
        columns = [
            Column("Test case", lambda c: str(c.case)),
            Column("File", lambda c: mono(c.path, 100), "path"),
            Column("Class", lambda c: short(c.label, 60)),
            Column(
                "Mutants killed", lambda c: (Meter(min(c.kills / mutants, 1.0)), count(c.kills)), "nowrap"
            ),
            num("Kill value", lambda c: number(c.kill_value, 2)),
        ]
        if thumbnails:
            columns.insert(0, Column("", lambda c: _thumbnail(c.case, thumbnails)))
        about = (
            "A test case kills a mutant if the original is right in it and the mutant wrong. That can be "
            "chance: whether the suite kills a mutant is told from all test cases together. The kill value "
            "counts a mutant for less, the more test cases kill it."
        )
        blocks = [Paragraph(about), Table("Test cases that kill most", km.top_cases, columns, "mid", most=30)]
    blocks.append(Subheading("Mutants that no test case kills"))
    if km.never_killed:
        blocks.append(Paragraph(f"{plural(len(km.never_killed), 'mutant')} of {count(mutants)}."))
        blocks.append(Items([mono(key) for key in km.never_killed], "keys", most=60))
    else:
        blocks.append(Paragraph("None."))
    return Section("cases", "Test cases that kill most", blocks, short="Test cases")


def _thumbnail(case: int, thumbnails: Mapping[int, str]) -> Cell:
    return Image(thumbnails[case], f"test case {case}") if case in thumbnails else ""


def _kill_matrix(report: Report) -> Section:
    km = report.result.kill_matrix
    suite: Text = UNDEFINED
    if km.smallest_suite:
        some = ", ".join(map(str, km.smallest_suite[:60]))
        rest = ", and more in report.json" if len(km.smallest_suite) > 60 else ""
        suite = (f"{plural(len(km.smallest_suite), 'test case')} keep every kill: ", mono(some, 400), rest)
    subsuming = (
        f"{count(len(km.dominators))}: a suite that kills these kills every mutant that can be killed. Of "
        f"them {percent(km.minimal_mutation_score)} are killed (minimal mutation score)."
    )
    sets = (
        f"{count(km.distinct_kill_sets)}: that many mutants are told apart by the test cases that kill them."
    )
    trivial = (
        f"{count(report.result.summary.trivial)}: killed by almost every test case, or no better than guessing, so "
        "they say little."
    )
    facts: list[tuple[Text, Text]] = [
        ("Distinct kill sets", sets),
        ("Subsuming mutants", subsuming),
        ("Smallest suite", suite),
        ("Trivial mutants", trivial),
    ]
    blocks: list[Block] = [Facts(facts)]
    if km.dominators:
        title = ("Subsuming mutants ", soft(count(len(km.dominators))))
        blocks.append(Fold(title, [Items([mono(key) for key in km.dominators], "keys", most=60)]))
    return Section("kill-matrix", "Kill matrix", blocks)


def _suites(report: Report) -> Section:
    columns = [
        Column("Suite", lambda x: short(x.name, 60), head=True),
        tracks(lambda x: Track(x.mutation_score, ends(x.mutation_score_ci))),
        num("Score", lambda x: percent(x.mutation_score)),
        num("95 % interval", lambda x: soft(percent_interval(x.mutation_score_ci))),
        num("Mutants killed", lambda x: count(x.killed)),
        num("Test cases", lambda x: count(x.n)),
    ]
    differences = [
        Column("Difference", lambda d: f"{short(d.a, 60)} less {short(d.b, 60)}", head=True),
        num("Points of mutation score", lambda d: points(d.difference)),
        num("95 % interval", lambda d: soft(points_interval(d.ci))),
        num("p", lambda d: p_value(d.p_value)),
    ]
    blocks: list[Block] = [Table("Suites", report.result.suites, columns, "mid")]
    if report.result.suite_differences:
        blocks.append(
            Table("Differences between suites", report.result.suite_differences, differences, "snug")
        )
    return Section("suites", "Suites", blocks)


def _original(report: Report) -> Section:
    o = report.result.original
    known = sum(defined(value) for value in o.sub_scores.values())
    partial = f" of the {known} sub-scores that a mutation run knows; task=autopsy has more"
    causes = [
        (
            name_words(c.cause_type),
            soft(
                f" (confidence {percent(c.confidence)}"
                f"{': ' + short(', '.join(c.affected[:6]), 120) if c.affected else ''})"
            ),
        )
        for c in o.causes[:12]
    ]
    facts: list[tuple[Text, Text]] = [
        ("Accuracy", (percent(o.accuracy, 1), soft(f" ({percent_interval(o.accuracy_ci, 1)})"))),
        ("Calibration error (ECE)", percent(o.ece, 1)),
        (
            "Autopsy score",
            (f"{number(o.autopsy_score, 1)} of 100", soft(partial if known < len(o.sub_scores) else "")),
        ),
        ("Causes", joined(causes) or "none found"),
    ]
    scores: list[tuple[Text, Text]] = [
        (
            name_words(name),
            (Meter((value or 0.0) / 100), number(value, 1)) if defined(value) else soft("not applicable"),
        )
        for name, value in o.sub_scores.items()
    ]
    blocks: list[Block] = [Beside([[Facts(facts)], [Facts(scores)]])]
    if o.per_class:
        columns = [
            Column("Class", lambda c: short(c.name, 60), head=True),
            num("Test cases", lambda c: count(c.support)),
            Column("Recall", lambda c: (Meter(c.recall), percent(c.recall, 1)), "nowrap"),
            Column("Precision", lambda c: (Meter(c.precision), percent(c.precision, 1)), "nowrap"),
        ]
        table = Table("The original model by class", o.per_class, columns, "snug")
        blocks.append(Fold(("By class ", soft(count(len(o.per_class)))), [table]))
    return Section("original", "The original model", blocks, short="Original model")


def _signals(report: Report) -> Section:
    found = {(c.layer, c.kind, c.signal): c for c in report.result.signal_coverage}
    signals = list(dict.fromkeys(c.signal for c in report.result.signal_coverage))
    places = list(dict.fromkeys((c.layer, c.kind) for c in report.result.signal_coverage))

    def column(signal: str) -> Column:
        return num(name_words(signal), lambda place: _coverage(found.get((*place, signal))))

    columns = [
        Column("Layer", lambda place: mono(place[0], 60), head=True),
        Column("Kind", lambda place: str(place[1])),
        *map(column, signals),
    ]
    about = (
        "For each layer and kind of operator: on how many of its mutants a signal fired, of those where it "
        "could be measured; and on how many it fired alone."
    )
    blocks = [Paragraph(about), Table("Signal coverage", places, columns, most=200)]
    return Section("signals", "Signal coverage", blocks, folded="which signal fired where")


def _coverage(c: SignalCoverage | None) -> Cell:
    if c is None:
        return UNDEFINED
    alone = (Break(), Span(f"{count(c.only_killer)} alone", "small")) if c.only_killer else ()
    unmeasured = (Break(), Span(f"{count(c.unmeasured)} unmeasured", "small")) if c.unmeasured else ()
    return (f"{count(c.fired)} of {count(c.fired + c.below)}", *alone, *unmeasured)


def _mutants(report: Report) -> Section:
    columns = [
        Column("Mutant", lambda x: mono(x.key), "key"),
        Column("Verdict", lambda x: _badge(x.verdict)),
        Column("Thresholds", lambda x: str(x.verdict_thresholds)),
        num("Accuracy", lambda x: percent(x.accuracy, 1)),
        num("Drop, points", lambda x: points(x.effect)),
        num("95 % interval", lambda x: soft(points_interval(x.effect_ci))),
        num("p, adjusted", lambda x: p_value(x.p_adjusted)),
        num("Killed by", lambda x: count(x.kills)),
        Column(
            "Difficulty", lambda x: x.difficulty.label if x.difficulty and x.difficulty.label else UNDEFINED
        ),
        Column(
            "Secondary signals",
            lambda x: joined((Span(each, "small") for each in secondary(x)), Break()),
            "nowrap",
        ),
        Column("Note", lambda x: soft(short(note(x), 160)), "words"),
    ]
    table = Table("All mutants", report.result.mutants, columns, "dense", most=500)
    return Section("mutants", "All mutants", [table], folded=count(len(report.result.mutants)))


def _method(report: Report) -> list[Block]:
    chosen, wilson = report.settings, percent_interval(report.result.summary.mutation_score_ci_mutants)
    limits = ", ".join(f"{name_words(name)} {threshold(v, name)}" for name, v in chosen.thresholds.items())
    return [
        Items(
            (
                "Original and mutant see the same test cases; a one-sided exact McNemar test asks whether "
                "the mutant is wrong more often. For stochastic mutants the repetitions are the unit: per "
                f"test case a binomial test against a rate of {chosen.p0:g}, the smallest p after Holm's "
                "adjustment.",
                "Over all mutants p-values are adjusted by Benjamini and Hochberg. Killed: adjusted p at "
                f"most {chosen.q:g} and an accuracy drop {threshold(chosen.delta, 'accuracy_drop')}; killed, "
                "weak: a smaller drop.",
                "Equivalent: no output moved. Duplicate: same outputs as an earlier mutant. Invalid: it "
                "failed or gave no finite output. These count neither for nor against the test suite.",
                "Mutation score: killed out of killed, killed weak, survived and inconclusive. Its interval "
                f"comes from resampling the test cases; over mutants (Wilson) it is {wilson}, and that one "
                "is shown with the score where no resample changes it.",
                "Secondary signals decide nothing: the smallest p of McNemar tests within the classes, "
                "adjusted by Holm, with its class (not for stochastic mutants); and how far the calibration "
                "error (ECE) and the autopsy score move, in points, with 95 % intervals from resampling the "
                "test cases in pairs.",
                "By fixed thresholds a mutant is killed when a signal moves far enough, by chance or not: "
                f"{limits}.",
            ),
            "ordered",
        )
    ]
