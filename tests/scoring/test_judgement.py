import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from app.records import Predictions
from app.scoring import Rule, Verdict, judge
from app.scoring.verdict import SCORED
from app.stats.effects import paired_difference
from app.stats.proportions import wilson

CASES = 100
LABELS = np.arange(CASES) % 4
RULE = Rule(resamples=200)


def predictions(*rows, confidence=0.5, shift=1.0):
    top1 = np.array(rows, dtype=np.int32)
    return Predictions(
        top1, np.full(top1.shape, confidence, np.float32), np.full(top1.shape, shift, np.float32)
    )


def losing(*cases, labels=LABELS):
    """A row of predictions that is right but for these cases."""
    top1 = labels.copy()
    top1[list(cases)] = (top1[list(cases)] + 1) % 4
    return top1


ORIGINAL = predictions(losing(98, 99), shift=0.0)


def judged(mutants, rule=RULE, **options):
    return judge(ORIGINAL, mutants, LABELS, classes=4, rng=np.random.default_rng(0), rule=rule, **options)


MUTANTS = [
    predictions(losing(*range(20), 98, 99)),  # 20 lost
    predictions(losing(98, 99)),  # nothing lost
    predictions(losing(0, 1, 98)),  # 2 lost, 1 gained
    predictions(losing(98, 99), shift=0.0),  # equivalent
    predictions(losing(*range(20), 98, 99)),  # duplicate of 0
    None,  # invalid
    predictions(*[losing(5, 98, 99)] * 10),  # one case always lost
    predictions((LABELS + 1) % 4),  # always wrong
]


def test_every_verdict_by_hand():
    found = judged(MUTANTS)
    assert [each.verdict.value for each in found.verdicts] == [
        "killed", "survived", "survived", "equivalent", "duplicate", "invalid", "killed", "killed",
    ]  # fmt: skip
    assert [each.decided_by for each in found.verdicts] == [
        "mcnemar", "mcnemar", "mcnemar", "shift", "outputs", "reason", "binomial", "mcnemar",
    ]  # fmt: skip
    assert [each.trivial for each in found.verdicts] == [False] * 7 + [True]
    assert [each.twin for each in found.verdicts] == [None] * 4 + [0] + [None] * 3
    assert [each.kills for each in found.verdicts] == [20, 0, 2, 0, 20, 0, 1, 98]
    raw = [0.5**20, 1.0, 0.5, 1.0, 0.5**20, np.nan, 98 * 0.01**10, 0.5**98]
    assert [each.p_value for each in found.verdicts] == pytest.approx(raw, nan_ok=True)
    scored = [0, 1, 2, 6, 7]
    adjusted = np.full(8, np.nan)
    adjusted[scored] = stats.false_discovery_control(np.array(raw)[scored])
    assert [each.p_adjusted for each in found.verdicts] == pytest.approx(adjusted.tolist(), nan_ok=True)


def test_effects_by_hand():
    found = judged(MUTANTS).verdicts
    assert [each.effect for each in found] == pytest.approx(
        [0.2, 0, 0.01, 0, 0.2, np.nan, 0.01, 0.98], nan_ok=True
    )
    assert [each.accuracy for each in found] == pytest.approx(
        [0.78, 0.98, 0.97, 0.98, 0.78, np.nan, 0.97, 0], nan_ok=True
    )
    assert found[0].effect_ci == paired_difference([20], [0], CASES)[0]
    assert found[6].effect in found[6].effect_ci
    assert found[0].cohens_h == pytest.approx(2 * np.arcsin(np.sqrt(0.98)) - 2 * np.arcsin(np.sqrt(0.78)))
    assert np.isnan([found[5].effect_ci.low, found[5].cohens_h]).all()


def test_summary_by_hand():
    summary = judged(MUTANTS).summary
    assert summary.counts == {
        Verdict.KILLED: 3,
        Verdict.KILLED_WEAK: 0,
        Verdict.SURVIVED: 2,
        Verdict.INCONCLUSIVE: 0,
        Verdict.EQUIVALENT: 1,
        Verdict.DUPLICATE: 1,
        Verdict.INVALID: 1,
    }
    assert summary.mutants == 8
    assert summary.trivial == 1
    assert summary.mutation_score == 0.6
    assert summary.mutation_score_ci_mutants == wilson(3, 5)
    # The case that kills mutant 6 is missing in (1 - 1/100)^100, 37 %, of the suites; the others always die.
    assert (summary.mutation_score_ci.low, summary.mutation_score_ci.high) == (0.4, 0.6)


def test_kill_facts_name_mutants_of_the_campaign():
    facts = judged(MUTANTS).kill_facts
    assert facts.distinct_kill_sets == 4
    assert facts.dominators == (2, 6)
    assert facts.minimal_mutation_score == 0.5
    assert facts.smallest_suite == (5,)
    assert facts.never_killed == (1,)


def test_a_significant_loss_below_delta_is_weak():
    found = judged([predictions(losing(*range(8), 98, 99))], Rule(delta=0.1, resamples=50))
    assert found.verdicts[0].verdict is Verdict.KILLED_WEAK
    assert not found.verdicts[0].trivial
    assert found.summary.mutation_score == 0


def test_trivial_by_chance_and_by_kills():
    rng = np.random.default_rng(1)
    guess = predictions(rng.integers(4, size=CASES))
    ninety = predictions(losing(*range(89), 98, 99))
    eighty = predictions(np.where(np.arange(CASES) < 60, (LABELS + 1) % 4, LABELS))
    found = judged([guess, ninety, eighty]).verdicts
    assert [each.trivial for each in found] == [True, True, False]
    # Among 1,000 classes nobody guesses 9 of 100; 89 of the 98 cases are 90.8 %, 88 are 89.8 %.
    many = [predictions(losing(*range(count), 98, 99)) for count in (89, 88)]
    wide = judge(ORIGINAL, many, LABELS, classes=1000, rng=rng, rule=RULE)
    assert [each.trivial for each in wide.verdicts] == [True, False]
    # 32 right of 100 is the last count that guessing explains: P(Bin(100, 1/4) >= 32) = .07, >= 33 .0446.
    edge = [predictions(np.where(np.arange(CASES) < wrong, (LABELS + 1) % 4, LABELS)) for wrong in (68, 67)]
    assert [each.trivial for each in judged(edge).verdicts] == [True, False]
    assert stats.binomtest(32, 100, 0.25, alternative="greater").pvalue > 0.05
    assert stats.binomtest(33, 100, 0.25, alternative="greater").pvalue < 0.05


def test_equal_seeds_give_equal_judgements():
    one, two = judged(MUTANTS), judged(MUTANTS)
    assert one.summary == two.summary
    assert (one.draws == two.draws).all()


@pytest.mark.parametrize("mutants", [[], [None, None], [predictions(losing(98, 99), shift=0.0)]])
def test_nothing_to_score(mutants):
    found = judged(mutants)
    assert found.summary.mutants == len(mutants) == len(found.verdicts)
    assert np.isnan(found.summary.mutation_score)
    assert np.isnan(found.summary.mutation_score_ci.low)
    assert np.isnan(found.summary.mutation_score_ci_mutants.low)
    assert found.kill_facts.dominators == ()
    assert found.kill_facts.kills.shape == (CASES,)


def test_no_case():
    nothing = Predictions(
        np.zeros((1, 0), np.int32), np.zeros((1, 0), np.float32), np.zeros((1, 0), np.float32)
    )
    found = judge(nothing, [nothing], LABELS[:0], classes=4, rng=np.random.default_rng(0), rule=RULE)
    assert found.verdicts[0].verdict is Verdict.EQUIVALENT
    moved = judge(
        nothing, [nothing], LABELS[:0], classes=4, rng=np.random.default_rng(0), rule=RULE, probe_shifts=[1.0]
    )
    assert moved.verdicts[0].verdict is Verdict.SURVIVED
    assert np.isnan(moved.verdicts[0].effect)


def test_one_case_and_one_class():
    right, wrong = (predictions([top1]) for top1 in (0, 1))
    one = judge(right, [wrong], np.array([0]), classes=2, rng=np.random.default_rng(0), rule=RULE)
    assert one.verdicts[0].verdict is Verdict.SURVIVED
    assert one.verdicts[0].p_value == 0.5
    same = judge(right, [right], np.array([0]), classes=1, rng=np.random.default_rng(0), rule=RULE)
    assert (same.verdicts[0].effect, same.verdicts[0].kills) == (0, 0)


def test_an_original_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="not finite"):
        judge(predictions([-1]), [], np.array([0]), classes=1, rng=np.random.default_rng(0))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 8), st.integers(1, 30), st.integers(1, 4))
def test_any_campaign_adds_up(seed, mutants, cases, classes):
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=cases)
    original = predictions(np.where(rng.random(cases) < 0.8, labels, 0), shift=0.0)
    outcomes = [
        None
        if rng.random() < 0.1
        else predictions(
            *rng.integers(-int(rng.random() < 0.1), classes, size=(rng.choice([1, 3]), cases)),
            shift=rng.choice([0.0, 1.0]),
        )
        for _ in range(mutants)
    ]
    found = judge(original, outcomes, labels, classes=classes, rng=rng, rule=Rule(resamples=20))
    summary = found.summary
    assert summary.mutants == len(found.verdicts) == mutants
    assert sum(summary.counts[each] for each in SCORED) == found.scored.sum()
    assert not found.draws[:, ~found.scored].any()
    assert found.kill_facts.kills.sum() == sum(
        each.kills for each, scored in zip(found.verdicts, found.scored, strict=True) if scored
    )
    if found.scored.any():
        for interval in (summary.mutation_score_ci, summary.mutation_score_ci_mutants):
            assert 0 <= interval.low <= summary.mutation_score <= interval.high <= 1
    for each in found.verdicts:
        assert (each.verdict is Verdict.INVALID) == np.isnan(each.effect) == np.isnan(each.p_value)
        assert (each.verdict in SCORED) == (not np.isnan(each.p_adjusted))
        assert (each.verdict in SCORED) == (each.reason is None)


def test_verdicts_do_not_depend_on_the_order_of_mutants():
    rng = np.random.default_rng(2)
    mutants = [
        predictions(losing(*rng.choice(98, size=size, replace=False), 98, 99)) for size in range(1, 15)
    ]
    forward, back = judged(mutants).verdicts, judged(mutants[::-1]).verdicts[::-1]
    assert [each.verdict for each in forward] == [each.verdict for each in back]
    assert [each.p_adjusted for each in forward] == pytest.approx([each.p_adjusted for each in back])
