"""A campaign: many mutants over one data set, in groups whose results survive whatever happens to the process."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import nn

from app.errors import UserError
from app.inference.bank import Classifier, MutantBank
from app.inference.batches import Batches, Images, fitting, limits_of, noise_images
from app.inference.blocks import Block, BlockStore
from app.inference.outcomes import OutputType
from app.inference.passes import predict
from app.inference.replay import Replay
from app.inference.scores import Key, find_scores
from app.inference.shelf import Shelf
from app.mutation.mutant import Mutant
from app.records import Predictions

log = logging.getLogger(__name__)

Engine = Literal["bank", "naive"]
GROUP_SECONDS = 60.0
"""How long the pass of a group should take about."""


@dataclass(frozen=True)
class Examined:
    """What a look at the original on a few images tells."""

    classifier: Classifier
    """The model, its output type resolved."""
    outputs: int
    """K, the width of its output."""
    seconds: float
    """Time of one image."""
    notes: tuple[str, ...] = ()
    """How its outputs are read, where there was a choice."""


@dataclass(frozen=True)
class MutantOutcomes:
    """What the campaign saw of one mutant."""

    predictions: Predictions | None
    """Over the test cases; None if it could not be run."""
    reason: str | None
    """Why it could not."""
    probe_shift: float
    """Its largest relative output shift on the noise images; NaN if it could not be run."""
    unchanged: bool
    """Whether it left every parameter as it was."""


@dataclass(frozen=True)
class GroupOutcomes:
    """What the campaign saw of one group."""

    original: Predictions
    """The original, over the test cases."""
    mutants: tuple[MutantOutcomes, ...]
    """The group's mutants in order."""
    notes: tuple[str, ...] = ()
    """What a user should know about how they ran."""


@dataclass(frozen=True)
class Campaign:
    """The mutants of a campaign and how they are cut into groups."""

    mutants: tuple[Mutant, ...]
    """All mutants, in the order of the report."""
    groups: tuple[int, ...]
    """How many mutants each group holds."""
    batch_size: int
    """Test cases a batch."""
    slices: tuple[slice, ...] = field(init=False)
    """The place of each group among the mutants."""

    def __post_init__(self) -> None:
        ends = [0, *itertools.accumulate(self.groups)]
        if ends[-1] != len(self.mutants):
            raise ValueError(f"groups hold {ends[-1]} mutants, but there are {len(self.mutants)}")
        slices = tuple(itertools.starmap(slice, itertools.pairwise(ends)))
        object.__setattr__(self, "slices", slices)


def examine(
    module: nn.Module,
    to_batch: Callable[..., torch.Tensor],
    images: Images,
    output: OutputType,
    look: int = 8,
    *,
    key: Key | None = None,
    classes: Sequence[str] | None = None,
) -> Examined:
    """Run the original on a few images and see whether it can be tested at all.

    Args:
        module: the network, in eval mode.
        to_batch: preprocessing of images to its input.
        images: the test cases.
        output: what its scores are.
        look: how many images.
        key: which of its outputs the scores are; None where that is plain.
        classes: names of the classes; None if they are not known.

    Raises:
        UserError: outputs that are no class scores or not finite, or an input that the model refuses.
    """
    batch = to_batch(
        Shelf(images.load, range(fitting(min(look, len(images)), len(images), limits_of(module))))
    )
    read = find_scores(module, batch, output, key, classes)
    if not torch.isfinite(read.rows).all():
        raise UserError("the original model gives NaN or infinity already on the first test cases")
    begin = time.perf_counter()
    with torch.no_grad():
        module(batch.clone())
    seconds = (time.perf_counter() - begin) / batch.shape[0]
    classifier = Classifier(module, to_batch, read.output, read.scores)
    return Examined(classifier, read.rows.shape[1], seconds, read.notes)


def cut(
    mutants: Sequence[Mutant], seconds: float, cases: int, size: int | None, engine: Engine
) -> tuple[int, ...]:
    """How many mutants each group holds.

    Args:
        mutants: the plan.
        seconds: time of one image through the original.
        cases: number of test cases.
        size: mutants a group; None for about a minute's worth.
        engine: `naive` takes one mutant a group, and so goes through the data for each.
    """
    if engine == "naive":
        return (1,) * len(mutants)
    if size is not None:
        full, rest = divmod(len(mutants), size)
        return (size,) * full + ((rest,) if rest else ())
    groups, spent = [0], 0.0
    for mutant in mutants:
        cost = seconds * cases * mutant.repetitions
        if groups[-1] and spent + cost > GROUP_SECONDS:
            groups.append(0)
            spent = 0.0
        groups[-1] += 1
        spent += cost
    return tuple(groups) if mutants else ()


def run(
    plan: Campaign,
    classifier: Classifier,
    images: Images,
    trainer: Any,
    store: BlockStore,
    *,
    engine: Engine = "bank",
    workers: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[GroupOutcomes]:
    """Run a campaign; each group's outcomes come when it is done. Every rank must go through all of it.

    Args:
        plan: mutants and groups.
        classifier: the model under test.
        images: its test cases.
        trainer: Lightning's, with `inference_mode=False`.
        store: where blocks are kept, and taken from if they are there already.
        engine: `bank`, or `naive`.
        workers: processes that decode.
        advance: called with the number of mutants times test cases that are done.

    Raises:
        UserError: the original's output is not finite on a test case.
        KeyboardInterrupt: it was interrupted; what is in the store stays.
    """
    limits = limits_of(classifier.module)
    size = fitting(plan.batch_size, len(images), limits)
    count = Batches.count(len(images), size)
    todo = [store.missing(group, count) for group in range(len(plan.groups))]
    replay = Replay(classifier.module) if engine == "bank" else None
    for group, place in enumerate(plan.slices):
        mutants = plan.mutants[place]
        done = count - len(todo[group])
        advance(done * size * len(mutants))
        if todo[group]:
            batches = Batches(images, size, todo[group], trainer.world_size, noise_images(limits))

            def save(block: Block, members: int = len(mutants)) -> None:
                store.write(block)
                advance(trainer.world_size * len(block.cases) * members)

            bank = MutantBank(classifier, mutants, save=save, group=group, replay=replay)
            with nullcontext() if replay is None else replay.installed():
                predict(trainer, bank, batches.loader(workers))
        if group == 0:
            _refuse_broken(store.gather(group, count), len(images))  # on every rank, so that all of them stop
        if trainer.is_global_zero:
            yield _outcomes(store.gather(group, count), mutants, len(images))


def _refuse_broken(block: Block, cases: int) -> None:
    broken = block.cases[(block.top1[0] < 0) & (block.cases < cases)]
    if broken.size:
        what = "test case" if broken.size == 1 else f"{broken.size} test cases, the first is"
        raise UserError(f"the original model gives NaN or infinity for {what} {broken[0]}")


def _outcomes(block: Block, mutants: Sequence[Mutant], cases: int) -> GroupOutcomes:
    def take(rows: slice) -> tuple[Predictions, float]:
        probe = block.shift[rows, cases:]
        return (
            Predictions(block.top1[rows, :cases], block.confidence[rows, :cases], block.shift[rows, :cases]),
            float(probe.max(initial=0.0)),
        )

    original, _ = take(slice(0, 1))
    results = []
    row = 1
    for mutant in mutants:
        predictions, shift = take(slice(row, row + mutant.repetitions))
        row += mutant.repetitions
        reason = block.reasons.get(mutant.key)
        if reason is None and not predictions.finite:
            lost = int((predictions.top1 < 0).any(axis=0).sum())
            reason = f"its output is NaN or infinite on {lost} of {cases} test cases"
        results.append(
            MutantOutcomes(
                None if reason is not None else predictions,
                reason,
                float("nan") if reason is not None else shift,
                mutant.key in block.unchanged,
            )
        )
    return GroupOutcomes(original, tuple(results), block.notes)
