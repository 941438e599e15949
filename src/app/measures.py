"""What is measured: each number's title, its unit, and which direction is better, known from its key.

A key is a name, or a name and what it is of: `accuracy`, `recall/cat`, `mutation_score/weight_noise`. Numbers of a
part of a checkup begin with the part: `mutate/mutation_score`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Better: TypeAlias = Literal["higher", "lower"] | None
"""Which direction is better; None where neither is."""
Unit: TypeAlias = Literal["share", "score", "count", "number"]
"""`share`: a fraction; `score`: 0 to 100; `count`: a whole number; `number`: any other."""

PARTS = ("autopsy", "mutate", "estimate", "contaminate")
"""The parts of a checkup."""


@dataclass(frozen=True)
class Measure:
    """What a number is."""

    key: str
    """Names it everywhere, such as `accuracy`, `mutation_score`, `recall/cat`."""
    title: str
    """In words."""
    better: Better
    """Which direction is better, `higher` or `lower`; None where neither is."""
    unit: Unit
    """`share` (a fraction), `score` (0 to 100), `count` (a whole number) or `number` (any other)."""
    headline: bool = False
    """Whether it stands for its report."""


@dataclass(frozen=True)
class Value:
    """One number of a result."""

    measure: Measure
    """What it is."""
    value: float | None
    """The number; None if the result has none."""
    interval: tuple[float, float] | None = None
    """Its 95 % interval."""
    n: int | None = None
    """What it was measured on: test cases, mutants, labels, images."""
    reason: str = ""
    """Why there is no number."""

    @property
    def key(self) -> str:
        """Its measure's."""
        return self.measure.key


def value(
    key: str,
    number: float | None,
    interval: Sequence[float] | None = None,
    n: int | None = None,
    *,
    headline: bool = False,
    reason: str = "not defined",
    title: str = "",
) -> Value:
    """The number of a key; one that is not finite is None with a reason, and so is an interval.

    Args:
        key: such as `accuracy` or `recall/cat`; its first part is one of this module's.
        number: the number.
        interval: its two ends, if it has an interval.
        n: what it was measured on.
        headline: whether it stands for its report.
        reason: why there is no number, where there is none.
        title: what it is called here, where that is not what it is called elsewhere.

    Raises:
        KeyError: nothing is known of the key.
    """
    known = number is not None and math.isfinite(number)
    ends = None
    if interval is not None and all(math.isfinite(end) for end in interval):
        ends = float(interval[0]), float(interval[1])
    what = measure(key, headline=headline)
    return Value(
        replace(what, title=title) if title else what,
        float(number) if known and number is not None else None,
        ends,
        n,
        "" if known else reason,
    )


def _named(better: Better, unit: Unit, **titles: str) -> dict[str, tuple[str, Better, Unit]]:
    return {key: (title, better, unit) for key, title in titles.items()}


_ALONE: dict[str, tuple[str, Better, Unit]] = {
    **_named(
        "higher",
        "share",
        accuracy="Accuracy",
        balanced_accuracy="Balanced accuracy",
        macro_precision="Macro precision",
        macro_recall="Macro recall",
        macro_f1="Macro F1",
        weighted_precision="Weighted precision",
        weighted_recall="Weighted recall",
        weighted_f1="Weighted F1",
        top_3_accuracy="Top-3 accuracy",
        top_5_accuracy="Top-5 accuracy",
        training_accuracy="Accuracy on training data",
        mutation_score="Mutation score",
        mutation_score_thresholds="Mutation score by thresholds",
        minimal_mutation_score="Minimal mutation score",
        img_ms_miss="Img-MS, misses",
        img_ms_ghost="Img-MS, ghosts",
        img_ms_mg="Img-MS",
        obj_ms_miss="Obj-MS, misses",
        obj_ms_ghost="Obj-MS, ghosts",
        obj_ms_mg="Obj-MS",
        ms_iou="MS_iou",
        estimated_accuracy="Estimated accuracy",
        mean_ap="Mean AP",
        coco_ap="COCO mAP .50-.95",
        coco_ap50="COCO AP .50",
        coco_ap75="COCO AP .75",
        coco_ap_small="COCO AP, small",
        coco_ap_medium="COCO AP, medium",
        coco_ap_large="COCO AP, large",
        coco_ar_1="COCO AR 1",
        coco_ar_10="COCO AR 10",
        coco_ar="COCO AR",
        precision="Precision",
        recall="Recall",
        f1="F1",
    ),
    **_named(
        "lower",
        "share",
        ece="Calibration error (ECE)",
        mce="Largest calibration error",
        adaptive_ece="Adaptive calibration error",
        classwise_ece="Classwise calibration error",
        label_noise="Wrong labels, estimated",
    ),
    **_named(
        "lower",
        "number",
        log_loss="Log loss, nats",
        brier="Brier score",
        rmse_ratio="RMSE over that of simple random sampling, mean",
    ),
    **_named("higher", "score", autopsy_score="Autopsy score"),
    **_named(
        "lower",
        "count",
        risk="Risk, 0 to 5",
        findings="Findings",
        leaked_exact="Test cases copied from the training data",
        survived="Mutants that survive",
        copies_across="Pairs of copies across splits",
        exact_across="Exact duplicates across splits",
        exact_within="Exact duplicates inside a split",
        confirmed_across="Near-duplicates across splits",
        confirmed_within="Near-duplicates inside a split",
        near_across="Pairs of look-alikes across splits",
        near_within="Pairs of look-alikes inside a split",
        exact_labels_differ="Pairs of copies with two classes",
        drop="Images to exclude",
        review="Images to review",
        clusters="Clusters of duplicates",
        suspects="Suspected label errors",
    ),
    **_named(
        None,
        "count",
        mutants="Mutants",
        killed="Mutants killed",
        killed_weak="Mutants killed, weak",
        test_cases="Test cases",
        pictures="Images",
        images="Images",
        labels="Labels spent",
        failures="Failures found",
    ),
}
"""Numbers of a whole report."""

_EACH: dict[str, tuple[str, Better, Unit]] = {
    "sub_score": ("Sub-score", "higher", "score"),
    "recall": ("Recall", "higher", "share"),
    "precision": ("Precision", "higher", "share"),
    "f1": ("F1", "higher", "share"),
    "ap": ("AP", "higher", "share"),
    "coco_ap": ("COCO AP", "higher", "share"),
    "mutation_score": ("Mutation score", "higher", "share"),
    "img_ms_mg": ("Img-MS", "higher", "share"),
    "obj_ms_mg": ("Obj-MS", "higher", "share"),
    "ms_iou": ("MS_iou", "higher", "share"),
    "accuracy": ("Accuracy", "higher", "share"),
    "estimated_accuracy": ("Estimated accuracy", "higher", "share"),
    "rmse_ratio_srs": ("RMSE over that of simple random sampling", "lower", "number"),
    "failures_mean": ("Failures found, mean", "higher", "number"),
    "coverage": ("Coverage of intervals", None, "share"),
    "error": ("Errors", "lower", "count"),
    "share_sure": ("Copies of other splits", "lower", "share"),
    "share_faulty": ("Faulty images", "lower", "share"),
}
"""Numbers of one class, operator, estimator or split; its name stands behind a slash."""
_OF_PARTS = {
    "autopsy/accuracy": "Accuracy on the test set",
    "mutate/accuracy": "Accuracy on the test set, in the mutation run",
    "estimate/accuracy": "True accuracy in operation",
    "estimate/estimated_accuracy": "Estimated accuracy in operation",
    "estimate/failures": "Failures found in operation",
    "contaminate/risk": "Risk of contamination, 0 to 5",
}
"""Numbers of a part of a checkup that need to be told from those of another part."""
_UA_SETS = {"match": "matches", "miss": "misses", "ghost": "ghosts"}
_UA_METRICS = {
    "vr": "variation ratio",
    "ie": "entropy",
    "mi": "mutual information",
    "var": "total variance",
    "ps": "prediction surface",
}
_SUB_SCORES = {"confidence_quality": "confidence", "dataset_quality": "data quality"}


def measure(key: str, *, headline: bool = False) -> Measure:
    """What the number of this key is.

    Args:
        key: such as `accuracy`, `recall/cat` or, in a checkup, `autopsy/accuracy`.
        headline: whether it stands for its report.

    Raises:
        KeyError: nothing is known of the key.
    """
    stem, slash, rest = key.partition("/")
    if slash and stem in PARTS:
        inner = measure(rest, headline=headline)
        return replace(inner, key=key, title=title_in(stem, rest, inner.title))
    if slash and stem in _EACH:
        title, better, unit = _EACH[stem]
        shown = _SUB_SCORES.get(rest, rest.replace("_", " ")) if stem == "sub_score" else rest
        return Measure(key, f"{title}, {shown.replace('/', ', ')}", better, unit, headline)
    if not slash and stem in _ALONE:
        title, better, unit = _ALONE[stem]
        return Measure(key, title, better, unit, headline)
    ua, _, metric = stem.removeprefix("ua_").partition("_")
    if not slash and stem.startswith("ua_") and ua in _UA_SETS and metric in _UA_METRICS:
        return Measure(key, f"UA-MS, {_UA_SETS[ua]}, {_UA_METRICS[metric]}", None, "number", headline)
    raise KeyError(f"{key!r} is no measure: give it a title, a unit and a direction in app.measures")


def known(key: str) -> bool:
    """Whether a key names a measure; one in a report that was edited, or is of a later version, may not."""
    try:
        measure(key)
    except KeyError:
        return False
    return True


def title_in(part: str, key: str, title: str) -> str:
    """What the number of a part is called in a checkup.

    Args:
        part: such as `autopsy`.
        key: of the number in the report of the part.
        title: what it is called there.
    """
    return _OF_PARTS.get(f"{part}/{key}", title)
