"""Kinds of detection errors: why a detection is wrong, and which true boxes nobody found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.detection.boxes import Boxes, Indices, Reals
from app.diagnosis.detection.overlap import Overlaps

KINDS = ("match", "localisation", "classification", "duplicate", "background", "both", "ignored")
"""What a detection can be, by number. `ignored` lies in a crowd."""
ERRORS = ("classification", "localisation", "both", "duplicate", "background", "missed")
"""The error kinds in the order in which they are shown."""
BACKGROUND = 0.10
"""A detection that overlaps every true box by less is on the background."""


@dataclass(frozen=True)
class DetectionErrors:
    """What every detection and every true box is."""

    kind: NDArray[np.int64]
    """(D,): position in `KINDS` of each detection."""
    about: Indices
    """(D,): the true box the detection took or its error is about; -1 on the background."""
    iou: Reals
    """(D,): IoU with that box, or the largest with any box; 0 below `BACKGROUND`."""
    missed: NDArray[np.bool_]
    """(G,): true boxes that no detection took and no localisation or classification error is about."""
    untaken: NDArray[np.bool_]
    """(G,): true boxes that no detection took."""

    def of(self, kind: str) -> NDArray[np.bool_]:
        """(D,): the detections of a kind."""
        chosen: NDArray[np.bool_] = self.kind == KINDS.index(kind)
        return chosen

    def counts(self, counted: NDArray[np.bool_] | None = None) -> Mapping[str, int]:
        """How many errors of each kind there are.

        Args:
            counted: (D,) the detections that count; all of them by default. Missed boxes are not recounted.
        """
        kinds = self.kind if counted is None else self.kind[counted]
        numbers = np.bincount(kinds, minlength=len(KINDS))
        return {
            name: int(self.missed.sum()) if name == "missed" else int(numbers[KINDS.index(name)])
            for name in ERRORS
        }


def detection_errors(
    truth: Boxes,
    found: Boxes,
    pairs: Overlaps,
    *,
    taken: Indices,
    ignored: NDArray[np.bool_],
    iou: float,
    background: float = BACKGROUND,
) -> DetectionErrors:
    """The kind of every detection, by the rules of Bolya et al. (TIDE, ECCV 2020, section 2.2).

    A detection that took no box is, in this order: a localisation error if its best overlap with its class is
    at least `background` and below `iou`; a classification error if it overlaps another class by `iou`; a
    duplicate if it overlaps by `iou` a box of its class that is taken; on the background if it overlaps nothing
    by `background`; else both at once.

    Args:
        truth: true boxes.
        found: detections.
        pairs: their overlaps from `background` on.
        taken: (D,) the box each detection took, -1 for none.
        ignored: (D,) detections that are not counted.
        iou: smallest IoU of a match.
        background: see above.
    """
    solid = pairs.take(~truth.crowd[pairs.truth])
    same = truth.label[solid.truth] == found.label[solid.found]
    own, own_box = _best(solid.take(same), len(found))
    other, other_box = _best(solid.take(~same), len(found))
    overlap = np.maximum(own, other)
    open_ = (taken < 0) & ~ignored
    choices = {
        "ignored": ignored,
        "match": taken >= 0,
        "localisation": open_ & (own >= background) & (own < iou),
        "classification": open_ & (other >= iou),
        "duplicate": open_ & (own >= iou),
        "background": open_ & (overlap < background),
        "both": open_,
    }
    kind = np.select(list(choices.values()), [KINDS.index(name) for name in choices])
    chosen = {name: kind == KINDS.index(name) for name in KINDS}
    of_class = chosen["localisation"] | chosen["duplicate"]
    about = np.select(
        [chosen["match"], of_class, chosen["classification"], chosen["both"]],
        [taken, own_box, other_box, np.where(own > other, own_box, other_box)],
        default=-1,
    )
    matched_iou = np.zeros(len(found))
    is_match = taken[pairs.found] == pairs.truth
    matched_iou[pairs.found[is_match]] = pairs.iou[is_match]
    iou_of = np.select(
        [chosen["match"], of_class, chosen["classification"]], [matched_iou, own, other], default=overlap
    )
    untaken = ~truth.crowd
    untaken[taken[taken >= 0]] = False
    missed = untaken.copy()
    missed[about[chosen["localisation"] | chosen["classification"]]] = False
    return DetectionErrors(kind.astype(np.int64), about.astype(np.int64), iou_of, missed, untaken)


def _best(pairs: Overlaps, found: int) -> tuple[Reals, Indices]:
    """The largest IoU of each detection, and with which box; 0 and -1 without a pair."""
    order = np.lexsort((-pairs.truth, pairs.iou))
    iou, box = np.zeros(found), np.full(found, -1, dtype=np.int64)
    # Of several values for one place the last one stays.
    iou[pairs.found[order]] = pairs.iou[order]
    box[pairs.found[order]] = pairs.truth[order]
    return iou, box
