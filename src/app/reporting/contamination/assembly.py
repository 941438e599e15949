"""The report of contamination put together from what integrity found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.integrity import Contamination, Quality
from app.integrity.findings import RISKS
from app.integrity.likeness import SAME
from app.integrity.suggestions import Suggestion
from app.report.lineage import Run, Subject
from app.reporting.contamination import report as r

SHOWN = 200
"""Groups, pairs, clusters and suggestions that are listed."""
WORST = 20
"""Pictures that are listed of a fault."""
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Found:
    """What was found in several splits."""

    contamination: Contamination
    """What they share."""
    likeness: NDArray[np.float64]
    """(M,): of each listed pair; NaN where two could not be compared."""
    suggestions: tuple[Suggestion, ...]
    """What to leave out."""
    quality: tuple[Quality, ...]
    """Of each split."""


def contamination_report(
    found: Found,
    run: Run,
    subject: Subject,
    *,
    seed: int,
    splits: Mapping[str, str],
    compared: int,
    planted: Sequence[r.Planted] = (),
    config_digest: str = "",
) -> r.ContaminationReport:
    """The report.

    Args:
        found: What was found.
        run: Where the report comes from.
        subject: The data.
        seed: Of what was planted.
        splits: Where each split is.
        compared: Most pairs that were compared tone by tone.
        planted: What was planted.
        config_digest: Of the configuration.
    """
    contamination = found.contamination
    limits = asdict(found.quality[0].limits) if found.quality else {}
    return r.ContaminationReport(
        run=run,
        subject=subject,
        settings=r.Settings(
            seed=seed,
            splits=dict(splits),
            near_distance=contamination.near_distance,
            weak_distance=contamination.weak_distance,
            likeness=SAME,
            compared=compared,
            quality={name: float(value) for name, value in limits.items() if name != "shown"},
            planted=tuple(planted),
            config_digest=config_digest,
        ),
        disclaimer=contamination.disclaimer,
        summary=_summary(found, planted),
        exposure=tuple(_exposure(found)),
        between=tuple(
            r.Between(
                each.first,
                each.second,
                each.exact,
                each.near + each.beside_exact,
                each.weak,
                each.signal_diluted,
                each.histogram,
            )
            for each in contamination.between
        ),
        n_groups=contamination.n_groups,
        groups=tuple(_group(each) for each in contamination.groups[:SHOWN]),
        n_pairs=contamination.n_pairs,
        pairs=_pairs(found)[:SHOWN],
        n_clusters=contamination.n_clusters,
        clusters=tuple(_group(each) for each in contamination.clusters[:SHOWN]),
        quality=tuple(map(_quality, found.quality)),
        suggestions=tuple(_copied(r.Suggestion, each) for each in found.suggestions[:SHOWN]),
        hash_spec=_copied(r.HashSpec, contamination.hash_spec),
    )


def _summary(found: Found, planted: Sequence[r.Planted]) -> r.Summary:
    counts, pairs = found.contamination.counts, _pairs(found)
    actions = Counter(each.action for each in found.suggestions)
    return r.Summary(
        overall_risk=found.contamination.overall_risk,
        exact_across=counts.exact_across,
        exact_within=counts.exact_within,
        near_across=counts.near_across + counts.beside_exact_across,
        near_within=counts.near_within + counts.beside_exact_within,
        weak_across=counts.weak_across,
        weak_within=counts.weak_within,
        exact_labels_differ=counts.exact_labels_differ,
        near_labels_differ=counts.near_labels_differ,
        compared=int(np.isfinite(found.likeness).sum()),
        confirmed_across=sum(each.confirmed and each.across for each in pairs),
        confirmed_within=sum(each.confirmed and not each.across for each in pairs),
        drop=actions["drop"],
        review=actions["review"],
        clusters=found.contamination.n_clusters,
        signal_diluted=found.contamination.signal_diluted,
        planted=len(planted),
        planted_found=sum(each.found for each in planted),
    )


def _exposure(found: Found) -> list[r.Exposure]:
    copies: dict[str, set[str]] = {}
    for pair, value in zip(found.contamination.pairs, found.likeness.tolist(), strict=True):
        if pair.across and pair.kind == "near" and value >= SAME:
            for member in (pair.first, pair.second):
                copies.setdefault(member.split, set()).add(member.path)
    exact = {
        (member.split, member.path)
        for group in found.contamination.groups
        if group.across
        for member in group.members
    }
    rows = []
    for each in found.contamination.exposure:
        sure = {path for path in copies.get(each.split, set()) if (each.split, path) not in exact}
        confirmed = min(len(sure), each.near)
        rows.append(
            r.Exposure(
                split=each.split,
                n=each.n,
                exact=each.exact,
                confirmed=confirmed,
                near=each.near - confirmed,
                share_sure=(each.exact + confirmed) / each.n if each.n else float("nan"),
                share=each.share,
            )
        )
    return rows


def _pairs(found: Found) -> tuple[r.Pair, ...]:
    """The riskiest first; of one risk the confirmed copies, then the closest."""
    rows = []
    for pair, value in zip(found.contamination.pairs, found.likeness.tolist(), strict=True):
        told = None if np.isnan(value) else value
        rows.append(
            r.Pair(
                first=_copied(r.Member, pair.first),
                second=_copied(r.Member, pair.second),
                kind="near" if pair.kind == "near" else "weak",
                distance=pair.distance,
                likeness=told,
                confirmed=pair.kind == "near" and told is not None and told >= SAME,
                across=pair.across,
                risk=pair.risk,
                labels_differ=pair.labels_differ,
            )
        )
    return tuple(
        sorted(
            rows,
            key=lambda each: (
                RISKS.index(each.risk),
                not each.confirmed,
                each.distance,
                -(each.likeness or 0),
            ),
        )
    )


def _group(group: Any) -> r.Group:
    return r.Group(
        n=group.n,
        members=tuple(_copied(r.Member, each) for each in group.members),
        splits=group.splits,
        class_names=group.class_names,
        across=group.across,
        labels_differ=group.labels_differ,
        risk=group.risk,
        sha256=group.sha256,
    )


def _quality(quality: Quality) -> r.SplitQuality:
    return r.SplitQuality(
        split=quality.split,
        n=quality.total,
        unreadable=len(quality.unreadable),
        extra_duplicates=quality.extra_duplicates,
        groups_spanning_classes=quality.groups_spanning_classes,
        share_faulty=quality.share_faulty,
        faults=tuple(
            r.Fault(
                each.kind,
                each.n,
                each.value,
                tuple(_copied(r.Flagged, one) for one in each.worst[:WORST]),
            )
            for each in quality.faults
        ),
        classes=tuple(_copied(r.ClassQuality, each) for each in quality.classes),
        skipped=len(quality.skipped),
    )


def _copied(kind: type[T], value: Any) -> T:
    """The same fields as another dataclass."""
    return kind(**{item.name: getattr(value, item.name) for item in fields(kind)})  # type: ignore[arg-type]  # T is a dataclass of the report
