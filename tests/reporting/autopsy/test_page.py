"""The page: everything escaped, self-contained, bounded, the same twice."""

from __future__ import annotations

import dataclasses
import io
import re
from html.parser import HTMLParser

import numpy as np
from PIL import Image

from app.reporting.autopsy import drawing, figures, page, words
from app.reporting.autopsy.overlay import enlarged, jpeg, overlay, thumbnail
from app.reporting.autopsy.page import autopsy_page
from app.reporting.figures import png


class Balance(HTMLParser):
    """Every element that opens closes."""

    VOID = frozenset({"meta", "img", "br", "wbr", "link", "hr"})

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag


def checked(text):
    parser = Balance()
    parser.feed(text)
    assert not parser.open
    assert "<script" not in text
    return text


def test_it_has_the_verdict_first_and_all_sections(report, shown):
    files = {
        "overlays/000003.jpg": jpeg(Image.new("RGB", (9, 9))),
        "overlays/000003_seen.jpg": jpeg(Image.new("RGB", (9, 9))),
    }
    text = checked(autopsy_page(report, shown, files))
    assert text.index(words.headline(report).sentence.split(":")[0]) < text.index("What is wrong")
    for section in ("findings", "metrics", "calibration", "confusion", "classes", "hard", "gradcam", "embeddings",
                    "labels", "data", "training", "method", "reproduce"):  # fmt: skip
        assert f'id="{section}"' in text
        assert f'href="#{section}"' in text
    assert text.count('class="finding"') == len(report.findings)
    for each in report.findings:
        assert each.recommendations[0].split("%")[0].split("<")[0][:20] in text
    assert autopsy_page(report, shown, files) == text


def test_names_cannot_become_markup(report, shown):
    text = autopsy_page(report, shown)
    assert "<b>dog" not in text
    assert "&lt;b&gt;dog" in text
    assert "<i>.png" not in text


def test_a_hundred_classes_stay_small_and_whole(many):
    text = checked(autopsy_page(many))
    assert len(text) < 5e6
    grid = drawing.grid(many)
    assert len(grid.names) == 100
    assert sum(cell.count for cell in grid.cells) == 5000
    assert text.count("<rect x=") == len(grid.cells)


def test_a_report_with_nothing_but_predictions_has_a_page(many):
    bare = dataclasses.replace(many, findings=(), hard_examples=(), confused=())
    text = checked(autopsy_page(bare))
    assert "No cause was found" in text
    assert 'id="data"' not in text
    assert 'id="embeddings"' not in text


def test_pictures_stop_at_their_share_of_the_page(report, shown, monkeypatch):
    monkeypatch.setattr(page, "PICTURE_BYTES", 400)
    text = checked(autopsy_page(report, shown))
    assert 0 < text.count("data:image") <= 4


def test_bars_stand_where_their_numbers_are(report):
    filled = [each for each in report.calibration.bins if each.n]
    for each, bar in zip(filled, drawing.bars(report.calibration.bins), strict=True):
        assert np.isclose(bar.y, 10 + drawing.SIDE * (1 - each.accuracy), atol=0.06)
        assert np.isclose(bar.gap_height, drawing.SIDE * abs(each.accuracy - each.confidence), atol=0.11)
        assert bar.over == (each.confidence > each.accuracy)


def test_every_embedded_case_is_one_dot(report):
    drawn = drawing.scatter(report)
    assert sum(cloud.n for cloud in drawn.clouds) == 400
    assert sum(len(re.findall("M", cloud.path)) for cloud in drawn.clouds) == 400
    wrong = next(cloud for cloud in drawn.clouds if cloud.name == "wrong")
    assert wrong.n == round(400 * (1 - report.summary.accuracy))
    assert all(0 <= x <= drawing.WIDE and 0 <= y <= drawing.HIGH for x, y in drawn.marks.values())


def test_more_classes_than_fit_show_those_with_errors(many, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_CLASSES", 10)
    grid = drawing.grid(many)
    assert (len(grid.names), grid.left_out) == (10, 90)
    matrix = np.array(many.confusion)
    errors = matrix.sum(0) + matrix.sum(1) - 2 * np.diag(matrix)
    names = [each.name for each in many.per_class]
    assert min(errors[names.index(name)] for name in grid.names) >= np.sort(errors)[-10]


def test_a_hundred_classes_are_no_wider_than_a_page(many):
    grid = drawing.grid(many)
    assert len(grid.names) == 100
    assert drawing.LEAST_CELL < grid.cell < drawing.MOST_CELL
    assert grid.side <= drawing.GRID_ROOM + 1
    assert grid.font < grid.cell


def test_doubtful_labels_come_behind_the_suspects(report):
    noise = report.label_noise
    listed = [*noise.suspects, *noise.doubtful]
    assert noise.doubtful
    assert set(page.cases_to_show(report)) >= {each.case for each in listed[: page.OF_SUSPECTS]}


def test_the_words_fit_every_cause(report):
    for each in report.findings:
        assert words.title(each)
        assert words.meaning(each)
        assert len(words.evidence(each)) <= len(each.evidence)
        assert page.view(report, each).bars or page.view(report, each).reliability
    lines = words.closing_lines(report, "report.html", "link")
    assert lines[0] == words.headline(report).sentence
    assert lines[-2:] == ["Report: report.html", "MLflow: link"]


def test_figures_are_pictures_and_equal_twice(report, many):
    for make in (figures.reliability, figures.confusion, figures.embedding):
        once = png(make(report))
        assert once.startswith(b"\x89PNG")
    assert png(figures.reliability(report)) == png(figures.reliability(report))
    assert figures.embedding(many) is None


def test_an_overlay_is_warm_where_the_map_is():
    picture = Image.new("L", (28, 28), 0)
    weights = np.zeros((7, 7), dtype=np.float32)
    weights[0, 0] = 1.0
    laid = np.asarray(overlay(picture, weights), dtype=float)
    assert laid.shape[:2] == enlarged(picture).size[::-1] == (224, 224)
    assert laid[4, 4].sum() > 10 * laid[200, 200].sum()
    small = Image.open(io.BytesIO(thumbnail(Image.new("RGB", (500, 300)))))
    assert (small.size, small.format) == ((96, 58), "JPEG")
    assert Image.open(io.BytesIO(thumbnail(picture))).format == "PNG"
