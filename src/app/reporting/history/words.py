"""The words of a history: numbers by their unit, what a trend means, and the lines a command ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.report import words as text
from app.report.blocks import Headline
from app.report.words import short
from app.reporting.history.report import HistoryReport, Series, Trend
from app.stats.change_points import FEWEST

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TRENDS: Mapping[Trend, str] = {
    "better": "better",
    "worse": "worse",
    "up": "up",
    "down": "down",
    "unchanged": "no clear change",
    "unknown": "cannot tell",
}
LOOKS: Mapping[str, str] = {"better": "killed", "worse": "survived", "up": "", "down": "", "unchanged": ""}
"""Badges of trends."""
CHANGED = {
    "model": "other model",
    "data": "other data",
    "classes": "other classes",
    "version": "other version",
}
MOVES: Mapping[Trend, str] = {
    "worse": "is worse",
    "better": "is better",
    "up": "went up",
    "down": "went down",
}
"""Trends in a sentence, those first that matter most."""
NAMED = 4
"""Series that the sentence names."""


def shown(value: float | None, unit: str) -> str:
    """A number by its unit: a fraction as per cent."""
    if unit == "share":
        return text.percent(value, 1)
    if unit == "count" and value is not None and text.defined(value):
        return text.number(value, 0 if abs(value - round(value)) < 1e-9 else 1)
    return text.number(value, 1 if unit == "score" else 3)


def moved(value: float | None, unit: str) -> str:
    """A difference by its unit, with its sign: of fractions in percentage points."""
    if value is None or not text.defined(value):
        return text.UNDEFINED
    if unit == "share":
        return text.points(value)
    plain = shown(value, unit)
    return f"+{plain}" if value > 0 and plain.strip("0.") else plain


def day(time: str, *, clock: bool = False) -> str:
    """A time as people write it: 3 May 2026, or with the clock."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    date = f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"
    return f"{date}, {moment:%H:%M}" if clock else date


def span(times: Sequence[str]) -> str:
    """From the first time to the last: '5 to 22 Jan 2026'; with the clock if both are of one day."""
    if not times:
        return ""
    first, last = (day(time, clock=True).split(", ") for time in (times[0], times[-1]))
    if first[0] == last[0]:
        return ", ".join(first) + (f" to {last[-1]}" if first != last else "")
    one, other = first[0].split(), last[0].split()
    while one and one[-1] == other[-1]:
        one.pop()
        other.pop()
    return f"{' '.join(one)} to {last[0]}"


def ends(series: Series) -> str:
    """The first number and the last: '91.2 to 91.4 %'."""
    if series.first is None or series.last is None:
        return text.UNDEFINED
    return between(series.first.value, series.last.value, series.unit)


def between(before: float, after: float, unit: str) -> str:
    """One number and another: '91.2 to 91.4 %'; only one if they look the same."""
    first, last = shown(before, unit), shown(after, unit)
    if first == last:
        return last
    return f"{first.removesuffix(' %') if last.endswith(' %') else first} to {last}"


def trend(series: Series) -> str:
    """Last against first in words: 'no clear change (91.2 to 91.4 %)'."""
    return f"{TRENDS[series.trend]} ({ends(series)})"


def sentence(report: HistoryReport) -> str:
    """The verdict in one sentence: what moved, the worst first, and over which runs."""
    moves = _moves(report.judged)
    parts = [f"{_lower(each.title)} {MOVES[each.trend]} ({ends(each)})" for each in moves[:NAMED]]
    still = [_lower(each.title) for each in report.judged if each.trend == "unchanged"]
    if len(moves) > NAMED:
        parts.append(f"{len(moves) - NAMED} more moved")
    if still and not moves:
        parts.append(f"no clear change in {_listed(still)}")
    said = _listed(parts, len(parts)) if parts else "noise may explain all that moved"
    runs = f"{text.plural(len(report.runs), 'run')} of {report.settings.task}"
    return f"{said[:1].upper()}{said[1:]} over {runs}, {span([each.time for each in report.runs])}."


def _moves(series: Sequence[Series]) -> list[Series]:
    """Series that moved, the worse ones first."""
    moved = [each for each in series if each.trend in MOVES]
    return sorted(moved, key=lambda each: [*MOVES].index(each.trend))


def _listed(names: Sequence[str], most: int = NAMED) -> str:
    """Names in a row, with how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _lower(title: str) -> str:
    """A title inside a sentence; abbreviations stay as they are."""
    return title if title[1:2].isupper() or "MS" in title or "mAP" in title else title[:1].lower() + title[1:]


def headline(report: HistoryReport) -> Headline:
    """The verdict, what else moved or did not, and what moved last."""
    still, unknown = (sum(each.trend == kind for each in report.judged) for kind in ("unchanged", "unknown"))
    told = []
    if still and _moves(report.judged):
        told.append(f"{text.plural(still, 'other measure')} did not clearly change.")
    if unknown:
        told.append(f"{text.plural(unknown, 'measure')} cannot be told from noise yet.")
    counts = _moves([each for each in report.headlines if each not in report.judged])
    if counts:
        names = _listed([f"{_lower(each.title)} ({ends(each)})" for each in counts])
        told.append(f"Counts that moved, perhaps by chance: {names}.")
    return Headline(report.sentence, " ".join([*told, _last_moves(report)]))


def _last_moves(report: HistoryReport) -> str:
    """When headline series moved last; how many numbers are needed where none has enough."""
    changes = [(each, series) for series in report.headlines for each in series.change_points]
    if not changes:
        if all(series.noise is None for series in report.headlines):
            return f"Lasting changes are looked for from {FEWEST} numbers on."
        return "No lasting change of level was found."
    newest = max(each.index for each, _ in changes)
    moves = [(each, series) for each, series in changes if each.index == newest]
    names = [
        f"{_lower(series.title)} ({between(each.before, each.after, series.unit)})" for each, series in moves
    ]
    also = [each for each in report.runs[newest].changed if each != "version"]
    because = f", when the {' and the '.join(also)} changed too" if also else ""
    return f"The last lasting change was on {day(moves[0][0].time)}{because}: {_listed(names)}."


def left_out(report: HistoryReport) -> str:
    """How many runs are not in the history, in words; empty for none."""
    if not report.n_excluded:
        return ""
    return (
        f"{text.plural(report.n_excluded, 'run or file', 'runs or files')} left out, listed with the reason."
    )


def closing_lines(report: HistoryReport, page: str, link: str | None = None) -> list[str]:
    """The lines a command ends with: what was chosen, the verdict, what to know, where the page and the run are."""
    head = headline(report)
    lines = [report.settings.chosen, head.sentence, " ".join(filter(None, [head.meaning, left_out(report)]))]
    lines += [f"Note: {short(note, 300)}" for note in report.subject.notes]
    lines.append(f"Report: {page}")
    return [*lines, f"MLflow: {link}"] if link else lines
