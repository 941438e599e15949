"""Checkups against each other, part by part."""

import numpy as np
import pytest

from app.comparison import Limits, Side, compare_all
from app.errors import UserError

from .bodies import autopsy, changed, checkup, contaminate, estimate, mutate, probabilities

QUICK = Limits(resamples=200)


def model(seed, skill=3.0):
    """A model on the same 300 test cases."""
    labels = np.arange(300) % 5
    base = np.random.default_rng(99).normal(size=(300, 5))
    return autopsy(probabilities(np.random.default_rng(seed), labels, 5, skill=skill, base=base), labels)


def campaign(accuracy=None):
    """30 mutants, all noticed."""
    body = mutate({f"op-{place}": "killed" for place in range(30)})
    return body if accuracy is None else changed(body, original__accuracy=accuracy)


def test_checkups_part_by_part():
    good, bad = model(1), model(2, skill=1.0)
    front = checkup(autopsy={}, mutate={"mutation_score": {"value": 0.5}})
    before = Side(front, parts={"autopsy": good, "mutate": Side(campaign())})
    after = Side(front, parts={"autopsy": bad, "mutate": Side(campaign())})
    found = compare_all(before, after, QUICK)
    assert (found.verdict, found.decision.key) == ("regressed", "autopsy/accuracy")
    assert [(each.name, each.comparison.verdict) for each in found.parts] == [
        ("autopsy", "regressed"),
        ("mutate", "unchanged"),
    ]
    assert found.delta("mutate/mutation_score").title == "Mutation score"
    lost = compare_all(before, Side(front, parts={"mutate": Side(campaign())}), QUICK)
    assert lost.parts[0].comparison is None
    assert lost.comparability.skipped_sections[0].name == "autopsy"


def test_checkups_say_every_number_once():
    """The accuracy of the mutation run is that of the autopsy; its autopsy score is another one and stays out."""
    sides = []
    for accuracy in (0.9, 0.8):
        summary = {"accuracy": accuracy, "autopsy_score": 80.0, "ece": 0.02}
        diagnosed = changed(model(1).body, summary=summary, metrics={})
        parts = {"autopsy": Side(diagnosed), "mutate": Side(campaign(accuracy))}
        sides.append(Side(checkup(autopsy={}, mutate={}), parts=parts))
    found = compare_all(*sides, QUICK)
    keys = [each.key for each in found.deltas]
    assert "autopsy/accuracy" in keys
    assert "autopsy/autopsy_score" in keys
    assert not {"mutate/accuracy", "mutate/autopsy_score", "mutate/ece"} & set(keys)
    titles = [each.title for each in found.deltas]
    assert len(set(titles)) == len(titles)
    assert found.parts[1].comparison.delta("accuracy").difference == pytest.approx(-0.1)
    sides[1].parts["mutate"].body["original"] |= {"accuracy": 0.85}  # of other test cases after all
    assert compare_all(*sides, QUICK).delta("mutate/accuracy").after == 0.85


def test_checkups_ask_how_accurate_the_model_is_and_not_how_good_its_estimators_are():
    sides = []
    for accuracy, value, ratio in ((0.9, 0.91, 0.5), (0.8, 0.79, 0.9)):
        body = estimate(value, [value - 0.05, value + 0.05], use="evaluation", ratios=(ratio,))
        body["populations"][0]["accuracy"] = accuracy
        sides.append(Side(checkup(estimate={}), parts={"estimate": Side(body)}))
    found = compare_all(*sides)
    assert (found.verdict, found.decision.key) == ("regressed", "estimate/accuracy")
    said = found.delta("estimate/estimated_accuracy")
    assert (said.before, said.after, said.title) == (0.91, 0.79, "Estimated accuracy in operation")
    assert found.delta("estimate/rmse_ratio") is None
    alone = compare_all(*(side.parts["estimate"] for side in sides))
    assert alone.delta("rmse_ratio").headline


def test_a_checkup_against_a_run_of_one_of_its_parts():
    good, bad = model(1), model(2, skill=1.0)
    whole = Side(checkup(autopsy={}), parts={"autopsy": good})
    assert compare_all(whole, bad, QUICK).verdict == "regressed"
    assert compare_all(bad, whole, QUICK).verdict == "improved"
    with pytest.raises(
        UserError, match=r"before is a checkup without a part .* task=contaminate; it has autopsy"
    ):
        compare_all(whole, Side(contaminate()))
