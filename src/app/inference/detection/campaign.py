"""A campaign on a detector: many mutants over one set of images, in groups whose results survive an interruption."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import torch
from PIL import Image
from torch import Tensor, nn

from app.detections import DetectionLog
from app.errors import Fault, UserError
from app.faults import short_of_memory
from app.inference.batches import Images
from app.inference.campaign import Campaign, Engine
from app.inference.detection.bank import DetectorBank, DetectorSetup
from app.inference.detection.batches import DetectorBatches
from app.inference.detection.blocks import DetectionBlock, DetectionStore
from app.inference.detection.outputs import RowForm, detections_of, results_of
from app.inference.detection.replay import DetectorReplay
from app.inference.detection.rows import NotFiniteError, Semantics, find_class_rows
from app.inference.passes import predict

log = logging.getLogger(__name__)

LOOKED = 64
"""Most images that are looked at for a class row."""
ONE_HOT = (
    "the detector gives no class rows: each is its score at its label and 0 elsewhere, so scores of uncertainty tell "
    "less; give whole rows as `probs` (K, C) in the detector's dicts"
)


@dataclass(frozen=True)
class ExaminedDetector:
    """What a look at the original on a few images tells."""

    setup: DetectorSetup
    """The detector, the form of its class rows resolved."""
    seconds: float
    """Time of one image."""
    notes: tuple[str, ...] = ()
    """What a user should know about its class rows."""


@dataclass(frozen=True)
class MutantDetections:
    """What the campaign saw of one mutant."""

    log: DetectionLog | None
    """Over the test images, with its repetitions; None if it could not be run."""
    reason: str | None
    """Why it could not."""
    unchanged: bool
    """Whether it left every parameter as it was."""


@dataclass(frozen=True)
class GroupDetections:
    """What the campaign saw of one group."""

    original: DetectionLog
    """The original, one repetition of each test image; `blocks.repeated` reads it T times."""
    mutants: tuple[MutantDetections, ...]
    """The group's mutants in order."""
    notes: tuple[str, ...] = ()
    """What a user should know about how they ran."""


def examine(
    module: nn.Module,
    to_images: Callable[[Sequence[Image.Image]], list[Tensor]],
    images: Images,
    *,
    classes: int | None = None,
    semantics: Literal["auto", "softmax_background", "sigmoid"] = "auto",
    look: int = 4,
) -> ExaminedDetector:
    """Run the original on a few images and see what its class rows are, and whether they can be had at all.

    Of a torchvision detector the results with class rows must be its own, bit for bit, on the first image.

    Args:
        module: in eval mode, on the CPU; takes a list of tensors and gives a list of dicts.
        to_images: preprocessing.
        images: the test images.
        classes: C, where labels go from 0 to C - 1; needed only by a detector that gives no class rows.
        semantics: what rows are that the detector gives itself as `probs`; auto takes them for distributions if
            each sums to 1, and looks at up to LOOKED images until there is one.
        look: how many images.

    Raises:
        UserError: results that are none of a detector or cannot be scored, class rows that change them or are no
            probabilities, rows of which auto sees none, or an unknown number of classes.
    """
    first = to_images([images.load(index) for index in range(min(look, len(images)))])
    if not first:
        raise UserError("there is no test image to examine the detector on")
    with torch.no_grad():
        try:
            stock = [_single(module, image) for image in first]
            begin = time.perf_counter()
            _single(module, first[0])
            seconds = time.perf_counter() - begin
            form, notes = _form(
                module, first, stock, classes, semantics, later=_later(module, to_images, images, len(first))
            )
            for result in stock if form.source != "shim" else ():
                detections_of(result, form)
        except (UserError, Fault, KeyboardInterrupt):
            raise
        except Exception as error:
            if short_of_memory(error):
                raise
            line = " ".join(str(error).split())[:200]
            shape = tuple(first[0].shape)
            raise UserError(f"the detector cannot be tested on images of shape {shape}: {line}") from error
    for note in notes:
        log.warning("%s", note)
    return ExaminedDetector(DetectorSetup(module, to_images, form), seconds, notes)


def run(
    plan: Campaign,
    setup: DetectorSetup,
    images: Images,
    trainer: Any,
    store: DetectionStore,
    *,
    names: Sequence[str],
    engine: Engine = "bank",
    workers: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[GroupDetections]:
    """Run a campaign; each group's detections come when it is done. Every rank must go through all of it.

    Args:
        plan: mutants and groups.
        setup: the detector under test, from `examine`.
        images: the test images.
        trainer: Lightning's, with `inference_mode=False`.
        store: where blocks are kept, and taken from if they are there already.
        names: of the test images, each another one.
        engine: `bank`, or `naive`.
        workers: processes that decode.
        advance: called with the number of mutants times test images that are done.

    Raises:
        UserError: the original's results on a test image cannot be scored, or image names are not all different.
        KeyboardInterrupt: it was interrupted; what is in the store stays.
    """
    if len(names) != len(images) or len(set(names)) != len(names):
        raise UserError(f"{len(images)} test images need as many different names, not {len(set(names))}")
    count = DetectorBatches.count(len(images), plan.batch_size)
    todo = [store.missing(group, count) for group in range(len(plan.groups))]
    replay = DetectorReplay(setup.module) if engine == "bank" else None
    for group, place in enumerate(plan.slices):
        mutants = plan.mutants[place]
        advance((count - len(todo[group])) * plan.batch_size * len(mutants))
        if todo[group]:
            batches = DetectorBatches(images, plan.batch_size, todo[group], trainer.world_size)

            def save(block: DetectionBlock, members: int = len(mutants)) -> None:
                store.write(block)
                advance(trainer.world_size * len(block.cases) * members)

            bank = DetectorBank(setup, mutants, save=save, group=group, replay=replay)
            with nullcontext() if replay is None else replay.installed():
                predict(trainer, bank, batches.loader(workers))
        mistake = store.error(group, count)
        if mistake is not None:  # on every rank, so that all of them stop
            raise UserError(mistake)
        if trainer.is_global_zero:
            repetitions = [mutant.repetitions for mutant in mutants]
            found = store.gather(group, count, names, repetitions, setup.form.semantics)
            yield GroupDetections(
                found.logs[0],
                tuple(
                    MutantDetections(
                        None if mutant.key in found.reasons else made,
                        found.reasons.get(mutant.key),
                        mutant.key in found.unchanged,
                    )
                    for mutant, made in zip(mutants, found.logs[1:], strict=True)
                ),
                found.notes,
            )


def _later(
    module: nn.Module, to_images: Callable[[Sequence[Image.Image]], list[Tensor]], images: Images, begin: int
) -> Iterator[Any]:
    """The detector's own results on further images."""
    for index in range(begin, min(len(images), LOOKED)):
        yield _single(module, to_images([images.load(index)])[0])


def _single(module: nn.Module, image: Tensor) -> Any:
    return results_of(module([image.clone()]), 1)[0]


def _form(
    module: nn.Module,
    images: Sequence[Tensor],
    stock: Sequence[Any],
    classes: int | None,
    semantics: Literal["auto", "softmax_background", "sigmoid"],
    *,
    later: Iterator[Any],
) -> tuple[RowForm, tuple[str, ...]]:
    found = find_class_rows(module)
    if found is not None:
        try:
            with found.kept():
                ours = _single(module, images[0])
        except NotFiniteError as error:
            raise UserError(
                f"the original detector cannot be scored on the first test image: {error}"
            ) from error
        if isinstance(ours.get("probs"), Tensor):
            _refuse_other(ours, stock[0])
            form = RowForm(ours["probs"].shape[1], found.semantics, "shim")
            detections_of(ours, form)
            return form, ()
    rows = [result["probs"] for result in stock if isinstance(result.get("probs"), Tensor)]
    if rows:
        if any(each.dim() != 2 for each in rows) or not rows[0].shape[1]:
            raise UserError(f"the detector's class rows `probs` must be (K, C), not {tuple(rows[0].shape)}")
        while semantics == "auto" and not any(map(len, rows)):
            result = next(later, None)
            if result is None:
                raise UserError(
                    "the detector finds nothing on the first test images, so what its class "
                    "rows `probs` are cannot be seen: give scoring.semantics=softmax_background or sigmoid"
                )
            rows += [result["probs"]] if isinstance(result.get("probs"), Tensor) else []
        told = _seen(torch.cat(rows)) if semantics == "auto" else semantics
        return RowForm(rows[0].shape[1], told, "own"), ()
    if classes is None:
        raise UserError(
            "the detector gives no class rows `probs` and the number of its classes is not known: give class names"
        )
    return RowForm(classes, "sigmoid" if semantics == "auto" else semantics, "one-hot"), (ONE_HOT,)


def _refuse_other(ours: Any, stock: Any) -> None:
    """The loud failure: a torchvision whose postprocessing is not the one that is repeated here."""
    for name in ("boxes", "scores", "labels"):
        if not torch.equal(ours[name], stock[name]):
            raise UserError(
                f"class rows cannot be had of this detector: with them its {name} on the first test image differ from "
                "its own; give whole rows as `probs` (K, C) in the dicts of a module of your own"
            )
    if len(ours["probs"]) != len(ours["labels"]):
        raise UserError(
            "class rows cannot be had of this detector: it drops or adds detections after its torchvision model; give "
            "whole rows as `probs` (K, C) in its dicts"
        )


def _seen(rows: Tensor) -> Semantics:
    distributions = bool(((rows.sum(dim=1) - 1).abs() < 1e-3).all())
    return "softmax_background" if distributions else "sigmoid"
