"""What every report says about where it comes from: the run, and the subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Run:
    """The run that made a report: the only block in which the reports of two equal runs differ."""

    id: str
    """Identifier of the run in the store."""
    parent: str | None
    """Identifier of the sweep run it belongs to, if any."""
    started: str
    """When it started: ISO 8601 with the offset from UTC."""
    finished: str
    """When it finished, in the same form."""
    seconds: float
    """Wall time."""
    command: str
    """The command line that repeats it."""
    store: str
    """URI of the store that holds the run, without any password."""
    resumed: bool = False
    """Whether rows of an interrupted run were reused."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of Python and of the libraries that took part, by name."""


@dataclass(frozen=True)
class Excluded:
    """A test case that was left out."""

    path: str
    """Its file, as the user named it."""
    reason: str
    """Why, in a few words."""


@dataclass(frozen=True)
class Subject:
    """The model and the data it was tested on."""

    name: str
    """`model.name@dataset.name`."""
    model: str
    """Name of the model."""
    dataset: str
    """Name of the data set."""
    model_digest: str
    """Digest of the model."""
    data_digest: str
    """Digest of the data."""
    n: int
    """Number of test cases used, the excluded ones not counted."""
    classes: tuple[str, ...]
    """Class names, in the order in which the model was trained."""
    excluded: tuple[Excluded, ...] = ()
    """The test cases that were left out."""
    notes: tuple[str, ...] = ()
    """What a reader must know about the subject, such as a guessed preprocessing."""
    preprocess: str = ""
    """What is done to a picture before the model sees it; empty without a model."""
    output: str = ""
    """How the model's outputs are read; empty without a model."""
