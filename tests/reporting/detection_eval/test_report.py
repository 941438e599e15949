"""The report of a detector's evaluation: from findings to JSON and back, to words, drawings and a page."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest
from PIL import Image

from app.diagnosis.detection import Boxes, EvaluationSet, evaluate
from app.report.lineage import Run, Subject
from app.report.schema import dumps, write_json
from app.reporting.detection_eval import canvas, crops, figures, page, report, tables, words
from app.reporting.detection_eval.assembly import detection_report
from app.reporting.figures import png

RUN = Run("id", None, "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:09+00:00", 9.0, "python -m app", "here")
SETTINGS = report.Settings(
    0, 0.5, 100, 20, "t", "flat JSON", "d", "flat JSON", "", pixels=True, config_digest=""
)


def some_set(seed, classes=8, images=30):
    """Boxes, most of them found, some moved, some under another class, some invented."""
    rng = np.random.default_rng(seed)
    n = 4 * images
    corner, side = rng.uniform(0, 200, (n, 2)), rng.uniform(10, 60, (n, 2))
    xyxy = np.hstack([corner, corner + side])
    image, label = (
        rng.integers(images, size=n),
        rng.integers(classes - 1, size=n),
    )  # the last class is not there
    kept = rng.random(n) < 0.8
    moved = xyxy + rng.normal(0, 5, (n, 4))
    moved[:, 2:] = np.maximum(moved[:, 2:], moved[:, :2] + 1)
    claimed = np.where(rng.random(n) < 0.15, rng.integers(classes, size=n), label)
    names = tuple(f"image{i}" for i in range(images))
    return EvaluationSet(
        names,
        ("<i>odd</i>", *(f"class{k}" for k in range(1, classes))),
        Boxes.of(image, label, xyxy),
        Boxes.of(image[kept], claimed[kept], moved[kept], rng.beta(4, 2, n)[kept]),
    )


def made(data):
    found = evaluate(data, resamples=20, coco=bool(len(data.truth)))
    subject = Subject("d@t", "d", "t", "0" * 64, "1" * 64, len(data.images), data.class_names)
    return found, detection_report(data, found, RUN, subject, SETTINGS)


@pytest.fixture(scope="module")
def both():
    return made(some_set(0))


NOTHING = EvaluationSet((), (), Boxes.of([], [], []), Boxes.of([], [], []))


def test_the_form_of_version_1_does_not_change(both):
    body = json.loads(dumps(both[1]))
    assert (body["schema"]["artifact"], body["schema"]["version"]) == ("assay.detect_eval", 1)
    assert list(body) == [
        *(
            "schema",
            "run",
            "subject",
            "settings",
            "summary",
            "classes",
            "errors",
            "confusions",
            "reliability",
        ),
        *("curves", "false_positives", "false_negatives", "suspects"),
    ]


@pytest.mark.parametrize("data", [some_set(0), some_set(1, classes=2, images=2), NOTHING])
def test_written_and_loaded_reports_are_equal(data, tmp_path):
    _, told = made(data)
    path = write_json(told, tmp_path / "report.json")
    assert dumps(report.load(path)) == path.read_text(encoding="utf-8")


def test_curves_are_the_best_precision_from_a_recall_on(both):
    found, told = both
    names = [each.name for each in told.classes]
    for curve in told.curves:
        plain = found.curve(names.index(curve.name))
        for place, recall in enumerate(np.linspace(0, 1, 101)):
            reached = plain.precision[plain.recall >= recall - 1e-9]
            assert curve.precision[place] == pytest.approx(reached.max() if reached.size else 0.0, abs=1e-6)
        assert sum(curve.precision) / 101 == pytest.approx(curve.ap, abs=0.06)
    assert "class7" not in {curve.name for curve in told.curves}
    assert math.isnan(told.classes[7].ap)


def test_confusions_are_those_of_the_sure_detections(both):
    found, told = both
    data = some_set(0)
    wrong = (found.detail.kind == 2) & (data.found.score >= found.operating_score)
    assert sum(each.n for each in told.confusions) == wrong.sum() == found.operating_errors["classification"]
    assert all(each.true != each.claimed for each in told.confusions)


def test_the_headline_counts_and_the_advice_names(both):
    _, told = both
    head = words.headline(told)
    right = round(told.summary.recall.value * told.summary.truth)
    assert head.sentence.startswith(
        f"The detector finds {100 * right / told.summary.truth:.0f} % of 120 objects"
    )
    advice = words.advice(told)
    assert advice
    total = sum(each.operating for each in told.errors)
    worst = max(told.errors, key=lambda each: each.operating)
    assert advice[0].heading.startswith(f"{words.KINDS[worst.kind][0]}: {worst.operating} of {total} errors")
    assert words.closing_lines(told, "here", "link")[-1] == "MLflow: link"


@pytest.mark.parametrize("kind", list(words.KINDS))
def test_every_kind_of_error_has_its_advice(both, kind):
    from dataclasses import replace

    _, told = both
    told = replace(told, errors=(report.ErrorKind(kind, 9, 9),))
    assert words.advice(told)[0].heading.startswith(words.KINDS[kind][0])
    assert len(words.advice(told)[0].text) > 40


def test_the_page_escapes_and_draws(both):
    _, told = both
    picture = crops.crop(Image.new("RGB", (300, 200), "grey"), (10, 10, 60, 60), "truth")
    keys = [key for key, _ in page.pictured(told)]
    text = page.detection_page(told, dict.fromkeys(keys, picture))
    assert text == page.detection_page(told, dict.fromkeys(keys, picture))
    assert "<i>odd" not in text
    assert "<script" not in text
    assert text.count("data:image/jpeg") == len(keys)
    assert text.count("<polyline") == len(canvas.lines(told.curves)) == 7
    assert {key[0] for key in keys} == set(page.LISTS)
    for drawn in (figures.precision_recall(told), figures.reliability(told)):
        assert png(drawn) == png(drawn)


def test_a_page_of_nothing_says_so():
    _, told = made(NOTHING)
    assert "There are no true boxes in 0 images" in page.detection_page(told)
    assert figures.precision_recall(told) is figures.reliability(told) is None
    assert tables.metrics(told)["detect_eval/truth"] == 0


@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 6, 7, 20])
def test_no_class_is_among_the_weakest_and_the_best(classes):
    curves = [report.Curve(str(k), k / classes, (1.0, 0.0)) for k in range(classes)]
    weak, good = canvas.picked(curves)
    assert not {each.name for each in weak} & {each.name for each in good}
    assert len(weak) + len(good) == min(classes, 6)
    assert len(canvas.lines(curves)) == (1 if classes == 1 else 1 + min(classes, 6))


@pytest.mark.parametrize(
    "box",
    [
        (10, 10, 60, 60),
        (0, 0, 300, 200),
        (-50, -50, 10, 10),
        (290, 190, 900, 900),
        (500, 500, 510, 510),
        (5, 5, 5, 5),
    ],
)
def test_crops_stay_in_the_image_and_show_the_box(box):
    image = Image.new("RGB", (300, 200), (90, 90, 90))
    with Image.open(io.BytesIO(crops.crop(image, box, "detection"))) as drawn:
        assert drawn.width <= crops.WIDTH
        assert drawn.height <= crops.HEIGHT
        pixels = np.asarray(drawn).astype(int)
    orange = (pixels[..., 0] - pixels[..., 2] > 100).sum()
    assert orange > 5 or box[0] > 300  # a box that lies outside cannot be shown
