"""The report of a detector's evaluation (artifact `assay.detect_eval`): how good it is and what it gets wrong.

Shares and intervals are fractions; a number that is not defined (a class without true boxes has no AP) is NaN,
written as null.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from app.report.lineage import Run, Subject
from app.report.schema import Schema, read_report
from app.report.typed import from_plain
from app.scoring.mutant_results import Interval

ARTIFACT, VERSION = "assay.detect_eval", 1
Box: TypeAlias = tuple[float, float, float, float]
"""x1, y1, x2, y2."""


@dataclass(frozen=True)
class Settings:
    """What was chosen."""

    seed: int
    """Of the bootstrap."""
    iou: float
    """Smallest IoU of a match."""
    max_detections: int
    """The surest detections of an image and class that count in COCO's scores."""
    resamples: int
    """Bootstrap samples of the images."""
    ground_truth: str
    """Where the true boxes are, as it was given."""
    ground_truth_form: str
    """What form they have, in words."""
    detections: str
    """Where the detections are, as it was given."""
    detections_form: str
    """What form they have, in words."""
    images: str
    """Folder of the pictures; empty for none."""
    pixels: bool
    """Whether boxes are in pixels; if not, sizes mean nothing."""
    config_digest: str
    """Of the configuration."""
    first_pixel: int = 1
    """What the first pixel is called in Pascal VOC's boxes, 1 or 0; other forms have no such choice."""


@dataclass(frozen=True)
class Measured:
    """A number with its 95 % interval."""

    value: float
    """The number."""
    ci: Interval
    """Its interval; None if not defined."""


@dataclass(frozen=True)
class Coco:
    """What the COCO challenge reports."""

    ap: float
    """Mean AP over IoU .50, .55, ... .95."""
    ap50: float
    """At IoU .50."""
    ap75: float
    """At IoU .75."""
    ap_small: float
    """Of objects up to 32 x 32 square pixels: the ground truth's `area`, or that of the box."""
    ap_medium: float
    """Of those up to 96 x 96."""
    ap_large: float
    """Of larger ones."""
    ar_1: float
    """Mean recall with one detection an image and class."""
    ar_10: float
    """With ten."""
    ar: float
    """With as many as count."""


@dataclass(frozen=True)
class Summary:
    """The verdict in numbers."""

    images: int
    """Images, those without boxes included."""
    truth: int
    """True boxes, without crowds."""
    detections: int
    """Detections that count."""
    mean_ap: Measured
    """Mean AP at the IoU over the classes that are there; interval by bootstrap over images."""
    coco: Coco | None
    """COCO's scores; None if not asked for."""
    operating_score: float
    """The score from which on F1 is best."""
    precision: Measured
    """Share of the detections from there on that are right."""
    recall: Measured
    """Share of the true boxes that they find."""
    f1: float
    """Harmonic mean of both."""
    ece: float
    """Expected calibration error of the scores."""
    gap_ci: Interval
    """Interval of mean score minus the share that is right."""
    suspects: int
    """Suspected errors in the ground truth that are listed."""


@dataclass(frozen=True)
class ClassScore:
    """The detector on one class."""

    name: str
    """The class."""
    truth: int
    """True boxes."""
    detections: int
    """Detections of it."""
    ap: float
    """AP at the IoU."""
    coco_ap: float
    """COCO's AP."""
    precision: Measured
    """Share of its detections from the operating score on that are right."""
    recall: Measured
    """Share of its boxes that they find."""


@dataclass(frozen=True)
class ErrorKind:
    """How often one kind of error happens."""

    kind: Literal["classification", "localisation", "both", "duplicate", "background", "missed"]
    """Why a detection is wrong, or that a box is missed."""
    operating: int
    """From the operating score on."""
    all: int
    """Over all detections."""


@dataclass(frozen=True)
class Confusion:
    """A class that is taken for another one, from the operating score on."""

    true: str
    """What is there."""
    claimed: str
    """What the detector says."""
    n: int
    """How often."""


@dataclass(frozen=True)
class Bin:
    """Detections whose scores lie close together."""

    low: float
    """Smallest score."""
    high: float
    """Largest score."""
    n: int
    """How many."""
    score: float
    """Their mean score."""
    right: float
    """Share of them that is right."""


@dataclass(frozen=True)
class Curve:
    """The best precision at recalls of 0, 0.01, ... 1 or beyond."""

    name: str
    """The class."""
    ap: float
    """Its AP."""
    precision: tuple[float, ...]
    """(101,); 0 beyond the largest recall."""


@dataclass(frozen=True)
class FalsePositive:
    """A detection that is wrong."""

    image: str
    """The image."""
    kind: str
    """Which error."""
    label: str
    """The class it claims."""
    score: float
    """How sure it is."""
    box: Box
    """Where."""
    iou: float
    """Overlap with the true box the error is about."""
    true_label: str
    """The class of that box; empty on the background."""


@dataclass(frozen=True)
class FalseNegative:
    """A true box that no detection took."""

    image: str
    """The image."""
    label: str
    """Its class."""
    box: Box
    """Where."""
    missed: bool
    """Whether nothing came near it."""


@dataclass(frozen=True)
class Suspect:
    """A place where the ground truth may be wrong."""

    reason: str
    """`missing box`, `wrong class`, `loose box` or `spurious box`."""
    image: str
    """The image."""
    box: Box
    """Where."""
    label: str
    """The class of the ground truth there; empty for a missing box."""
    suggested: str
    """The class that the detector sees; empty for a spurious box."""
    score: float
    """How sure it is."""


@dataclass(frozen=True)
class DetectionReport:
    """How good a detector is and what it gets wrong."""

    schema: Schema = field(default=Schema(ARTIFACT, VERSION), kw_only=True)
    """What this is; nobody needs to give it."""
    run: Run
    """Where it comes from."""
    subject: Subject
    """What was evaluated: detections at a ground truth."""
    settings: Settings
    """What was chosen."""
    summary: Summary
    """The verdict in numbers."""
    classes: tuple[ClassScore, ...]
    """Each class."""
    errors: tuple[ErrorKind, ...]
    """Each kind of error."""
    confusions: tuple[Confusion, ...]
    """Classes taken for others, the most frequent first."""
    reliability: tuple[Bin, ...]
    """Scores against the share that is right."""
    curves: tuple[Curve, ...]
    """Precision and recall of each class that is there."""
    false_positives: tuple[FalsePositive, ...]
    """The surest wrong detections."""
    false_negatives: tuple[FalseNegative, ...]
    """The largest boxes that were not found, missed ones first."""
    suspects: tuple[Suspect, ...]
    """Suspected errors in the ground truth."""


def load(path: Path) -> DetectionReport:
    """A report from its JSON file.

    Raises:
        UserError: It cannot be read, is another artifact or newer, or lacks something.
    """
    return from_plain(DetectionReport, read_report(path, ARTIFACT, VERSION), str(path))
