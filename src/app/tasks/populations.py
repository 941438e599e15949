"""The populations of an estimate: tables as they are, and a model over data, whose variables are computed once."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app import progress
from app.errors import UserError
from app.estimation.leakage import leaks
from app.estimation.population import Population
from app.estimation.surprise import Surprise, combined, dsa, lsa
from app.estimation.tables import read_population
from app.job import Job
from app.reporting.estimate.assembly import Cases, digest_of
from app.reporting.schema import write_bytes
from app.runs import Run
from app.tasks import ranks
from app.tracking import Store

STORED, ABOUT = "population.npz", "population.json"
"""The artifacts that hold the variables of a model's population."""
KEY_TAG, DIGEST_TAG = "population_key", "population_digest"
_VERSION = 2
"""Counts up when variables are computed otherwise."""
_TABLES = (".csv", ".tsv", ".parquet", ".npz")
"""What is taken for a population in a folder."""


def tables(place: str, columns: Mapping[str, str]) -> list[Cases]:
    """The populations in a table, or in all tables of a folder.

    Raises:
        UserError: there is none, or one of them is not fit.
    """
    path = Path(place).expanduser()
    if not path.exists():
        raise UserError(f"population={place} does not exist")
    files = (
        sorted(each for each in path.iterdir() if each.suffix.lower() in _TABLES) if path.is_dir() else [path]
    )
    if not files:
        raise UserError(f"population={place} holds no table: {', '.join(_TABLES)}")
    found = []
    for file in files:
        table = read_population(file, columns)
        found.append(
            Cases(table.population, "table", table.failures, table.leaks, table.class_names, table.true)
        )
    return found


@dataclass(frozen=True)
class Probing:
    """How a model's variables are computed."""

    subject: Any
    """Model and operational data."""
    train: Any
    """Training data for surprise; None without."""
    trainer: Any
    """Lightning's."""
    layer: str | None = None
    """Where traces are taken; None for the last hidden layer."""
    training_classes: Literal["predicted", "true"] = "predicted"
    """What the classes of training traces are."""
    batch_size: int = 128
    decoders: int = 0
    """Processes that decode."""

    @property
    def labelled(self) -> bool:
        """Whether the true classes of the operational data are known."""
        from app.subjects.unlabelled import UnlabelledImages  # noqa: PLC0415 - tables do without torch

        return not isinstance(self.subject.dataset, UnlabelledImages)

    @property
    def key(self) -> str:
        """Equal for populations that must have equal variables."""
        data, model = self.subject.dataset, self.subject.model
        paths = hashlib.sha256("\0".join(data.paths).encode("utf-8", "surrogatepass")).hexdigest()
        train = None if self.train is None else self.train.digest
        read = [repr(model.preprocess), model.output, model.output_key]
        about = [_VERSION, model.digest, *read, data.digest, paths, train, self.layer, self.training_classes]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def subject_of(model: Any, dataset: Any, train: Any) -> Any:
    """Model and operational data as a subject.

    Raises:
        UserError: they are something else, or do not fit together.
    """
    from app.subjects.dataset import ImageDataset  # noqa: PLC0415 - tables do without torch
    from app.subjects.model import Model  # noqa: PLC0415
    from app.subjects.subject import Subject  # noqa: PLC0415

    for name, value, kind in (
        ("model", model, Model),
        ("dataset", dataset, ImageDataset),
        ("task.train", train, ImageDataset),
    ):
        if not isinstance(value, kind) and not (value is None and name == "task.train"):
            made = type(value).__name__
            raise UserError(
                f"{name} must have a _target_ that makes one {kind.__module__}.{kind.__name__}, not {made}"
            )
    if train is not None:
        Subject(model, train)
    return Subject(model, dataset)


def live(probing: Probing, store: Store, run: Run, folder: Path, job: Job) -> Cases | None:
    """The population of a model over data; read back if an earlier run of the store computed it.

    Args:
        probing: model, data, and where to look.
        store: the history.
        run: of this invocation; the variables become its artifacts.
        folder: for what is kept until then, shared by all ranks.
        job: the invocation.

    Returns:
        The population; None on every rank but the first.

    Raises:
        UserError: the model cannot be run on the data, or a layer that is asked for is not there.
    """
    stored, notes = _read_back(probing, store) if job.first else (None, ())
    if not ranks.told(stored is not None):
        stored = _computed(probing, folder, job)
    if stored is None:
        return None
    content, about = stored
    population = _population(content, probing.subject.name, (*about["notes"], *notes))
    write_bytes(content, job.output / STORED)
    write_bytes((json.dumps(about, indent=2) + "\n").encode(), job.output / ABOUT)
    run.set_tags({KEY_TAG: probing.key, DIGEST_TAG: hashlib.sha256(content).hexdigest()})
    classes, layers = probing.subject.classes, about["layers"]
    return Cases(population, "model", class_names=classes, layers=layers, key=probing.key)


def with_truth(found: Cases, subject: Any) -> Cases:
    """A model's population with the true classes of its data set."""
    true = subject.labels.astype(np.int64)
    failures = true != found.population.predicted
    return replace(found, failures=failures, leaks=leaks(found.population, failures), true=true)


def _read_back(probing: Probing, store: Store) -> tuple[tuple[bytes, dict[str, Any]] | None, tuple[str, ...]]:
    """What an earlier run stored, its digest checked; and what is to be said about it."""
    for info in store.parents("estimate", probing.subject.name, status=None, limit=100):
        if info.tags.get(f"assay.{KEY_TAG}") != probing.key:
            continue
        try:
            content = store.artifact(info.id, STORED).read_bytes()
            about = json.loads(store.artifact(info.id, ABOUT).read_text(encoding="utf-8"))
        except (UserError, OSError, ValueError, RecursionError):
            continue
        if hashlib.sha256(content).hexdigest() == info.tags.get(f"assay.{DIGEST_TAG}"):
            return (content, about), ()
        return None, (
            f"the auxiliary variables stored in run {info.id} are damaged: they were computed again",
        )
    return None, ()


def _computed(probing: Probing, folder: Path, job: Job) -> tuple[bytes, dict[str, Any]] | None:
    from app.inference import campaign  # noqa: PLC0415 - tables do without torch
    from app.inference.features import features  # noqa: PLC0415
    from app.inference.layers import find_layers  # noqa: PLC0415

    model, data = probing.subject.model, probing.subject.dataset
    examined = campaign.examine(
        model.module,
        model.preprocess.to_batch,
        data,
        model.output,
        key=model.output_key,
        classes=probing.subject.known_classes,
    )
    probing.subject.check_outputs(examined.outputs)
    layers = find_layers(examined.classifier, data, probing.layer)
    total = len(data) + (0 if probing.train is None else len(probing.train))

    def look(images: Any, name: str, advance: Callable[[int], None]) -> Any:
        return features(
            examined.classifier,
            images,
            probing.trainer,
            folder / name,
            layers=layers,
            batch_size=probing.batch_size,
            workers=probing.decoders,
            advance=advance,
        )

    with progress.bar("cases through the model", total, shown=job.first) as advance:
        training = None if probing.train is None else look(probing.train, "train", advance)
        operation = look(data, "operation", advance)
    if operation is None:
        return None
    columns = {name: getattr(operation, name) for name in ("confidence", "margin", "entropy")}
    found, notes = _surprises(probing, training, operation)
    columns |= found
    extra = {} if operation.traces is None else {"neurons": operation.traces}
    buffer = io.BytesIO()
    np.savez(
        buffer, id=np.asarray(data.paths, dtype=np.str_), predicted=operation.predicted, **columns, **extra
    )
    return buffer.getvalue(), {"layers": layers.words, "notes": [*examined.notes, *notes]}


def _surprises(probing: Probing, training: Any, operation: Any) -> tuple[dict[str, Any], list[str]]:
    if operation.traces is None:
        return {}, ["the model shows no activations: no surprise (dsa, lsa, combined) and no neurons"]
    if training is None:
        return {}, ["no training data was given (task.train): no surprise (dsa, lsa, combined)"]
    classes = training.predicted if probing.training_classes == "predicted" else _true_classes(probing)
    distance: Surprise = dsa(training.traces, classes, operation.traces, operation.predicted)
    likelihood: Surprise = lsa(training.traces, classes, operation.traces, operation.predicted)
    columns = {"dsa": distance.values, "lsa": likelihood.values}
    columns["combined"] = combined(operation.confidence, distance.values)
    return columns, [*distance.notes, *likelihood.notes]


def _true_classes(probing: Probing) -> Any:
    from app.subjects.subject import Subject  # noqa: PLC0415 - tables do without torch

    return Subject(probing.subject.model, probing.train).labels.astype(np.int64)


def _population(content: bytes, name: str, notes: tuple[str, ...]) -> Population:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        parts = {key: arrays[key] for key in arrays.files}
    ids, predicted, neurons = parts.pop("id"), parts.pop("predicted"), parts.pop("neurons", None)
    return Population(name, ids, parts, predicted, neurons, notes)


def digest_of_all(found: list[Cases]) -> str:
    """One digest of several populations."""
    parts = [f"{each.population.name}:{digest_of(each.population)}" for each in found]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
