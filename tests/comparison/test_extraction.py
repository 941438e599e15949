import math

import numpy as np
import pytest

from app.comparison import measure, read
from app.comparison.body import count, number, texts
from app.errors import UserError

from .bodies import (
    autopsy,
    changed,
    checkup,
    contaminate,
    detect_eval,
    detectors,
    estimate,
    mutate,
    probabilities,
)


@pytest.fixture(scope="module")
def diagnosed():
    labels = np.arange(100) % 5
    return autopsy(probabilities(np.random.default_rng(0), labels, 5, skill=2.0), labels).body


def headlines(body):
    return [each.measure.key for each in read(body).items if each.measure.headline]


def test_an_autopsy(diagnosed):
    found = read(diagnosed)
    assert (found.task, found.subject, found.model, found.dataset) == ("autopsy", "net@pets", "net", "pets")
    assert headlines(diagnosed) == ["accuracy", "macro_f1", "weighted_f1", "autopsy_score", "ece"]
    accuracy = found.get("accuracy")
    assert accuracy.value == diagnosed["summary"]["accuracy"]
    assert list(accuracy.interval) == diagnosed["summary"]["accuracy_ci"]
    assert accuracy.n == 100
    assert found.get("recall/owl").n == 20
    lacking = found.get("sub_score/generalization")
    assert (lacking.value, lacking.reason) == (None, "no training data")


def test_what_an_older_report_lacks_is_no_zero(diagnosed):
    bare = {key: diagnosed[key] for key in ("schema", "subject")}
    found = read(bare)
    assert found.get("accuracy").value is None
    assert found.get("accuracy").reason
    assert found.started == ""
    assert not [each for each in found.items if each.value == 0]
    assert read(changed(diagnosed, summary__accuracy=math.nan, metrics={})).get("accuracy").value is None


def test_campaigns():
    found = read(mutate({"a-1": "killed", "a-2": "survived", "b-1": "killed", "b-2": "killed"}))
    assert headlines(mutate({})) == ["mutation_score", "accuracy"]
    assert (found.get("mutation_score").value, found.get("mutation_score").n) == (0.75, 4)
    assert found.get("mutation_score/b").measure.title == "Mutation score, b"
    assert found.get("autopsy_score").value == 90
    assert found.get("autopsy_score").measure.title != measure("autopsy_score").title  # of fewer sub-scores
    assert read(mutate({})).get("mutation_score").value is None


def test_detectors_and_saved_detections():
    body = detectors({"k": True}, {"k": 0.5})
    assert read(body).task == "mutate"
    assert read(changed(body, settings__engine="")).task == "score"
    assert headlines(body) == ["img_ms_mg", "obj_ms_mg", "ms_iou"]
    assert read(body).get("obj_ms_ghost").value is None
    assert read(body).get("img_ms_mg/mc_dropout").n == 2  # over all rates


def test_estimates_and_evaluations():
    labelled, evaluated = estimate(0.9, [0.8, 0.95]), estimate(0.9, None, use="evaluation", ratios=(0.8,))
    assert headlines(labelled) == ["estimated_accuracy"]
    found = read(labelled).get("estimated_accuracy")
    assert (found.value, found.interval, found.n) == (0.9, (0.8, 0.95), 100)
    assert headlines(evaluated) == ["accuracy", "estimated_accuracy"]
    found = read(estimate(0.9, [0.8, 0.95], use="evaluation", ratios=(0.8,), repetitions=30))
    assert found.get("accuracy").measure.title == "True accuracy"
    said = found.get("estimated_accuracy")
    assert (said.value, said.interval, said.n) == (0.9, (0.8, 0.95), 100)
    assert said.measure.title == "Estimated accuracy, first of 30 runs"
    once = read(estimate(0.9, [0.8, 0.95], use="evaluation", ratios=(0.8,), repetitions=1))
    assert once.get("estimated_accuracy").measure.title == "Estimated accuracy"
    assert headlines(changed(evaluated, estimates=[])) == ["accuracy"]
    assert "waits for labels" in read(changed(labelled, estimates=[])).get("estimated_accuracy").reason
    assert read(evaluated).get("rmse_ratio_srs/e0/200").value == 0.8
    assert "no honest interval" in read(evaluated).get("coverage/e0/200").reason


def test_the_rest():
    found = read(contaminate(exact=2, confirmed=3, risk="HIGH"))
    assert found.get("copies_across").value == 5
    assert found.get("risk").value == 4
    found = read(detect_eval(0.5, [0.4, 0.6]))
    assert (found.get("mean_ap").interval[0], found.get("coco_ap50").value) == (0.4, 0.5)
    assert found.get("recall/bus").interval[1] == 0.8
    assert found.get("error/missed").value == 7
    front = checkup(
        autopsy={"accuracy": {"value": 0.9, "ci": [0.8, 0.95], "n": 50}}, mutate={"mutation_score": 0.5}
    )
    found = read(front)
    assert (found.get("autopsy/accuracy").interval[1], found.get("autopsy/accuracy").n) == (0.95, 50)
    assert found.get("mutate/mutation_score").measure.title == "Mutation score"
    assert found.get("autopsy/accuracy").measure.title == "Accuracy on the test set"


def test_a_checkup_has_every_number_once():
    """Autopsy and mutation run see the same model on the same test cases: one of their accuracies is enough."""
    both = {"autopsy": {"accuracy": 0.9}, "mutate": {"accuracy": 0.9}, "estimate": {"accuracy": 0.8}}
    found = [each.measure for each in read(checkup(**both)).items]
    assert [each.key for each in found] == ["autopsy/accuracy", "estimate/accuracy"]
    assert len({each.title for each in found}) == 2
    assert read(checkup(mutate={"accuracy": 0.9})).get("mutate/accuracy").value == 0.9


@pytest.mark.parametrize(
    ("key", "better", "unit"),
    [
        ("accuracy", "higher", "share"),
        ("ece", "lower", "share"),
        ("log_loss", "lower", "number"),
        ("recall/a/b", "higher", "share"),
        ("sub_score/confusion", "higher", "score"),
        ("estimate/estimated_accuracy", "higher", "share"),
        ("ua_match_vr", None, "number"),
    ],
)
def test_measures_are_known_by_their_keys(key, better, unit):
    found = measure(key)
    assert (found.key, found.better, found.unit) == (key, better, unit)
    assert found.title


def test_other_files_are_refused():
    with pytest.raises(UserError, match="no schema block"):
        read({"schema": {"artifact": 3, "version": 1}})
    with pytest.raises(UserError, match="up to version 2: update it"):
        read({"schema": {"artifact": "assay.mutate", "version": 7}})
    with pytest.raises(UserError, match="up to version 2: update it"):
        read({"schema": {"artifact": "assay.uamt", "version": 3}})


@pytest.mark.parametrize("odd", [5, "x", [1], {"a": 1}, None, True, 10**400, 1e308, [["a"]], [{}]])
def test_odd_values_are_no_numbers(diagnosed, odd):
    for body, places in (
        (diagnosed, ("subject", "summary", "metrics", "findings", "per_class", "sub_scores", "training")),
        (mutate({"op-1": "killed"}), ("subject", "summary", "original", "by_operator")),
        (detectors({"a": True}, {"a": 0.5}), ("summary", "by_operator", "counts")),
        (estimate(0.9, [0.8, 0.95]), ("estimates", "results", "populations", "settings")),
    ):
        for place in places:
            assert read({**body, place: odd}).artifact == body["schema"]["artifact"]
    body = detectors({"a": True}, {"a": 0.5})
    operators = [{**each, "model": odd} for each in body["by_operator"]]
    assert read({**body, "by_operator": operators}).get("ms_iou")


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), 1e308, float("inf"), float("nan"), True, "1", [1], None]
)
def test_what_is_no_number(value):
    assert number(value) is None
    assert count(value) is None


def test_counts_and_texts():
    assert (count(3), count(0), count(-1), count(2.0)) == (3, 0, None, None)
    assert (texts(["a", 1]), texts(5), texts("ab"), texts(None)) == (("a", "1"), (), (), ())
