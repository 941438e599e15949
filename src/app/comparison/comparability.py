"""What two reports have in common, and what of them cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.comparison.body import Body, at, block
from app.comparison.readings import NEWEST, Readings
from app.comparison.results import Section, Setting

SECTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "assay.autopsy": {
        "headline numbers": ("summary",),
        "sub-scores": ("sub_scores",),
        "classes": ("per_class",),
        "confusions": ("confusion",),
        "causes": ("findings",),
    },
    "assay.mutate": {
        "headline numbers": ("summary",),
        "sub-scores": ("original", "sub_scores"),
        "operators": ("by_operator",),
        "mutants": ("mutants",),
        "classes": ("original", "per_class"),
        "causes": ("original", "causes"),
    },
    "assay.uamt": {"headline numbers": ("summary",), "operators": ("by_operator",), "mutants": ("mutants",)},
    "assay.estimate": {"estimates": ("estimates",), "estimators": ("results",)},
    "assay.contaminate": {"headline numbers": ("summary",), "splits": ("exposure",), "quality": ("quality",)},
    "assay.detect_eval": {
        "headline numbers": ("summary",),
        "classes": ("classes",),
        "kinds of errors": ("errors",),
        "confusions": ("confusions",),
    },
    "assay.checkup": {},
}
"""The parts of each kind of report, and where they are."""


def sections(artifact: str, before: Body, after: Body) -> tuple[tuple[str, ...], tuple[Section, ...]]:
    """The parts that both reports have, and those that one lacks with the reason."""
    compared, skipped = [], []
    for name, path in SECTIONS[artifact].items():
        lacking = [side for side, body in (("before", before), ("after", after)) if at(body, *path) is None]
        if lacking:
            skipped.append(Section(name, f"{' and '.join(lacking)} {_lacks(lacking)} {'.'.join(path)}"))
        elif not at(before, *path) and not at(after, *path):
            continue
        else:
            compared.append(name)
    return tuple(compared), tuple(skipped)


def _lacks(sides: list[str]) -> str:
    return "lacks" if len(sides) == 1 else "lack"


def older(before: Readings, after: Readings) -> list[str]:
    """A sentence for each report of an older version."""
    told = []
    for side, each in (("before", before), ("after", after)):
        newest = NEWEST[each.artifact]
        if each.version < newest:
            told.append(
                f"{side} is version {each.version} of {each.artifact}, older than {newest}: "
                "what it lacks is not compared"
            )
    return told


def missing(before: Body, after: Body, *, deep: bool) -> tuple[str, ...]:
    """Dotted names of what only one of the reports has, with the side that lacks it.

    Args:
        before: report of the first run.
        after: of the second.
        deep: whether to look into objects and into the first object of lists, which reports of one version need not.
    """
    told = []
    for side, body, other in (("before", before, after), ("after", after, before)):
        told += [f"{side} lacks {name}" for name in _lacking(body, other, 3 if deep else 1, "")]
    return tuple(told)


def _lacking(body: Any, other: Any, depth: int, where: str) -> Iterator[str]:
    if isinstance(body, list | tuple) and isinstance(other, list | tuple) and body and other:
        yield from _lacking(body[0], other[0], depth, f"{where[:-1]}[].")
    elif isinstance(body, Mapping) and isinstance(other, Mapping):
        for key, value in other.items():
            if where == "" and key in {"schema", "run", "subject"}:
                continue
            if key not in body:
                yield f"{where}{key}"
            elif depth > 1:
                yield from _lacking(body[key], value, depth - 1, f"{where}{key}.")


def settings(before: Body, after: Body) -> tuple[Setting, ...]:
    """The settings in which two runs differ."""
    first, second = (dict(_flat(block(each, "settings"), "")) for each in (before, after))
    return tuple(
        Setting(name, first.get(name, "not set"), second.get(name, "not set"))
        for name in dict.fromkeys((*first, *second))
        if first.get(name) != second.get(name)
    )


def _flat(node: Body, prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if f"{prefix}{key}" in {"config_digest", "predictions_digest", "planted"}:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            yield f"{prefix}{key}", shown if len(shown) <= 120 else f"{shown[:119]}…"


def same(before: str, after: str) -> bool | None:
    """Whether two digests are equal; None if one is not there."""
    return before == after if before and after else None
