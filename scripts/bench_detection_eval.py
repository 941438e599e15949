"""CPU seconds to evaluate a detector: 5,000 images, 80 classes, 100,000 detections.

Prints what each part takes: the whole evaluation, COCO's scores alone, reading the same set from JSON and,
where pycocotools can be imported and `--peer` is given, its time and the largest difference.

    python scripts/bench_detection_eval.py [--images 5000] [--detections 100000] [--classes 80] [--peer]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from app.diagnosis.detection import Boxes, EvaluationSet, coco_scores, evaluate
from app.diagnosis.detection.files import read

GOAL = 3.0
"""CPU seconds that the whole evaluation of the default set may take."""


def crowded_set(images: int, detections: int, classes: int, seed: int = 0) -> EvaluationSet:
    """Seven true boxes an image; most detections are moved copies of them, the rest strays."""
    rng = np.random.default_rng(seed)
    count = 7 * images
    corner, side = rng.uniform(0, 500, (count, 2)), rng.uniform(8, 140, (count, 2))
    truth = Boxes.of(
        rng.integers(0, images, count), rng.integers(0, classes, count), np.hstack([corner, corner + side])
    )
    source = rng.integers(0, count, detections)
    stray = rng.random(detections) < 0.5
    moved = truth.xyxy[source] + rng.normal(scale=4, size=(detections, 4))
    corner, side = rng.uniform(0, 500, (detections, 2)), rng.uniform(8, 140, (detections, 2))
    boxes = np.where(stray[:, None], np.hstack([corner, corner + side]), moved)
    boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 1)
    label = np.where(rng.random(detections) < 0.9, truth.label[source], rng.integers(0, classes, detections))
    found = Boxes.of(truth.image[source], label, boxes, rng.beta(np.where(stray, 1, 3), 2))
    names = tuple(str(image) for image in range(images))
    return EvaluationSet(names, tuple(f"class{k}" for k in range(classes)), truth, found)


def as_coco(data: EvaluationSet) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The set as COCO's ground truth and results."""
    truth, found = data.truth, data.found

    def rows(boxes: Boxes) -> list[dict[str, Any]]:
        sides = boxes.xyxy[:, 2:] - boxes.xyxy[:, :2]
        columns = boxes.image.tolist(), boxes.label.tolist(), np.hstack([boxes.xyxy[:, :2], sides]).tolist()
        return [
            {"image_id": image + 1, "category_id": label + 1, "bbox": box}
            for image, label, box in zip(*columns, strict=True)
        ]

    reference = {
        "images": [{"id": i + 1, "file_name": name} for i, name in enumerate(data.images)],
        "categories": [{"id": k + 1, "name": name} for k, name in enumerate(data.class_names)],
        "annotations": [
            row | {"id": i + 1, "area": area, "iscrowd": 0}
            for i, (row, area) in enumerate(zip(rows(truth), truth.area.tolist(), strict=True))
        ],
    }
    scores = found.score.tolist()
    return reference, [row | {"score": score} for row, score in zip(rows(found), scores, strict=True)]


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it gave."""
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


def peer_ap(reference: dict[str, Any], results: list[dict[str, Any]]) -> float:
    """COCO's AP by pycocotools."""
    coco = importlib.import_module("pycocotools.coco").COCO()
    with contextlib.redirect_stdout(io.StringIO()):
        coco.dataset = reference
        coco.createIndex()
        evaluation = importlib.import_module("pycocotools.cocoeval").COCOeval(
            coco, coco.loadRes(results), "bbox"
        )
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return float(evaluation.stats[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--detections", type=int, default=100_000)
    parser.add_argument("--classes", type=int, default=80)
    parser.add_argument("--peer", action="store_true", help="also time pycocotools (about a minute)")
    options = parser.parse_args()
    data = crowded_set(options.images, options.detections, options.classes)
    print(f"{len(data.images)} images, {len(data.truth)} true boxes, {len(data.found)} detections")
    whole, result = seconds(lambda: evaluate(data))
    goal = ""
    if (options.images, options.detections, options.classes) == (5000, 100_000, 80):
        goal = f" (goal {GOAL:g}: {'kept' if whole <= GOAL else 'MISSED'})"
    print(f"whole evaluation     {whole:6.2f} s{goal}   mean AP {result.mean_ap.value:.4f} at IoU .5")
    alone, scores = seconds(lambda: coco_scores(data))
    print(f"  of it COCO scores  {alone:6.2f} s   AP {scores.ap:.6f}")
    reference, results = as_coco(data)
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "truth.json", Path(folder) / "found.json"
        for path, content in zip(paths, (reference, results), strict=True):
            path.write_text(json.dumps(content))
        reading, _ = seconds(lambda: read(*paths))
    print(f"reading COCO JSON    {reading:6.2f} s")
    if options.peer:
        theirs, ap = seconds(lambda: peer_ap(reference, results))
        print(f"pycocotools          {theirs:6.2f} s   AP {ap:.6f}, difference {abs(ap - scores.ap):.1e}")


if __name__ == "__main__":
    main()
