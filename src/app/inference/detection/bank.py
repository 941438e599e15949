"""All mutants of a group in one pass over the test images of a detector: batch outer, mutants inner."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from app.detections import Detections
from app.errors import UserError
from app.faults import short_of_memory
from app.inference.bank import sharing
from app.inference.batches import Batch
from app.inference.detection.batches import same_size
from app.inference.detection.blocks import DetectionBlock
from app.inference.detection.geometry import restored
from app.inference.detection.outputs import RowForm, detections_of, results_of
from app.inference.detection.perturbation import perturbed
from app.inference.detection.replay import DetectorReplay
from app.inference.detection.rows import NotFiniteError, find_class_rows
from app.inference.passes import private
from app.inference.replay import FULL, ReplayError, Start
from app.mutation.mutant import Mutant
from app.mutation.operator import InputOperator, StochasticOperator, WeightOperator, Weights
from app.mutation.overlay import Rows, changed, overlay, planned_weights

log = logging.getLogger(__name__)

SIDE_BY_SIDE = 2**29
"""Bytes that the largest value inside the model may take when repetitions run side by side."""
CACHED_BYTES = 2**28
"""Memory for mutated weights between batches; what does not fit is made again for each batch."""


@dataclass(frozen=True)
class DetectorSetup:
    """What the bank needs to know about the detector under test."""

    module: nn.Module
    """In eval mode; never changed. A list with one (C, H, W) tensor an image goes in, one dict an image comes out."""
    to_images: Callable[[Sequence[Image.Image]], list[Tensor]]
    """Preprocessing of images to the module's input."""
    form: RowForm
    """What its class rows are."""


@dataclass(frozen=True)
class _Part:
    """The images of a batch that run together."""

    images: list[Image.Image]
    cases: NDArray[np.int64]
    tensors: list[Tensor]
    starts: tuple[Start, ...]


class DetectorBank(pl.LightningModule):
    """Runs the original and every mutant of a group on each batch; to be used with `Trainer.predict`.

    The trainer must run with `inference_mode=False`.

    Args:
        setup: the detector under test.
        mutants: the group.
        group: its number, written into the blocks.
        replay: the detector's recorder, installed by the caller; None runs every mutant on a copy of the model in
            full passes (the naive way, kept to compare with).
        together: most repetitions side by side; None for as many as fit with a replay, and one without.
        save: called with the block of each batch.
    """

    def __init__(
        self,
        setup: DetectorSetup,
        mutants: Sequence[Mutant],
        *,
        save: Callable[[DetectionBlock], None],
        group: int = 0,
        replay: DetectorReplay | None = None,
        together: int | None = None,
    ) -> None:
        super().__init__()
        self.model = setup.module
        self.detector = setup
        self.mutants = tuple(mutants)
        self.group = group
        self.replay = replay
        self.together = together
        self.save = save
        self._copies: dict[str, nn.Module] = {}
        self._weights: dict[str, Weights] = {}
        self._room = CACHED_BYTES
        self._failed: dict[str, str] = {}
        self._unchanged: list[str] = []
        self._notes: list[str] = []
        self._shown: set[str] = set()

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:  # noqa: ARG002
        """Images stay where they are until they are preprocessed."""
        return batch

    def predict_step(self, batch: Batch, batch_idx: int) -> int:  # noqa: ARG002
        """Run the group on a batch and save its block, with a user's mistake in it; returns the batch's number."""
        if batch.number < 0:
            return batch.number
        error = None
        try:
            passes = self._passes(batch)
        except UserError as mistake:  # raised here it would end one process while the others wait for it
            error, passes = str(mistake), self._no_passes(batch)
        about = {
            "error": error,
            "reasons": dict(self._failed),
            "unchanged": tuple(self._unchanged),
            "notes": tuple(self._notes),
        }
        self.save(DetectionBlock.of(self.group, batch.number, batch.cases, passes, **about))
        return batch.number

    def _no_passes(self, batch: Batch) -> list[list[Detections]]:
        """Of the original and every mutant's repetitions, nothing yet."""
        return [[self._none] * len(batch.cases) for _ in range(1 + sum(m.repetitions for m in self.mutants))]

    def _passes(self, batch: Batch) -> list[list[Detections]]:
        passes = self._no_passes(batch)
        # a copy of the model must not hold what stands in for its methods, so the naive way puts it in later
        with nullcontext() if self.replay is None else self._rows(self.model):
            for places in self._parts(batch):
                for row, found in enumerate(self._part(batch, places)):
                    for place, detections in zip(places, found, strict=True):
                        passes[row][place] = detections
        return passes

    def _parts(self, batch: Batch) -> list[list[int]]:
        """Places of the images that run together: a user's own detector may take them one by one inside."""
        own = self.detector.form.source != "shim"
        return [[place] for place in range(len(batch.images))] if own else same_size(batch.images)

    @property
    def _none(self) -> Detections:
        return Detections.none(self.detector.form.classes)

    def _part(self, batch: Batch, places: Sequence[int]) -> Iterator[list[Detections]]:
        """Detections of the images that run together: the original's, then of each mutant repetition by repetition."""
        images = [batch.images[place] for place in places]
        tensors = [tensor.to(self.device) for tensor in self.detector.to_images(images)]
        part = _Part(images, batch.cases[list(places)], tensors, ())
        part = replace(part, starts=self._starts(part))
        found = {-1: [self._original(part)]}
        # replays first: the recording is let go before the input mutants take its place
        for index in sorted(range(len(self.mutants)), key=lambda i: self.mutants[i].kind == "input"):
            if self.mutants[index].kind == "input" and self.replay is not None:
                self.replay.release()
            found[index] = self._guarded(self.mutants[index], part, part.starts[index])
        if self.replay is not None:
            self.replay.release()
        for index in range(-1, len(self.mutants)):
            yield from found[index]

    # -- the original -------------------------------------------------------------------------------------------

    def _starts(self, part: _Part) -> tuple[Start, ...]:
        if self.replay is None:
            return (FULL,) * len(self.mutants)
        if not self.replay.surveyed:
            self.replay.survey(part.tensors[:1])
            if self.replay.reason is not None:
                log.warning("every mutant runs in a full pass: %s", self.replay.reason)
        if self.replay.reason is not None:
            self._note(f"every mutant ran in a full pass: {self.replay.reason}")
        starts = tuple(self._start(self.replay, mutant) for mutant in self.mutants)
        for mutant, start in zip(self.mutants, starts, strict=True):
            if mutant.repetitions > 1:
                self.replay.can_tile(start)  # tried now, on the survey's image, before a batch is recorded
            self._show(self.replay, mutant, start)
        self.replay.rest()
        return starts

    def _start(self, replay: DetectorReplay, mutant: Mutant) -> Start:
        operator = mutant.operator
        if isinstance(operator, InputOperator):
            return FULL
        if isinstance(operator, StochasticOperator):
            return replay.start(mutant.sites, output=operator.position(mutant) == "output")
        sites = sharing(self.model, mutant.sites) if isinstance(operator, WeightOperator) else mutant.sites
        return replay.start(sites)

    def _show(self, replay: DetectorReplay, mutant: Mutant, start: Start) -> None:
        """Log once for each place of a stochastic operator where it acts and what that costs."""
        place = f"{mutant.operator.name} at {mutant.target}: {', '.join(mutant.sites)}"
        if mutant.kind != "stochastic" or place in self._shown:
            return
        self._shown.add(place)
        share = 1.0 if start == FULL else replay.share(start)
        if not math.isnan(share):
            log.info("%s; %.1f %% of the multiplications run again for each repetition", place, 100 * share)

    def _original(self, part: _Part) -> list[Detections]:
        images = list(part.tensors)
        try:
            output = (
                self._full(self.model, images)
                if self.replay is None
                else self.replay.record(images, part.starts)
            )
            return self._read(output, len(images))
        except (ValueError, NotFiniteError) as error:
            shown = ", ".join(map(str, part.cases[:5]))
            raise UserError(
                f"the original detector's results on test images {shown} cannot be scored: {error}"
            ) from error

    # -- mutants ------------------------------------------------------------------------------------------------

    def _guarded(self, mutant: Mutant, part: _Part, start: Start) -> list[list[Detections]]:
        """T lists of detections; a mutant that raises or is not finite is invalid and the pass goes on."""
        if mutant.key not in self._failed:
            try:
                return self._mutant(mutant, part, start)
            except Exception as error:
                if short_of_memory(error):  # it says nothing about the mutant
                    raise
                text = (str(error).strip() or type(error).__name__).splitlines()[0]
                self._failed[mutant.key] = f"{type(error).__name__}: {text}"[:300]
        return [[self._none] * len(part.images) for _ in range(mutant.repetitions)]

    def _mutant(self, mutant: Mutant, part: _Part, start: Start) -> list[list[Detections]]:
        operator = mutant.operator
        if isinstance(operator, InputOperator):
            pairs = zip(part.images, part.cases, strict=True)
            changed_images = [operator.apply(mutant, image, int(case)) for image, case in pairs]
            tensors = [tensor.to(self.device) for tensor in self.detector.to_images(changed_images)]
            found = self._read(self._full(self.model, tensors), len(tensors))
            return [
                [
                    replace(each, boxes=restored(mutant, each.boxes, image.size))
                    for each, image in zip(found, part.images, strict=True)
                ]
            ]
        result: list[list[Detections]] = []
        size, step = len(part.images), self._side_by_side(mutant, part, start)
        for first in range(0, mutant.repetitions, step):
            repetitions = torch.arange(first, min(first + step, mutant.repetitions))
            found = self._read(self._changed(mutant, part, start, repetitions), size * len(repetitions))
            result += [found[i * size : (i + 1) * size] for i in range(len(repetitions))]
        return result

    def _side_by_side(self, mutant: Mutant, part: _Part, start: Start) -> int:
        """How many repetitions go through the rest of the model together."""
        if mutant.repetitions == 1:
            return 1
        most = mutant.repetitions if self.together is None else self.together
        if self.replay is None:
            return 1 if self.together is None else most
        if not self.replay.can_tile(start):
            self._note(
                "repetitions ran one by one: the model does not take several copies of an image at once"
            )
            return 1
        bytes_each = self.replay.largest(start) * len(part.images)
        return max(1, min(most, SIDE_BY_SIDE // max(1, bytes_each)))

    def _changed(self, mutant: Mutant, part: _Part, start: Start, repetitions: Tensor) -> Any:
        """What the mutant gives for the images, copy-major."""
        tiles = len(repetitions)
        cases = torch.as_tensor(part.cases)
        rows = Rows(
            cases.repeat(tiles).to(self.device), repetitions.repeat_interleave(len(cases)).to(self.device)
        )
        if self.replay is None:
            if mutant.key not in self._copies:
                self._copies = {mutant.key: private(self.model)}
            copied = self._copies[mutant.key]
            with self._applied(mutant, copied, rows):
                return self._full(copied, [tensor.clone() for _ in range(tiles) for tensor in part.tensors])
        for attempt in (start, start, FULL):
            try:
                with self._applied(mutant, self.model, rows):
                    return self.replay.run(attempt, tiles)
            except ReplayError as error:
                log.debug("%s: %s", mutant.key, error)
                self.replay.record(list(part.tensors), part.starts)
        raise ReplayError("the model could not be run again")

    def _full(self, module: nn.Module, images: list[Tensor]) -> Any:
        with self._rows(module):
            return module(images)

    def _rows(self, module: nn.Module) -> AbstractContextManager[None]:
        """While active the results have class rows, where these do not come from the detector itself."""
        found = find_class_rows(module) if self.detector.form.source == "shim" else None
        return nullcontext() if found is None else found.kept()

    def _applied(self, mutant: Mutant, module: nn.Module, rows: Rows) -> AbstractContextManager[Any]:
        if mutant.kind == "stochastic":
            return perturbed(mutant, module, rows)
        return overlay(mutant, module, rows, self._mutated(mutant, module))

    def _mutated(self, mutant: Mutant, module: nn.Module) -> Weights | None:
        if not isinstance(mutant.operator, WeightOperator):
            return None
        if mutant.key in self._weights:
            return self._weights[mutant.key]
        weights = planned_weights(mutant, module)
        if mutant.key not in self._unchanged and not changed(module, mutant, weights):
            self._unchanged.append(mutant.key)
        size = sum(value.nbytes for value in weights.values())
        if size <= self._room:
            self._room -= size
            self._weights[mutant.key] = weights
        return weights

    def _read(self, output: Any, images: int) -> list[Detections]:
        return [detections_of(result, self.detector.form) for result in results_of(output, images)]

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)
