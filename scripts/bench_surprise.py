"""How much faster blocked DSA and LSA are than a plain loop over cases, and how much memory they take.

The loop is timed on a few cases and extrapolated; both give the same numbers on those. Run it alone:

    python scripts/bench_surprise.py --cases 10000 --training 60000 --width 84 --classes 10
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from app.estimation.surprise import Surprise, dsa, lsa

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FACTORS = {"dsa": 50, "lsa": 12}
"""How much faster each should be than the loop."""
_MEMORY = 1.0
"""GB that both may take with their data."""


def traces(rng: np.random.Generator, count: int, centres: Floats) -> tuple[Floats, Ints]:
    """Activations like a ReLU layer's: class centres, correlated noise, cut at zero, a little jitter."""
    classes = rng.integers(len(centres), size=count)
    width = centres.shape[1]
    mix = rng.normal(size=(width, width)) / np.sqrt(width)
    values = centres[classes] + rng.normal(size=(count, width)) @ mix
    return np.maximum(values, 0) + rng.normal(scale=0.01, size=values.shape), classes


def loop_dsa(training: Floats, training_classes: Ints, cases: Floats, predicted: Ints) -> Floats:
    """DSA case by case, with the other classes' traces gathered for each."""
    values = []
    for case, label in zip(cases, predicted, strict=True):
        own = training[training_classes == label]
        distances = np.linalg.norm(own - case, axis=1)
        nearest = own[distances.argmin()]
        others = training[training_classes != label]
        values.append(distances.min() / np.linalg.norm(others - nearest, axis=1).min())
    return np.asarray(values)


def loop_lsa(training: Floats, training_classes: Ints, cases: Floats, predicted: Ints) -> Floats:
    """LSA case by case with SciPy's density."""
    kept = np.ones(training.shape[1], dtype=np.bool_)
    for label in np.unique(training_classes):
        kept &= training[training_classes == label].var(axis=0) >= 1e-5
    densities = {
        label: gaussian_kde(training[training_classes == label][:, kept].T) for label in np.unique(predicted)
    }
    return np.asarray(
        [-densities[label].logpdf(case[kept])[0] for case, label in zip(cases, predicted, strict=True)]
    )


def timed(call: Callable[[], Surprise | Floats]) -> tuple[float, float, Floats]:
    """Wall seconds, CPU seconds and values."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    values = result.values if isinstance(result, Surprise) else result
    return time.perf_counter() - wall, time.process_time() - cpu, values


def peak_memory() -> float:
    """Largest resident size of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--training", type=int, default=60_000)
    parser.add_argument("--width", type=int, default=84)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--loop", type=int, default=200, help="cases the plain loop is timed on")
    parser.add_argument("--only", choices=("dsa", "lsa"), default=None)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=1.5, size=(options.classes, options.width))
    training, training_classes = traces(rng, options.training, centres)
    cases, predicted = traces(rng, options.cases, centres)
    some = slice(0, min(options.loop, options.cases))
    print(
        f"{options.cases} cases x {options.training} training traces x {options.width} neurons, "
        f"{options.classes} classes; {peak_memory():.2f} GB with the data"
    )
    measured = {}
    for name, blocked in (("dsa", dsa), ("lsa", lsa)):
        if options.only in (None, name):
            measured[name] = timed(partial(blocked, training, training_classes, cases, predicted))
            wall, cpu, _ = measured[name]
            print(
                f"{name}: blocked {wall:.2f} s wall, {cpu:.2f} s CPU; peak memory so far {peak_memory():.2f} GB"
            )
    peak = peak_memory()
    print(f"memory: peak {peak:.2f} GB; target {_MEMORY:g} GB, {'reached' if peak < _MEMORY else 'MISSED'}")
    for name, loop in (("dsa", loop_dsa), ("lsa", loop_lsa)):
        if name in measured and options.loop:
            wall, cpu, values = measured[name]
            plain_wall, plain_cpu, plain = timed(
                partial(loop, training, training_classes, cases[some], predicted[some])
            )
            factor = options.cases / (some.stop - some.start)
            error = float(np.abs(values[some] / plain - 1).max())
            print(
                f"{name}: loop {plain_wall * factor:.0f} s wall, {plain_cpu * factor:.0f} s CPU (extrapolated); "
                f"{plain_wall * factor / wall:.0f} x wall, {plain_cpu * factor / cpu:.0f} x CPU; "
                f"largest relative difference {error:.1e}"
            )
            target, reached = _FACTORS[name], plain_cpu * factor / cpu
            print(f"{name}: target {target} x, {'reached' if reached >= target else 'MISSED'}")


if __name__ == "__main__":
    main()
