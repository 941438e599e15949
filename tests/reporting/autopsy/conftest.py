"""Reports of autopsies to draw: one of a small model with everything, one of many classes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from app.diagnosis import LeakageCounts, QualityCounts, diagnose
from app.integrity import quality, scan_images
from app.report.lineage import Run, Subject
from app.reporting.autopsy.assembly import Material, autopsy_report
from app.reporting.autopsy.page import Shown
from app.reporting.autopsy.parts import (
    Leakage,
    Lookalikes,
    Overlay,
    Overlays,
    Training,
)
from app.reporting.autopsy.report import (
    Settings,
)

NAMES = ("cat", "<b>dog</b>", "owl", "fox")


def png(side=28, value=120) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (side, side), value).save(buffer, "PNG")
    return buffer.getvalue()


def predictions(n, classes, right, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=n)
    guess = np.where(rng.random(n) < right, labels, rng.integers(classes, size=n))
    sure = np.where(rng.random(n) < 0.8, 0.97, 0.55)[:, None]
    eye = np.eye(classes)[guess]
    return sure * eye + (1 - sure) / (classes - 1) * (1 - eye), labels


def made(probs, labels, names, **more):
    known = {key: more.pop(key) for key in list(more) if key in Material.__dataclass_fields__}
    found = diagnose(probs, labels, names, resamples=20, **more)
    paths = tuple(f"{names[k]}/{case}.png" for case, k in enumerate(labels.tolist()))
    run = Run("id", None, "2026-01-01", "2026-01-01", 1.0, "python -m app task=autopsy", "sqlite:///x")
    subject = Subject("net@data", "net", "data", "m", "d", len(labels), tuple(names))
    settings = Settings(0, "assay", "probs", "error", 20, {}, "c")
    return autopsy_report(Material(autopsy=found, paths=paths, **known), run, subject, settings)


@pytest.fixture(scope="session")
def report():
    probs, labels = predictions(400, 4, 0.7)
    rng = np.random.default_rng(1)
    points = np.eye(4)[labels] * 6 + rng.normal(size=(400, 4))
    scan = scan_images(lambda _: Image.new("L", (8, 8), 7), labels, NAMES, name="data")
    overlay = Overlay(3, "x.png", "cat", "owl", 0.9, "overlays/000003.jpg")
    return made(
        probs,
        labels,
        NAMES,
        embeddings=points,
        train_accuracy=0.99,
        quality_counts=QualityCounts(total=400, unreadable=1, unreadable_files=("<i>.png",)),
        leakage_counts=LeakageCounts(total=400, exact=2, files=("cat/1.png", "owl/2.png")),
        layer="the input of fc",
        quality=quality(scan),
        overlays=Overlays("conv", "", (overlay,)),
        lookalikes=Lookalikes(3, 4, signal_diluted=True),
        training=Training("train", 100, 0.99, (0.9, 1.0)),
        leakage=Leakage(400, 2, 0, signal_diluted=False, files=("cat/1.png", "owl/2.png")),
    )


@pytest.fixture(scope="session")
def many():
    probs, labels = predictions(5000, 100, 0.6, seed=2)
    return made(probs, labels, [f"a class with a long name {k}" for k in range(100)])


@pytest.fixture(scope="session")
def shown(report):
    return {
        each.case: Shown(png(), each.path, each.label, each.predicted, each.confidence)
        for each in report.hard_examples
    }
