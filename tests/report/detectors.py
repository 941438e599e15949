"""Reports of detectors scored on made-up detections."""

import numpy as np
import pytest

from app.detections import DetectionLog, Detections
from app.report.lineage import Run, Subject
from app.reporting.uamt.assembly import Scored, uamt_report
from app.scoring.detection import ScoreSettings, Strength, score_logs

BOXES = np.array([[0.0, 0, 10, 10], [20, 20, 40, 40], [50, 0, 60, 30]])
PROBS = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
RUN = Run(
    "run", None, "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01+00:00", 1.0, "python -m app", "sqlite:///x"
)


def seen(*rows):
    """Some of three objects."""
    chosen = np.array(rows, dtype=int)
    return Detections(BOXES[chosen], np.arange(3)[chosen], PROBS.max(axis=1)[chosen], PROBS[chosen])


def log(*images, repetitions=4):
    """Images a, b, … that show the same in every repetition."""
    return DetectionLog.of(
        [chr(97 + i) for i in range(len(images))], [[image] * repetitions for image in images]
    )


def scored(model, mutants, suites=None, profile="paper"):
    """A model that sees three objects on each of two images, and its mutants by (operator, rate, block)."""
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
    return Scored(model, scores, (4,))


@pytest.fixture
def make_scored():
    return scored


@pytest.fixture
def make_report():
    """The report of some scored models."""

    def make(*parts, name="net@street", notes=()):
        subject = Subject(name, "net", "street", "1" * 64, "2" * 64, 2, (), notes=notes)
        return uamt_report(parts, RUN, subject, seed=0)

    return make


@pytest.fixture
def whole(make_report):
    """Two models; one has an operator with blocks, suites, and a mutant that nothing kills."""
    dropout = {
        ("mc_dropout", 0.1, None): log(seen(0, 1, 2), seen(0, 1, 2)),
        ("mc_dropout", 0.3, None): log(seen(0, 1), seen(0, 1, 2)),
        ("mc_dropout", 0.5, None): log(seen(0), seen()),
    }
    block = {
        ("mc_dropblock", 0.1, 1): log(seen(0, 1, 2), seen(1, 2)),
        ("mc_dropblock", 0.1, 3): log(seen(0, 1), seen(1, 2)),
        ("mc_dropblock", 0.3, 1): log(seen(), seen()),
    }
    first = scored("net", dropout | block, {"one": ["a"], "both": ["a", "b"]})
    return make_report(first, scored("other", dropout))


@pytest.fixture
def things():
    """What detections are made of."""
    return seen, log
