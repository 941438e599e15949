from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from app.comparison import Limits, Side, compare_all, read, readings
from app.comparison.cases import Cases
from app.errors import UserError

from .bodies import (
    CLASSES,
    autopsy,
    changed,
    contaminate,
    detect_eval,
    detectors,
    measures_of,
    mutate,
    probabilities,
)

QUICK = Limits(resamples=200)


def model(n, seed, *, skill=3.0, sharpness=1.0, same=True, **known):
    """A model on n test cases, which are the same for all seeds or its own."""
    labels = np.arange(n) % 5
    base = np.random.default_rng(99 if same else 1000 + seed).normal(size=(n, 5))
    rows = probabilities(np.random.default_rng(seed), labels, 5, skill=skill, sharpness=sharpness, base=base)
    return autopsy(rows, labels, **known)


def test_a_run_against_itself_is_equal():
    side = model(200, 1)
    found = compare_all(side, side, QUICK)
    assert (found.verdict, found.within_noise, found.decision.rule) == ("unchanged", False, "equal")
    assert {each.judgement for each in found.deltas} <= {"equal", "unknown"}
    assert found.comparability.same_cases
    assert not found.comparability.partial


def test_a_worse_model_on_the_same_cases():
    found = compare_all(model(500, 1), model(500, 2, skill=1.5, model="m2"), QUICK)
    assert found.verdict == "regressed"
    assert (found.decision.key, found.delta("accuracy").method) == ("accuracy", "mcnemar")
    assert found.delta("accuracy").judgement == found.delta("macro_f1").judgement == "worse"
    assert found.comparability.same_data
    assert found.comparability.same_model is False


def test_lost_calibration_is_not_hidden_behind_an_equal_accuracy():
    """Sharper probabilities leave every prediction as it is: the score falls, and nothing else does."""
    before, after = model(500, 1, skill=1.2), model(500, 1, skill=1.2, sharpness=4.0)
    found = compare_all(before, after, QUICK)
    assert found.delta("accuracy").difference == 0
    assert found.delta("autopsy_score").difference < -3
    assert (found.verdict, found.decision.key) == ("regressed", "autopsy_score")
    assert found.delta("ece").judgement == "worse"


def test_luck_is_not_celebrated():
    """Equally good models on 200 cases differ by a point often; the verdict says so seldom."""
    sides = [model(200, seed, skill=2.0) for seed in range(12)]
    found = [compare_all(a, b, QUICK) for a, b in pairwise(sides)]
    assert sum(abs(each.delta("autopsy_score").difference) >= 1 for each in found) >= 4
    assert [each.verdict for each in found].count("unchanged") >= 9


def test_other_test_cases_make_independent_samples():
    before = model(400, 1, paths=[f"old/{i}.png" for i in range(400)])
    after = model(300, 2, skill=1.0, same=False, data="d2", paths=[f"new/{i}.png" for i in range(300)])
    found = compare_all(before, after, QUICK)
    common = found.comparability
    assert (found.verdict, found.decision.rule) == ("unknown", "different things")
    assert (common.otherwise, found.delta("accuracy").judgement) == (("data",), "changed")
    assert found.delta("accuracy").method == "intervals"
    assert found.delta("autopsy_score").method == "bootstrap"
    assert (common.same_data, common.same_cases, common.shared_cases) == (False, False, None)
    assert common.notes[0].startswith("other data: the runs measured different things")


def test_reports_alone_do_without_the_predictions():
    before, after = (Side(each.body) for each in (model(500, 1), model(500, 2, skill=1.5)))
    found = compare_all(before, after, QUICK)
    assert found.verdict == "regressed"
    assert found.delta("autopsy_score").method == "bootstrap"
    assert "not saved" in found.comparability.unpaired_reason


def test_without_anything_about_chance_the_size_decides():
    """An old report without matrix and bins: the original rule of a point, and it says so."""
    sides = []
    for score in (90.0, 88.0):
        body = {
            key: value for key, value in model(50, 1).body.items() if key not in {"confusion", "calibration"}
        }
        body = changed(body, sub_scores={"performance": score})
        sides.append(Side(changed(body, summary__autopsy_score=score)))
    found = compare_all(*sides)
    assert (found.verdict, found.decision.rule) == ("regressed", "by size alone")
    assert found.delta("autopsy_score").judgement == "untested"
    assert "confusions" in [each.name for each in found.comparability.skipped_sections]
    assert found.comparability.partial


def test_scores_of_other_sub_scores_are_compared_by_those_both_have():
    before = model(200, 1)
    after = Side(
        changed(before.body, sub_scores__generalization=10.0, summary__autopsy_score=60.0), before.cases
    )
    found = compare_all(before, after, QUICK)
    assert found.verdict == "unchanged"
    assert found.delta("autopsy_score").difference == 0
    assert "generalization" in found.delta("autopsy_score").note
    assert any("generalization" in note for note in found.comparability.notes)


def test_classes_that_came_and_went_are_listed():
    before = model(400, 1)
    labels = np.arange(400) % 5
    rows = probabilities(np.random.default_rng(1), labels, 5, skill=3.0)
    after = autopsy(rows, labels, ("newt", *CLASSES[:4]), data="d2")
    found = compare_all(before, after, QUICK)
    common = found.comparability
    assert (common.classes_only_before, common.classes_only_after, common.classes_common) == (
        ("eel",),
        ("newt",),
        4,
    )
    assert not common.same_classes
    assert found.delta("macro_f1").title == "Macro F1 of the 4 common classes"
    assert {each.name for each in found.classes} == set(CLASSES[:4])


def test_another_order_of_classes_is_no_change():
    side, order = model(300, 1), np.array([4, 2, 0, 1, 3])
    labels = np.arange(300) % 5
    base = np.random.default_rng(99).normal(size=(300, 5))
    rows = probabilities(np.random.default_rng(1), labels, 5, skill=3.0, base=base)[:, order]
    names = tuple(CLASSES[k] for k in order)
    paths = [f"{CLASSES[label]}/{case}.png" for case, label in enumerate(labels)]
    after = autopsy(rows, np.argsort(order)[labels], names, model="m2", data="d2", paths=paths)
    found = compare_all(side, after, QUICK)
    assert found.comparability.same_cases
    assert found.confusion == ()
    assert found.verdict == "unchanged"
    assert found.delta("accuracy").difference == 0
    assert any("another order" in note for note in found.comparability.notes)


def test_accuracy_over_other_classes_does_not_decide():
    """The fifth class is never right in the second run; the test cases of the other four are as before."""
    before = model(500, 1)
    labels = np.arange(500) % 5
    base = np.random.default_rng(99).normal(size=(500, 5))
    rows = probabilities(np.random.default_rng(1), labels, 5, skill=3.0, base=base)
    rows[labels == 4] = [1.0, 0, 0, 0, 0]
    after = autopsy(rows, labels, (*CLASSES[:4], "newt"))
    for sides in ((before, after), (Side(before.body), Side(after.body))):
        found = compare_all(*sides, QUICK)
        assert found.delta("accuracy").difference < -0.1
        assert (found.verdict, found.decision.key) == ("unchanged", "accuracy_common")
        assert found.delta("accuracy_common").difference == 0
        assert any("the classes differ" in note for note in found.comparability.notes)
    right = before.cases.right[labels < 4]
    assert found.delta("accuracy_common").after == pytest.approx(right.mean())


def test_without_common_classes_nothing_decides():
    labels = np.arange(200) % 5
    rows = probabilities(np.random.default_rng(1), labels, 5, skill=3.0)
    after = autopsy(rows, labels, ("a", "b", "c", "d", "e"), data="d2")
    assert compare_all(model(200, 1), after, QUICK).verdict == "unknown"


def test_a_difference_of_the_shared_cases_says_so():
    before, after = model(300, 1), model(300, 2, skill=2.0)
    gone = set(np.flatnonzero(after.cases.right)[:20].tolist())
    part = after.cases.take([k for k in range(300) if k not in gone])
    found = compare_all(before, Side(after.body, part), QUICK)
    accuracy = found.delta("accuracy")
    assert accuracy.difference != pytest.approx(accuracy.after - accuracy.before)
    assert accuracy.note == "difference of the 280 shared test cases"
    assert any("the difference of accuracy is theirs" in note for note in found.comparability.notes)
    assert compare_all(before, after, QUICK).delta("accuracy").note == ""


def test_an_older_version_is_compared_partially(monkeypatch):
    monkeypatch.setitem(readings.NEWEST, "assay.autopsy", 2)
    before, after = model(100, 1), model(100, 1)
    older = {key: value for key, value in before.body.items() if key != "confusion"}
    newer = changed(
        after.body, schema__version=2, summary__health="healthy", measures=measures_of(after.body)
    )
    found = compare_all(Side(older, before.cases), Side(newer, after.cases), QUICK)
    common = found.comparability
    assert common.versions == (1, 2)
    assert common.partial
    assert {"before lacks confusion", "before lacks summary.health"} <= set(common.missing)
    assert any("older than 2" in note for note in common.notes)
    assert found.verdict == "unchanged"
    assert {each.judgement for each in found.deltas if each.before is not None} == {"equal"}
    assert [each.key for each in found.deltas] == [each.key for each in read(before.body).items]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"schema": {"artifact": "assay.autopsy", "version": 2}}, "after: it is version 2 of assay.autopsy"),
        (
            {"schema": {"artifact": "other.tool", "version": 1}},
            "after: it holds other.tool; allowed: assay.mutate",
        ),
        ({}, "after: it is no report of Assay"),
        ({"schema": {"artifact": "assay.autopsy", "version": True}}, "after: it is no report of Assay"),
        (mutate({}), "before is a report of task=autopsy and after one of task=mutate"),
    ],
)
def test_what_cannot_be_compared_is_refused(body, message):
    with pytest.raises(UserError) as error:
        compare_all(model(20, 1), Side(body), QUICK)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def verdicts(killed, of=60, first=0):
    return {f"op-{i}": "killed" if i < killed else "survived" for i in range(first, first + of)}


def test_a_mutation_score_is_compared_over_the_same_mutants():
    found = compare_all(Side(mutate(verdicts(40))), Side(mutate(verdicts(25))))
    assert (found.verdict, found.decision.key) == ("regressed", "mutation_score")
    assert found.delta("mutation_score").n == 60
    assert len(found.mutants.newly_surviving) == 15
    few = compare_all(Side(mutate(verdicts(40))), Side(mutate(verdicts(37))))
    assert (few.verdict, few.within_noise) == ("unchanged", True)


def test_new_mutants_do_not_move_the_score_of_the_common_ones():
    """Twenty hard mutants more: the score falls, what the tests notice does not."""
    after = mutate({**verdicts(40), **{f"hard-{i}": "survived" for i in range(20)}})
    found = compare_all(Side(mutate(verdicts(40))), Side(after))
    assert found.delta("mutation_score").difference < -0.1
    assert found.delta("mutation_score_common").difference == 0
    assert (found.verdict, found.decision.key) == ("unchanged", "mutation_score_common")


def test_the_model_under_mutation_counts_too():
    cases = [f"{i}.png" for i in range(200)]
    names = ("x",) * 200
    good = Cases(tuple(cases), names, names, np.ones(200))
    bad = replace(good, predicted=("y",) * 30 + names[30:])
    before = Side(mutate(verdicts(40), n=200, accuracy=1.0), good)
    after = Side(mutate(verdicts(40), n=200, accuracy=0.85), bad)
    found = compare_all(before, after, QUICK)
    assert (found.verdict, found.decision.key) == ("regressed", "accuracy")


def test_detectors_by_their_mutants():
    killed = {f"k{i}": i < 6 for i in range(30)}
    before = detectors(killed, dict.fromkeys(killed, 0.5))
    after = detectors({key: i < 20 for i, key in enumerate(killed)}, dict.fromkeys(killed, 0.5))
    found = compare_all(Side(before), Side(after))
    assert (found.verdict, found.decision.key) == ("improved", "img_ms_mg")
    assert found.delta("img_ms_mg").difference == pytest.approx(14 / 30)
    assert found.delta("ua_match_vr").better is None


def test_copies_are_facts():
    found = compare_all(Side(contaminate(exact=1)), Side(contaminate(exact=2, risk="CRITICAL")))
    assert (found.verdict, found.decision.rule, found.within_noise) == ("regressed", "a fact", False)
    assert compare_all(Side(contaminate(exact=1)), Side(contaminate())).verdict == "improved"
    only_risk = compare_all(Side(contaminate(risk="LOW")), Side(contaminate(risk="HIGH")))
    assert (only_risk.verdict, only_risk.decision.key) == ("regressed", "risk")


def test_copies_among_other_pictures_are_a_sample():
    """1 of 500 against none is chance (Fisher's exact test: p = 1); 30 of 500 against none is not."""
    few, many, none = (Side(contaminate(exact=k, n=500, data=f"d{k}")) for k in (1, 30, 0))
    found = compare_all(few, none)
    assert (found.verdict, found.within_noise, found.decision.key) == ("unchanged", True, "copied")
    cleaned = compare_all(many, none)
    assert (cleaned.verdict, cleaned.decision.key) == ("improved", "copied")
    assert cleaned.delta("copies_across").judgement == "changed"
    assert compare_all(none, many).verdict == "regressed"


def test_more_copies_of_many_more_pictures_are_a_smaller_share():
    before, after = contaminate(exact=10, n=1000), contaminate(exact=20, n=10_000, data="d2")
    found = compare_all(Side(before), Side(after))
    assert found.verdict == "improved"
    assert found.delta("copied").difference == pytest.approx(0.002 - 0.01)
    assert found.delta("exact_across").judgement == "changed"
    assert found.delta("share_sure/test").judgement == "untested"
    assert compare_all(Side(after), Side(before)).verdict == "regressed"


def test_pairs_can_outnumber_the_pictures():
    sides = [contaminate(exact=k, n=50, data=f"d{k}") for k in (1000, 1200)]
    found = compare_all(*map(Side, sides))
    assert (found.verdict, found.decision.rule) == ("unchanged", "equal")


def test_pictures_without_a_digest_are_other_pictures():
    found = compare_all(*(Side(contaminate(exact=k, data="")) for k in (2, 3)))
    assert (found.verdict, found.within_noise, found.decision.key) == ("unchanged", True, "copied")
    assert any("not known" in note for note in found.comparability.notes)


def test_of_other_pictures_without_counts_nothing_is_known():
    before, after = contaminate(exact=9), contaminate(data="d2")
    found = compare_all(Side(changed(before, exposure=[])), Side(after))
    assert (found.verdict, found.decision.rule) == ("unknown", "nothing shared")


def test_hashes_of_another_kind_are_never_compared():
    found = compare_all(Side(contaminate(exact=1, confirmed=9)), Side(contaminate(exact=1, spec="other")))
    assert (found.verdict, found.decision.key) == ("unchanged", "exact_across")
    assert found.delta("confirmed_across") is None
    assert [each.name for each in found.comparability.skipped_sections] == ["look-alikes"]


def test_evaluations_of_detectors():
    found = compare_all(Side(detect_eval(0.40, [0.36, 0.44])), Side(detect_eval(0.60, [0.55, 0.66])))
    assert (found.verdict, found.decision.key, found.delta("mean_ap").method) == (
        "improved",
        "mean_ap",
        "intervals",
    )
    assert [each.name for each in found.classes] == ["car", "bus"]
    close = compare_all(Side(detect_eval(0.50, [0.44, 0.56])), Side(detect_eval(0.53, [0.48, 0.60])))
    assert (close.verdict, close.within_noise) == ("unchanged", True)


def test_mean_ap_over_other_classes_does_not_decide():
    before, after = detect_eval(0.6, [0.58, 0.62]), detect_eval(0.4, [0.38, 0.42], classes=("car", "tram"))
    found = compare_all(Side(before), Side(after))
    assert (found.verdict, found.decision.rule) == ("unknown", "nothing shared")
    assert (found.delta("mean_ap_common").difference, found.delta("mean_ap_common").after) == (0, 0.5)
    assert any("mean AP" in note for note in found.comparability.notes)
