import numpy as np

from app.diagnosis.detection import Boxes, EvaluationSet, evaluate


def test_planted_label_errors_are_suspected():
    """A good detector on 40 images of three boxes each, in whose labels four faults are planted."""
    rng = np.random.default_rng(0)
    image = np.repeat(np.arange(40), 3)
    corner = np.tile([[0, 0], [100, 0], [200, 0]], (40, 1)) + rng.uniform(0, 5, (120, 2))
    boxes = np.hstack([corner, corner + 50])
    label = np.tile([0, 1, 0], 40)
    score = rng.uniform(0.7, 0.9, 120)
    score[[10, 20, 30]] = 0.99
    found = Boxes.of(image, label, boxes, score)
    given, kept = boxes.copy(), np.arange(120) != 10  # Its box is missing in the labels.
    wrong = label.copy()
    wrong[20] = 1 - wrong[20]
    given[30, 2:] += 60  # A loose box.
    truth = Boxes.of(
        np.append(image[kept], 5), np.append(wrong[kept], 0), np.vstack([given[kept], [400, 400, 450, 450]])
    )
    names = tuple(f"image{i}" for i in range(40))
    suspects = evaluate(EvaluationSet(names, ("a", "b"), truth, found), resamples=1).suspects
    listed = [(each.reason, each.image, each.label, each.suggested) for each in suspects]
    assert listed == [
        ("missing box", "image3", "", "b"),
        ("wrong class", "image6", "b", "a"),
        ("loose box", "image10", "a", "a"),
        ("spurious box", "image5", "a", ""),
    ]
    assert suspects[0].box == tuple(boxes[10].tolist())
    assert suspects[0].score == 0.99 > suspects[0].threshold


def test_detections_without_any_true_box_have_no_suspects():
    data = EvaluationSet(("a",), ("x",), Boxes.of([], [], []), Boxes.of([0], [0], [[0, 0, 9, 9]], [0.9]))
    assert evaluate(data, coco=False).suspects == ()
