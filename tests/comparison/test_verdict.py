import pytest

from app.comparison.deltas import delta
from app.comparison.differences import Difference
from app.comparison.verdict import Candidate, decide, overall
from app.measures import Value, measure


def candidate(key, value, *, noise=False, tested=True, smallest=0.01, fact=False):
    what = measure(key)
    ci = (value - 1, value + 1) if noise else (value, value)
    known = Difference(value, ci, 0.5 if noise else 0.001, "mcnemar", 10) if tested else None
    made = delta(what, Value(what, 0.5), Value(what, 0.5 + value), known, told=True, fact=fact)
    return Candidate(made, smallest, fact)


@pytest.mark.parametrize(
    ("candidates", "verdict", "noise", "key", "rule"),
    [
        ([("accuracy", -0.05, {})], "regressed", False, "accuracy", "beyond noise"),
        ([("accuracy", 0.05, {})], "improved", False, "accuracy", "beyond noise"),
        ([("ece", 0.05, {})], "regressed", False, "ece", "beyond noise"),
        ([("accuracy", 0.05, {"noise": True})], "unchanged", True, "accuracy", "within noise"),
        ([("accuracy", -0.005, {})], "unchanged", False, "accuracy", "too small"),
        ([("accuracy", 0.0, {})], "unchanged", False, "accuracy", "equal"),
        ([("accuracy", 0.05, {"tested": False})], "improved", False, "accuracy", "by size alone"),
        ([("accuracy", 0.05, {}), ("macro_f1", -0.05, {})], "regressed", False, "macro_f1", "beyond noise"),
        (
            [("accuracy", 0.0, {}), ("macro_f1", 0.02, {"noise": True})],
            "unchanged",
            True,
            "macro_f1",
            "within noise",
        ),
        (
            [("copies_across", 1.0, {"tested": False, "fact": True})],
            "regressed",
            False,
            "copies_across",
            "a fact",
        ),
        ([], "unknown", False, "", "nothing shared"),
    ],
)
def test_what_decides(candidates, verdict, noise, key, rule):
    found = decide([candidate(name, value, **more) for name, value, more in candidates])
    assert (found[0], found[1], found[2].key, found[2].rule) == (verdict, noise, key, rule)


def test_what_moved_the_other_way_is_named():
    _, _, decision = decide([candidate("accuracy", 0.05), candidate("macro_f1", -0.05)])
    assert decision.against == ("accuracy",)


def test_a_number_that_one_run_lacks_does_not_decide():
    what = measure("accuracy")
    lacking = Candidate(delta(what, None, Value(what, 0.9)))
    assert decide([lacking])[0] == "unknown"
    assert lacking.delta.judgement == "unknown"
    assert lacking.delta.difference is None


def test_the_worst_news_of_several_parts_comes_first():
    assert overall(["improved", "unchanged", "regressed"]) == "regressed"
    assert overall(["unchanged", "improved"]) == "improved"
    assert overall(["unknown", "unchanged"]) == "unchanged"
    assert overall([]) == "unknown"
