import pytest

from app.diagnosis.causes import Finding
from app.diagnosis.recommendations import advised


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (
            Finding("class_imbalance", 0.8, {"cases": 34, "ratio_to_median": 34 / 225}, ("owl",)),
            "191 more test cases of owl",
        ),
        (Finding("overfitting", 0.8, {"accuracy_gap": 0.231}), "23.1 points"),
        (
            Finding("class_overlap", 0.4, {"rate_there": 0.25, "rate_back": 0.3}, ("owl", "cat")),
            "25.0 % of owl go to cat",
        ),
        (
            Finding("hidden_slice", 0.6, {"cases": 60, "error_rate": 0.5, "rest_error_rate": 0.1}, ("owl",)),
            "60 listed cases (mostly owl)",
        ),
        (Finding("leakage", 0.9, {"exact": 3, "total": 50}, tuple("abcdefg")), "a, b, c, d, e and 2 more"),
        (Finding("label_noise", 0.9, {"suspects": 12, "share": 0.05}, ("owl",)), "12 listed suspects"),
    ],
)
def test_the_first_sentence_names_classes_and_numbers(finding, words):
    assert words in advised(finding).recommendations[0]


def test_an_unknown_cause_stays_as_it_is():
    finding = Finding("something", 0.5)
    assert advised(finding) is finding
