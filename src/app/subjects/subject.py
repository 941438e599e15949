"""The subject: a model together with the data it is tested on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from app.errors import UserError
from app.subjects.dataset import ImageDataset, Labels
from app.subjects.model import Model
from app.subjects.unlabelled import UnlabelledImages


@dataclass(frozen=True, eq=False)
class Subject:
    """A model and its test cases, with the labels numbered as the model numbers its outputs.

    Where both sides name their classes, they are matched by name and never by position: a model trained on
    [dog, cat] is right on folders cat/ and dog/.

    Raises:
        UserError: the data has classes that the model does not know.
    """

    model: Model
    """What is tested."""
    dataset: ImageDataset
    """What it is tested on."""
    classes: tuple[str, ...] = field(init=False)
    """(K,): names of the model's outputs in their order."""
    labels: Labels = field(init=False, repr=False)
    """(N,): the output that is right for each test case."""
    notes: tuple[str, ...] = field(init=False)
    """Remarks of model and data, and how classes were matched where that is a guess."""

    def __post_init__(self) -> None:
        names, given = self.model.class_names, self.dataset.class_names
        notes = self.model.notes + self.dataset.notes
        if names is None:
            classes, labels = given, self.dataset.labels
            if self.dataset.named and len(given) > 1:
                notes += (
                    f"model.class_names was not given: its outputs are taken to be in the order "
                    f"{_listed(given)}",
                )
        elif not self.dataset.named:
            if len(given) > len(names):
                raise UserError(
                    f"the labels of {self.dataset.name} go up to {len(given) - 1}, but model.class_names has "
                    f"only {len(names)} classes"
                )
            classes, labels = names, self.dataset.labels
        else:
            unknown = [name for name in given if name not in names]
            if unknown:
                raise UserError(
                    f"data set {self.dataset.name} has classes that the model does not know: "
                    f"{_listed(unknown)}; model.class_names are {_listed(names)}"
                )
            order = np.array([names.index(name) for name in given], dtype=np.int32)
            classes, labels = names, order[self.dataset.labels]
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "notes", notes)

    @property
    def name(self) -> str:
        """``model.name@dataset.name``; the same in history when the model is trained again."""
        return f"{self.model.name}@{self.dataset.name}"

    @property
    def num_classes(self) -> int:
        """K."""
        return len(self.classes)

    @property
    def known_classes(self) -> tuple[str, ...] | None:
        """Names of the model's outputs; None where neither the model nor the data tells of classes."""
        if self.model.class_names is None and isinstance(self.dataset, UnlabelledImages):
            return None
        return self.classes

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

    def check_outputs(self, n_outputs: int) -> None:
        """Checks that the model has one output a class.

        Args:
            n_outputs: width of the model's output.

        Raises:
            UserError: it has another number.
        """
        if n_outputs == self.num_classes:
            return
        if self.model.class_names is not None:
            remedy = "correct model.class_names, one name an output in training order"
        else:
            remedy = "give model.class_names, one name an output in training order"
        has = f"{self.num_classes} classes ({_listed(self.classes)})"
        if isinstance(self.dataset, UnlabelledImages) and self.model.class_names is None:
            has = "pictures without classes"
        raise UserError(
            f"model {self.model.name} has {n_outputs} outputs, but {self.name} has {has}: {remedy}"
        )


def _listed(names: tuple[str, ...] | list[str], shown: int = 8) -> str:
    rest = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + rest
