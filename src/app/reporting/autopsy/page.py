"""The page of an autopsy: what it shows, taken from the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from app.report import words as text
from app.reporting import html
from app.reporting.autopsy import drawing, words
from app.reporting.autopsy.parts import Suspect
from app.reporting.autopsy.report import AutopsyReport, Finding
from app.reporting.autopsy.words import gravest_first

PICTURE_BYTES = 2_400_000
"""All pictures of a page together, as they stand in it."""
OF_FINDING, OF_SUSPECTS = 9, 27
"""Thumbnails of a finding, of label suspects."""
FINDINGS = 40
"""Findings shown in full."""


@dataclass(frozen=True)
class Shown:
    """A test case as a page shows it."""

    picture: bytes | None
    """A small picture's file; None without pictures."""
    path: str
    """What it is called."""
    label: str
    """Its class."""
    predicted: str
    """The predicted class."""
    confidence: float
    """Its probability."""

    @property
    def right(self) -> bool:
        """Whether the prediction is the label."""
        return self.label == self.predicted


@dataclass(frozen=True)
class BarLine:
    """One bar of a small picture."""

    name: str
    """What it stands for."""
    fraction: float
    """Its length, 0 to 1."""
    value: str
    """Its number in words."""
    bad: bool = False
    """Whether it is the one at fault."""


@dataclass(frozen=True)
class FindingView:
    """A finding with its picture."""

    finding: Finding
    """As in the report."""
    title: str
    """In a few words."""
    meaning: str
    """What it says."""
    evidence: list[tuple[str, str]]
    """Numbers in words."""
    cases: list[int]
    """Test cases shown as thumbnails."""
    bars: list[BarLine]
    """A small picture."""
    reliability: bool
    """Whether the reliability diagram is its picture."""
    place: bool
    """Whether its cases are marked among the embeddings."""


def autopsy_page(
    report: AutopsyReport,
    shown: Mapping[int, Shown] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> str:
    """The page as HTML; equal arguments give equal text.

    Args:
        report: the report.
        shown: test cases with their pictures.
        files: pictures of overlays, by their names beside the report; `NAME_seen.jpg` is the picture without map.

    Raises:
        ValueError: a picture that is none.
    """
    given = shown or {}
    budget = _Budget(PICTURE_BYTES)
    overlays = _overlays(report, files or {}, budget)
    uris = {
        case: uri
        for case, uses in _uses(report).items()
        if case in given and (uri := budget.uri(given[case].picture, uses)) is not None
    }
    return html.render(
        "autopsy.html.j2",
        report=report,
        kind="autopsy report",
        title=f"{text.short(report.subject.name)}: autopsy report",
        head=words.headline(report),
        words_of=words,
        findings=[view(report, each) for each in gravest_first(report)[:FINDINGS]],
        bars=drawing.bars(report.calibration.bins),
        square=(drawing.SIDE, drawing.MARGIN),
        grid=drawing.grid(report),
        label_room=drawing.LABEL_ROOM,
        scatter=drawing.scatter(report),
        canvas=(drawing.WIDE, drawing.HIGH),
        shown=given,
        uris=uris,
        overlays=overlays,
        kinds={kind: [each for each in report.hard_examples if each.kind == kind] for kind in words.KINDS},
        renamed=[
            (each.name, column)
            for each, column in zip(report.per_class, report.class_order.columns, strict=False)
            if each.name != column
        ],
        suspects=_suspects(report),
    )


def cases_to_show(report: AutopsyReport) -> list[int]:
    """Test cases whose picture the page wants, the most important first, each once."""
    return list(_uses(report))


def _uses(report: AutopsyReport) -> Counter[int]:
    """How often the page shows each test case, in the order of importance."""
    wanted = [case for each in gravest_first(report)[:FINDINGS] for case in each.cases[:OF_FINDING]]
    wanted += [each.case for each in report.hard_examples]
    wanted += [each.case for each in _suspects(report)]
    return Counter(wanted)


def view(report: AutopsyReport, finding: Finding) -> FindingView:
    """A finding with what pictures it."""
    kind = finding.cause_type
    return FindingView(
        finding=finding,
        title=words.title(finding),
        meaning=words.meaning(finding),
        evidence=words.evidence(finding),
        cases=list(finding.cases[:OF_FINDING]),
        bars=_bars(report, finding),
        reliability=kind in {"overconfidence", "underconfidence"},
        place=kind == "hidden_slice" and report.embeddings is not None,
    )


def _bars(report: AutopsyReport, finding: Finding) -> list[BarLine]:
    numbers, accuracy = finding.evidence, report.summary.accuracy or 0.0
    lines: list[BarLine] = []
    if finding.cause_type == "overfitting":
        training = accuracy + numbers["accuracy_gap"]
        lines = [_rate("training data", training), _rate("test data", accuracy, bad=True)]
    elif finding.cause_type == "underfitting":
        lines = [
            _rate("accuracy", numbers["accuracy"], bad=True),
            _rate("mean confidence", numbers["mean_confidence"]),
        ]
    elif finding.cause_type == "class_imbalance":
        support = sorted((each.support, each.name) for each in report.per_class)
        most = max(support[-1][0], 1)
        names = dict.fromkeys([*finding.affected, support[len(support) // 2][1], support[-1][1]])
        by_name = {name: count for count, name in support}
        lines = [
            BarLine(name, by_name[name] / most, text.count(by_name[name]), name in finding.affected)
            for name in names
        ]
    elif finding.cause_type in {"class_overlap", "class_confusion"}:
        a, b = finding.affected
        rates = {(each.label, each.predicted): each.rate for each in report.confused}
        recall = {each.name: each.recall or 0.0 for each in report.per_class}
        lines = [
            _rate(f"{a} found", recall.get(a, 0.0)),
            _rate(f"{a} taken for {b}", rates.get((a, b), 0.0), bad=True),
            _rate(f"{b} taken for {a}", rates.get((b, a), 0.0), bad=True),
            _rate(f"{b} found", recall.get(b, 0.0)),
        ]
    elif finding.cause_type == "class_order_mismatch":
        lines = [
            _rate("as it is", numbers["accuracy"], bad=True),
            _rate("columns renamed", numbers["reordered_accuracy"]),
        ]
    elif finding.cause_type == "hidden_slice":
        lines = [
            _rate("errors here", numbers["error_rate"], bad=True),
            _rate("errors elsewhere", numbers["rest_error_rate"]),
        ]
    elif finding.cause_type == "data_quality":
        total = max(numbers["total"], 1.0)
        lines = [
            BarLine(name.replace("_", " "), numbers[name] / total, text.number(numbers[name], 0), bad=True)
            for name in ("unreadable", "low_resolution", "extra_duplicates", "near_empty")
        ]
    elif finding.cause_type in {"leakage", "label_noise"}:
        lines = [_rate("of the test cases", numbers["share"], bad=True)]
    elif finding.cause_type == "representation_problem":
        lines = [_rate("of the errors are confident", numbers["confident_error_share"], bad=True)]
    return lines


def _rate(name: str, fraction: float, *, bad: bool = False) -> BarLine:
    return BarLine(name, fraction, text.percent(fraction, 1), bad)


def _suspects(report: AutopsyReport) -> list[Suspect]:
    """Labels to look at, the confident contradictions first."""
    return [*report.label_noise.suspects, *report.label_noise.doubtful][:OF_SUSPECTS]


class _Budget:
    """Pictures as data URIs while there is room."""

    def __init__(self, room: int) -> None:
        self._room = room

    def uri(self, picture: bytes | None, uses: int = 1) -> str | None:
        """The picture, if there is one and room for it as often as it is used."""
        if picture is None:
            return None
        found = html.data_uri(picture)
        if uses * len(found) > self._room:
            return None
        self._room -= uses * len(found)
        return found


def _overlays(report: AutopsyReport, files: Mapping[str, bytes], budget: _Budget) -> list[tuple[str, str]]:
    """The picture as it was seen and with the map, of each overlay that has files."""
    found = []
    for each in report.gradcam.shown if report.gradcam is not None else ():
        seen = files.get(each.file.replace(".jpg", "_seen.jpg"))
        pair = budget.uri(seen), budget.uri(files.get(each.file))
        found.append((pair[0] or "", pair[1] or ""))
    return found
