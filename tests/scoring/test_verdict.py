import numpy as np
import pytest

from app.scoring.paired import Paired
from app.scoring.verdict import Rule, Verdict, decide


def test_significance_and_effect():
    p, effect = np.array([[0.001, 0.02, 0.03, 0.9]]), np.array([[0.2, 0.3 - 0.29, 0.005, 0.5]])
    found = decide(Paired(p, effect), Rule())
    assert found.p_adjusted[0] == pytest.approx([0.004, 0.04, 0.04, 0.9])
    assert found.significant.tolist() == [[True, True, True, False]]
    assert found.killed.tolist() == [[True, True, False, False]]


def test_a_verdict_is_its_word():
    assert f"{Verdict.KILLED_WEAK}" == "killed_weak"
    assert [verdict.value for verdict in Verdict] == (
        ["killed", "killed_weak", "survived", "inconclusive", "equivalent", "duplicate", "invalid"]
    )


@pytest.mark.parametrize(
    "options",
    [{"q": 0}, {"q": 1.5}, {"delta": -0.1}, {"p0": 0}, {"level": 95}, {"resamples": 0}, {"q": float("nan")}],
)
def test_bad_rules_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Rule(**options)
