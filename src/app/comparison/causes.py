"""Diagnosed causes of two runs: which are new, which are gone."""

from __future__ import annotations

from collections.abc import Sequence

from app.comparison.body import Body, at, number, rows, texts
from app.comparison.results import CauseChange, Causes

ABOUT_CLASSES = frozenset({"class_imbalance", "class_overlap", "class_confusion"})
"""Causes that are others if they are about other classes; the rest is the same cause with other evidence."""


def causes(before: Body, after: Body) -> Causes | None:
    """New, resolved and persisting causes; None if a report has no list of them.

    Args:
        before: report of the first run.
        after: of the second.
    """
    lists = [_listed(each) for each in (before, after)]
    if lists[0] is None or lists[1] is None:
        return None
    left = list(lists[0])
    new: list[Body] = []
    persisting: list[CauseChange] = []
    for exact in (True, False):
        for each in lists[1] if exact else list(new):
            match = next((other for other in left if _same(other, each, exact=exact)), None)
            if match is not None:
                left.remove(match)
                persisting.append(_change(match, each))
                if not exact:
                    new.remove(each)
            elif exact:
                new.append(each)
    return Causes(
        new=tuple(_change(None, each) for each in new),
        resolved=tuple(_change(each, None) for each in left),
        persisting=tuple(sorted(persisting, key=lambda each: -(each.after or 0.0))),
    )


def _listed(body: Body) -> list[Body] | None:
    for place in (("findings",), ("original", "causes")):
        if isinstance(at(body, *place), list | tuple):
            return rows(body, *place)
    return None


def _same(a: Body, b: Body, *, exact: bool) -> bool:
    if a.get("cause_type") != b.get("cause_type"):
        return False
    if exact:
        return _key(a) == _key(b)
    return a.get("cause_type") not in ABOUT_CLASSES


def _key(cause: Body) -> Sequence[str]:
    names = texts(cause.get("affected"))
    return names if cause.get("cause_type") == "class_confusion" else tuple(sorted(names))


def _change(before: Body | None, after: Body | None) -> CauseChange:
    last = after or before or {}
    return CauseChange(
        cause_type=str(last.get("cause_type")),
        affected=texts(last.get("affected")),
        before=number(before.get("confidence")) if before is not None else None,
        after=number(after.get("confidence")) if after is not None else None,
        severity=str(last.get("severity") or ""),
    )
