"""All mutants of a group in one pass over the data: batch outer, mutants inner."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from PIL import Image
from torch import Tensor, nn

from app.faults import short_of_memory
from app.inference.batches import Batch, limits_of
from app.inference.blocks import Block
from app.inference.outcomes import Outcomes, ResolvedOutput, outcomes
from app.inference.passes import private
from app.inference.replay import FULL, Replay, ReplayError, Start
from app.inference.scores import PLAIN, Scores
from app.inference.shelf import Shelf
from app.mutation.mutant import Mutant
from app.mutation.operator import InputOperator, StochasticOperator, WeightOperator, Weights
from app.mutation.overlay import Active, Rows, changed, overlay, planned_weights

log = logging.getLogger(__name__)

MAX_ROWS = 1024
"""Rows that repetitions of a stochastic mutant may put into one batch."""
CACHED_BYTES = 256 * 2**20
"""Memory for mutated weights between batches; what does not fit is made again for each batch."""


@dataclass(frozen=True)
class Classifier:
    """What the bank needs to know about the model under test."""

    module: nn.Module
    """In eval mode; never changed."""
    to_batch: Callable[[Sequence[Image.Image]], Tensor]
    """Preprocessing of images to the module's input."""
    output: ResolvedOutput
    """What its scores are."""
    scores: Scores = PLAIN
    """Reads them from what it gives back."""


class MutantBank(pl.LightningModule):
    """Runs the original and every mutant of a group on each batch; to be used with `Trainer.predict`.

    The trainer must run with `inference_mode=False`.

    Args:
        classifier: the model under test.
        mutants: the group.
        group: its number, written into the blocks.
        replay: the model's recorder, installed by the caller; None runs every mutant on a copy of the model in a full
            pass (the naive way, kept to compare with).
        save: called with the block of each batch.
    """

    def __init__(
        self,
        classifier: Classifier,
        mutants: Sequence[Mutant],
        *,
        save: Callable[[Block], None],
        group: int = 0,
        replay: Replay | None = None,
    ) -> None:
        super().__init__()
        self.model = classifier.module
        self.classifier = classifier
        self.mutants = tuple(mutants)
        self.group = group
        self.replay = replay
        self.save = save
        self._copies: dict[str, nn.Module] = {}
        self._weights: dict[str, Weights] = {}
        self._room = CACHED_BYTES
        self._failed: dict[str, str] = {}
        self._unchanged: list[str] = []
        self._notes: list[str] = []

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:  # noqa: ARG002
        """Images stay where they are until they are preprocessed."""
        return batch

    def predict_step(self, batch: Batch, batch_idx: int) -> int:  # noqa: ARG002
        """Run the group on a batch and save its block; returns the batch's number."""
        if batch.number < 0:
            return batch.number
        x = self.classifier.to_batch(batch.images).to(self.device)
        original, starts = self._original(x)
        own = outcomes(original, original, self.classifier.output)
        results = [_arrays(own, 1)]
        # replays first: the recording is let go before the input mutants take its place
        by_index: dict[int, list[np.ndarray[Any, Any]]] = {}
        order = sorted(range(len(self.mutants)), key=lambda i: self.mutants[i].kind == "input")
        for index in order:
            mutant = self.mutants[index]
            if mutant.kind == "input" and self.replay is not None:
                self.replay.release()
            by_index[index] = self._guarded(mutant, starts[index], batch, x, original)
        results += [by_index[index] for index in range(len(self.mutants))]
        if self.replay is not None:
            self.replay.release()
        top1, confidence, shift = (np.concatenate([r[part] for r in results]) for part in range(3))
        self.save(
            Block(
                self.group,
                batch.number,
                batch.cases,
                top1,
                confidence,
                shift,
                dict(self._failed),
                tuple(self._unchanged),
                tuple(self._notes),
            )
        )
        return batch.number

    # -- the original -------------------------------------------------------------------------------------------

    def _original(self, x: Tensor) -> tuple[Tensor, list[Start]]:
        if self.replay is None:
            starts = [FULL] * len(self.mutants)
            original = self.classifier.scores(self.model(x.clone()))
        else:
            if not self.replay.surveyed:
                self.replay.survey(x[: max(2, limits_of(self.model)[0])])
                if self.replay.reason is not None:
                    log.warning("every mutant runs in a full pass: %s", self.replay.reason)
            if self.replay.reason is not None:
                self._note(f"every mutant ran in a full pass: {self.replay.reason}")
            starts = [self._start(mutant) for mutant in self.mutants]
            original = self.classifier.scores(self.replay.record(x, starts))
        return original, starts

    def _start(self, mutant: Mutant) -> Start:
        assert self.replay is not None  # noqa: S101 - narrows the type
        operator = mutant.operator
        if isinstance(operator, InputOperator):
            return FULL
        if isinstance(operator, StochasticOperator):
            start = self.replay.start(mutant.sites, output=operator.position(mutant) == "output")
            if mutant.repetitions > 1:
                self.replay.can_tile(
                    start
                )  # tried before the batch is recorded: it needs the recorder for itself
        elif isinstance(operator, WeightOperator):
            start = self.replay.start(sharing(self.model, mutant.sites))
        else:
            start = self.replay.start(mutant.sites)
        return start

    # -- mutants ------------------------------------------------------------------------------------------------

    def _guarded(
        self, mutant: Mutant, start: Start, batch: Batch, x: Tensor, original: Tensor
    ) -> list[np.ndarray[Any, Any]]:
        """Arrays (T, B) of top-1, confidence and shift; a mutant that raises is invalid and the pass goes on."""
        if mutant.key not in self._failed:
            try:
                parts = self._mutant(mutant, start, batch, x, original)
                return [np.concatenate(part) for part in zip(*parts, strict=True)]
            except Exception as error:
                if short_of_memory(error):  # it says nothing about the mutant
                    raise
                text = (str(error).strip() or type(error).__name__).splitlines()[0]
                self._failed[mutant.key] = f"{type(error).__name__}: {text}"[:300]
        shape = (mutant.repetitions, len(batch.cases))
        return [
            np.full(shape, -1, dtype=np.int32),
            np.full(shape, np.nan, dtype=np.float32),
            np.full(shape, np.inf, dtype=np.float32),
        ]

    def _mutant(
        self, mutant: Mutant, start: Start, batch: Batch, x: Tensor, original: Tensor
    ) -> list[list[np.ndarray[Any, Any]]]:
        kind = self.classifier.output
        if isinstance(mutant.operator, InputOperator):
            operator = mutant.operator
            cases = batch.cases.tolist()
            images = Shelf(lambda i: operator.apply(mutant, batch.images[i], cases[i]), range(len(cases)))
            scores = self.classifier.scores(self.model(self.classifier.to_batch(images).to(self.device)))
            return [_arrays(outcomes(scores, original, kind), 1)]
        parts = []
        high = limits_of(self.model)[1]
        side_by_side = max(1, (MAX_ROWS if high is None else min(MAX_ROWS, high)) // max(1, len(batch.cases)))
        if mutant.repetitions > 1 and self.replay is not None and not self.replay.can_tile(start):
            side_by_side = 1
            self._note(
                "repetitions ran one by one: the model does not take several copies of a batch at once"
            )
        for first in range(0, mutant.repetitions, side_by_side):
            repetitions = torch.arange(first, min(first + side_by_side, mutant.repetitions))
            scores = self._perturbed(mutant, start, batch, x, repetitions)
            parts.append(_arrays(outcomes(scores, original, kind), len(repetitions)))
        return parts

    def _perturbed(
        self, mutant: Mutant, start: Start, batch: Batch, x: Tensor, repetitions: Tensor
    ) -> Tensor:
        tiles = len(repetitions)
        cases = torch.as_tensor(batch.cases)
        rows = Rows(
            cases.repeat(tiles).to(self.device), repetitions.repeat_interleave(len(cases)).to(self.device)
        )
        if self.replay is None:
            if mutant.key not in self._copies:
                self._copies = {mutant.key: private(self.model)}
            copied = self._copies[mutant.key]
            with overlay(mutant, copied, rows, self._mutated(mutant, copied)) as active:
                scores = self.classifier.scores(copied(torch.cat([x] * tiles)))
            self._tell_idle(mutant, active)
            return scores
        weights = self._mutated(mutant, self.model)
        for attempt in (start, start, FULL):
            try:
                with overlay(mutant, self.model, rows, weights) as active:
                    scores = self.classifier.scores(self.replay.run(attempt, tiles))
            except ReplayError as error:
                log.debug("%s: %s", mutant.key, error)
                self.replay.record(x, [self._start(other) for other in self.mutants])
            else:
                self._tell_idle(mutant, active)
                return scores
        raise ReplayError("the model could not be run again")

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

    def _tell_idle(self, mutant: Mutant, active: Active) -> None:
        """Say so where a model never calls the module that a mutant stands in for."""
        if active.calls and not any(active.calls.values()):
            self._note(
                f"the model never calls {mutant.target}: mutants of {mutant.operator.name} there change nothing"
            )
            if mutant.key not in self._unchanged:
                self._unchanged.append(mutant.key)

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)


def sharing(module: nn.Module, sites: Sequence[str]) -> list[str]:
    """The sites, and all modules that hold one of their own parameters too (tied weights)."""
    modules = dict(module.named_modules())
    owned = {id(p) for site in sites for p in modules[site].parameters(recurse=False)}
    return [
        name
        for name, child in modules.items()
        if any(id(p) in owned for p in child.parameters(recurse=False))
    ]


def _arrays(result: Outcomes, repetitions: int) -> list[np.ndarray[Any, Any]]:
    return [
        part.cpu().numpy().reshape(repetitions, -1) for part in (result.top1, result.confidence, result.shift)
    ]
