"""Models for the tests, as the probabilities they give."""

import numpy as np
from scipy import special


def sound_model(rng, cases, classes, *, sharp=6.0):
    """Probabilities, labels drawn from them (so that they are calibrated) and embeddings that show the class."""
    kind = rng.integers(classes, size=cases)
    clear = sharp * rng.gamma(4, 0.25, size=(cases, 1))
    rows = special.softmax(rng.normal(size=(cases, classes)) + clear * np.eye(classes)[kind], axis=1)
    labels = (rows.cumsum(axis=1) > rng.random((cases, 1))).argmax(axis=1)
    embeddings = 4 * rng.normal(size=(classes, 8))[kind] + rng.normal(size=(cases, 8))
    return rows, labels, embeddings


def names(classes):
    return [f"class{k}" for k in range(classes)]
