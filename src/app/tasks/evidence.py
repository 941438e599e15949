"""What an autopsy looks at beside predictions: the model's inside, its pictures, and its training data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app import progress
from app.diagnosis import LeakageCounts, QualityCounts
from app.diagnosis.autopsy import Autopsy as Diagnosis
from app.diagnosis.probabilities import Probabilities
from app.images import NO_ENDING
from app.integrity import (
    Quality,
    QualityLimits,
    Scan,
    Skipped,
    contaminate,
    near_duplicates,
    quality,
    scan_images,
)
from app.reporting.autopsy.overlay import enlarged, jpeg, overlay, thumbnail
from app.reporting.autopsy.page import Shown
from app.reporting.autopsy.parts import (
    Leakage,
    Lookalikes,
    Overlay,
    Overlays,
)

if TYPE_CHECKING:  # what starts torch
    from app.inference.probe import Probed
    from app.tasks.autopsy import Autopsy

NO_PICTURE = (NO_ENDING, "is a link")
"""How the reasons begin for which a file was left out without being looked at."""
RIGHT = 2
"""Of the explained pictures, so many are right predictions: what the model looks at where all is well."""


@dataclass(frozen=True)
class DataEvidence:
    """What the pictures of test and training data show."""

    quality: Quality | None = None
    """Of the test pictures."""
    counts: QualityCounts | None = None
    """The same for the score."""
    lookalikes: Lookalikes | None = None
    """Near duplicates among them."""
    leakage: Leakage | None = None
    """Test cases in the training data, for the report."""
    leaked: LeakageCounts | None = None
    """The same for the diagnosis."""


@dataclass(frozen=True)
class Maps:
    """Grad-CAM, for the report and as files."""

    overlays: Overlays | None
    """For the report."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Pictures by their names below the output: as the model saw them, and with the map."""


# -- the model ----------------------------------------------------------------------------------------------------


class Probing:
    """A look at the model before the pass, then the pass, and what explains its predictions.

    Args:
        task: whose model and data.

    Raises:
        UserError: the model does not fit the data, cannot be run, or has no such layer.
    """

    def __init__(self, task: Autopsy) -> None:
        from app.inference import probe  # noqa: PLC0415 - starts torch

        self.task, self._probe = task, probe
        model = task.model
        wanted = task.layer if task.embedded else None
        self.examined = probe.examine(
            model.module,
            model.preprocess.to_batch,
            task.dataset,
            model.output,
            wanted,
            key=model.output_key,
            classes=task.subject.known_classes,
        )
        task.subject.check_outputs(self.examined.outputs)

    @property
    def layers(self) -> str:
        """Where test cases are embedded, in words."""
        return self.examined.layers.words

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        if self.task.embedded and not self.examined.layers.names:
            told = "there are no embeddings: the model's layers cannot be looked into"
            return (*self.examined.notes, told)
        return self.examined.notes

    def run(self, folder: Path, cases: NDArray[np.int64], advance: Callable[[int], None]) -> Probed | None:
        """The pass over the test cases; None in further processes."""
        embedded = np.zeros(len(self.task.dataset), dtype=np.bool_)
        embedded[cases] = True
        layers = self.examined.layers if cases.size else self._probe.NOWHERE
        return self._pass(self.task.dataset, folder, advance, layers=layers, embedded=embedded)

    def train_accuracy(self, folder: Path, advance: Callable[[int], None]) -> float | None:
        """Accuracy on the training data; None in further processes."""
        from app.subjects.subject import Subject  # noqa: PLC0415 - starts torch

        subject = Subject(self.task.model, self.task.train)
        found = self._pass(self.task.train, folder, advance)
        if found is None:
            return None
        finite = np.isfinite(found.scores).all(axis=1)
        return float((finite & (found.scores.argmax(axis=1) == subject.labels)).mean())

    def _pass(self, images: Any, folder: Path, advance: Callable[[int], None], **more: Any) -> Probed | None:
        return self._probe.probe(
            self.examined.classifier,
            images,
            self.task.trainer,
            folder,
            batch_size=self.task.batch_size,
            workers=self.task.workers,
            advance=advance,
            **more,
        )

    def explain(self, found: Diagnosis, most: int, layer: str | None) -> Maps:
        """Grad-CAM of the predicted class for the worst errors and a few right predictions."""
        from app.inference.gradcam import NoMaps, gradcam  # noqa: PLC0415 - starts torch

        given, task = found.probabilities, self.task
        chosen = cases_to_explain(found, most)
        if not chosen:
            return Maps(Overlays(None, "no test case was chosen.", ()))
        place = {case: row for row, case in enumerate(given.cases.tolist())}
        rows = [place[case] for case in chosen]
        predicted = given.rows[rows].argmax(axis=1).tolist()
        images = [task.dataset.load(case) for case in chosen]
        preprocess = task.model.preprocess
        try:
            maps = gradcam(
                task.model.module,
                preprocess.to_batch(images),
                predicted,
                read=self.examined.classifier.scores,
                layer=layer,
                probabilities=given.output == "probs",
            )
        except NoMaps as reason:
            return Maps(Overlays(None, f"{reason}.", ()))
        files, shown = {}, []
        for case, row, best, image, weights in zip(chosen, rows, predicted, images, maps.maps, strict=True):
            picture = preprocess.picture(image)
            name = f"overlays/{case:06d}.jpg"
            files[name] = jpeg(overlay(picture, weights))
            files[f"overlays/{case:06d}_seen.jpg"] = jpeg(enlarged(picture))
            shown.append(
                Overlay(
                    case=case,
                    path=task.paths[case],
                    label=given.class_names[given.labels[row]],
                    predicted=given.class_names[best],
                    confidence=float(given.rows[row, best]),
                    file=name,
                )
            )
        return Maps(Overlays(maps.layer, "", tuple(shown)), files)


def cases_to_explain(found: Diagnosis, most: int) -> list[int]:
    """Errors first, the confident ones before the rest, then the surest right predictions of different classes."""
    given = found.probabilities
    top1, confidence = given.rows.argmax(axis=1), given.rows.max(axis=1)
    right = top1 == given.labels
    wrong = np.flatnonzero(~right)
    wrong = wrong[np.argsort(-confidence[wrong], kind="stable")]
    sure = np.flatnonzero(right)
    sure = sure[np.argsort(-confidence[sure], kind="stable")]
    _, first = np.unique(given.labels[sure], return_index=True)
    sure = sure[np.sort(first)]
    fine = min(RIGHT, most, sure.size) if wrong.size >= most - RIGHT else min(sure.size, most - wrong.size)
    rows = [*wrong[: most - fine].tolist(), *sure[:fine].tolist()]
    return [int(given.cases[row]) for row in rows]


# -- the pictures -------------------------------------------------------------------------------------------------


def look_at(
    dataset: Any, train: Any, limits: QualityLimits, *, near_duplicates: bool, shown: bool
) -> DataEvidence:
    """Quality of the test pictures, and which of them are also in the training data.

    Args:
        dataset: the test cases; None for no pictures.
        train: the training data; None for none.
        limits: from where on a picture is faulty.
        near_duplicates: whether look-alikes among the test cases are counted.
        shown: whether this process may show a bar.
    """
    if dataset is None:
        return DataEvidence()
    total = len(dataset) + (0 if train is None else len(train))
    with progress.bar("pictures", total, shown=shown) as advance:
        test = _scan(dataset, "test", advance)
        training = None if train is None else _scan(train, "training", advance)
    found = quality(test, limits)
    counts = QualityCounts(
        total=found.total,
        unreadable=len(found.unreadable),
        low_resolution=found.fault("low_resolution").n,
        extra_duplicates=found.extra_duplicates,
        near_empty=found.fault("near_empty").n,
        unreadable_files=tuple(each.path for each in found.unreadable),
    )
    alike = _lookalikes(test) if near_duplicates else None
    if training is None:
        return DataEvidence(found, counts, alike)
    leakage = _leakage(test, training)
    leaked = LeakageCounts(
        total=leakage.total,
        exact=leakage.exact,
        near=0 if leakage.signal_diluted else leakage.near,
        files=leakage.files,
    )
    return DataEvidence(found, counts, alike, leakage, leaked)


def _scan(dataset: Any, name: str, advance: Callable[[int], None]) -> Scan:
    return scan_images(
        dataset.load,
        dataset.labels,
        dataset.class_names,
        name=name,
        paths=dataset.paths,
        digests=dataset.case_digests,
        unreadable=[
            Skipped(each.path, each.reason)
            for each in dataset.excluded
            if not each.reason.startswith(NO_PICTURE)
        ],
        progress=lambda _, __: advance(1),
    )


def _lookalikes(test: Scan) -> Lookalikes:
    found = near_duplicates(test)
    return Lookalikes(found.near, found.weak, found.signal_diluted)


def _leakage(test: Scan, training: Scan) -> Leakage:
    found = contaminate([test, training], shown=0)
    exposure = next(each for each in found.exposure if each.split == test.name)
    known = {digest.tobytes() for digest in training.digests[training.readable]}
    readable = np.flatnonzero(test.readable).tolist()
    return Leakage(
        total=len(readable),
        exact=exposure.exact,
        near=exposure.near,
        signal_diluted=found.signal_diluted,
        files=tuple(test.paths[row] for row in readable if test.digests[row].tobytes() in known),
    )


def pictures(cases: Iterable[int], dataset: Any, given: Probabilities) -> dict[int, Shown]:
    """Thumbnails of test cases with what is said of them; those that were dropped have none."""
    place = {case: row for row, case in enumerate(given.cases.tolist())}
    found = {}
    for case in cases:
        if case in place and case not in found:
            row = place[case]
            best = int(given.rows[row].argmax())
            found[case] = Shown(
                picture=thumbnail(dataset.load(case)),
                path=dataset.paths[case],
                label=given.class_names[given.labels[row]],
                predicted=given.class_names[best],
                confidence=float(given.rows[row, best]),
            )
    return found
