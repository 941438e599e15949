"""The subject of detection: a detector together with the pictures and boxes it is tested on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from app.errors import UserError
from app.subjects.detection.dataset import DetectionDataset, Labels
from app.subjects.detection.detector import Detector


@dataclass(frozen=True, eq=False)
class DetectorSubject:
    """A detector and its test cases, with classes numbered as the detector numbers them, without background.

    Where both sides name their classes, they are matched by name and never by position.

    Raises:
        UserError: the data has objects of classes that the detector does not know.
    """

    model: Detector
    """What is tested."""
    dataset: DetectionDataset
    """What it is tested on."""
    classes: tuple[str, ...] = field(init=False)
    """(C,): names of the classes; `Detector.to_classes` gives indices into them."""
    notes: tuple[str, ...] = field(init=False)
    """Remarks of detector and data, and how classes were matched where that is a guess."""
    _order: Labels = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names, given = self.model.class_names, self.dataset.class_names
        notes = self.model.notes + self.dataset.notes
        order = np.arange(len(given))
        if names is None:
            names = given
            first = int(self.model.background)
            notes += (
                f"model.class_names was not given: the labels {first}..{first + len(given) - 1} of the model "
                f"are taken to be {_listed(given)}",
            )
        elif not self.dataset.named:
            if len(given) > len(names):
                raise UserError(
                    f"the labels of {self.dataset.name} go up to {len(given) - 1}, but model.class_names has "
                    f"only {len(names)} classes without the background"
                )
        else:
            self._refuse_unknown(names)
            order = np.array([names.index(name) if name in names else -1 for name in given], dtype=np.int64)
        object.__setattr__(self, "classes", names)
        object.__setattr__(self, "notes", notes)
        object.__setattr__(self, "_order", order)

    def _refuse_unknown(self, names: tuple[str, ...]) -> None:
        present = np.zeros(len(self.dataset.class_names), dtype=bool)
        for objects in (*self.dataset.objects, *self.dataset.ignored):
            present[objects.labels] = True
        unknown = [
            name
            for name, there in zip(self.dataset.class_names, present, strict=True)
            if there and name not in names
        ]
        if unknown:
            raise UserError(
                f"data set {self.dataset.name} has objects of classes that the model does not know: "
                f"{_listed(unknown)}; model.class_names are {_listed(names)}"
            )

    def labels(self, i: int) -> Labels:
        """(K,): indices into `classes` of what is to be found in a test case."""
        return self._order[self.dataset.labels(i)]

    @property
    def name(self) -> str:
        """``model.name@dataset.name``; the same in history when the model is trained again."""
        return f"{self.model.name}@{self.dataset.name}"

    @property
    def num_classes(self) -> int:
        """C, without the background."""
        return len(self.classes)

    @property
    def model_digest(self) -> str:
        """SHA-256 of the model's weights."""
        return self.model.digest

    @property
    def data_digest(self) -> str:
        """SHA-256 of the test cases."""
        return self.dataset.digest

    def __len__(self) -> int:
        return len(self.dataset)


def _listed(names: tuple[str, ...] | list[str], shown: int = 8) -> str:
    rest = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + rest
