"""What contamination finds: the results, ready for a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.integrity.hashing import HashSpec

Kind = Literal["exact", "near", "weak"]
Risk = Literal["CRITICAL", "HIGH", "REVIEW", "LOW", "INFO", "NONE"]
RISKS: tuple[Risk, ...] = ("CRITICAL", "HIGH", "REVIEW", "LOW", "INFO", "NONE")
"""The worst first."""
DISCLAIMER = (
    "Similarity is not proof. Equal content is a fact, but a small distance between two hashes only says that the "
    "pictures have the same rough pattern of light and dark: pictures of a data set with little variety look alike "
    "without being copies. Look at the pairs, above all those for review, before you act on them."
)


def risk(kind: Kind, *, across: bool) -> Risk:
    """How much a pair of look-alikes endangers an evaluation.

    Args:
        kind: exact, near or weak.
        across: whether the two are in different splits.
    """
    worst: dict[Kind, tuple[Risk, Risk]] = {
        "exact": ("CRITICAL", "LOW"),
        "near": ("HIGH", "INFO"),
        "weak": ("REVIEW", "INFO"),
    }
    return worst[kind][0 if across else 1]


@dataclass(frozen=True)
class Member:
    """A picture that was found."""

    split: str
    """Its split."""
    path: str
    """What it is called there."""
    class_name: str | None
    """Its class."""


@dataclass(frozen=True)
class Pair:
    """Two pictures that look alike."""

    first: Member
    """One of them."""
    second: Member
    """The other one."""
    kind: Kind
    """near or weak; exact duplicates come in groups."""
    distance: int
    """Bits in which their hashes differ."""
    across: bool
    """Whether they are in different splits."""
    risk: Risk
    """What that means."""
    labels_differ: bool
    """Whether both have a class and not the same."""


@dataclass(frozen=True)
class Group:
    """Pictures that belong together: with the same content, or a cluster of exact and near duplicates."""

    n: int
    """How many."""
    members: tuple[Member, ...]
    """The first of each split, at most 20 in all."""
    splits: tuple[str, ...]
    """The splits that they are in."""
    class_names: tuple[str, ...]
    """Their classes, by name."""
    across: bool
    """Whether they are in more than one split."""
    labels_differ: bool
    """Whether they have more than one class."""
    risk: Risk
    """The worst of its pairs."""
    sha256: str | None = None
    """Their content, if it is the same; None for a cluster."""


@dataclass(frozen=True)
class Between:
    """The pairs of two splits, or those inside of one."""

    first: str
    """One split."""
    second: str
    """The other one; the same for pairs inside of it."""
    exact: int
    """Pairs with the same content."""
    near: int
    """Pairs at a distance of at most the near limit; no exact duplicates among them."""
    weak: int
    """Pairs beyond the near limit and at most at the weak one."""
    beside_exact: int
    """Further near pairs: of a picture that has exact duplicates (one a split stands for all of a content) and
    another content."""
    histogram: tuple[int, ...]
    """(65,): pairs at each distance, without exact duplicates."""
    signal_diluted: bool
    """Whether pairs at a distance of at most 2 are as many as the compared pictures: they are so alike that near
    and weak pairs are no finding."""


@dataclass(frozen=True)
class Exposure:
    """How much of a split is in another one, too."""

    split: str
    """The split."""
    n: int
    """Its pictures."""
    exact: int
    """Pictures whose content another split has."""
    near: int
    """Further pictures that have a near duplicate in another split."""
    share: float
    """Both over all; NaN for an empty split."""
    rows: NDArray[np.int64] = field(repr=False, compare=False)
    """(exact + near,): which rows of the scan; leave them out for a clean evaluation."""


@dataclass(frozen=True)
class SplitFacts:
    """One of the splits that were compared."""

    name: str
    """The split."""
    n: int
    """Its pictures, unreadable ones too."""
    unreadable: int
    """Pictures that were not compared."""
    near_empty: int
    """Pictures that show nothing: compared by content alone."""
    class_names: tuple[str, ...]
    """Its classes."""


@dataclass(frozen=True)
class Counts:
    """All pairs, by kind and place; counts are whole, whatever is shown."""

    exact_across: int
    """Exact pairs of different splits."""
    exact_within: int
    """Exact pairs inside of a split."""
    near_across: int
    """Near pairs of different splits."""
    near_within: int
    """Near pairs inside of a split."""
    weak_across: int
    """Weak pairs of different splits."""
    weak_within: int
    """Weak pairs inside of a split."""
    beside_exact_across: int
    """Near pairs of different splits beside exact duplicates: see `Between.beside_exact`."""
    beside_exact_within: int
    """Near pairs inside of a split beside exact duplicates."""
    exact_labels_differ: int
    """Exact pairs with different classes: at least one label of each is wrong."""
    near_labels_differ: int
    """Near pairs with different classes, those beside exact duplicates included."""


@dataclass(frozen=True)
class Contamination:
    """What several splits of a data set have in common."""

    overall_risk: Risk
    """The worst of all pairs."""
    splits: tuple[SplitFacts, ...]
    """What was compared, in the order that it was given."""
    near_distance: int
    """Largest distance of a near pair."""
    weak_distance: int
    """Largest distance of a weak pair."""
    counts: Counts
    """All pairs."""
    between: tuple[Between, ...]
    """For each two splits, and for each alone."""
    exposure: tuple[Exposure, ...]
    """For each split."""
    n_groups: int
    """Groups of exact duplicates."""
    groups: tuple[Group, ...]
    """The riskiest of them, then the largest."""
    n_pairs: int
    """Near and weak pairs, without those beside exact duplicates."""
    pairs: tuple[Pair, ...]
    """The riskiest near and weak pairs, then the closest; those beside exact duplicates included."""
    n_clusters: int
    """Clusters of exact and near duplicates; weak pairs join nothing."""
    clusters: tuple[Group, ...]
    """The riskiest of them, then the largest."""
    signal_diluted: bool
    """Whether the signal of any two splits or of any alone is."""
    hash_spec: HashSpec
    """How the hashes were made."""
    disclaimer: str = DISCLAIMER
    """To be shown above everything else."""
