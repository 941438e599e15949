"""The autopsy of a classifier: what is wrong with it and its data, how sure that is, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app import machine, progress
from app.diagnosis import autopsy as diagnosis
from app.diagnosis import embeddings
from app.diagnosis.headline import proportion
from app.errors import UserError
from app.integrity import QualityLimits
from app.job import Job
from app.limits import File, NotNegative, Positive, Share
from app.reporting import figures as canvases
from app.reporting import html, lineage, schema
from app.reporting.autopsy import figures, page, words
from app.reporting.autopsy.assembly import Material, autopsy_report, interval
from app.reporting.autopsy.parts import (
    Training,
)
from app.reporting.autopsy.report import (
    AutopsyReport,
    Settings,
)
from app.tasks import evidence, filing, runs
from app.tasks.prediction_tables import PredictionTable, read_predictions
from app.tracking import Store


@dataclass(frozen=True, eq=False)
class Outputs:
    """What is known of N test cases before the diagnosis."""

    scores: NDArray[Any]
    """(N, K): probabilities or logits."""
    labels: NDArray[Any]
    """(N,)."""
    embeddings: NDArray[np.float32] | None = None
    """(M, D), if there is a model to look into."""
    cases: NDArray[np.int64] | None = None
    """(M,): the test cases embedded."""
    layer: str = ""
    """Where, in words."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""
    train_accuracy: float | None = None
    """Accuracy on training data, if known."""


class Autopsy:
    """Diagnoses a classifier on test cases, from the model and its data or from saved probabilities, and reports.

    Args:
        model: the classifier; None with `probs`.
        dataset: its test cases; with `probs`, their pictures (and labels), if there are any.
        store: the history.
        trainer: Lightning's, with a model.
        probs: probabilities or logits in place of a model: an array (N, K) or a table.
        labels: their labels, where `probs` is an array.
        train: training data, to look for overfitting and leaked test cases.
        train_accuracy: accuracy on training data, where it is known and the data is not given.
        class_names: of the columns of `probs`, in training order: a list or a file.
        name: of the subject with `probs`; None takes the files' names.
        output: what `probs` holds.
        profile: `assay`, or `original` for exactly the score, causes and ECE of the original tool; None for `assay`.
        on_invalid: what is done about rows with NaN or infinity.
        seed: of everything that is drawn, 0 or more.
        weights: of the sub-scores.
        resamples: bootstrap samples.
        layer: where test cases are embedded; None for what goes into the last linear layer.
        embedded: how many test cases are embedded at most.
        picture: how embeddings are pictured.
        overlays: pictures with a Grad-CAM map.
        gradcam_layer: whose output is weighed; None for the last one with places.
        near_duplicates: whether look-alikes among the test cases are counted.
        min_side: pixels; a picture with a shorter side is of low resolution.
        batch_size: test cases a batch.
        workers: processes that decode images.

    Raises:
        UserError: what is missing or does not fit together.
    """

    def __init__(
        self,
        model: Any = None,
        dataset: Any = None,
        *,
        store: Store,
        trainer: Any = None,
        probs: File | None = None,
        labels: File | None = None,
        train: Any = None,
        train_accuracy: Share | None = None,
        class_names: File | Sequence[str] | None = None,
        name: str | None = None,
        output: Literal["auto", "logits", "probs"] = "auto",
        profile: Literal["assay", "original"] | None = None,
        on_invalid: Literal["error", "drop"] = "error",
        seed: NotNegative = 0,
        weights: Mapping[str, float] | None = None,
        resamples: Positive = 1000,
        layer: str | None = None,
        embedded: NotNegative = embeddings.MOST,
        picture: Literal["pca", "tsne"] = "pca",
        overlays: NotNegative = 8,
        gradcam_layer: str | None = None,
        near_duplicates: bool = False,
        min_side: NotNegative = 64,
        batch_size: Positive = 128,
        workers: NotNegative = 0,
    ) -> None:
        for key, value, least in (
            ("resamples", resamples, 1),
            ("embedded", embedded, 0),
            ("overlays", overlays, 0),
            ("min_side", min_side, 0),
            ("batch_size", batch_size, 1),
            ("workers", workers, 0),
        ):
            if value < least:
                raise UserError(f"task.{key} must be {least} or more, not {value}")
        _check_inputs(model, dataset, probs, labels, train)
        if train_accuracy is not None and not 0 <= train_accuracy <= 1:
            raise UserError(f"task.train_accuracy must be from 0 to 1, not {train_accuracy}")
        self.model, self.dataset, self.train, self.trainer = model, dataset, train, trainer
        self.store, self.seed, self.profile, self.on_invalid = store, seed, profile or "assay", on_invalid
        self.output = model.output if model is not None else output
        self.weights, self.resamples, self.train_accuracy = dict(weights or {}), resamples, train_accuracy
        self.layer, self.embedded, self.picture = layer, embedded, picture
        self.overlays, self.gradcam_layer = overlays, gradcam_layer
        self.near_duplicates, self.limits = near_duplicates, QualityLimits(min_side, min_side)
        self.batch_size, self.workers = batch_size, workers
        self.table = (
            None
            if probs is None
            else read_predictions(
                probs,
                labels,
                class_names=class_names,
                given=None if dataset is None else dataset.labels,
                cases=() if dataset is None else dataset.paths,
            )
        )
        self.subject, self.about = self._subject(name)

    def run(self, job: Job) -> None:
        """Run the model once, scan the pictures, diagnose, then write report and pictures, and file them."""
        started = datetime.now().astimezone()
        probing = None if self.model is None else evidence.Probing(self)
        with runs.opened(self.store, "autopsy", job, subject=self.subject or self.about) as run:
            folder = runs.workplace(self.store, run)
            outputs = self._outputs(probing, folder, job)
            if outputs is None:
                return
            data = evidence.look_at(
                self.dataset, self.train, self.limits, near_duplicates=self.near_duplicates, shown=job.first
            )
            found = self._diagnose(outputs, data)
            maps = evidence.Maps(None)
            if probing is not None and self.overlays:
                maps = probing.explain(found, self.overlays, self.gradcam_layer)
            report = self._report(
                found,
                outputs,
                data,
                maps,
                run=runs.run_block(run, self.store, job, started),
                job=job,
            )
            self._write(job.output, report, found, maps)
            filing.record(run, report, job.output)
        lines = words.closing_lines(report, str(job.output / "report.html"), run.url)
        runs.tell(job, run, [*runs.remarks(report.subject, self._fewer_workers()), *lines])

    def _subject(self, name: str | None) -> tuple[Any, lineage.Subject]:
        """The subject in full where there is a model, and what a report says about it."""
        if self.model is not None:
            from app.subjects.subject import Subject  # noqa: PLC0415 - starts torch

            subject = Subject(self.model, self.dataset)
            return subject, runs.subject_block(subject)
        table = self.table
        assert table is not None  # noqa: S101 - narrows the type
        if name is not None and (not name or "@" in name):
            raise UserError(f"task.name must not be empty nor hold '@': {name!r}")
        if self.dataset is not None and len(self.dataset) != len(table.probs):
            raise UserError(
                f"dataset has {len(self.dataset)} pictures for {len(table.probs)} rows of probabilities; "
                "one each is needed"
            )
        model = name or table.names[0]
        data = table.names[1] if self.dataset is None else self.dataset.name
        excluded = () if self.dataset is None else self.dataset.excluded
        return None, lineage.Subject(
            name=f"{model}@{data}",
            model=model,
            dataset=data,
            model_digest=table.digests[0],
            data_digest=table.digests[1] if self.dataset is None else self.dataset.digest,
            n=len(table.probs),
            classes=table.class_names,
            excluded=tuple(lineage.Excluded(each.path, each.reason) for each in excluded),
            notes=table.notes,
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """(N,) names of the test cases."""
        if self.dataset is not None:
            return tuple(self.dataset.paths)
        assert self.table is not None  # noqa: S101 - narrows the type
        return self.table.paths

    def _outputs(self, probing: evidence.Probing | None, folder: Path, job: Job) -> Outputs | None:
        """What the model says, in one pass that ranks share; None in further processes."""
        if probing is None:
            table: PredictionTable | None = self.table
            assert table is not None  # noqa: S101 - narrows the type
            return Outputs(table.probs, table.labels, train_accuracy=self.train_accuracy)
        cases = embeddings.stratified(
            np.asarray(self.subject.labels, dtype=np.int64),
            max(1, self.embedded),
            np.random.default_rng([self.seed, 3]),
        )
        total = len(self.dataset) + (0 if self.train is None else len(self.train))
        with progress.bar("test cases", total, shown=job.first) as advance:
            found = probing.run(folder / "test", cases if self.embedded else cases[:0], advance)
            accuracy = self.train_accuracy
            if self.train is not None:
                accuracy = probing.train_accuracy(folder / "train", advance)
        if found is None:
            return None
        return Outputs(
            found.scores,
            self.subject.labels,
            found.embeddings,
            found.cases,
            probing.layers,
            probing.notes,
            accuracy,
        )

    def _diagnose(self, outputs: Outputs, data: evidence.DataEvidence) -> diagnosis.Autopsy:
        return diagnosis.diagnose(
            outputs.scores,
            outputs.labels,
            self.about.classes,
            output=self.output,
            on_invalid=self.on_invalid,
            train_accuracy=outputs.train_accuracy,
            embeddings=outputs.embeddings,
            embedding_cases=outputs.cases if outputs.embeddings is not None else None,
            picture=self.picture,
            quality_counts=data.counts,
            leakage_counts=data.leaked,
            profile=self.profile,
            weights=self.weights,
            resamples=self.resamples,
            seed=self.seed,
        )

    def _fewer_workers(self) -> tuple[str, ...]:
        batches = 0 if self.dataset is None else -(-len(self.dataset) // self.batch_size) + 1
        return () if not batches else machine.fewer("task.workers", self.workers, batches)

    def _report(
        self,
        found: diagnosis.Autopsy,
        outputs: Outputs,
        data: evidence.DataEvidence,
        maps: evidence.Maps,
        *,
        run: lineage.Run,
        job: Job,
    ) -> AutopsyReport:
        given = found.probabilities
        dropped = tuple(lineage.Excluded(self.paths[row], "holds NaN or infinity") for row in given.dropped)
        about = replace(
            self.about,
            n=len(given.labels),
            excluded=self.about.excluded + dropped,
            notes=tuple(dict.fromkeys((*self.about.notes, *outputs.notes, *given.notes))),
        )
        settings = Settings(
            seed=self.seed,
            profile=self.profile,
            output=given.output,
            on_invalid=self.on_invalid,
            resamples=self.resamples,
            weights=self.weights,
            config_digest=job.digest,
        )
        material = Material(
            autopsy=found,
            paths=self.paths,
            layer=outputs.layer,
            copies={} if self.dataset is None else filing.copies(found, job.output, self.dataset),
            overlays=maps.overlays,
            quality=data.quality,
            lookalikes=data.lookalikes,
            training=self._training(outputs.train_accuracy),
            leakage=data.leakage,
        )
        return autopsy_report(material, run, about, settings)

    def _training(self, accuracy: float | None) -> Training | None:
        if accuracy is None:
            return None
        if self.train is None:
            return Training("", 0, accuracy, None)
        n = len(self.train)
        ends = proportion(round(accuracy * n), n)
        return Training(self.train.name, n, accuracy, interval(ends.low, ends.high))

    def _write(
        self, output: Path, report: AutopsyReport, found: diagnosis.Autopsy, maps: evidence.Maps
    ) -> None:
        given = found.probabilities
        shown = {}
        if self.dataset is not None:
            shown = evidence.pictures(page.cases_to_show(report), self.dataset, given)
        for name, picture in maps.files.items():
            schema.write_bytes(picture, output / name)
        schema.write_json(report, output / "report.json")
        html.write_page(page.autopsy_page(report, shown, maps.files), output / "report.html")
        filing.predictions(found, self.paths, output / "predictions.csv")
        drawn = {
            "reliability": figures.reliability(report),
            "confusion": figures.confusion(report),
            "embeddings": figures.embedding(report),
        }
        for name, figure in drawn.items():
            if figure is not None:
                canvases.save_png(figure, output / f"{name}.png")


def _check_inputs(model: Any, dataset: Any, probs: str | None, labels: str | None, train: Any) -> None:
    if model is None and probs is None:
        raise UserError(
            "task=autopsy needs a model and its data, model=NAME dataset=NAME, or what a model said, "
            "probs=FILE labels=FILE"
        )
    if model is not None:
        if probs is not None or labels is not None:
            key = "probs" if probs is not None else "labels"
            raise UserError(f"{key} stands in for a model: leave out {key} or model")
        if dataset is None:
            raise UserError("task=autopsy needs a dataset beside the model: give dataset=NAME")
        from app.subjects.model import Model  # noqa: PLC0415 - starts torch

        _is_a("model", model, Model)
    for key, data in (("dataset", dataset), ("task.train", train)):
        if data is not None:
            from app.subjects.dataset import ImageDataset  # noqa: PLC0415 - starts torch

            _is_a(key, data, ImageDataset)
            if not len(data):
                raise UserError(f"{key} {data.name} holds no test case")


def _is_a(name: str, value: object, kind: type) -> None:
    """A `_target_` may make anything."""
    if not isinstance(value, kind):
        raise UserError(
            f"{name} must have a _target_ that makes one {kind.__module__}.{kind.__name__}, "
            f"not {type(value).__name__}"
        )
