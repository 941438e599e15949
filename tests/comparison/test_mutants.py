import pytest
from scipy import stats

from app.comparison.mutants import mutants

from .bodies import detectors, mutate


def verdicts(*killed, of=20):
    return {f"op-{i}": "killed" if i in killed else "survived" for i in range(of)}


def test_verdicts_move_by_key():
    before = mutate(verdicts(0, 1, 2, 3))
    after = mutate(dict(reversed(verdicts(2, 3, 4).items())))
    found = mutants(before, after)
    assert [each.key for each in found.found.newly_killed] == ["op-4"]
    assert sorted(each.key for each in found.found.newly_surviving) == ["op-0", "op-1"]
    assert (found.found.common, found.found.killed_both, found.found.survived_both) == (20, 2, 15)
    assert found.known["mutation_score"].p_value == pytest.approx(stats.binomtest(1, 3, 0.5).pvalue)
    assert found.known["mutation_score/op"].value == pytest.approx(-1 / 20)


def test_what_was_not_judged_is_not_compared():
    before = mutate({"op-0": "killed", "op-1": "equivalent", "op-2": "killed_weak"})
    after = mutate({"op-0": "invalid", "op-1": "killed", "op-2": "killed"})
    found = mutants(before, after).found
    assert (found.common, found.only_before, found.only_after) == (1, 1, 1)
    assert [(each.key, each.before, each.after) for each in found.newly_killed] == [
        ("op-2", "killed_weak", "killed")
    ]


def test_other_mutants_are_independent_samples():
    before, after = mutate(verdicts(0, 1)), mutate({f"other-{i}": "killed" for i in range(20)})
    found = mutants(before, after)
    assert not found.most
    assert found.shares is None
    assert found.killed is None
    score = found.known["mutation_score"]
    assert score.method == "intervals"
    assert score.value == pytest.approx(0.9)


def test_mutants_of_a_detector_are_paired_in_all_scores():
    killed = {f"k{i}": i % 2 == 0 for i in range(6)}
    before = detectors(killed, dict.fromkeys(killed, 0.5))
    after = detectors(dict.fromkeys(killed, True), {key: 0.6 + 0.01 * i for i, key in enumerate(killed)})
    found = mutants(before, after)
    assert len(found.found.newly_killed) == 3
    assert found.known["obj_ms_mg"].value == pytest.approx(0.125)
    assert not found.known["obj_ms_mg"].noise
    assert found.known["ms_iou/mc_dropout"].noise


def test_a_second_model_leaves_the_mutants_of_the_first_common():
    before = detectors({"a": True, "b": False}, {"a": 0.5, "b": 0.4})
    after = {**before, "mutants": [*before["mutants"], {**before["mutants"][0], "model": "ssd"}]}
    for sides, only in (((before, after), (0, 1)), ((after, before), (1, 0))):
        found = mutants(*sides).found
        assert (found.common, found.only_before, found.only_after) == (2, *only)
    renamed = {**before, "mutants": [{**each, "model": "yolo2"} for each in before["mutants"]]}
    assert mutants(before, renamed).found.common == 2


def test_no_mutants_at_all():
    found = mutants(mutate({}), mutate({}))
    assert found.found.common == 0
    assert found.known["mutation_score"] is None
    assert mutants({"mutants": None}, mutate({})) is None
