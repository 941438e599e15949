"""CPU seconds a mutant to score saved detections, from JSON and from our own files, by profile.

The case: 50 images, 9 mutants, T = 10, about 20 objects an image, 80 classes. Where `deepluq` with its
`metrics_mut` can be imported, it scores the same files side by side.

    python scripts/bench_uamt.py [--images 50] [--objects 20] [--classes 80] [--mutants 9]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.detections import DetectionLog, Detections, load, save
from app.scoring.detection import DetectionTree, ScoreSettings, score_logs, score_tree

REPETITIONS = 10


def scene(rng: np.random.Generator, objects: int, classes: int) -> Detections:
    """Objects of one image, as the unchanged model sees them."""
    corner, side = rng.uniform(0, 500, (objects, 2)), rng.uniform(20, 120, (objects, 2))
    labels = rng.integers(1, classes, objects)
    logits = rng.normal(size=(objects, classes))
    logits[np.arange(objects), labels] += 6.0
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Detections(np.hstack([corner, corner + side]), labels, probs.max(axis=1), probs)


def mutated(truth: Detections, rate: float, rng: np.random.Generator) -> Detections:
    """One repetition of a mutant: some objects gone, all moved, some new."""
    kept = rng.random(len(truth)) > rate / 2
    boxes = truth.boxes[kept] + rng.normal(scale=6 * rate, size=(int(kept.sum()), 4))
    probs = truth.probs[kept] * np.exp(rng.normal(scale=rate, size=truth.probs[kept].shape))
    new = scene(rng, int(rng.poisson(6 * rate)), truth.probs.shape[1])
    rows = np.vstack([probs / probs.sum(axis=1, keepdims=True), new.probs])
    labels = np.concatenate([truth.labels[kept], new.labels])
    return Detections(np.vstack([boxes, new.boxes]), labels, rows.max(axis=1), rows)


def campaign(images: int, objects: int, classes: int, mutants: int) -> dict[str, DetectionLog]:
    """The logs of the original (tag 0) and of mutants of rising rate, by tag."""
    rng = np.random.default_rng(0)
    names = [f"image_{index:04d}" for index in range(images)]
    truths = [scene(rng, int(rng.integers(objects // 2, objects * 3 // 2 + 1)), classes) for _ in names]
    logs = {"0": DetectionLog.of(names, [[truth] * REPETITIONS for truth in truths])}
    for index in range(mutants):
        rate = 0.1 + 0.4 * index / max(mutants - 1, 1)
        cells = [[mutated(truth, rate, rng) for _ in range(REPETITIONS)] for truth in truths]
        logs[f"{rate:.4g}"] = DetectionLog.of(names, cells)
    return logs


def cpu(work: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def from_files(folder: Path, tags: list[str], settings: ScoreSettings) -> None:
    """Read our own files and score them."""
    mutants = {tag: load(folder / f"{tag}.npz") for tag in tags}
    score_logs(load(folder / "0.npz"), mutants, settings=settings)


def reference(root: Path, names: list[str], output: Path) -> float | None:
    """CPU seconds of the reference for one mutant; None where it is not installed."""
    if importlib.util.find_spec("deepluq") is None or importlib.util.find_spec("deepluq.metrics_mut") is None:
        return None
    calcu = importlib.import_module("deepluq.metrics_mut.ms_calcu").calcu_mutation_score
    return cpu(
        lambda: calcu(
            test_set=[Path(name) for name in names],
            org_model="bench",
            mutation_operator="mc_dropout",
            case_study_p=str(root),
            case_study_n="bench",
            save_folder=str(output),
            mutation_rates=[0.3],
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU seconds a mutant to score saved detections")
    for name, default in (("images", 50), ("objects", 20), ("classes", 80), ("mutants", 9)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    logs = campaign(options.images, options.objects, options.classes, options.mutants)
    tags = [tag for tag in logs if tag != "0"]
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        tree = DetectionTree(root, "mc_dropout", "bench")
        for tag, log in logs.items():
            tree.write(tag, log)
            save(log, root / f"{tag}.npz")
        detections = sum(len(log.labels) for log in logs.values())
        print(f"{options.images} images, {len(tags)} mutants, T = {REPETITIONS}, {detections} detections")
        print(f"{'profile':<10}{'from JSON':>12}{'from files':>12}   CPU seconds a mutant")
        for profile in ("paper", "deepluq"):
            settings = ScoreSettings(profile=profile)
            slow = cpu(partial(score_tree, root, "bench", "mc_dropout", settings=settings)) / len(tags)
            fast = cpu(partial(from_files, root, tags, settings)) / len(tags)
            print(f"{profile:<10}{slow:>12.3f}{fast:>12.3f}")
        theirs = reference(root, list(logs["0"].images), root / "reference")
        told = "not installed" if theirs is None else f"{theirs:.3f}"
        print(f"{'reference':<10}{told:>14}")


if __name__ == "__main__":
    main()
