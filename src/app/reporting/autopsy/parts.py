"""Parts of the autopsy report: test cases worth looking at, labels, regions, embeddings, training data."""

from __future__ import annotations

from dataclasses import dataclass

from app.scoring.mutant_results import Interval


@dataclass(frozen=True)
class HardExample:
    """One test case worth looking at."""

    kind: str
    """`confident_error`, `unsure_error`, `unsure_right` or `near_boundary`."""
    severity: str
    """`high` or `medium`."""
    case: int
    """Its index, from 0."""
    path: str
    """Its file or name."""
    label: str
    """Its class."""
    predicted: str
    """The predicted class."""
    confidence: float
    """Probability of the predicted class."""
    margin: float
    """How far the second most probable class is behind."""
    runner_up: str
    """The second most probable class."""
    file: str | None
    """A copy of the picture beside the report."""


@dataclass(frozen=True)
class Suspect:
    """A test case whose label looks wrong."""

    case: int
    """Its index, from 0."""
    path: str
    """Its file or name."""
    label: str
    """Its label."""
    suggested: str
    """The class that the model is confident of."""
    label_probability: float
    """What the model gives the label."""
    suggested_probability: float
    """What it gives the suggested class."""


@dataclass(frozen=True)
class LabelNoise:
    """What the predictions say about the labels."""

    share: float
    """Estimated share of wrong labels."""
    noisy: bool
    """Whether that is more than the model's own doubt and chance explain."""
    suspects: tuple[Suspect, ...]
    """Most suspicious first."""
    doubtful: tuple[Suspect, ...] = ()
    """Other labels that the model contradicts with less confidence, in the same order; up to 100 with the suspects."""


@dataclass(frozen=True)
class ClassOrder:
    """Whether the columns of the predictions belong to other classes than the names say."""

    mismatch: bool
    """Whether they do."""
    accuracy: float
    """Accuracy as it is."""
    reordered_accuracy: float
    """Accuracy with the columns renamed for the best."""
    held_out_gain: float
    """Accuracy gained on cases that had no part in finding the renaming."""
    columns: tuple[str, ...]
    """For each class, the name that its column has now; only if there is a mismatch."""


@dataclass(frozen=True)
class SliceScore:
    """A cluster of embeddings."""

    number: int
    """Which."""
    n: int
    """Its test cases."""
    errors: int
    """How many are wrong."""
    expected: float
    """How many would be if its classes failed here as often as everywhere."""
    error_rate: float
    """Share that is wrong."""
    error_rate_ci: Interval
    """Its 95 % interval."""
    rest_error_rate: float | None
    """Error rate of all other test cases."""
    p_adjusted: float
    """Chance of so many errors, adjusted over the clusters."""
    hidden: bool
    """Whether it is a finding: weak, and its confidences do not say so."""
    classes: tuple[str, ...]
    """Its most frequent labels."""
    cases: tuple[int, ...]
    """Its test cases."""


@dataclass(frozen=True)
class Likeness:
    """Two classes whose centroids point the same way."""

    a: str
    """One class."""
    b: str
    """The other."""
    cosine: float
    """Cosine between their centroids."""


@dataclass(frozen=True)
class Embeddings:
    """What one layer makes of the test cases, in the plane."""

    layer: str
    """Which layer."""
    method: str
    """`pca` or `tsne`."""
    explained: float | None
    """Share of the variance that two axes of `pca` keep."""
    cases: tuple[int, ...]
    """The test cases shown."""
    x: tuple[float, ...]
    """Where each lies."""
    y: tuple[float, ...]
    """Where each lies."""
    labels: tuple[int, ...]
    """The number of each one's class."""
    right: tuple[bool, ...]
    """Whether each is predicted right."""
    alike: tuple[Likeness, ...]
    """The pairs of classes most alike."""


@dataclass(frozen=True)
class Overlay:
    """A picture with where the model found what it said."""

    case: int
    """The test case."""
    path: str
    """Its file or name."""
    label: str
    """Its class."""
    predicted: str
    """The predicted class, which is explained."""
    confidence: float
    """Its probability."""
    file: str
    """The overlay beside the report."""


@dataclass(frozen=True)
class Overlays:
    """Grad-CAM."""

    layer: str | None
    """The layer that was weighed; None if there are no maps."""
    note: str
    """Why there are none, as a sentence; else empty."""
    shown: tuple[Overlay, ...]
    """The overlays."""


@dataclass(frozen=True)
class Training:
    """The training data, as far as it was given."""

    name: str
    """Of the data; empty if only the accuracy was."""
    n: int
    """Cases; 0 if only the accuracy was given."""
    accuracy: float
    """Of the model on it."""
    accuracy_ci: Interval
    """Its 95 % interval."""


@dataclass(frozen=True)
class Leakage:
    """Test cases that are also in the training data."""

    total: int
    """Test cases compared."""
    exact: int
    """With an exact copy in the training data."""
    near: int
    """With a near duplicate there and no exact copy."""
    signal_diluted: bool
    """Whether the pictures are so alike that near duplicates are no finding."""
    files: tuple[str, ...]
    """The test cases with an exact copy."""


@dataclass(frozen=True)
class Lookalikes:
    """Near duplicates among the test cases; in no score."""

    near: int
    """Pairs at a distance of at most 5."""
    weak: int
    """Pairs at a distance of 6 to 14."""
    signal_diluted: bool
    """Whether the pictures are so alike that the counts are no finding."""
