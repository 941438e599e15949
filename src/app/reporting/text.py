"""The words of a report: numbers as people read them, verdicts in words, and the lines a command ends with.

Only here do fractions become per cent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from app.reporting.mutants import Interval, Parameter, Verdict
from app.reporting.mutate import MutateReport, OperatorScore, Summary

UNDEFINED = "–"
"""Stands for a number that is not defined."""


@dataclass(frozen=True)
class VerdictWords:
    """A verdict in words."""

    label: str
    """One or two words."""
    meaning: str
    """What it says, in a sentence."""


VERDICTS: Mapping[Verdict, VerdictWords] = {
    "killed": VerdictWords("killed", "The test cases notice the fault, and its effect is relevant."),
    "killed_weak": VerdictWords("killed, weak", "Noticed, but the accuracy drop is smaller than delta."),
    "survived": VerdictWords("survived", "The test cases do not notice the fault."),
    "inconclusive": VerdictWords("inconclusive", "The budget was spent before a decision."),
    "equivalent": VerdictWords("equivalent", "No output moved: there is no fault to notice."),
    "duplicate": VerdictWords("duplicate", "Behaves exactly like an earlier mutant."),
    "invalid": VerdictWords(
        "invalid", "Could not be judged: it failed, gave no finite output or did not apply."
    ),
}


def defined(value: float | None) -> bool:
    """Whether there is a number: neither None nor NaN nor infinite."""
    return value is not None and math.isfinite(value)


def count(value: int) -> str:
    """A whole number with its thousands apart: 12,345."""
    return f"{value:,}"


def plural(value: int, one: str, many: str | None = None) -> str:
    """A count with its noun: 1 fault, 2 faults."""
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def number(value: float | None, digits: int = 2) -> str:
    """A number with fixed decimals and a true minus sign, a dash if undefined."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def per_cent(value: float | None, digits: int = 0) -> str:
    """A fraction as per cent without the sign: '80'.

    A number that is short of 100, or more than 0, never rounds to it: it gets the decimals that show so.
    """
    if value is None or not math.isfinite(value):
        return UNDEFINED
    text = number(100 * value, digits)
    hides = (value < 1 and text.startswith("100")) or (value > 0 and not text.strip("0."))
    return per_cent(value, digits + 1) if hides and digits < 3 else text


def percent(value: float | None, digits: int = 0) -> str:
    """A fraction as per cent: '80 %'."""
    text = per_cent(value, digits)
    return text if text == UNDEFINED else f"{text} %"


def percent_interval(interval: Interval, digits: int = 0) -> str:
    """An interval of fractions as per cent: '77–84 %'."""
    if interval is None or not (defined(interval[0]) and defined(interval[1])):
        return UNDEFINED
    low, high = per_cent(interval[0], digits), per_cent(interval[1], digits)
    return f"{low} to {high} %" if "−" in low + high else f"{low}–{high} %"


def points(value: float | None, digits: int = 1) -> str:
    """A difference of fractions as signed percentage points: '+2.1'."""
    text = number(None if value is None else 100 * value, digits)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.") else text


def points_interval(interval: Interval, digits: int = 1) -> str:
    """An interval of differences as percentage points: '+0.4 to +2.2'."""
    if interval is None or not (defined(interval[0]) and defined(interval[1])):
        return UNDEFINED
    return f"{points(interval[0], digits)} to {points(interval[1], digits)}"


def p_value(value: float | None) -> str:
    """A p-value: three decimals, or '< 0.001'."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def parameters(params: Mapping[str, Parameter]) -> str:
    """Parameters in one line: 'rate 0.3, block 5'."""
    return ", ".join(f"{name} {value}" for name, value in params.items())


def short(value: object, longest: int = 80) -> str:
    """Text cut in its middle to at most so many characters."""
    shown = str(value)
    if len(shown) <= longest:
        return shown
    tail = (longest - 1) // 2
    return f"{shown[: longest - 1 - tail]}…{shown[len(shown) - tail :]}"


@dataclass(frozen=True)
class Headline:
    """What a report comes down to."""

    sentence: str
    """The verdict, in one sentence."""
    meaning: str
    """What follows from it, in one to three sentences."""


def score_interval(summary: Summary) -> str:
    """The mutation score's interval in words: '95 % interval 65–74 %', a dash if undefined.

    Over the test cases; where no resample of them changes the score, it has no width and would claim certainty,
    and the interval over mutants stands for it.
    """
    interval, over = summary.mutation_score_ci, ""
    wilson = summary.mutation_score_ci_mutants
    if interval is not None and interval[0] == interval[1] and percent_interval(wilson) != UNDEFINED:
        interval, over = wilson, "over mutants "
    shown = percent_interval(interval)
    return shown if shown == UNDEFINED else f"95 % interval {over}{shown}"


def headline(report: MutateReport) -> Headline:
    """What the test cases notice of the mutants, and what that means; empty campaigns have words too."""
    summary, n = report.summary, report.subject.n
    cases = plural(n, "test case")
    if summary.mutants == 0:
        return Headline(f"No mutants were made, so nothing is known about your {cases}.", _NO_MUTANTS)
    if summary.judged == 0:
        nothing = f"None of the {plural(summary.mutants, 'mutant')} could be judged"
        return Headline(f"{nothing}: {_set_aside(summary)}.", _none_judged(report))
    interval = score_interval(summary)
    shown = f", {interval}" if interval != UNDEFINED else ""
    sentence = (
        f"Your {cases} {'notices' if n == 1 else 'notice'} {count(summary.killed)} of "
        f"{plural(summary.judged, 'fault')} ({percent(summary.mutation_score)}{shown})."
    )
    parts = [_unnoticed(report), *_too_few(report), *_weakest(report.by_operator), *_mostly_unjudged(summary)]
    return Headline(sentence, " ".join(parts))


_NO_MUTANTS = "Choose operators that apply to this model."


def _none_judged(report: MutateReport) -> str:
    reasons = Counter(each.reason for each in report.mutants if each.verdict == "invalid" and each.reason)
    known = f" Most often: {short(reasons.most_common(1)[0][0], 200)}." if reasons else ""
    return f"There is no mutation score.{known}"


def _set_aside(summary: Summary) -> str:
    parts = {
        "invalid": summary.invalid,
        "equivalent (no output moved)": summary.equivalent,
        "duplicates": summary.duplicate,
    }
    return ", ".join(f"{count(n)} {word}" for word, n in parts.items() if n) or "no outcomes"


def _unnoticed(report: MutateReport) -> str:
    summary = report.summary
    if summary.judged == summary.killed:
        return "No fault that was tried goes unnoticed."
    clauses = []
    if summary.survived:
        goes = "goes" if summary.survived == 1 else "go"
        clauses.append(f"{plural(summary.survived, 'fault')} {goes} unnoticed")
    if summary.killed_weak:
        drop = number(100 * report.settings.delta, 1).removesuffix(".0")
        are, cost = ("is", "costs") if summary.killed_weak == 1 else ("are", "cost")
        unit = "point" if drop == "1" else "points"
        noticed = f"{are} noticed but {cost} less than {drop} {unit} of accuracy"
        clauses.append(f"{count(summary.killed_weak)} {noticed}")
    if summary.inconclusive:
        clauses.append(f"{count(summary.inconclusive)} could not be decided")
    rest = " A model broken in an unnoticed way would pass these tests." if summary.survived else ""
    return f"{'; '.join(clauses)}.{rest}"


def _too_few(report: MutateReport) -> list[str]:
    """Where even a mutant that gets every test case wrong would not be significant."""
    accuracy, q = report.original.accuracy, report.settings.q
    right = round((accuracy or 0.0) * report.subject.n)
    if report.summary.killed or 0.5**right <= q:
        return []
    least = math.ceil(-math.log2(q))
    return [f"So few tests cannot tell: it takes at least {least} that the original gets right."]


def _mostly_unjudged(summary: Summary) -> list[str]:
    if 2 * summary.judged > summary.mutants:
        return []
    aside = summary.mutants - summary.judged
    return [f"{count(aside)} of {plural(summary.mutants, 'mutant')} were set aside: {_set_aside(summary)}."]


def _weakest(operators: tuple[OperatorScore, ...]) -> list[str]:
    weak = sorted((o for o in operators if o.weak), key=lambda o: o.mutation_score or 0.0)
    if not weak:
        return []
    shown = ", ".join(f"{short(o.operator, 40)} ({percent(o.mutation_score)})" for o in weak[:3])
    more = f" and {len(weak) - 3} more" if len(weak) > 3 else ""
    return [f"Under half is noticed of {shown}{more}."]


def closing_lines(report: MutateReport, page: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: verdict, meaning, where the page lies, where the run can be seen.

    Args:
        report: The report.
        page: Path of the page.
        link: Address of the run in MLflow's UI, if there is one.
    """
    head = headline(report)
    lines = [head.sentence, head.meaning, f"Report: {page}"]
    return [*lines, f"MLflow: {link}"] if link else lines
