"""The report of contamination (artifact `assay.contaminate`): what the splits of a data set have in common.

Counts are whole; lists show the first of what was found. A number that is not defined is NaN, written as null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain

ARTIFACT, VERSION = "assay.contaminate", 1
Risk: TypeAlias = Literal["CRITICAL", "HIGH", "REVIEW", "LOW", "INFO", "NONE"]


@dataclass(frozen=True)
class Planted:
    """A copy that was planted to check the check."""

    kind: Literal["exact", "near"]
    """Of equal content, or changed a little."""
    split: str
    """Where it was planted."""
    path: str
    """What it is called there."""
    source_split: str
    """Where it comes from."""
    source_path: str
    """What its original is called."""
    change: str
    """What was done to it; empty for nothing."""
    class_name: str
    """The class it was given."""
    true_class: str
    """The class of its original."""
    found: bool
    """Whether it was found: an exact copy by its content, a changed one among the suggestions, beside its
    original."""


@dataclass(frozen=True)
class Settings:
    """What was chosen."""

    seed: int
    """Of what was planted."""
    splits: Mapping[str, str]
    """Where each split is: its folder as it was given, or the name of the data set."""
    near_distance: int
    """Largest distance of two hashes in a near pair."""
    weak_distance: int
    """Largest distance in a weak pair."""
    likeness: float
    """From this correlation of tones on, a near pair is a confirmed copy."""
    compared: int
    """Most pairs that are compared tone by tone, the riskiest first."""
    quality: Mapping[str, float]
    """From where on a picture is faulty."""
    planted: tuple[Planted, ...]
    """What was planted; none unless it was asked for."""
    config_digest: str
    """Of the configuration."""


@dataclass(frozen=True)
class Summary:
    """The verdict."""

    overall_risk: Risk
    """The worst of all pairs."""
    exact_across: int
    """Pairs of equal content in different splits."""
    exact_within: int
    """Pairs of equal content inside a split."""
    near_across: int
    """Near pairs across splits, those beside exact duplicates included."""
    near_within: int
    """Near pairs inside a split, in the same way."""
    weak_across: int
    """Weak pairs across splits."""
    weak_within: int
    """Weak pairs inside a split."""
    exact_labels_differ: int
    """Exact pairs of two classes."""
    near_labels_differ: int
    """Near pairs of two classes."""
    compared: int
    """Pairs that were compared tone by tone."""
    confirmed_across: int
    """Near pairs across splits that are copies tone by tone."""
    confirmed_within: int
    """The same inside a split."""
    drop: int
    """Pictures that are suggested to be left out."""
    review: int
    """Pictures that are suggested for a look."""
    clusters: int
    """Clusters of exact and near duplicates."""
    signal_diluted: bool
    """Whether the pictures are so alike that near and weak pairs are no finding."""
    planted: int
    """Copies that were planted."""
    planted_found: int
    """How many of them were found."""


@dataclass(frozen=True)
class Exposure:
    """How much of a split another one has, too."""

    split: str
    """The split."""
    n: int
    """Its pictures."""
    exact: int
    """Pictures whose content another split has."""
    confirmed: int
    """Further pictures with a confirmed near copy in another split."""
    near: int
    """Further pictures with a near duplicate by hash in another split."""
    share_sure: float
    """Exact and confirmed over all."""
    share: float
    """All three over all."""


@dataclass(frozen=True)
class Between:
    """The pairs of two splits, or of one with itself."""

    first: str
    """One split."""
    second: str
    """The other one."""
    exact: int
    """Pairs of equal content."""
    near: int
    """Near pairs, those beside exact duplicates included."""
    weak: int
    """Weak pairs."""
    signal_diluted: bool
    """Whether near pairs say nothing here."""
    histogram: tuple[int, ...]
    """(65,): pairs at each distance, exact duplicates left out."""


@dataclass(frozen=True)
class Member:
    """A picture."""

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
    kind: Literal["near", "weak"]
    """By the distance of their hashes."""
    distance: int
    """Bits in which their hashes differ."""
    likeness: float | None
    """Correlation of their tones; None where they could not be compared."""
    confirmed: bool
    """Whether they are copies tone by tone."""
    across: bool
    """Whether they are in different splits."""
    risk: Risk
    """What that means."""
    labels_differ: bool
    """Whether they have different classes."""


@dataclass(frozen=True)
class Group:
    """Pictures that belong together."""

    n: int
    """How many."""
    members: tuple[Member, ...]
    """The first of each split."""
    splits: tuple[str, ...]
    """The splits they are in."""
    class_names: tuple[str, ...]
    """Their classes."""
    across: bool
    """Whether they are in more than one split."""
    labels_differ: bool
    """Whether they have more than one class."""
    risk: Risk
    """The worst of its pairs."""
    sha256: str | None
    """Their content, if it is the same."""


@dataclass(frozen=True)
class Flagged:
    """A picture with a fault."""

    path: str
    """What it is called."""
    class_name: str | None
    """Its class."""
    value: float
    """What was measured."""


@dataclass(frozen=True)
class Fault:
    """Pictures with one kind of fault."""

    kind: str
    """`low_resolution`, `near_empty`, `too_dark`, `too_bright`, `blurry`, `odd_aspect` or `odd_size`."""
    n: int
    """How many."""
    value: str
    """What was measured, with its limit."""
    worst: tuple[Flagged, ...]
    """The worst of them."""


@dataclass(frozen=True)
class ClassQuality:
    """Faults of one class."""

    name: str
    """The class; empty for pictures without one."""
    n: int
    """Its pictures."""
    unreadable: int
    """Left out."""
    low_resolution: int
    """Too small."""
    extra_duplicates: int
    """Copies of an earlier one."""
    near_empty: int
    """Showing nothing."""


@dataclass(frozen=True)
class SplitQuality:
    """The quality of one split."""

    split: str
    """The split."""
    n: int
    """Its pictures, unreadable ones too."""
    unreadable: int
    """Pictures that are left out."""
    extra_duplicates: int
    """Pictures whose content an earlier one of the split has."""
    groups_spanning_classes: int
    """Groups of equal content with several classes."""
    share_faulty: float
    """Unreadable, too small, repeated and near-empty pictures over all."""
    faults: tuple[Fault, ...]
    """One of each kind."""
    classes: tuple[ClassQuality, ...]
    """By class."""
    skipped: int
    """Files that are no pictures."""


@dataclass(frozen=True)
class Suggestion:
    """A picture to leave out or to look at."""

    split: str
    """Its split."""
    path: str
    """What it is called there."""
    class_name: str | None
    """Its class."""
    action: Literal["drop", "review"]
    """What is suggested."""
    reason: Literal["exact copy", "near copy", "look-alike"]
    """Why."""
    of_split: str
    """The split of the one that stays; empty if unlisted."""
    of_path: str
    """What that is called."""
    of_class: str | None
    """Its class."""
    distance: int | None
    """Bits in which their hashes differ."""
    likeness: float | None
    """Correlation of their tones."""
    labels_differ: bool
    """Whether the classes of the two differ."""


@dataclass(frozen=True)
class HashSpec:
    """What decides the bits of the hashes."""

    algorithm: str
    """The hash."""
    decoder: str
    """What turned files into pixels."""
    grey: str
    """How colour became grey."""
    scaling: str
    """How a large picture became smaller first."""
    resampler: str
    """How it became 9 x 8 pixels."""
    comparison: str
    """When a bit is set."""


@dataclass(frozen=True)
class ContaminationReport:
    """What the splits of a data set have in common."""

    schema: Schema = field(default=Schema(ARTIFACT, VERSION), kw_only=True)
    """What this is; nobody needs to give it."""
    run: Run
    """Where it comes from."""
    subject: Subject
    """The data; it has no model."""
    settings: Settings
    """What was chosen."""
    disclaimer: str
    """What similarity does not prove."""
    summary: Summary
    """The verdict."""
    exposure: tuple[Exposure, ...]
    """For each split."""
    between: tuple[Between, ...]
    """For each two splits, and for each alone."""
    n_groups: int
    """Groups of exact duplicates."""
    groups: tuple[Group, ...]
    """The riskiest of them."""
    n_pairs: int
    """Near and weak pairs."""
    pairs: tuple[Pair, ...]
    """The riskiest of them, confirmed copies first."""
    n_clusters: int
    """Clusters of exact and near duplicates."""
    clusters: tuple[Group, ...]
    """The riskiest of them."""
    quality: tuple[SplitQuality, ...]
    """For each split."""
    suggestions: tuple[Suggestion, ...]
    """The first of those to drop, then of those to review; all are in `suggestions.csv`."""
    hash_spec: HashSpec
    """Hashes of another one cannot be compared with these."""


def load(path: Path) -> ContaminationReport:
    """A report from its JSON file.

    Raises:
        UserError: It cannot be read, is another artifact or newer, or lacks something.
    """
    return from_plain(ContaminationReport, read_report(path, ARTIFACT, VERSION), str(path))
