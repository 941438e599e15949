"""One pass over the cases for all that diagnosis and estimation look at: class scores, and what a layer makes of them.

Ranks share batches and leave a file for each, so that the first of them gathers every test case once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from app import durable
from app.errors import UserError
from app.inference.bank import Classifier
from app.inference.batches import Batch, Batches, Images, fitting, limits_of
from app.inference.layers import Layers, find_layers
from app.inference.outcomes import OutputType
from app.inference.passes import predict
from app.inference.scores import Key, find_scores
from app.inference.shelf import Shelf

NOWHERE = Layers((), inputs=False)
"""No layer."""
LOOK = 8
"""Images that the model is tried on before the pass."""


@dataclass(frozen=True)
class Examined:
    """What a look at a few images tells of a model."""

    classifier: Classifier
    """The model, its output type resolved."""
    outputs: int
    """K, the width of its output."""
    layers: Layers
    """Where test cases are embedded; no names if the model lets nobody look inside."""
    notes: tuple[str, ...] = ()
    """How its outputs are read, where there was a choice."""


@dataclass(frozen=True)
class Probed:
    """What one pass found; N test cases, in order."""

    scores: NDArray[np.float32]
    """(N, K): the network's class scores, as they came out."""
    cases: NDArray[np.int64]
    """(M,): the test cases that were embedded."""
    embeddings: NDArray[np.float32] | None
    """(M, D): what the layer makes of them; None without a layer."""


def examine(
    module: nn.Module,
    to_batch: Callable[[Sequence[Image.Image]], Tensor],
    images: Images,
    output: OutputType,
    layer: str | None = None,
    *,
    key: Key | None = None,
    classes: Sequence[str] | None = None,
) -> Examined:
    """Run a model on a few images: does it give class scores, and where can test cases be embedded?

    Rows that are not finite are let through here: what is done about them is chosen for all test cases.

    Args:
        module: the network, in eval mode.
        to_batch: preprocessing of images to its input.
        images: the test cases.
        output: what its scores are.
        layer: a module, or a pattern, whose output embeds; None for what goes into the last linear layer.
        key: which of its outputs the scores are; None where that is plain.
        classes: names of the classes; None if they are not known.

    Raises:
        UserError: outputs that are no class scores, an input that the model refuses, or no such layer.
    """
    batch = to_batch(
        Shelf(images.load, range(fitting(min(LOOK, len(images)), len(images), limits_of(module))))
    )
    read = find_scores(module, batch, output, key, classes)
    classifier = Classifier(module, to_batch, read.output, read.scores)
    return Examined(classifier, read.rows.shape[1], find_layers(classifier, images, layer), read.notes)


class Probe(pl.LightningModule):
    """Runs a network once on each batch and writes what comes out; to be used with `Trainer.predict`.

    Args:
        classifier: the model.
        folder: where the files of the batches go.
        layers: where test cases are embedded.
        embedded: (N,) which test cases are.
        finite: whether outputs that are not finite end the pass.
        advance: is told how many test cases are done.
    """

    def __init__(
        self,
        classifier: Classifier,
        folder: Path,
        *,
        layers: Layers,
        embedded: NDArray[np.bool_],
        finite: bool,
        advance: Callable[[int], None],
    ) -> None:
        super().__init__()
        self.model = classifier.module
        self.classifier = classifier
        self.folder, self.layers, self.embedded = folder, layers, embedded
        self.finite, self.advance = finite, advance

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:  # noqa: ARG002
        """Images stay where they are until they are preprocessed."""
        return batch

    def predict_step(self, batch: Batch, batch_idx: int) -> int:  # noqa: ARG002
        """Run the network on a batch and write its file; returns the batch's number."""
        if batch.number < 0:
            return batch.number
        x = self.classifier.to_batch(batch.images).to(self.device)
        with _embedded(self.model, self.layers) as seen:
            scores = self.classifier.scores(self.model(x)).cpu().numpy()
        broken = self.finite & ~np.isfinite(scores).all(axis=1)
        if broken.any():
            raise UserError(f"the model gives NaN or infinity for case {batch.cases[broken][0]}")
        wanted = self.embedded[batch.cases]
        rows = np.zeros((0, 0), dtype=np.float32)
        if self.layers.names and wanted.any():
            parts = [seen.get(name) for name in self.layers.names]
            if any(part is None or len(part) != len(batch.cases) for part in parts):
                raise UserError(
                    f"task.layer: {self.layers.words} does not hold one row a test case; name another layer"
                )
            rows = (
                torch.cat([part for part in parts if part is not None], dim=1)[wanted].float().cpu().numpy()
            )
        arrays: dict[str, Any] = {
            "cases": batch.cases,
            "scores": scores,
            "embedded": batch.cases[wanted],
            "rows": rows,
        }
        durable.write(lambda file: np.savez(file, **arrays), file_of(self.folder, batch.number))
        self.advance(len(batch.cases))
        return batch.number


def probe(
    classifier: Classifier,
    images: Images,
    trainer: Any,
    folder: Path,
    *,
    layers: Layers = NOWHERE,
    embedded: NDArray[np.bool_] | None = None,
    finite: bool = False,
    batch_size: int = 128,
    workers: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> Probed | None:
    """One pass over all test cases. Every rank must take part; only the first gets the result, others None.

    Args:
        classifier: the model.
        images: the test cases.
        trainer: Lightning's.
        folder: for the files of the batches; all ranks see it.
        layers: where test cases are embedded.
        embedded: (N,) which test cases are; None for all.
        finite: whether outputs that are not finite end the pass.
        batch_size: test cases a batch.
        workers: processes that decode.
        advance: is told how many test cases are done.

    Raises:
        UserError: the layer does not hold one row a test case, or an output is not finite.
        KeyboardInterrupt: it was interrupted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    size = fitting(batch_size, len(images), limits_of(classifier.module))
    count = Batches.count(len(images), size) - 1  # without the batch of noise
    chosen = np.ones(len(images), dtype=np.bool_) if embedded is None else embedded
    batches = Batches(images, size, list(range(count)), trainer.world_size)
    module = Probe(
        classifier,
        folder,
        layers=layers,
        embedded=chosen,
        finite=finite,
        advance=lambda cases: advance(trainer.world_size * cases),
    )
    predict(trainer, module, batches.loader(workers))
    return gathered(folder, count, len(images)) if trainer.is_global_zero else None


def vectors(tensor: Tensor) -> Tensor:
    """(B, D): one vector a test case; means over places (B, D, ...) and tokens (B, T, D), else flattened."""
    if tensor.dim() > 3:
        return tensor.flatten(2).mean(dim=2)
    return tensor.mean(dim=1) if tensor.dim() == 3 else tensor.reshape(len(tensor), -1)


def file_of(folder: Path, batch: int) -> Path:
    """The file of a batch."""
    return folder / f"batch{batch:06d}.npz"


def gathered(folder: Path, count: int, cases: int) -> Probed:
    """What the batches in a folder hold, in the order of the cases.

    Raises:
        RuntimeError: the cases are not 0, 1, 2, … each once.
    """
    parts: dict[str, list[NDArray[Any]]] = {"cases": [], "scores": [], "embedded": [], "rows": []}
    for batch in range(count):
        if not file_of(folder, batch).is_file():
            break
        with np.load(file_of(folder, batch), allow_pickle=False) as arrays:
            for name, found in parts.items():
                found.append(arrays[name])
    if not parts["cases"] or not np.array_equal(np.concatenate(parts["cases"]), np.arange(cases)):
        raise RuntimeError(f"the pass in {folder} does not hold each test case once")
    rows = [each for each in parts["rows"] if each.size]
    embeddings = np.concatenate(rows) if rows else None
    embedded = np.concatenate(parts["embedded"]) if embeddings is not None else np.zeros(0, dtype=np.int64)
    return Probed(np.concatenate(parts["scores"]), embedded, embeddings)


@contextmanager
def _embedded(module: nn.Module, layers: Layers) -> Iterator[dict[str, Tensor]]:
    """Keeps, as vectors, what goes into layers or comes out, before anything later can change it in place."""
    seen: dict[str, Tensor] = {}

    def keep(name: str, value: Any) -> None:
        first = value[0] if isinstance(value, tuple | list) and value else value
        if isinstance(first, Tensor) and first.dim():
            seen[name] = vectors(first.detach()).clone()

    handles = []
    for name in layers.names:
        child = module.get_submodule(name)
        if layers.inputs:
            handles.append(child.register_forward_pre_hook(lambda _, given, name=name: keep(name, given)))
        else:
            handles.append(child.register_forward_hook(lambda _, __, output, name=name: keep(name, output)))
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
