"""Two checkups, part by part; or a checkup and a report of a task that is one of its parts."""

from __future__ import annotations

from dataclasses import replace

from app.comparison import comparability, verdict
from app.comparison.body import at, texts
from app.comparison.compare import Limits, Side, compare
from app.comparison.readings import read
from app.comparison.results import Comparability, Comparison, Decision, Delta, Part, Section
from app.errors import UserError
from app.measures import PARTS, title_in


def compare_all(before: Side, after: Side, limits: Limits | None = None) -> Comparison:
    """The comparison of two reports, whichever task wrote them.

    Args:
        before: the first run.
        after: the second.
        limits: from where on a difference matters.

    Raises:
        UserError: a report cannot be read, or they are of different tasks.
    """
    whole = [at(side.body, "schema", "artifact") == "assay.checkup" for side in (before, after)]
    if not any(whole):
        return compare(before, after, limits)
    if all(whole):
        return _checkups(before, after, limits)
    part, single = (before, after) if whole[0] else (after, before)
    name = str(at(single.body, "schema", "artifact") or "").removeprefix("assay.")
    name = "mutate" if name == "uamt" else name
    if name not in part.parts:
        read(single.body)
        raise UserError(
            f"{'before' if whole[0] else 'after'} is a checkup without a part that can be compared with a report of "
            f"task={name}; it has {', '.join(part.parts) or 'none'}"
        )
    found = part.parts[name]
    return compare(found, after, limits) if whole[0] else compare(before, found, limits)


def _checkups(before: Side, after: Side, limits: Limits | None) -> Comparison:
    parts: list[Part] = []
    for name in PARTS:
        sides = [side.parts.get(name) for side in (before, after)]
        if sides[0] is None and sides[1] is None:
            continue
        if sides[0] is None or sides[1] is None:
            lacking = "before" if sides[0] is None else "after"
            parts.append(Part(name, None, f"{lacking} has no report of this part"))
            continue
        try:
            parts.append(Part(name, compare(sides[0], sides[1], limits, of_checkups=True)))
        except UserError as error:
            parts.append(Part(name, None, str(error)))
    found = [(each.name, each.comparison) for each in parts if each.comparison is not None]
    outcome = verdict.overall([each.verdict for _, each in found])
    deciding = [(name, each) for name, each in found if each.verdict == outcome]
    deciding.sort(key=lambda each: not each[1].within_noise)
    decision = Decision("", "nothing shared", None)
    different = [each for _, each in found if each.decision.rule == "different things"]
    if different and outcome == "unchanged":  # what is left says nothing about the model
        outcome, deciding = "unknown", []
    if not deciding and different:
        decision = different[0].decision
    if deciding:
        name, chosen = deciding[0]
        decision = replace(
            chosen.decision,
            key=f"{name}/{chosen.decision.key}" if chosen.decision.key else "",
            against=tuple(f"{name}/{key}" for key in chosen.decision.against),
        )
    moved = [_of(name, each) for name, part in found for each in part.deltas if each.headline]
    return Comparison(
        verdict=outcome,
        within_noise=bool(deciding) and deciding[0][1].within_noise,
        decision=decision,
        comparability=_comparability(before, after, parts),
        deltas=tuple(each for each in moved if not _told(each, moved, decision)),
        parts=tuple(parts),
    )


def _of(part: str, each: Delta) -> Delta:
    return replace(each, key=f"{part}/{each.key}", title=title_in(part, each.key, each.title))


def _told(delta: Delta, others: list[Delta], decision: Decision) -> bool:
    """Whether the mutation run only repeats what the autopsy says of the same test cases."""
    part, _, key = delta.key.partition("/")
    if part != "mutate" or delta.key in {decision.key, *decision.against}:
        return False
    return any(each.key == f"autopsy/{key}" and each.after == delta.after for each in others)


def _comparability(before: Side, after: Side, parts: list[Part]) -> Comparability:
    first, second = read(before.body), read(after.body)
    inner = [each.comparison.comparability for each in parts if each.comparison is not None]
    names = [texts(at(side.body, "subject", "classes")) for side in (before, after)]
    versions = first.version, second.version
    missing = comparability.missing(before.body, after.body, deep=versions[0] != versions[1])
    differing = comparability.settings(before.body, after.body)
    skipped = tuple(Section(each.name, each.reason) for each in parts if each.comparison is None)
    generators = [str(at(side.body, "schema", "generator", "version") or "") for side in (before, after)]
    return Comparability(
        artifact=first.artifact,
        versions=versions,
        generators=(generators[0], generators[1]),
        partial=bool(missing or skipped) or any(each.partial for each in inner),
        same_model=comparability.same(first.model_digest, second.model_digest),
        same_data=comparability.same(first.data_digest, second.data_digest),
        same_settings=not differing and all(each.same_settings for each in inner),
        same_classes=set(names[0]) == set(names[1]),
        same_cases=any(each.same_cases for each in inner),
        shared_cases=next((each.shared_cases for each in inner if each.same_cases), None),
        unpaired_reason="",
        classes_common=sum(name in names[0] for name in names[1]),
        classes_only_before=tuple(name for name in names[0] if name not in names[1]),
        classes_only_after=tuple(name for name in names[1] if name not in names[0]),
        settings=differing,
        missing=missing,
        compared_sections=tuple(each.name for each in parts if each.comparison is not None),
        skipped_sections=skipped,
        notes=tuple(
            dict.fromkeys((*comparability.older(first, second), *(n for each in inner for n in each.notes)))
        ),
        otherwise=tuple(dict.fromkeys(name for each in inner for name in each.otherwise)),
    )
