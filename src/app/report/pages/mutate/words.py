"""What a mutation report comes down to, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from app.report.blocks import Look
from app.report.pages.mutate import Report
from app.report.words import (
    UNDEFINED,
    count,
    name_words,
    number,
    p_value,
    percent,
    percent_interval,
    plural,
    points_interval,
    short,
)
from app.scoring.mutant_results import MutantResult
from app.scoring.results import OperatorScore, Summary

VERDICTS: Mapping[str, tuple[str, str, Look]] = {
    "killed": ("killed", "The test suite kills the mutant, and its effect is relevant.", "good"),
    "killed_weak": ("killed, weak", "Killed, but the accuracy drop is smaller than delta.", "weak-good"),
    "survived": ("survived", "The test suite does not kill the mutant.", "bad"),
    "inconclusive": ("inconclusive", "The budget was spent before a decision.", "mid"),
    "equivalent": ("equivalent", "No output moved: there is nothing to kill.", ""),
    "duplicate": ("duplicate", "Behaves exactly like an earlier mutant.", ""),
    "invalid": ("invalid", "Could not be judged: it failed, gave no finite output or did not apply.", ""),
}
"""Verdicts: label, meaning, look."""


def headline(report: Report) -> tuple[str, str]:
    """What the suite kills of the mutants, and what that means; empty campaigns have words too."""
    summary, n = report.result.summary, report.subject.n
    cases = plural(n, "test case")
    if summary.mutants == 0:
        return (
            f"No mutants were made, so nothing is known about your {cases}.",
            "Choose operators that apply to this model.",
        )
    if summary.judged == 0:
        nothing = f"None of the {plural(summary.mutants, 'mutant')} could be judged"
        return f"{nothing}: {_excluded(summary)}.", _none_judged(report)
    interval = score_interval(summary)
    shown = f", {interval}" if interval else ""
    sentence = (
        f"The test suite of {cases} kills {count(summary.killed)} of {plural(summary.judged, 'mutant')} "
        f"(mutation score {percent(summary.mutation_score)}{shown})."
    )
    parts = [
        _unkilled(report),
        *_too_few(report),
        *_weakest(report.result.by_operator),
        *_mostly_excluded(summary),
    ]
    return sentence, " ".join(parts)


def score_interval(summary: Summary) -> str:
    """The mutation score's interval in words: '95 % interval 65–74 %'; nothing if undefined.

    Over the test cases; where no resample of them changes the score, it has no width and would claim certainty,
    and the interval over mutants stands for it.
    """
    interval, over = summary.mutation_score_ci, ""
    wilson = summary.mutation_score_ci_mutants
    if interval is not None and interval[0] == interval[1] and percent_interval(wilson) != UNDEFINED:
        interval, over = wilson, "over mutants "
    shown = percent_interval(interval)
    return "" if shown == UNDEFINED else f"95 % interval {over}{shown}"


def closing_lines(report: Report, page_path: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: verdict, meaning, where the page lies, where the run can be seen."""
    lines = [*headline(report), f"Report: {page_path}"]
    return [*lines, f"MLflow: {link}"] if link else lines


def _none_judged(report: Report) -> str:
    reasons = Counter(
        each.reason for each in report.result.mutants if each.verdict == "invalid" and each.reason
    )
    known = f" Most often: {short(reasons.most_common(1)[0][0], 200)}." if reasons else ""
    return f"There is no mutation score.{known}"


def _excluded(summary: Summary) -> str:
    parts = {
        "invalid": summary.invalid,
        "equivalent (no output moved)": summary.equivalent,
        "duplicates": summary.duplicate,
    }
    return ", ".join(f"{count(n)} {word}" for word, n in parts.items() if n) or "no outcomes"


def _unkilled(report: Report) -> str:
    summary = report.result.summary
    if summary.judged == summary.killed:
        return "No mutant that was tried survives."
    clauses = []
    if summary.survived:
        clauses.append(
            f"{plural(summary.survived, 'mutant')} {'survives' if summary.survived == 1 else 'survive'}"
        )
    if summary.killed_weak:
        drop = number(100 * report.settings.delta, 1).removesuffix(".0")
        are, cost = ("is", "costs") if summary.killed_weak == 1 else ("are", "cost")
        unit = "point" if drop == "1" else "points"
        clauses.append(
            f"{count(summary.killed_weak)} {are} killed but {cost} less than {drop} {unit} of accuracy"
        )
    if summary.inconclusive:
        clauses.append(f"{count(summary.inconclusive)} could not be decided")
    rest = " A model broken in one of these ways would pass the tests." if summary.survived else ""
    return f"{'; '.join(clauses)}.{rest}"


def _too_few(report: Report) -> list[str]:
    """Where even a mutant that gets every test case wrong would not be significant."""
    accuracy, q = report.result.original.accuracy, report.settings.q
    right = round((accuracy or 0.0) * report.subject.n)
    if report.result.summary.killed or 0.5**right <= q:
        return []
    least = math.ceil(-math.log2(q))
    return [f"So few tests cannot tell: it takes at least {least} that the original gets right."]


def _mostly_excluded(summary: Summary) -> list[str]:
    if 2 * summary.judged > summary.mutants:
        return []
    aside = summary.mutants - summary.judged
    return [f"{count(aside)} of {plural(summary.mutants, 'mutant')} were excluded: {_excluded(summary)}."]


def _weakest(operators: Iterable[OperatorScore]) -> list[str]:
    weak = sorted((o for o in operators if o.weak), key=lambda o: o.mutation_score or 0.0)
    if not weak:
        return []
    shown = ", ".join(f"{short(o.operator, 40)} ({percent(o.mutation_score)})" for o in weak[:3])
    more = f" and {len(weak) - 3} more" if len(weak) > 3 else ""
    return [f"Fewer than half of the mutants are killed of {shown}{more}."]


def agreement(mutants: Iterable[MutantResult]) -> str:
    """Where thresholds and statistics part, in words."""
    pairs = Counter((x.verdict, x.verdict_thresholds) for x in mutants)
    by_chance = pairs["survived", "killed"]
    overlooked = pairs["killed", "survived"] + pairs["killed_weak", "survived"]
    said = []
    if by_chance:
        killed = plural(by_chance, "mutant")
        said.append(f"The thresholds count {killed} as killed whose change is not statistically significant.")
    if overlooked:
        missed = plural(overlooked, "mutant")
        said.append(f"The thresholds overlook {missed} whose small change is statistically significant.")
    return " ".join(said) or "Both ways of judging agree on every mutant that could be judged."


def note(mutant: MutantResult) -> str:
    """What else is to say about a mutant: the reason of its verdict, the signals that fired."""
    if mutant.reason:
        return mutant.reason
    notes = ["trivial"] if mutant.trivial else []
    if mutant.unchanged:
        notes.append("changed no parameter")
    if mutant.signals is not None:
        names = ("accuracy_drop", "recall_drop", "ece_rise", "autopsy_score_drop", "new_causes")
        notes += [name_words(name) for name in names if getattr(mutant.signals, name).fired]
    return ", ".join(notes)


def secondary(mutant: MutantResult) -> list[str]:
    """Secondary signals, a line each; nothing for a mutant that is not scored."""
    signals, lines = mutant.secondary, []
    if signals is None:
        return []
    if signals.class_recall is not None:
        name = f" ({short(signals.class_recall.name, 24)})" if signals.class_recall.name else ""
        lines.append(f"class p {p_value(signals.class_recall.p_adjusted)}{name}")
    if signals.ece_rise_ci is not None:
        lines.append(f"ECE {points_interval(signals.ece_rise_ci)}")
    if signals.autopsy_score_drop_ci is not None:
        # Shown as the score moves: a drop is negative.
        low, high = (-end / 100 for end in reversed(signals.autopsy_score_drop_ci))
        lines.append(f"score {points_interval((low, high))}")
    return lines


def threshold(value: float, signal: str) -> str:
    """A signal's threshold: points of 100, but cause types are counted."""
    if signal == "new_causes":
        return f"≥\u00a0{value:g}"
    shown = value if signal == "autopsy_score_drop" else 100 * value
    return f"≥\u00a0{round(shown, 6):g}\u00a0{'point' if shown == 1 else 'points'}"
