"""Reports of detectors scored on made-up detections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from app.detections import DetectionLog, Detections
from app.report.document import Document
from app.report.lineage import Run, Subject
from app.report.pages.uamt import ARTIFACT, VERSION, Report
from app.report.schema import Schema
from app.scoring.detection import ScoreSettings, Strength, score_logs
from app.scoring.detection.assembly import ScoredModel, detector_mutation_result, settings_of

BOXES = np.array([[0.0, 0, 10, 10], [20, 20, 40, 40], [50, 0, 60, 30]])
PROBS = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
RUN = Run(
    "run", None, "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01+00:00", 1.0, "python -m app", "sqlite:///x"
)
Made = tuple[str, float, int | None]
"""Operator, rate and block of a mutant."""


def seen(*rows: int) -> Detections:
    """Some of three objects."""
    chosen = np.array(rows, dtype=int)
    return Detections(BOXES[chosen], np.arange(3)[chosen], PROBS.max(axis=1)[chosen], PROBS[chosen])


def log(*images: Detections, repetitions: int = 4) -> DetectionLog:
    """Images a, b, … that show the same in every repetition."""
    return DetectionLog.of(
        [chr(97 + i) for i in range(len(images))], [[image] * repetitions for image in images]
    )


def scored(
    model: str,
    mutants: Mapping[Made, DetectionLog],
    suites: Mapping[str, Sequence[str]] | None = None,
    profile: str = "paper",
) -> ScoredModel:
    """A model that sees three objects on each of two images, and its mutants."""
    keys = {
        f"{operator}_{rate}_{block}": Strength(operator, rate, block) for operator, rate, block in mutants
    }
    scores = score_logs(
        log(seen(0, 1, 2), seen(0, 1, 2)),
        dict(zip(keys, mutants.values(), strict=True)),
        settings=ScoreSettings(resamples=50, profile=profile),
        strengths=keys,
        suites=suites,
    )
    return ScoredModel(model, scores, (4,))


def report_of(*parts: ScoredModel, name: str = "net@street", notes: tuple[str, ...] = ()) -> Report:
    """The report of some scored models."""
    subject = Subject(name, "net", "street", "1" * 64, "2" * 64, 2, (), notes=notes)
    return Document(
        Schema(ARTIFACT, VERSION),
        RUN,
        subject,
        settings_of(parts, seed=0),
        detector_mutation_result(parts),
    )


@cache
def whole() -> Report:
    """Two models; one has an operator with blocks, suites, and a mutant that nothing kills."""
    dropout: dict[Made, DetectionLog] = {
        ("mc_dropout", 0.1, None): log(seen(0, 1, 2), seen(0, 1, 2)),
        ("mc_dropout", 0.3, None): log(seen(0, 1), seen(0, 1, 2)),
        ("mc_dropout", 0.5, None): log(seen(0), seen()),
    }
    block: dict[Made, DetectionLog] = {
        ("mc_dropblock", 0.1, 1): log(seen(0, 1, 2), seen(1, 2)),
        ("mc_dropblock", 0.1, 3): log(seen(0, 1), seen(1, 2)),
        ("mc_dropblock", 0.3, 1): log(seen(), seen()),
    }
    first = scored("net", dropout | block, {"one": ["a"], "both": ["a", "b"]})
    return report_of(first, scored("other", dropout))


def one_mutant(profile: str = "paper") -> Report:
    """One mutant without a block, at one rate."""
    return report_of(scored("net", {("mc_dropout", 0.5, None): log(seen(0), seen(1))}, profile=profile))
