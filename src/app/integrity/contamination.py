"""Contamination: pictures that more than one split of a data set has, and copies inside of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from app.errors import UserError
from app.integrity.clusters import Clusters
from app.integrity.distances import comparisons, sweep
from app.integrity.duplicates import NEAR, WEAK, diluted
from app.integrity.findings import Between, Contamination, Counts, Exposure, Kind, Pair, Risk, risk
from app.integrity.gathering import Gathering, Rows
from app.integrity.hashing import BITS
from app.integrity.scan import Progress, Scan
from app.integrity.shortlist import Shortlist

SHOWN = 200
"""Groups, pairs and clusters that are listed."""
URGENCIES: tuple[tuple[Kind, bool], ...] = (("near", True), ("weak", True), ("near", False), ("weak", False))
"""Kind of a pair and whether it is across splits, the most urgent first."""


def contaminate(
    scans: Sequence[Scan],
    *,
    near_distance: int = NEAR,
    weak_distance: int = WEAK,
    shown: int = SHOWN,
    workers: int = 1,
    progress: Progress | None = None,
) -> Contamination:
    """Compares splits with each other and each with itself.

    Every pair of pictures is compared; memory grows with the number of pictures, not of pairs. Pictures with exact
    duplicates are out of the near and weak pairs, but one of each content and split is compared for near pairs
    beside them, so that one copy does not hide another. Pictures that show nothing are compared by content alone.

    Args:
        scans: the splits, with different names and hashed the same way; of a single one only the inside is compared.
        near_distance: largest distance of a near pair.
        weak_distance: largest distance of a weak pair.
        shown: how many groups, pairs and clusters are listed; all are counted.
        workers: threads.
        progress: is told how many pairs of pictures are compared.

    Raises:
        UserError: no split, two of one name, or hashes of different specifications.
        ValueError: distances that are not 0 <= near <= weak <= 64, or a negative number to show.
    """
    _check(scans, near_distance, weak_distance, shown)
    gathering = Gathering(scans)
    comparison = _Comparison(gathering, near_distance, weak_distance, shown)
    between = comparison.run(workers, progress)
    counts = _counts(between, gathering, comparison.near_labels_differ)
    clusters = comparison.clusters.groups()
    return Contamination(
        overall_risk=_overall(counts),
        splits=tuple(map(gathering.facts, range(len(scans)))),
        near_distance=near_distance,
        weak_distance=weak_distance,
        counts=counts,
        between=between,
        exposure=tuple(comparison.exposure(split) for split in range(len(scans))),
        n_groups=len(gathering.contents),
        groups=gathering.groups(
            ((comparison.risk_of_content(group), group) for group in gathering.contents),
            shown,
            same_content=True,
        ),
        n_pairs=counts.near_across + counts.near_within + counts.weak_across + counts.weak_within,
        pairs=comparison.pairs(),
        n_clusters=len(clusters),
        clusters=gathering.groups(
            ((comparison.risk_of_cluster(cluster), cluster) for cluster in clusters),
            shown,
            same_content=False,
        ),
        signal_diluted=any(each.signal_diluted for each in between),
        hash_spec=scans[0].hash_spec,
    )


def _check(scans: Sequence[Scan], near: int, weak: int, shown: int) -> None:
    if not 0 <= near <= weak <= BITS:
        raise ValueError(f"distances must be 0 <= near <= weak <= {BITS}, not near {near} and weak {weak}")
    if shown < 0:
        raise ValueError(f"shown must be 0 or more, not {shown}")
    if not scans:
        raise UserError("contamination needs splits, such as train and test")
    name, times = Counter(scan.name for scan in scans).most_common(1)[0]
    if times > 1:
        raise UserError(f"the splits must have different names, but {times} are called {name}")
    for scan in scans[1:]:
        if scan.hash_spec != scans[0].hash_spec:
            raise UserError(
                f"{scans[0].name} and {scan.name} were hashed differently ({scans[0].hash_spec}, against "
                f"{scan.hash_spec}): give both as folders, or both as images"
            )


class _Comparison:
    """What becomes known while the pairs of pictures stream by."""

    def __init__(self, gathering: Gathering, near: int, weak: int, shown: int) -> None:
        self._all = gathering
        self._near, self._weak = near, weak
        self._shortlist = Shortlist(shown)
        self._exact_elsewhere = np.zeros(gathering.n, dtype=np.bool_)
        self._near_elsewhere = np.zeros(gathering.n, dtype=np.bool_)
        self.clusters = Clusters(gathering.n)
        self.near_labels_differ = 0
        for group, sizes in zip(gathering.contents, gathering.content_sizes, strict=True):
            self.clusters.join(group[:-1], group[1:])
            self._exact_elsewhere[group] = np.count_nonzero(sizes) > 1

    def run(self, workers: int, progress: Progress | None) -> tuple[Between, ...]:
        """Compares all pairs of splits."""
        gathering = self._all
        compared = gathering.readable & ~gathering.blank
        splits = range(len(gathering.scans))
        single = [gathering.of_split(compared & (gathering.content < 0), split) for split in splits]
        copied = [gathering.of_split(compared & gathering.stand_ins, split) for split in splits]
        sizes = [len(a) + len(b) for a, b in zip(single, copied, strict=True)]
        both = list(combinations_with_replacement(splits, 2))
        total = sum(comparisons(sizes[a], None if a == b else sizes[b]) for a, b in both)
        done = 0

        def compare(first: Rows, second: Rows | None, radius: int) -> tuple[NDArray[np.int64], int]:
            nonlocal done
            histogram, near = np.zeros(BITS + 1, dtype=np.int64), 0
            others = None if second is None else gathering.hashes[second]
            for tile in sweep(gathering.hashes[first], others, radius=radius, workers=workers):
                histogram += tile.histogram
                partners = (first if second is None else second)[tile.second]
                near += self._note(first[tile.first], partners, tile.distance)
                done += tile.compared
                if progress is not None:
                    progress(done, total)
            return histogram, near

        between = []
        for a, b in both:
            same = a == b
            histogram, _ = compare(single[a], None if same else single[b], self._weak)
            beside = compare(copied[a], None if same else copied[b], self._near)[1]
            beside += compare(copied[a], single[b], self._near)[1]
            if not same:
                beside += compare(single[a], copied[b], self._near)[1]
            n = len(single[a]) if same else len(single[a]) + len(single[b])
            between.append(self._between(a, b, histogram, beside, n))
        self._near_elsewhere |= gathering.copies_in_split(self._near_elsewhere)
        return tuple(between)

    def _note(self, a: Rows, b: Rows, distance: NDArray[np.uint8]) -> int:
        """Takes note of close pairs; gives how many are near."""
        gathering = self._all
        other_content = (gathering.content[a] != gathering.content[b]) | (gathering.content[a] < 0)
        a, b, distance = a[other_content], b[other_content], distance[other_content]
        across = gathering.split[a] != gathering.split[b]
        near = distance <= self._near
        self._near_elsewhere[a[near & across]] = True
        self._near_elsewhere[b[near & across]] = True
        self.clusters.join(a[near], b[near])
        self.near_labels_differ += int((gathering.labels_differ(a, b) & near).sum())
        urgency = np.where(across, np.where(near, 0, 1), np.where(near, 2, 3))
        self._shortlist.offer(urgency, distance.astype(np.int64), a, b)
        return int(near.sum())

    def _between(self, a: int, b: int, histogram: NDArray[np.int64], beside: int, n: int) -> Between:
        sizes = self._all.content_sizes
        exact = sizes[:, a] * (sizes[:, a] - 1) // 2 if a == b else sizes[:, a] * sizes[:, b]
        return Between(
            self._all.scans[a].name,
            self._all.scans[b].name,
            exact=int(exact.sum()),
            near=int(histogram[: self._near + 1].sum()),
            weak=int(histogram[self._near + 1 : self._weak + 1].sum()),
            beside_exact=beside,
            histogram=tuple(histogram.tolist()),
            signal_diluted=diluted(histogram, n),
        )

    def risk_of_content(self, pictures: Rows) -> Risk:
        """The risk of a group of exact duplicates."""
        return risk("exact", across=bool(self._exact_elsewhere[pictures[0]]))

    def risk_of_cluster(self, pictures: Rows) -> Risk:
        """The worst risk of the exact and near pairs of a cluster."""
        if self._exact_elsewhere[pictures].any():
            return risk("exact", across=True)
        if self._near_elsewhere[pictures].any():
            return risk("near", across=True)
        return risk("exact" if (self._all.content[pictures] >= 0).any() else "near", across=False)

    def pairs(self) -> tuple[Pair, ...]:
        """The pairs that are shown."""
        found = []
        for urgency, distance, a, b in self._shortlist.rows.tolist():
            kind, across = URGENCIES[urgency]
            differ = bool(self._all.labels_differ(np.array([a]), np.array([b]))[0])
            members = self._all.member(a), self._all.member(b)
            found.append(Pair(*members, kind, distance, across, risk(kind, across=across), differ))
        return tuple(found)

    def exposure(self, split: int) -> Exposure:
        """How much of a split is in another one."""
        everything = np.ones(self._all.n, dtype=np.bool_)
        exact = self._all.of_split(self._exact_elsewhere, split)
        found = self._all.of_split(self._exact_elsewhere | self._near_elsewhere, split)
        n = self._all.of_split(everything, split).size
        return Exposure(
            split=self._all.scans[split].name,
            n=n,
            exact=exact.size,
            near=found.size - exact.size,
            share=found.size / n if n else float("nan"),
            rows=self._all.rows_in_split(found, split),
        )


def _counts(between: Sequence[Between], gathering: Gathering, near_labels_differ: int) -> Counts:
    def total(read: Callable[[Between], int], *, across: bool) -> int:
        return sum(read(each) for each in between if (each.first != each.second) == across)

    different = 0
    for group in gathering.contents:
        labelled = gathering.label[group][gathering.label[group] >= 0]
        same = np.unique(labelled, return_counts=True)[1]
        different += (labelled.size**2 - int((same**2).sum())) // 2
    return Counts(
        exact_across=total(lambda each: each.exact, across=True),
        exact_within=total(lambda each: each.exact, across=False),
        near_across=total(lambda each: each.near, across=True),
        near_within=total(lambda each: each.near, across=False),
        weak_across=total(lambda each: each.weak, across=True),
        weak_within=total(lambda each: each.weak, across=False),
        beside_exact_across=total(lambda each: each.beside_exact, across=True),
        beside_exact_within=total(lambda each: each.beside_exact, across=False),
        exact_labels_differ=different,
        near_labels_differ=near_labels_differ,
    )


def _overall(counts: Counts) -> Risk:
    if counts.exact_across:
        return risk("exact", across=True)
    if counts.near_across or counts.beside_exact_across:
        return risk("near", across=True)
    if counts.weak_across:
        return risk("weak", across=True)
    if counts.exact_within:
        return risk("exact", across=False)
    if counts.near_within or counts.beside_exact_within or counts.weak_within:
        return risk("near", across=False)
    return "NONE"
