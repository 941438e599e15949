"""What a sweep comes down to, in words, and its jobs as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.report import words as text
from app.report.blocks import Headline
from app.report.words import count, plural, short
from app.reporting.sweep.report import JobRow, Spread, Status, SweepReport, Value

STATUSES: Mapping[Status, str] = {
    "finished": "killed",
    "failed": "survived",
    "interrupted": "inconclusive",
    "refused": "survived",
}
"""The badge of each status."""
COLUMNS, ROWS = 3, 40
"""Numbers of a job, and jobs, that the terminal shows."""


def shown(value: float, unit: str, digits: int = 1) -> str:
    """A number as people read it."""
    if not text.defined(value):
        return text.UNDEFINED
    if unit == "share":
        return text.percent(value, digits)
    if unit == "count":
        return count(round(value)) if float(value).is_integer() else text.number(value, 1)
    return text.number(value, 1 if unit == "score" else 3)


def shown_interval(value: Value, unit: str) -> str:
    """An interval in the form of its number; empty where there is none."""
    if value.interval is None:
        return ""
    if unit == "share":
        return text.percent_interval(value.interval, 1)
    low, high = (shown(end, unit) for end in value.interval)
    return f"{low} to {high}"


def differs(spread: Spread) -> bool:
    """Whether a number differs between jobs."""
    return spread.n > 1 and spread.least != spread.most


def foremost(report: SweepReport) -> tuple[Spread, ...]:
    """The numbers in the order of interest: those that differ between jobs first."""
    return tuple(sorted(report.spreads, key=lambda each: (not each.n, not differs(each) and each.n > 1)))


def headline(report: SweepReport) -> Headline:
    """How many jobs finished, and how far their foremost number moves."""
    summary = report.summary
    jobs = plural(summary.jobs, "job")
    told = (
        f"All {jobs} finished"
        if summary.finished == summary.jobs > 1
        else f"{count(summary.finished)} of {jobs} finished"
    )
    spreads = [each for each in foremost(report) if each.n]
    if not spreads:
        return Headline(f"{told}.", _unfinished(report) or "None has a number to compare.")
    first = spreads[0]
    name = _title(first)
    if not differs(first):
        where = "in all of them" if first.n > 1 else "in the one that did"
        return Headline(f"{told}; {name} is {shown(first.most, first.unit)} {where}.", _unfinished(report))
    ends = f"{shown(first.least, first.unit)} to {shown(first.most, first.unit)}"
    if first.unit == "share":
        ends = text.percent_interval((first.least, first.most), 1)
    best = next((each.label for each in report.jobs if each.job == first.best), "")
    told = f"{told}; {name} goes from {ends}" if " to " in ends else f"{told}; {name} is {ends}"
    return Headline(f"{told}{f', best with {short(best, 80)}' if best else ''}.", _meaning(report, first))


def _title(spread: Spread) -> str:
    """In the midst of a sentence."""
    word, _, rest = spread.title.partition(" ")
    lower = word.lower() if word.istitle() else word
    return f"{lower} {rest}".strip()


def _meaning(report: SweepReport, first: Spread) -> str:
    sd = f"{text.number(100 * first.sd, 1)} points" if first.unit == "share" else shown(first.sd, first.unit)
    told = [f"Mean {shown(first.mean, first.unit)}, standard deviation between jobs {sd}."]
    if first.overlap:
        told.append("The intervals of all jobs overlap: what differs may be noise, which task=compare tells.")
    return " ".join([*told, _unfinished(report)]).strip()


def _unfinished(report: SweepReport) -> str:
    summary = report.summary
    parts = {
        "failed": summary.failed,
        "interrupted": summary.interrupted,
        "refused for a mistake": summary.refused,
    }
    told = [f"{count(n)} {'was ' if n == 1 else 'were '}{word}" for word, n in parts.items() if n]
    return (
        f"{', '.join(told).replace('was failed', 'failed').replace('were failed', 'failed')}." if told else ""
    )


def note(report: SweepReport) -> list[str]:
    """The paragraphs that describe the sweep's run in MLflow's pages."""
    head = headline(report)
    return [head.sentence, *([head.meaning] if head.meaning else []), *map(trouble, _troubled(report))]


def _troubled(report: SweepReport) -> list[JobRow]:
    return [each for each in report.jobs if each.status != "finished"]


def trouble(row: JobRow) -> str:
    """Why a job did not finish."""
    label = f" ({short(row.label, 80)})" if row.label else ""
    return (
        f"Job {row.job}{label} was {row.status}{f': {short(row.reason, 300)}' if row.reason else ''}".replace(
            "was failed", "failed"
        )
    )


def table(report: SweepReport) -> list[str]:
    """The jobs as lines of equal columns: number, what differs, status, the foremost numbers."""
    spreads = [each for each in foremost(report) if each.n][:COLUMNS]
    rows = [["job", *(short(key, 30) for key in report.swept), "status", *(each.title for each in spreads)]]
    for each in report.jobs[:ROWS]:
        numbers = []
        for spread in spreads:
            value = each.values.get(spread.key)
            interval = "" if value is None else shown_interval(value, spread.unit)
            number = text.UNDEFINED if value is None else shown(value.value, spread.unit)
            numbers.append(f"{number} ({interval})" if interval else number)
        chosen = [short(value, 30) for value in each.overrides.values()]
        rows.append([str(each.job), *chosen, each.status, *numbers])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return [*lines, f"and {count(len(report.jobs) - ROWS)} more"] if len(report.jobs) > ROWS else lines


def closing_lines(report: SweepReport, page: str, link: str | None = None) -> list[str]:
    """The lines a sweep ends with: its jobs, verdict, what did not finish and how to go on, where page and run are.

    Why a job was refused is said beside them, where errors are.

    Args:
        report: The report.
        page: Path of the page.
        link: Address of the sweep's run in MLflow's pages, if there is one.
    """
    head = headline(report)
    lines = ["", *table(report), "", head.sentence, *([head.meaning] if head.meaning else [])]
    for each in [row for row in _troubled(report) if row.status != "refused"][:5]:
        go_on = "Go on with it" if " resume=" in each.command else "Run it again"
        lines += [trouble(each), f"  {go_on}: {each.command}"]
    lines.append(f"Report: {page}")
    return [*lines, f"MLflow: {link}"] if link else lines


def mean_words(spread: Spread) -> Sequence[str]:
    """Mean, standard deviation, least and most of a number, as people read them."""
    values = (spread.mean, spread.sd, spread.least, spread.most)
    return [shown(value, spread.unit) for value in values]
