"""Mutation testing: would the test cases notice if the model broke? The model decides which task it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from app.errors import UserError
from app.limits import NotNegative, Positive, RunId, Tests
from app.mutation.operator import Operator
from app.scoring.detection import ScoreSettings
from app.scoring.options import Scoring
from app.subjects.dataset import ImageDataset
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.detection.detector import Detector
from app.subjects.model import Model
from app.tasks.mutate_classifier import MutateClassifier
from app.tasks.mutate_detector import MutateDetector
from app.tracking import Store

Made = TypeVar("Made")


def mutate(
    model: Model | Detector,
    dataset: ImageDataset | DetectionDataset,
    operators: Mapping[str, Operator],
    *,
    scoring: Scoring | ScoreSettings,
    trainer: Any,
    store: Store,
    seed: NotNegative = 0,
    engine: Literal["bank", "naive"] = "bank",
    resume: RunId | None = None,
    suites: Mapping[str, Tests | Sequence[int | str]] | None = None,
    smart: bool = False,
    batch_size: Positive | None = None,
    workers: NotNegative = 0,
    group_size: Positive | None = None,
    save_json: bool = False,
    profile: Literal["paper", "deepluq"] | None = None,
) -> MutateClassifier | MutateDetector:
    """The task that fits the model.

    Args:
        model: the classifier or detector under test.
        dataset: the test cases.
        operators: by name.
        scoring: when a mutant is killed: `scoring=default` for classifiers, `scoring=detection` for detectors.
        trainer: Lightning's.
        store: the history.
        seed: of every random choice, 0 or more.
        engine: `bank` (all mutants in one pass) or `naive` (a copy and a full pass each).
        resume: id of the interrupted run to go on with.
        suites: named parts of the test cases, each a file or a list of indices or paths.
        smart: draw layers and channels by saliency (classifiers).
        batch_size: test cases a batch; None for 128 of a classifier, 8 of a detector.
        workers: processes that decode images.
        group_size: mutants a group; None for about a minute's worth.
        save_json: also write detections as a DeepLUQ folder tree (detectors).
        profile: `paper`, the definitions, or `deepluq`, the reference implementation; None for `paper` (detectors).

    Raises:
        UserError: what does not fit together.
    """
    for name, value, least in (
        ("batch_size", batch_size, 1),
        ("workers", workers, 0),
        ("group_size", group_size, 1),
    ):
        if value is not None and value < least:
            raise UserError(f"task.{name} must be {least} or more, not {value}")
    if seed < 0:
        raise UserError(f"seed must be 0 or more, not {seed}")
    if not operators:
        raise UserError("no operators were chosen: give operators=[NAME,...]")
    for name, operator in operators.items():
        _check_operator(name, operator)
    shared: dict[str, Any] = {
        "trainer": trainer,
        "store": store,
        "seed": seed,
        "engine": engine,
        "resume": resume,
        "suites": suites,
        "workers": workers,
        "group_size": group_size,
    }
    if isinstance(model, Detector):
        if not isinstance(scoring, ScoreSettings):
            raise UserError(f"{model.name} is a detector: add scoring=detection")
        if smart:
            raise UserError("task.smart is for classifiers: leave it out for a detector")
        return MutateDetector(
            model,
            _made("dataset", dataset, DetectionDataset),
            operators,
            scoring=scoring,
            batch_size=batch_size or 8,
            save_json=save_json,
            profile=profile,
            **shared,
        )
    model = _made("model", model, Model)
    if not isinstance(scoring, Scoring):
        raise UserError(f"{model.name} is a classifier: leave out scoring=detection")
    if save_json:
        raise UserError("task.save_json is for detectors: leave it out for a classifier")
    if profile is not None:
        raise UserError("profile is for detectors: leave it out for a classifier")
    pictures = _made("dataset", dataset, ImageDataset)
    return MutateClassifier(
        model, pictures, operators, scoring=scoring, batch_size=batch_size or 128, smart=smart, **shared
    )


def _made(name: str, value: object, kind: type[Made]) -> Made:
    """A `_target_` may make anything: what must have been made."""
    if isinstance(value, kind):
        return value
    made = "null" if value is None else type(value).__name__
    raise UserError(
        f"{name} must have a _target_ that makes one {kind.__module__}.{kind.__name__}, not {made}"
    )


def _check_operator(name: str, operator: object) -> None:
    """Refuse what cannot plan mutants: not an operator, or one of the user's that lacks a part."""
    made = type(operator).__name__
    if not isinstance(operator, Operator):
        raise UserError(f"operators.{name} must have a _target_ that makes an operator, not {made}")
    for attribute in ("name", "kind"):
        if not isinstance(getattr(operator, attribute, None), str):
            raise UserError(
                f'operators.{name}: class {made} has no {attribute}: write {attribute} = "..." in it'
            )
    if not hasattr(operator, "count"):
        raise UserError(f"operators.{name}: {made}.__init__ must call super().__init__(count)")
