"""Random evaluation sets for the tests."""

import numpy as np

from app.diagnosis.detection import Boxes, EvaluationSet


def random_set(seed, *, images=12, classes=4, crowds=False, ties=False, most=25):
    """Empty images, a class without truth and one never found, moved, doubled, swapped and stray detections."""
    rng = np.random.default_rng(seed)
    where, label, boxes, crowd = [], [], [], []
    for image in range(images):
        for _ in range(int(rng.integers(0, 8)) if image % 5 else 0):
            corner, side = rng.uniform(0, 300, 2), rng.uniform(4, 150, 2)
            where.append(image)
            label.append(int(rng.integers(0, classes - 1)))
            boxes.append([*corner, *(corner + side)])
            crowd.append(crowds and rng.random() < 0.15)
    truth = Boxes.of(where, label, boxes, crowd=crowd)
    where, label, boxes = [], [], []
    for row in range(len(truth)):
        for _ in range(int(rng.choice([0, 1, 1, 2, 3]))):
            moved = truth.xyxy[row] + rng.normal(scale=12 * rng.random(), size=4)
            moved[2:] = np.maximum(moved[2:], moved[:2] + 1)
            swapped = rng.random() < 0.15
            where.append(int(truth.image[row]))
            label.append(int(rng.integers(0, classes)) if swapped else int(truth.label[row]))
            boxes.append(moved)
    for _ in range(int(rng.integers(0, most))):
        corner = rng.uniform(0, 400, 2)
        where.append(int(rng.integers(images)))
        label.append(int(rng.integers(0, classes)))
        boxes.append([*corner, *(corner + rng.uniform(1, 90, 2))])
    label = np.array(label, dtype=int)
    label[label == 0] = classes - 1  # Class 0 is there and never found.
    score = rng.random(len(label))
    if ties:
        score = np.round(score, 1)
    found = Boxes.of(where, label, boxes, score)
    names = tuple(f"image{i}" for i in range(images))
    return EvaluationSet(names, tuple("abcdefghij"[:classes]), truth, found)
