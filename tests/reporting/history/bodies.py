"""Small reports of runs, as their JSON."""

from __future__ import annotations

import json
from pathlib import Path


def autopsy(
    number: int,
    accuracy: float | None = 0.9,
    *,
    day: int | None = None,
    half: float | None = 0.01,
    score: float | None = 90.0,
    model: str = "m1",
    data: str = "d1",
    subject: str = "net@photos",
    classes: tuple[str, ...] = ("cat", "dog"),
    version: int = 1,
    **more: object,
) -> dict:
    """The report of an autopsy on a day of May 2026."""
    ends = None if half is None or accuracy is None else [accuracy - half, accuracy + half]
    started = f"2026-05-{number if day is None else day:02}T10:00:00+02:00"
    model_name, _, dataset = subject.partition("@")
    return {
        "schema": {
            "artifact": "assay.autopsy",
            "version": version,
            "generator": {"tool": "assay", "version": "0.1"},
        },
        "run": {"id": f"{number:032x}", "started": started},
        "subject": {
            "name": subject,
            "model": model_name,
            "dataset": dataset,
            "model_digest": model,
            "data_digest": data,
            "n": 400,
            "classes": list(classes),
        },
        "summary": {"n": 400, "autopsy_score": score},
        "metrics": {"accuracy": {"value": accuracy, "ci": ends}, "ece": {"value": 0.02, "ci": [0.01, 0.03]}},
        "sub_scores": {"performance": None if accuracy is None else 100 * accuracy, "generalization": None},
        "not_applicable": {"generalization": "no training data"},
        "per_class": [{"name": "<b>cat</b>", "support": 200, "recall": accuracy}],
        **more,
    }


def write(path: Path, body: object) -> Path:
    """A report file as the tasks write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body, indent=2, ensure_ascii=False) + "\n")
    return path
