"""The pictures of several splits, numbered through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.integrity.duplicates import NEAR_EMPTY, exact_groups
from app.integrity.findings import RISKS, Group, Member, Risk, SplitFacts
from app.integrity.hashing import Hashes
from app.integrity.scan import Scan

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
MEMBERS_SHOWN = 20
"""Pictures of a group that are named."""


class Gathering:
    """Splits end to end; everything is an array over all of their pictures, in order.

    Args:
        scans: the splits.
    """

    def __init__(self, scans: Sequence[Scan]) -> None:
        self.scans = tuple(scans)
        sizes = [len(scan) for scan in scans]
        self.n = sum(sizes)
        self._starts = np.cumsum([0, *sizes])
        self.split: Rows = np.repeat(np.arange(len(scans)), sizes)
        """(n,): the split of each picture."""
        self.hashes: Hashes = np.concatenate([scan.hashes for scan in scans])
        """(n,)."""
        self.readable: Mask = np.concatenate([scan.readable for scan in scans])
        """(n,)."""
        self.blank: Mask = self.readable & (np.concatenate([scan.std for scan in scans]) < NEAR_EMPTY)
        """(n,): pictures that show nothing, whose hash says nothing."""
        self.class_names = sorted({name for scan in scans for name in scan.class_names})
        place = {name: number for number, name in enumerate(self.class_names)}
        self.label: Rows = np.concatenate(
            [np.array([*map(place.__getitem__, s.class_names), -1], np.int64)[s.labels] for s in scans]
        )
        """(n,): the class of each picture by its name, the same in all splits; -1 is none."""
        self.contents = exact_groups(np.concatenate([scan.digests for scan in scans]), self.readable)
        """Groups of pictures with the same content."""
        self.content: Rows = np.full(self.n, -1, dtype=np.int64)
        """(n,): the group of each picture; -1 if it has no exact duplicate."""
        for number, group in enumerate(self.contents):
            self.content[group] = number

    @cached_property
    def content_sizes(self) -> Rows:
        """(G, S): pictures of each content in each split."""
        sizes = np.zeros((len(self.contents), len(self.scans)), dtype=np.int64)
        for number, group in enumerate(self.contents):
            sizes[number] = np.bincount(self.split[group], minlength=len(self.scans))
        return sizes

    @cached_property
    def stand_ins(self) -> Mask:
        """(n,): the first picture of each content in each split, of those with exact duplicates."""
        chosen = np.zeros(self.n, dtype=np.bool_)
        for group in self.contents:
            chosen[group[np.unique(self.split[group], return_index=True)[1]]] = True
        return chosen

    def copies_in_split(self, mask: Mask) -> Mask:
        """(n,): the pictures whose content one in the mask has, in the same split."""
        place = np.where(self.content < 0, -1, self.content * len(self.scans) + self.split)
        copies: Mask = np.isin(place, place[mask & (self.content >= 0)])
        return copies

    def of_split(self, mask: Mask, split: int) -> Rows:
        """The pictures of a split that are in the mask."""
        start, end = self._starts[split : split + 2]
        rows: Rows = start + np.flatnonzero(mask[start:end])
        return rows

    def labels_differ(self, a: Rows, b: Rows) -> Mask:
        """(M,): whether the two of each pair have a class each, and not the same."""
        differ: Mask = (self.label[a] >= 0) & (self.label[b] >= 0) & (self.label[a] != self.label[b])
        return differ

    def member(self, picture: int) -> Member:
        """What a picture is called."""
        scan = self.scans[int(self.split[picture])]
        row = picture - int(self._starts[self.split[picture]])
        return Member(scan.name, scan.paths[row], scan.class_of(row))

    def group(self, pictures: Rows, risk: Risk, *, same_content: bool) -> Group:
        """Pictures as a group of the report; of each split the first are named, in turn."""
        splits = np.unique(self.split[pictures])
        labels = np.unique(self.label[pictures])
        names = tuple(self.class_names[label] for label in labels.tolist() if label >= 0)
        turns = np.concatenate([np.arange((self.split[pictures] == split).sum()) for split in splits])
        named = pictures[np.argsort(turns, kind="stable")[:MEMBERS_SHOWN]]
        sha256 = None
        if same_content:
            first = int(pictures[0])
            row = first - int(self._starts[self.split[first]])
            sha256 = self.scans[int(self.split[first])].digests[row].tobytes().hex()
        return Group(
            n=int(pictures.size),
            members=tuple(map(self.member, np.sort(named).tolist())),
            splits=tuple(self.scans[split].name for split in splits.tolist()),
            class_names=names,
            across=len(splits) > 1,
            labels_differ=len(names) > 1,
            risk=risk,
            sha256=sha256,
        )

    def groups(
        self, found: Iterable[tuple[Risk, Rows]], shown: int, *, same_content: bool
    ) -> tuple[Group, ...]:
        """The riskiest, then the largest, then the first of some groups."""
        order = sorted(found, key=lambda each: (RISKS.index(each[0]), -each[1].size, int(each[1][0])))
        return tuple(
            self.group(pictures, risk, same_content=same_content) for risk, pictures in order[:shown]
        )

    def facts(self, split: int) -> SplitFacts:
        """What there is of a split."""
        scan = self.scans[split]
        return SplitFacts(
            name=scan.name,
            n=len(scan),
            unreadable=int((~scan.readable).sum()),
            near_empty=int(self.of_split(self.blank, split).size),
            class_names=scan.class_names,
        )

    def rows_in_split(self, pictures: Rows, split: int) -> Rows:
        """Pictures of one split as rows of its scan."""
        rows: Rows = pictures - self._starts[split]
        return rows
