import pytest

from app.diagnosis.causes import Finding
from app.diagnosis.health import health
from app.diagnosis.score import AutopsyScore


@pytest.mark.parametrize(
    ("score", "cause", "impact", "label"),
    [
        (95.0, None, 0, "healthy"),
        (float("nan"), None, 0, "healthy"),
        (79.9, None, 0, "at risk"),
        (59.9, None, 0, "unhealthy"),
        (95.0, "class_overlap", 0.019, "healthy"),
        (95.0, "class_overlap", 0.02, "at risk"),
        (95.0, "class_overlap", 0.1, "unhealthy"),
        (95.0, "underconfidence", 0.2, "at risk"),
    ],
)
def test_the_worst_of_score_and_findings(score, cause, impact, label):
    findings = [Finding(cause, 0.5, affected=("a", "b"), impact=impact)] if cause else []
    found = health(AutopsyScore(score, {}), findings)
    assert found.label == label
    assert bool(found.reasons) == (label != "healthy")
