"""What a comparison comes down to, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.comparison.results import Comparability, Decision, Delta, Judgement, Verdict
from app.measures import PARTS, Unit
from app.report.blocks import Headline
from app.report.words import UNDEFINED, count, defined, number, p_value, percent, plural, points, short
from app.reporting.compare.report import CompareReport

VERDICTS: Mapping[Verdict, str] = {
    "improved": "It got better",
    "regressed": "It got worse",
    "unchanged": "Nothing changed",
    "unknown": "Nobody can tell",
}
"""Verdicts as a sentence begins."""
LOOKS: Mapping[str, str] = {
    "improved": "killed",
    "regressed": "survived",
    "unchanged": "",
    "unknown": "inconclusive",
    "better": "killed",
    "worse": "survived",
    "within noise": "",
    "equal": "",
    "changed": "inconclusive",
    "untested": "inconclusive",
}
"""The badge of each verdict and judgement."""
ANSWERS = frozenset({"mutate/mutation_score", "estimate/estimated_accuracy"})
"""What answers the questions of a checkup."""
JUDGEMENTS: Mapping[Judgement, str] = {
    "better": "better",
    "worse": "worse",
    "within noise": "within noise",
    "equal": "equal",
    "changed": "changed",
    "untested": "not tested",
    "unknown": UNDEFINED,
}


def value(amount: float | None, unit: Unit) -> str:
    """A number as people read it."""
    if amount is None or not defined(amount):
        return UNDEFINED
    if unit == "share":
        return percent(amount, 1)
    if unit == "count":
        return number(amount, 0)
    return number(amount, 1) if unit == "score" else number(amount, 3)


def moved(amount: float | None, unit: Unit) -> str:
    """A difference, signed: '−1.2'; shares in percentage points."""
    return _signed(amount, unit, _digits(unit, amount))


def moved_interval(ends: tuple[float, float] | None, unit: Unit) -> str:
    """The interval of a difference: '−2.0 to −0.4'."""
    if ends is None:
        return UNDEFINED
    digits = _digits(unit, *ends)
    return f"{_signed(ends[0], unit, digits)} to {_signed(ends[1], unit, digits)}"


def _signed(amount: float | None, unit: Unit, digits: int) -> str:
    if amount is None or not defined(amount):
        return UNDEFINED
    if unit == "share":
        return points(amount, digits)
    shown = number(amount, digits)
    return f"+{shown}" if amount > 0 and shown.strip("0.") else shown


def _digits(unit: Unit, *amounts: float | None) -> int:
    """Decimals of differences: one of points, or what the largest needs."""
    if unit in {"count", "number"}:
        return 0 if unit == "count" else 3
    largest = max((abs(each) for each in amounts if each is not None), default=0.0)
    return 2 if 0 < largest * (100 if unit == "share" else 1) < 0.095 else 1


def test(delta: Delta) -> str:
    """How chance was taken into account, in words; empty if it was not."""
    same = f"the same {plural(delta.n or 0, _units(delta).removesuffix('s'))}"
    return {
        "mcnemar": f"exact McNemar test on {same}",
        "paired bootstrap": f"bootstrap of {same}",
        "bootstrap": "bootstrap of each run’s own test cases",
        "paired means": f"Student’s t over {same}",
        "intervals": "from both intervals, as if the runs were independent",
        "simulation": "from the number of repetitions",
        None: "",
    }[delta.method]


_UNITS = {
    **dict.fromkeys(
        ("mutation_score", "mutation_score_common", "img_ms_mg", "obj_ms_mg", "ms_iou"), "mutants"
    ),
    "estimated_accuracy": "labels",
    "mean_ap": "images",
    "copied": "pictures",
    "rmse_ratio": "repetitions",
}


def _units(delta: Delta) -> str:
    """What a number is measured on."""
    stem, _, rest = delta.key.partition("/")
    return _UNITS.get(rest.partition("/")[0] if stem in PARTS else stem, "test cases")


def change(delta: Delta) -> str:
    """A difference in a clause: 'accuracy fell from 91.4 % to 88.3 %'."""
    name = inside(delta.title)
    if delta.difference is None:
        return f"{name} is not in both reports"
    before, after = value(delta.before, delta.unit), value(delta.after, delta.unit)
    if delta.judgement == "equal":
        return f"{name} is {after} in both"
    verb = "rose" if delta.difference > 0 else "fell"
    if before == after:
        unit = " points" if delta.unit in {"share", "score"} else ""
        return f"{name} {verb} by {moved(abs(delta.difference), delta.unit).lstrip('+')}{unit}"
    return f"{name} {verb} from {before} to {after}"


def both(delta: Delta) -> str:
    """Both numbers in a clause that claims no change: 'accuracy is 91.4 % and was 91.0 %'."""
    before, after = value(delta.before, delta.unit), value(delta.after, delta.unit)
    return change(delta) if before == after else f"{inside(delta.title)} is {after} and was {before}"


def inside(title: str) -> str:
    """A title inside a sentence: its first letter small, unless it begins with an abbreviation."""
    first = title.split(" ", 1)[0]
    return title if any(letter.isupper() for letter in first[1:]) else title[:1].lower() + title[1:]


def evidence(delta: Delta) -> str:
    """What is known about chance: '−3.1 points, 95 % interval −4.6 to −1.7, exact McNemar test on …, p 0.001'."""
    if delta.judgement == "equal":
        return ""
    if delta.method is None:
        return "nothing is known about chance" if delta.judgement == "untested" else ""
    unit = " points" if delta.unit in {"share", "score"} else ""
    told = [f"{moved(delta.difference, delta.unit)}{unit}"]
    if delta.ci is not None:
        told.append(f"95 % interval {moved_interval(delta.ci, delta.unit)}")
    told.append(test(delta))
    if delta.p_value is not None:
        told.append(f"p {p_value(delta.p_value)}")
    return ", ".join(told)


def decided_by(decision: Decision, deltas: Sequence[Delta]) -> str:
    """The rule that decided, as a sentence that begins small."""
    delta = next((each for each in deltas if each.key == decision.key), None)
    if delta is None:
        if decision.rule == "different things":
            return "the numbers that could decide are of different things"
        return "the reports share no number that could decide"
    known = evidence(delta)
    behind = f" ({known})" if known else ""
    limit = _limit(decision, delta.unit)
    ending = {
        "beyond noise": f": beyond chance, and at least {limit}",
        "by size alone": f": at least {limit}; the reports do not say what chance explains",
        "a fact": "",
        "within noise": ": chance alone explains it",
        "too small": f": less than {limit}",
        "equal": "",
        "nothing shared": "",
        "different things": "",
    }[decision.rule]
    against = [_brief(each) for key in decision.against for each in deltas if each.key == key]
    other = f"; yet {', '.join(against)}" if against else ""
    return f"{change(delta)}{behind}{ending}{other}"


def _brief(delta: Delta) -> str:
    return change(delta)


def _limit(decision: Decision, unit: Unit) -> str:
    if decision.smallest is None:
        return "what matters"
    if unit == "share":
        return plural_points(100 * decision.smallest)
    return plural_points(decision.smallest) if unit == "score" else number(decision.smallest, 2)


def plural_points(amount: float) -> str:
    """Points with their noun: '1 point', '0.5 points'."""
    return f"{amount:g} point{'' if amount == 1 else 's'}"


def headline(report: CompareReport) -> Headline:
    """The verdict, and what it rests on."""
    return verdict_words(report.verdict, report.decision, report.deltas, report.comparability)


def verdict_words(
    verdict: Verdict, decision: Decision, deltas: Sequence[Delta], common: Comparability
) -> Headline:
    """The verdict in a sentence, and what it rests on in one to three more."""
    delta = next((each for each in deltas if each.key == decision.key), None)
    if delta is None:
        return _unknown(common)
    begin = VERDICTS[verdict]
    if decision.rule == "within noise":
        begin = "Nothing changed beyond chance"
    elif decision.rule == "too small":
        begin = "Nothing changed that matters"
    sentence = f"{begin}: {both(delta) if decision.rule == 'within noise' else change(delta)}."
    known = evidence(delta)
    told = [f"{known[0].upper()}{known[1:]}."] if known else []
    if decision.rule == "within noise":
        told.append(f"Chance alone explains so much; more {_units(delta)} would tell more.")
    elif decision.rule == "too small":
        told.append(f"Differences from {_limit(decision, delta.unit)} on count.")
    elif decision.rule == "by size alone":
        told.append("The reports do not say how much of it is chance.")
    elif decision.rule == "a fact":
        what = "It counts every case" if delta.unit == "share" else "This is a count"
        told.append(f"{what}: there is no chance in it.")
    if decision.rule == "equal" and delta.n:
        told.append(f"The same {plural(delta.n, _units(delta).removesuffix('s'))} were compared one by one.")
    if delta.key == "autopsy_score" and decision.rule != "equal":
        told += _most_moved(delta, deltas)
    against = [_brief(each) for key in decision.against for each in deltas if each.key == key]
    if against:
        told.append(f"Yet {', '.join(against)}.")
    if common.same_data is False and not common.same_cases:
        told.append("The data differ, so that the data may be the cause as well as the model.")
    return Headline(sentence, " ".join(told))


def _most_moved(score: Delta, deltas: Sequence[Delta]) -> list[str]:
    """The sub-score that moved most in the direction of the score."""
    sign = 1 if (score.difference or 0.0) > 0 else -1
    parts = [
        each for each in deltas if each.key.startswith("sub_score/") and sign * (each.difference or 0.0) > 0
    ]
    if not parts:
        return []
    most = max(parts, key=lambda each: abs(each.difference or 0.0))
    told = change(most).replace("sub-score, ", "sub-score ")
    return [f"{told[0].upper()}{told[1:]}."]


def _unknown(common: Comparability) -> Headline:
    """Why nobody can tell, and what to do about it."""
    reasons = [f"{each.name}: {each.reason}" for each in common.skipped_sections]
    told = f"{'; '.join(reasons)}." if reasons else "Compare reports that measure the same."
    if common.otherwise:
        what = f"the two runs measured different things: other {_joined(common.otherwise)}"
        more = "Repeat the first run as the second was made, and compare those." + (
            f" {told}" if reasons else ""
        )
        return Headline(f"{VERDICTS['unknown']}: {what}.", more)
    waiting = [each.name for each in common.skipped_sections if each.name in {"before", "after"}]
    why = "the reports share no number that could decide"
    if len(waiting) == 1:
        which = "first" if waiting == ["before"] else "second"
        why = f"the {which} run still waits for labels and has no estimate yet"
    elif waiting:
        why = "both runs still wait for labels and have no estimate yet"
    return Headline(f"{VERDICTS['unknown']}: {why}.", f"{told[0].upper()}{told[1:]}")


def _joined(names: Sequence[str]) -> str:
    """Names in a sentence: 'a, b and c'."""
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def facts(common: Comparability) -> list[tuple[str, str, str]]:
    """What the runs have in common: what, the answer, and its badge."""
    answers = {True: ("the same", "killed"), False: ("another", "inconclusive"), None: ("not known", "")}
    told = [
        *([] if common.artifact == "assay.contaminate" else [("Model", *answers[common.same_model])]),
        ("Data", *answers[common.same_data]),
        ("Settings", *(("the same", "killed") if common.same_settings else ("differ", "inconclusive"))),
        ("Classes", *(("the same", "killed") if common.same_classes else ("differ", "inconclusive"))),
    ]
    if common.artifact in {"assay.autopsy", "assay.mutate", "assay.checkup"}:
        shown = f"{count(common.shared_cases or 0)} compared one by one"
        told.append(
            ("Test cases", *((shown, "killed") if common.same_cases else ("not paired", "inconclusive")))
        )
    return told


def closing_lines(report: CompareReport, page: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: verdict, what decided it, what moved, where page and run are.

    Args:
        report: The report.
        page: Path of the page.
        link: Address of the run in MLflow's UI, if there is one.
    """
    head = headline(report)
    noise = " (within noise)" if report.within_noise else ""
    lines = [f"{report.verdict.capitalize()}{noise}. {head.sentence}", head.meaning]
    lines.append(f"Before: {report.before.source}; after: {report.after.source}")
    lines += [_line(each) for each in leading(report) if each.key != report.decision.key][:6]
    lines += _counts(report)
    lines += [f"Note: {short(note, 300)}." for note in report.comparability.notes]
    lines.append(f"Report: {page}")
    return [*[line for line in lines if line], *([f"MLflow: {link}"] if link else [])]


def leading(report: CompareReport) -> list[Delta]:
    """The numbers that stand for the reports; of checkups those that decided a part or answer its question."""
    found = [each for each in report.deltas if each.headline]
    decided = {
        f"{part.name}/{part.comparison.decision.key}" for part in report.parts if part.comparison is not None
    }
    if not report.parts:
        return found
    return [each for each in found if each.key in {*decided, *ANSWERS}]


def _line(delta: Delta) -> str:
    verdict = JUDGEMENTS[delta.judgement]
    if delta.difference is None:
        return f"- {delta.title}: {delta.note or 'not in both reports'}"
    before, after = value(delta.before, delta.unit), value(delta.after, delta.unit)
    return f"- {delta.title}: {before} → {after} ({verdict})"


def _counts(report: CompareReport) -> list[str]:
    told = []
    if report.mutants is not None:
        new, lost = len(report.mutants.newly_killed), len(report.mutants.newly_surviving)
        told.append(
            f"- Mutants: {count(new)} newly noticed, {count(lost)} no longer, of {count(report.mutants.common)} common"
        )
    if report.causes is not None and (report.causes.new or report.causes.resolved):
        new, gone = len(report.causes.new), len(report.causes.resolved)
        told.append(
            f"- Causes: {count(new)} new, {count(gone)} resolved, {count(len(report.causes.persisting))} persist"
        )
    told += [
        f"- {part.name.capitalize()}: {part.comparison.verdict if part.comparison else part.reason}"
        for part in report.parts
    ]
    return told


def gate(report: CompareReport) -> str:
    """Why the gate does not let it pass, in one line."""
    why = report.decided_by
    if not report.decision.key:
        why = headline(report).sentence.partition(": ")[2].removesuffix(".")
    return f"{report.verdict}: {why}"
