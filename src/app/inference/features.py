"""What a classifier says about every case and how it comes to it: doubt, predicted class, activation traces.

The traces are what surprise is measured on (Kim, Feldt & Yoo, ICSE 2019): the values that go into the last linear
layer, or come out of modules chosen by name; maps are averaged over space.
"""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from app.errors import UserError
from app.estimation import uncertainty
from app.inference.bank import Classifier
from app.inference.batches import Batch, Batches, Images
from app.inference.outcomes import scores_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Features:
    """What a model says about N cases."""

    predicted: NDArray[np.int64]
    """(N,) most probable class."""
    confidence: Floats
    """(N,) its probability."""
    margin: Floats
    """(N,) how far the second is behind."""
    entropy: Floats
    """(N,) of all probabilities, in nats."""
    traces: NDArray[np.float32] | None
    """(N, d) activations of the chosen layers; None if the model shows none."""


@dataclass(frozen=True)
class Layers:
    """Where traces are taken."""

    names: tuple[str, ...]
    """Dotted module names; empty if the model shows no activations."""
    inputs: bool
    """Whether what goes in is taken rather than what comes out."""

    @property
    def words(self) -> str:
        """What a report says about them."""
        if not self.names:
            return "none"
        return ("the input of " if self.inputs else "") + ", ".join(self.names)


def find_layers(classifier: Classifier, images: Images, wanted: str | None = None) -> Layers:
    """The layers whose activations are the traces.

    Without a wish it is the last hidden layer: what goes into the last linear layer that runs; in a model without
    linear layers, what comes out of the last module with parameters but one.

    Args:
        classifier: the model.
        images: one of them is run to see which modules are called.
        wanted: a module's dotted name, or a pattern such as `features.*.conv`; several modules are put side by side.

    Raises:
        UserError: no module that runs has that name.
    """
    module = classifier.module
    called: dict[str, nn.Module] = {}

    def note(name: str) -> Callable[[nn.Module, Any, Any], None]:
        return lambda each, _, output: called.update({name: each}) if isinstance(output, Tensor) else None

    hooks = [
        child.register_forward_hook(note(name))
        for name, child in module.named_modules()
        if name and not isinstance(child, torch.jit.ScriptModule)
    ]
    try:
        with torch.no_grad():
            module(classifier.to_batch([images.load(0)]))
    finally:
        for hook in hooks:
            hook.remove()
    if wanted is not None:
        names = tuple(name for name in called if fnmatchcase(name, wanted))
        if not names:
            there = ", ".join(list(called)[-8:]) or "none of its modules can be looked into"
            raise UserError(
                f"task.layer={wanted} is no module of the model that runs; the last ones are: {there}"
            )
        return Layers(names, inputs=False)
    linear = [name for name, each in called.items() if isinstance(each, nn.Linear)]
    if linear:
        return Layers((linear[-1],), inputs=True)
    owners = [name for name, each in called.items() if any(True for _ in each.parameters(recurse=False))]
    return Layers(tuple(owners[-2:-1]), inputs=False)


class FeatureProbe(pl.LightningModule):
    """Runs a model over batches and keeps its features, a checked file a batch; for `Trainer.predict`.

    Args:
        classifier: the model.
        layers: where traces are taken.
        folder: where the files go; shared by all ranks.
        done: called with the number of cases of each batch.
    """

    def __init__(
        self,
        classifier: Classifier,
        layers: Layers,
        folder: Path,
        done: Callable[[int], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self.model = classifier.module
        self.classifier, self.layers, self.folder, self.done = classifier, layers, folder, done

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:  # noqa: ARG002
        """Images stay where they are until they are preprocessed."""
        return batch

    def predict_step(self, batch: Batch, batch_idx: int) -> int:  # noqa: ARG002
        """Runs a batch and writes its rows; returns the batch's number."""
        if batch.number < 0:
            return batch.number
        with _recorded(self.model, self.layers) as taken:
            scores = scores_of(self.model(self.classifier.to_batch(batch.images).to(self.device)))
        broken = ~torch.isfinite(scores).all(dim=1).cpu().numpy()
        if broken.any():
            raise UserError(f"the model gives NaN or infinity for case {batch.cases[broken][0]}")
        wide = scores.double()
        probabilities = (wide if self.classifier.output == "probs" else wide.softmax(dim=1)).cpu().numpy()
        rows = {
            "cases": batch.cases,
            "predicted": scores.argmax(dim=1).cpu().numpy().astype(np.int64),
            "confidence": uncertainty.confidence(probabilities),
            "margin": uncertainty.margin(probabilities),
            "entropy": uncertainty.entropy(probabilities),
        }
        if self.layers.names:
            parts = [_flat(taken[name], len(batch.cases)) for name in self.layers.names]
            rows["traces"] = torch.cat(parts, dim=1).float().cpu().numpy()
        _write(rows, self.folder / f"{batch.number:06d}.npz")
        self.done(len(batch.cases))
        return batch.number


@contextmanager
def _recorded(module: nn.Module, layers: Layers) -> Iterator[dict[str, Tensor]]:
    """What the layers take in or give out in the calls inside the block; of several calls, the last."""
    taken: dict[str, Tensor] = {}
    modules = dict(module.named_modules())

    def keep(name: str) -> Callable[[nn.Module, Any, Any], None]:
        def hook(_: nn.Module, given: Any, output: Any) -> None:
            taken[name] = (given[0] if layers.inputs else output).detach().clone()

        return hook

    hooks = [modules[name].register_forward_hook(keep(name)) for name in layers.names]
    try:
        yield taken
    finally:
        for hook in hooks:
            hook.remove()


def _flat(values: Tensor, rows: int) -> Tensor:
    """(B, d) from maps (averaged over space), token sequences (over tokens) or vectors."""
    if values.dim() > 3:
        values = values.flatten(2).mean(dim=2)
    elif values.dim() == 3:
        values = values.mean(dim=1)
    return values.reshape(rows, -1)


def _write(rows: dict[str, NDArray[Any]], path: Path) -> None:
    """Whole or not at all."""
    buffer = io.BytesIO()
    np.savez(buffer, **rows)  # type: ignore[arg-type]  # the stub takes the names for keyword flags
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_bytes(buffer.getvalue())
    temporary.replace(path)


def gather(folder: Path, cases: int) -> Features:
    """The features of all batches, in the order of the cases.

    Raises:
        RuntimeError: the cases are not 0, 1, 2, … each once.
    """
    columns: dict[str, list[NDArray[Any]]] = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as rows:
            for name in rows.files:
                columns.setdefault(name, []).append(rows[name])
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    if not np.array_equal(joined.get("cases", ()), np.arange(cases)):
        raise RuntimeError(f"the features in {folder} do not hold each case once")
    return Features(
        joined["predicted"], joined["confidence"], joined["margin"], joined["entropy"], joined.get("traces")
    )


def features(
    classifier: Classifier,
    images: Images,
    trainer: Any,
    folder: Path,
    *,
    layers: Layers,
    batch_size: int = 128,
    workers: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> Features | None:
    """The features of every case, each computed once, by whatever ranks the trainer has.

    Args:
        classifier: the model.
        images: the cases.
        trainer: Lightning's.
        folder: for the rows of each batch; empty, and shared by all ranks.
        layers: where traces are taken, as `find_layers` says.
        batch_size: cases a batch.
        workers: processes that decode.
        advance: called with the number of cases that are done.

    Returns:
        The features; None on every rank but the first.

    Raises:
        UserError: an output that is not finite.
    """
    count = Batches.count(len(images), batch_size) - 1  # without the batch of noise
    batches = Batches(images, batch_size, range(count), trainer.world_size)
    probe = FeatureProbe(classifier, layers, folder, lambda cases: advance(trainer.world_size * cases))
    try:
        trainer.predict(probe, dataloaders=batches.loader(workers), return_predictions=False)
    except SystemExit as error:  # Lightning's way to end after an interrupt
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise KeyboardInterrupt from error
    trainer.strategy.barrier()
    return gather(folder, len(images)) if trainer.is_global_zero else None
