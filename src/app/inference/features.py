"""What a classifier says about every case and how it comes to it: doubt, predicted class, activation traces.

The traces are what surprise is measured on (Kim, Feldt & Yoo, ICSE 2019): the values that go into the last linear
layer, or come out of modules chosen by name; maps are averaged over space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from app.estimation import uncertainty
from app.inference.bank import Classifier
from app.inference.batches import Images
from app.inference.layers import Layers
from app.inference.probe import probe

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
    found = probe(
        classifier,
        images,
        trainer,
        folder,
        layers=layers,
        finite=True,
        batch_size=batch_size,
        workers=workers,
        advance=advance,
    )
    if found is None:
        return None
    wide = found.scores.astype(np.float64)
    rows = wide if classifier.output == "probs" else special.softmax(wide, axis=1)
    return Features(
        found.scores.argmax(axis=1),
        uncertainty.confidence(rows),
        uncertainty.margin(rows),
        uncertainty.entropy(rows),
        found.embeddings,
    )
