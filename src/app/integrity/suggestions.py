"""Which pictures to leave out, so that no split holds what another one has; a suggestion, nothing is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.integrity.findings import Contamination, Pair
from app.integrity.gathering import Gathering
from app.integrity.likeness import SAME
from app.integrity.scan import Scan


@dataclass(frozen=True)
class Suggestion:
    """A picture that is in the data more than once."""

    split: str
    """Its split."""
    path: str
    """What it is called there."""
    class_name: str | None
    """Its class."""
    action: Literal["drop", "review"]
    """`drop` a copy; `review` what only looks like another picture."""
    reason: Literal["exact copy", "near copy", "look-alike"]
    """Equal content; a near duplicate confirmed tone by tone; a near duplicate by its hash alone."""
    of_split: str
    """The split of the picture that stays; empty if it is not among the listed pairs."""
    of_path: str
    """What that is called."""
    of_class: str | None
    """Its class."""
    distance: int | None
    """Bits in which their hashes differ; None if not listed."""
    likeness: float | None
    """Correlation of their tones; None if not compared."""
    labels_differ: bool
    """Whether the two have different classes: one of the labels is wrong."""


def suggestions(
    scans: Sequence[Scan],
    found: Contamination,
    likeness: NDArray[np.float64],
) -> tuple[Suggestion, ...]:
    """What to leave out: copies first, then by split and place; of copies the first in the order of the splits stays.

    Args:
        scans: the splits, in the order that `found` was made of.
        found: what contamination found.
        likeness: (M,) of each of `found.pairs`; NaN if not compared.
    """
    gathering = Gathering(scans)
    copies = _exact(gathering)
    near = _near(found.pairs, likeness, {(each.split, each.path) for each in copies})
    known = {(each.split, each.path) for each in (*copies, *near)}
    rest = [
        Suggestion(
            *(scan.name, scan.paths[row], scan.class_of(row), "review", "look-alike", "", "", None),
            distance=None,
            likeness=None,
            labels_differ=False,
        )
        for scan, exposure in list(zip(scans, found.exposure, strict=True))[1:]
        for row in exposure.rows.tolist()
        if (scan.name, scan.paths[row]) not in known
    ]
    order = {
        (scan.name, path): (number, row)
        for number, scan in enumerate(scans)
        for row, path in enumerate(scan.paths)
    }
    return tuple(
        sorted(
            [*copies, *near, *rest], key=lambda each: (each.action != "drop", *order[each.split, each.path])
        )
    )


def _exact(gathering: Gathering) -> list[Suggestion]:
    copies = []
    for group in gathering.contents:
        kept = gathering.member(int(group[0]))
        for picture in group[1:].tolist():
            copy = gathering.member(picture)
            copies.append(
                Suggestion(
                    *(copy.split, copy.path, copy.class_name, "drop", "exact copy"),
                    *(kept.split, kept.path, kept.class_name),
                    distance=0,
                    likeness=1.0,
                    labels_differ=None not in {copy.class_name, kept.class_name}
                    and copy.class_name != kept.class_name,
                )
            )
    return copies


def _near(
    pairs: Sequence[Pair], likeness: NDArray[np.float64], known: set[tuple[str, str]]
) -> list[Suggestion]:
    """The second picture of each listed near pair across splits, beside its best partner."""
    best: dict[tuple[str, str], tuple[float, Pair]] = {}
    for pair, value in zip(pairs, likeness.tolist(), strict=True):
        name = pair.second.split, pair.second.path
        if pair.kind != "near" or not pair.across or name in known:
            continue
        alike = -1.0 if np.isnan(value) else value
        if name not in best or alike > best[name][0]:
            best[name] = alike, pair
    return [
        Suggestion(
            *(pair.second.split, pair.second.path, pair.second.class_name),
            "drop" if alike >= SAME else "review",
            "near copy" if alike >= SAME else "look-alike",
            *(pair.first.split, pair.first.path, pair.first.class_name),
            distance=pair.distance,
            likeness=None if alike == -1.0 else alike,
            labels_differ=pair.labels_differ,
        )
        for alike, pair in best.values()
    ]
