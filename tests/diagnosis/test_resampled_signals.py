import time

import numpy as np
import pytest

from app.diagnosis.resampled_signals import Resamples
from app.diagnosis.signals import signals
from app.records import Predictions


def outcomes(rng, labels, classes, times=1, accuracy=0.8):
    shape = (times, labels.size)
    top1 = np.where(rng.random(shape) < accuracy, labels, rng.integers(classes, size=shape)).astype(np.int32)
    confidence = rng.uniform(0.3, 1.0, shape).astype(np.float32)
    return Predictions(top1, confidence, np.zeros(shape, np.float32))


@pytest.mark.parametrize(
    ("cases", "classes", "accuracy"),
    [(300, 10, 0.8), (40, 3, 0.95), (60, 40, 0.1), (25, 2, 1.0), (1, 2, 1.0)],
)
@pytest.mark.parametrize("times", [1, 4])
def test_a_resample_has_the_signals_of_its_cases_written_out(cases, classes, accuracy, times):
    rng = np.random.default_rng(cases)
    labels = rng.integers(classes, size=cases)
    seen = outcomes(rng, labels, classes, times, accuracy)
    drawn = rng.integers(cases, size=(12, cases))
    weights = np.array([np.bincount(each, minlength=cases) for each in drawn])
    draws = Resamples(labels, classes, weights).draws(seen)
    for place, each in enumerate(drawn):
        reference = signals(seen.take(each), labels[each], classes)
        assert draws.ece[place] == pytest.approx(reference.ece, abs=1e-5)
        # The reference rounds the score and its parts to 0.1.
        assert draws.autopsy_score[place] == pytest.approx(reference.autopsy_score, abs=0.11)


def test_240_mutants_of_2000_cases_take_seconds():
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=2000)
    weights = np.array([np.bincount(rng.integers(2000, size=2000), minlength=2000) for _ in range(200)])
    mutants = [outcomes(rng, labels, 10, accuracy=rng.uniform(0.1, 0.95)) for _ in range(24)]
    begin = time.process_time()
    resamples = Resamples(labels, 10, weights)
    for each in mutants:
        resamples.draws(each)
    assert time.process_time() - begin < 1.0
