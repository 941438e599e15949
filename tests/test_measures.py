"""Every number has one title, unit and direction, known from its key; a value knows why there is none."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from app import measures
from app.comparison import read
from app.measures import PARTS, Unit, Value, known, measure, value
from app.report.pages.mutate import Report
from app.scoring.detection.objects import METRICS
from tests.comparison import bodies
from tests.report.campaigns import campaign

SOURCE = Path(measures.__file__).parent
ALL = sorted(measures._ALONE) + [f"{stem}/cat" for stem in sorted(measures._EACH)]


def sound(found: measures.Measure) -> bool:
    return bool(
        found.title.strip()
        and found.title[0].isupper()
        and found.unit in get_args(Unit)
        and found.better in {"higher", "lower", None}
    )


@pytest.mark.parametrize("key", ALL)
def test_every_key_has_a_title_a_unit_and_a_direction(key: str) -> None:
    found = measure(key)
    assert (found.key, found.headline) == (key, False)
    assert sound(found)
    assert measure(key, headline=True).headline
    assert known(key)


def test_titles_tell_numbers_apart() -> None:
    """Reports of version 1 name one count by two keys; nothing else shares a title."""
    titles: dict[str, set[str]] = {}
    for key in measures._ALONE:
        titles.setdefault(measure(key).title, set()).add(key)
    assert [keys for keys in titles.values() if len(keys) > 1] == [{"pictures", "images"}]


@pytest.mark.parametrize(
    ("key", "title", "better", "unit"),
    [
        ("accuracy", "Accuracy", "higher", "share"),
        ("ece", "Calibration error (ECE)", "lower", "share"),
        ("log_loss", "Log loss, nats", "lower", "number"),
        ("autopsy_score", "Autopsy score", "higher", "score"),
        ("survived", "Mutants that survive", "lower", "count"),
        ("mutants", "Mutants", None, "count"),
        ("recall/cat", "Recall, cat", "higher", "share"),
        ("recall/a/b", "Recall, a, b", "higher", "share"),
        ("recall/a_b", "Recall, a_b", "higher", "share"),
        ("mutation_score/weight_noise", "Mutation score, weight_noise", "higher", "share"),
        ("sub_score/class_balance", "Sub-score, class balance", "higher", "score"),
        ("sub_score/confidence_quality", "Sub-score, confidence", "higher", "score"),
        ("coverage/srs/100", "Coverage of intervals, srs, 100", None, "share"),
        ("ua_ghost_mi", "UA-MS, ghosts, mutual information", None, "number"),
        ("mutate/mutation_score", "Mutation score", "higher", "share"),
        ("mutate/accuracy", "Accuracy on the test set, in the mutation run", "higher", "share"),
        ("estimate/estimated_accuracy", "Estimated accuracy in operation", "higher", "share"),
        ("autopsy/recall/cat", "Recall, cat", "higher", "share"),
    ],
)
def test_measures_by_hand(key: str, title: str, better: str | None, unit: str) -> None:
    found = measure(key)
    assert (found.key, found.title, found.better, found.unit) == (key, title, better, unit)


@pytest.mark.parametrize(
    "key",
    [
        *("", "/", "x", "x/cat", "accuracy ", "Accuracy", "killed/cat", "autopsy", "autopsy/", "mutate/x"),
        *(
            "ua_",
            "ua_match",
            "ua_match_",
            "ua_match_x",
            "ua_all_vr",
            "ua_match_vr/cat",
            "sub_score",
            "operator/op",
        ),
    ],
)
def test_unknown_keys_are_refused(key: str) -> None:
    assert not known(key)
    with pytest.raises(KeyError, match="give it a title, a unit and a direction"):
        measure(key)
    with pytest.raises(KeyError, match="give it a title, a unit and a direction"):
        value(key, 0.5)


def test_every_uncertainty_of_detectors_is_known() -> None:
    assert all(known(f"ua_{kind}_{name}") for kind in ("match", "miss", "ghost") for name in METRICS)


def literal_keys() -> Iterator[tuple[str, str]]:
    """Where a value is made in the source, and its key; of a key that is put together, its beginning."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        makers = {
            (name.asname or name.name)
            for each in ast.walk(tree)
            if isinstance(each, ast.ImportFrom) and each.module == "app.measures"
            for name in each.names
            if name.name in {"value", "measure"}
        } | ({"_reading"} if path.name == "extraction.py" else set())
        for each in ast.walk(tree):
            if not (
                isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in makers
            ):
                continue
            key = each.args[0]
            first = key.values[0] if isinstance(key, ast.JoinedStr) else key
            if isinstance(first, ast.Constant):
                made = str(first.value)
                yield f"{path.relative_to(SOURCE)}:{each.lineno}", f"{made}x" if made.endswith("/") else made


def test_every_key_in_the_source_is_a_measure() -> None:
    """A number whose key nobody named would fail only when it is made."""
    found = dict(literal_keys())
    assert len(found) > 30
    put_together = ("ua_", "coco_")  # their numbers are tested with the reports below
    assert not {where: key for where, key in found.items() if not known(key) and key not in put_together}


@pytest.fixture(scope="module")
def mutation() -> Report:
    return campaign(per_operator=4)


def test_every_number_of_a_mutation_result_is_sound(mutation: Report) -> None:
    found = mutation.result.measures()
    keys = [each.key for each in found]
    assert len(keys) == len(set(keys))
    assert all(sound(each.measure) for each in found)
    assert all((each.value is None) == bool(each.reason) for each in found)
    assert [each.key for each in found if each.measure.headline] == ["mutation_score", "accuracy"]
    by_key = {each.key: each for each in found}
    summary, original = mutation.result.summary, mutation.result.original
    assert by_key["mutation_score"] == value(
        "mutation_score", summary.mutation_score, summary.mutation_score_ci, summary.judged, headline=True
    )
    assert (by_key["accuracy"].value, by_key["accuracy"].interval) == (
        original.accuracy,
        original.accuracy_ci,
    )
    assert by_key["accuracy"].n == by_key["test_cases"].value == mutation.subject.n
    assert by_key["killed"].value == summary.killed
    assert by_key["sub_score/generalization"].reason == "not applicable"
    for each in mutation.result.by_operator:
        assert by_key[f"mutation_score/{each.operator}"].value == each.mutation_score
    for shown in original.per_class:
        assert by_key[f"recall/{shown.name}"] == value(f"recall/{shown.name}", shown.recall, n=shown.support)
    assert by_key["autopsy_score"].measure.title != measure("autopsy_score").title


def test_a_campaign_without_mutants_has_numbers_with_reasons() -> None:
    found = {each.key: each for each in campaign(per_operator=0).result.measures()}
    assert (found["mutation_score"].value, found["mutation_score"].reason) == (None, "not defined")
    assert (found["mutants"].value, found["mutants"].reason) == (0.0, "")


@pytest.mark.parametrize(
    "body",
    [
        bodies.mutate({"op-1": "killed"}),
        bodies.detectors({"a": True}, {"a": 0.5}),
        bodies.estimate(0.8, (0.7, 0.9)),
        bodies.contaminate(exact=1),
        bodies.detect_eval(0.5, (0.4, 0.6)),
        bodies.checkup(autopsy={"accuracy": 0.9}, mutate={"mutation_score": 0.5}),
    ],
    ids=lambda body: str(body["schema"]["artifact"]),
)
def test_every_number_of_a_report_is_sound(body: dict[str, object]) -> None:
    found = read(body).items
    assert found
    assert all(sound(each.measure) for each in found)
    assert all((each.value is None) == bool(each.reason) for each in found)


@pytest.mark.parametrize("odd", [None, math.nan, math.inf, -math.inf, np.float64("nan")])
def test_a_number_that_is_none_has_a_reason(odd: float | None) -> None:
    assert value("accuracy", odd) == Value(measure("accuracy"), None, None, None, "not defined")
    assert value("accuracy", odd, reason="no test cases").reason == "no test cases"
    assert value("accuracy", odd, (0.1, 0.2)).interval == (0.1, 0.2)


@pytest.mark.parametrize(
    "ends", [(math.nan, 0.9), (0.1, math.nan), (0.1, math.inf), (math.nan, math.nan), None]
)
def test_an_interval_that_is_not_finite_is_none(ends: tuple[float, float] | None) -> None:
    found = value("accuracy", 0.5, ends, 10)
    assert (found.value, found.interval, found.n, found.reason) == (0.5, None, 10, "")


def test_a_value_is_plain_numbers() -> None:
    found = value("accuracy", np.float32(0.5), np.array([0.25, 0.75]), 4, headline=True, reason="unused")
    assert found == Value(measure("accuracy", headline=True), 0.5, (0.25, 0.75), 4, "")
    assert [type(each) for each in (found.value, *(found.interval or ()))] == [float] * 3
    assert found.key == "accuracy"
    assert value("accuracy", 0.5, title="Accuracy here").measure.title == "Accuracy here"
    assert value("killed", 0).value == 0.0


def test_every_part_of_a_checkup_has_measures() -> None:
    assert all(measure(f"{part}/accuracy").key == f"{part}/accuracy" for part in PARTS)
    titles = {measure(f"{part}/accuracy").title for part in ("autopsy", "mutate", "estimate")}
    assert len(titles) == 3
