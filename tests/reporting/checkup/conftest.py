"""A made-up checkup: all four questions answered, and one before it."""

from __future__ import annotations

import pytest

from app.report.lineage import Subject
from app.reporting.checkup import answers
from app.reporting.checkup.report import (
    CheckupReport,
    CheckupRun,
    Mistake,
    Number,
    Part,
    PartRun,
    Question,
    Settings,
    Step,
    Unnoticed,
)

NUMBERS = {
    "mutation_score": Number(0.6, (0.5, 0.7), 50),
    "autopsy_score": Number(90.0, n=500),
    "accuracy": Number(0.92, (0.9, 0.94), 500),
    "operational_accuracy": Number(0.84, (0.80, 0.88), 200),
    "operational_truth": Number(0.83, n=1000),
}


def settings(**changes: object) -> Settings:
    values = {
        "seed": 0, "training": "photos", "training_digest": "t", "stream": "camera", "stream_digest": "s",
        "operators": ("weight_noise",), "config_digest": "c",
    }  # fmt: skip
    return Settings(**{**values, **changes})


def checkup(numbers=NUMBERS, *, model="m", run_id="a" * 32, name="net", **changes) -> CheckupReport:
    """A report; equal arguments give equal ones."""
    questions = [
        Question(answers.NOTICE, "warning", "in part", "They notice 30 of 50 faults (60 %, 95 % interval 50–70 %).",
                 "", "mutate", "mutation_score"),
        Question(answers.WRONG, "good", "healthy", f"{name} looks healthy.", "", "autopsy", "autopsy_score"),
        Question(answers.OPERATION, "bad", "much less than tested", "It is right in 84.0 % of all cases.", "",
                 "estimate", "operational_accuracy"),
        Question(answers.BETTER, "unknown", "first checkup", "This is the first checkup.", "", ""),
    ]  # fmt: skip
    values = {
        "run": CheckupRun(run_id, None, "2026-01-02T03:04:05+00:00", "", 1.0, "python -m app task=checkup", "sqlite",
                          parts={"mutate": PartRun("b" * 32, 1.0)}),
        "subject": Subject(f"{name}@test", name, "test", model, "d", 500, ("cat", "dog")),
        "settings": settings(),
        "summary": numbers,
        "questions": tuple(questions),
        "parts": {
            "autopsy": Part("finished", report="autopsy/report.json", headline="It looks healthy."),
            "mutate": Part("finished", report="mutate/report.json", summary={"mutation_score": Number(0.6)}),
            "estimate": Part("failed", "there is <no> disk"),
            "contaminate": Part("left out", "This was left out."),
        },
        "next_steps": (Step("estimate", "The part estimate failed", "there is <no> disk"),),
        "unnoticed": (Unnoticed("zero-conv1", "weight_zeroing", "conv1", "near miss", "one lost case more"),),
        "mistakes": (Mistake("<b>1.png", "cat", "dog", 0.99, "estimate/failures/1.png"),),
    }  # fmt: skip
    return CheckupReport(**{**values, **changes})


@pytest.fixture(scope="session")
def make_checkup():
    """The builder of made-up checkups."""
    return checkup


@pytest.fixture(scope="session")
def make_settings():
    """The builder of their settings."""
    return settings
