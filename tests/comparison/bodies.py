"""Reports of made-up runs, as JSON has them: small, and whole enough to be compared."""

from __future__ import annotations

import copy

import numpy as np

from app.comparison import Cases, Side, read
from app.diagnosis import diagnose

CLASSES = ("cat", "dog", "owl", "fox", "eel")


def schema(artifact, version=1):
    return {
        "artifact": f"assay.{artifact}",
        "version": version,
        "generator": {"tool": "assay", "version": "0.1.0"},
    }


def subject(name="net@pets", *, n=100, classes=CLASSES, model="m1", data="d1"):
    model_name, _, dataset = name.partition("@")
    return {
        "name": name,
        "model": model_name,
        "dataset": dataset,
        "model_digest": model,
        "data_digest": data,
        "n": n,
        "classes": list(classes),
        "excluded": [],
        "notes": [],
    }


def measures_of(body):
    """The numbers of a report of version 1, as one of version 2 lists them."""
    return [
        {
            "key": each.key,
            "title": each.measure.title,
            "value": each.value,
            "interval": each.interval,
            "n": each.n,
            "headline": each.measure.headline,
            "reason": each.reason,
        }
        for each in read(body).items
    ]


def run(run_id="1" * 32, started="2026-01-01T10:00:00+00:00"):
    return {"id": run_id, "parent": None, "started": started, "finished": started, "seconds": 1.0}


def probabilities(rng, labels, k, *, skill, sharpness=1.0, base=None):
    """Softmax rows that are right the more often the larger the skill, and too sure if sharp."""
    n = labels.size
    logits = (rng.normal(size=(n, k)) if base is None else base) + 0.5 * rng.normal(size=(n, k))
    logits[np.arange(n), labels] += skill
    rows = np.exp(sharpness * (logits - logits.max(axis=1, keepdims=True)))
    return rows / rows.sum(axis=1, keepdims=True)


def autopsy(rows, labels, names=CLASSES, *, paths=None, **known):
    """The report and the predictions of an autopsy of these probabilities."""
    found = diagnose(rows, labels, names, resamples=50)
    top1, n = rows.argmax(axis=1), labels.size
    matrix = np.zeros((len(names), len(names)), dtype=int)
    np.add.at(matrix, (labels, top1), 1)
    measured = {
        name: {"value": float(each.value), "ci": [float(each.low), float(each.high)], "method": each.method}
        for name, each in found.metrics.items()
    }
    sub_scores = {
        name: None if np.isnan(value) else float(value) for name, value in found.score.sub_scores.items()
    }
    body = {
        "schema": schema("autopsy"),
        "run": run(),
        "subject": subject(n=n, classes=names, **known),
        "settings": {"seed": 0, "profile": "assay", "weights": {}, "config_digest": "c"},
        "summary": {
            "n": n,
            **{name: measured[name]["value"] for name in ("accuracy", "macro_f1", "ece")},
            **{f"{name}_ci": measured[name]["ci"] for name in ("accuracy", "macro_f1", "ece")},
            "autopsy_score": float(found.score.overall),
        },
        "sub_scores": sub_scores,
        "not_applicable": {"generalization": "no training data"},
        "metrics": measured,
        "findings": [],
        "per_class": [
            {
                "name": each.name,
                "support": each.support,
                "recall": float(each.recall.value),
                "recall_ci": [float(each.recall.low), float(each.recall.high)],
                "precision": float(each.precision.value),
                "precision_ci": None,
                "f1": float(each.f1),
            }
            for each in found.classes
        ],
        "calibration": {"bins": _bins(rows.max(axis=1), top1 == labels)},
        "confusion": matrix.tolist(),
        "training": None,
    }
    names_of = paths or [f"{names[label]}/{case}.png" for case, label in enumerate(labels)]
    said = Cases(
        tuple(names_of),
        tuple(names[k] for k in labels),
        tuple(names[k] for k in top1),
        rows.max(axis=1),
    )
    return Side(body, said)


def _bins(confidence, right):
    place = np.minimum((confidence * 10).astype(int), 9)
    return [
        {
            "n": int((place == k).sum()),
            "confidence": float(confidence[place == k].mean()) if (place == k).any() else None,
            "accuracy": float(right[place == k].mean()) if (place == k).any() else None,
        }
        for k in range(10)
    ]


def mutate(verdicts, *, accuracy=0.9, n=100, **known):
    """The report of a campaign: verdicts by key; the operator stands before the dash of the key."""
    killed = sum(each == "killed" for each in verdicts.values())
    judged = sum(each in {"killed", "killed_weak", "survived", "inconclusive"} for each in verdicts.values())
    operators = dict.fromkeys(key.split("-")[0] for key in verdicts)
    return {
        "schema": schema("mutate"),
        "run": run(),
        "subject": subject(n=n, **known),
        "settings": {"seed": 0, "config_digest": "c"},
        "original": {
            "accuracy": accuracy,
            "accuracy_ci": None,
            "ece": 0.02,
            "autopsy_score": 90.0,
            "sub_scores": {"performance": 90.0, "generalization": None},
            "causes": [],
            "per_class": [{"name": name, "support": 20, "recall": 0.9, "precision": 0.9} for name in CLASSES],
        },
        "summary": {
            "mutants": len(verdicts),
            "killed": killed,
            "killed_weak": 0,
            "survived": judged - killed,
            "inconclusive": 0,
            "mutation_score": killed / judged if judged else None,
            "mutation_score_ci": None,
        },
        "summary_thresholds": {"mutation_score": 0.5},
        "by_operator": [{"operator": name, "mutants": 1, "mutation_score": 0.5} for name in operators],
        "mutants": [
            {"key": key, "operator": key.split("-")[0], "target": "conv1", "verdict": each, "effect": 0.1}
            for key, each in verdicts.items()
        ],
        "kill_matrix": {"minimal_mutation_score": 0.5},
    }


def detectors(killed, obj_ms):
    """Scores of a detector's mutants: whether each is noticed, and its Obj-MS, by key."""
    return {
        "schema": schema("uamt"),
        "run": run(),
        "subject": subject("yolo@street"),
        "settings": {"engine": "bank", "seed": 0},
        "counts": {"images": 12},
        "summary": {
            "mutants": len(killed),
            "killed": {"mg": sum(killed.values())},
            "img_ms": {"miss": 0.1, "ghost": 0.2, "mg": sum(killed.values()) / max(len(killed), 1)},
            "img_ms_ci": {"mg": None},
            "obj_ms": {"miss": 0.1, "ghost": None, "mg": float(np.mean(list(obj_ms.values())))},
            "obj_ms_ci": {},
            "ms_iou": 0.3,
            "ms_iou_ci": None,
            "ua": {"match": {"vr": 0.1}},
        },
        "by_operator": [
            {"model": "yolo", "operator": "mc_dropout", "rate": None, "block": None, "mutants": 2},
            {"model": "yolo", "operator": "mc_dropout", "rate": 0.1, "block": None, "mutants": 1},
        ],
        "mutants": [
            {
                "model": "yolo",
                "key": key,
                "operator": "mc_dropout",
                "img_killed": {"mg": flag},
                "obj_ms": {"mg": obj_ms[key]},
                "ms_iou": 0.3,
            }
            for key, flag in killed.items()
        ],
    }


def estimate(value, interval, *, use="labelling", ratios=(), repetitions=1000):
    """Labelling for real, or an evaluation with these errors against simple random sampling."""
    return {
        "schema": schema("estimate"),
        "run": run(),
        "subject": subject("net@stream", n=1000),
        "settings": {"use": use, "seed": 0, "estimators": {"adaptive": "Adaptive"}},
        "populations": [{"name": "net@stream", "n": 1000, "accuracy": None if use == "labelling" else 0.9}],
        "estimates": [
            {
                "subject": "net@stream",
                "estimator": "adaptive",
                "budget": 100,
                "value": value,
                "interval": interval,
                "cost": 100,
                "failures": 12,
            }
        ],
        "results": [
            {
                "subject": "net@stream",
                "estimator": f"e{place}",
                "budget": 200,
                "repetitions": repetitions,
                "rmse_ratio_srs": ratio,
                "failures_mean": 10.0,
                "coverage": None,
            }
            for place, ratio in enumerate(ratios)
        ],
        "example": "adaptive",
    }


def contaminate(*, exact=0, confirmed=0, risk="NONE", spec="dhash", data="d1", n=50):
    """What two splits have in common."""
    return {
        "schema": schema("contaminate"),
        "run": run(),
        "subject": subject("train+test", model="", data=data),
        "settings": {"seed": 0},
        "summary": {
            "overall_risk": risk,
            "exact_across": exact,
            "confirmed_across": confirmed,
            "drop": exact + confirmed,
            "exact_within": 0,
            "near_across": 5,
        },
        "exposure": [
            {
                "split": split,
                "n": n,
                "exact": min(exact, n),
                "confirmed": min(confirmed, n - min(exact, n)),
                "share_sure": min(exact + confirmed, n) / n,
            }
            for split in ("train", "test")
        ],
        "quality": [{"split": "test", "n": 50, "share_faulty": 0.0}],
        "hash_spec": {"algorithm": spec},
    }


def detect_eval(mean_ap, ci, *, classes=("car", "bus")):
    """The evaluation of a detector."""
    return {
        "schema": schema("detect_eval"),
        "run": run(),
        "subject": subject("found@street", classes=classes),
        "settings": {"iou": 0.5},
        "summary": {
            "images": 150,
            "mean_ap": {"value": mean_ap, "ci": ci},
            "coco": {"ap": 0.3, "ap50": 0.5},
            "precision": {"value": 0.6, "ci": [0.5, 0.7]},
            "recall": {"value": 0.6, "ci": [0.5, 0.7]},
            "f1": 0.6,
            "ece": 0.1,
            "suspects": 3,
        },
        "classes": [
            {"name": name, "truth": 10, "ap": 0.5, "recall": {"value": 0.6, "ci": [0.4, 0.8]}}
            for name in classes
        ],
        "errors": [{"kind": "missed", "operating": 7}],
        "confusions": [{"true": "car", "claimed": "bus", "n": 4}],
    }


def checkup(**summaries):
    """The front page of a checkup: headline numbers by part."""
    return {
        "schema": schema("checkup"),
        "run": run(),
        "subject": subject(),
        "settings": {"seed": 0},
        "parts": {
            part: {"report": f"{part}/report.json", "summary": each} for part, each in summaries.items()
        },
    }


def changed(body, **places):
    """A copy with values set at dotted places, in which two underscores stand for a dot."""
    made = copy.deepcopy(body)
    for place, value in places.items():
        *path, last = place.split("__")
        node = made
        for step in path:
            node = node[step]
        node[last] = value
    return made
