import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from app.diagnosis.probabilities import check
from app.errors import UserError

GOOD = np.array([[0.2, 0.8], [0.6, 0.4], [1.0, 0.0]])
LABELS = np.array([1, 0, 0])
NAMES = ["cat", "dog"]


def test_probabilities_stay_as_they_are():
    found = check(GOOD, LABELS, NAMES)
    assert found.output == "probs"
    np.testing.assert_array_equal(found.rows, GOOD)
    assert found.labels.tolist() == [1, 0, 0]
    assert (found.cases.tolist(), found.dropped, found.class_names) == ([0, 1, 2], (), ("cat", "dog"))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([np.float16, np.float32, np.float64]))
def test_logits_are_softmaxed_and_a_softmax_is_recognised(seed, classes, precision):
    logits = (np.random.default_rng(seed).normal(size=(9, classes)) * 4).astype(precision)
    labels = np.zeros(9, dtype=int)
    names = [str(k) for k in range(classes)]
    expected = special.softmax(logits.astype(float), axis=1)
    found = check(logits, labels, names, output="logits")
    np.testing.assert_allclose(found.rows, expected, rtol=1e-12)
    again = check(expected.astype(precision), labels, names)
    assert again.output == "probs"
    np.testing.assert_allclose(again.rows, expected, atol=1e-3)


def test_auto_takes_rows_outside_of_0_to_1_for_logits():
    assert check([[3.0, -1.0], [0.5, 0.2], [-2.0, 4.0]], LABELS, NAMES).output == "logits"


def test_log_probabilities_are_logits():
    np.testing.assert_allclose(check(np.log(GOOD + 1e-300), LABELS, NAMES).rows, GOOD, atol=1e-12)


@pytest.mark.parametrize("output", ["auto", "probs"])
def test_sigmoid_rows_are_refused(output):
    with pytest.raises(UserError, match=r"sum to 0\.1\.\.1\.8.*multi-label"):
        check([[0.9, 0.9], [0.05, 0.05], [0.7, 0.9]], LABELS, NAMES, output=output)


def test_sigmoid_rows_are_taken_if_called_logits():
    assert check([[0.9, 0.9], [0.1, 0.1], [0.7, 0.9]], LABELS, NAMES, output="logits").rows[0, 0] == 0.5


def test_rows_that_do_not_sum_to_1_are_named():
    bad = GOOD.copy()
    bad[1] = [0.6, 0.3]
    with pytest.raises(UserError, match=r"row 1 .*does not sum to 1 \(the first: 0\.9\)"):
        check(bad, LABELS, NAMES)


def test_a_row_outside_of_0_to_1_among_probabilities_is_named():
    bad = GOOD.copy()
    bad[2] = [1.5, -0.5]
    with pytest.raises(UserError, match=r"row 2 .*outside \[0, 1\]"):
        check(bad, LABELS, NAMES)


def test_rows_that_are_not_finite_are_named_or_dropped():
    rows = np.tile(GOOD, (4, 1))
    labels = np.tile(LABELS, 4)
    rows[[1, 4, 5, 7, 9, 11], 0] = [np.nan, np.inf, -np.inf, np.nan, np.nan, np.nan]
    with pytest.raises(UserError, match=r"6 rows \(1, 4, 5, 7, 9, \.\.\.\).*NaN or infinity"):
        check(rows, labels, NAMES)
    found = check(rows, labels, NAMES, on_invalid="drop")
    assert found.dropped == (1, 4, 5, 7, 9, 11)
    assert found.cases.tolist() == [0, 2, 3, 6, 8, 10]
    np.testing.assert_array_equal(found.rows, rows[found.cases])
    np.testing.assert_array_equal(found.labels, labels[found.cases])
    with pytest.raises(UserError, match="every row"):
        check(np.full((3, 2), np.nan), LABELS, NAMES, on_invalid="drop")


def test_a_bad_row_is_named_as_given_even_after_a_drop():
    rows = GOOD.copy()
    rows[0], rows[2] = np.nan, [0.5, 0.4]
    rows = np.vstack([rows, GOOD])
    with pytest.raises(UserError, match="row 2 "):
        check(rows, np.tile(LABELS, 2), NAMES, on_invalid="drop")


@pytest.mark.parametrize(
    ("rows", "labels", "names", "words"),
    [
        (GOOD, LABELS[:2], NAMES, "2 labels for 3 rows"),
        (GOOD, [1, 0, 2], NAMES, r"row 2 has a label outside 0\.\.1 \(the first is 2\)"),
        (GOOD, [-1, 0, 0], NAMES, r"row 0 has a label outside 0\.\.1"),
        (GOOD, [1, 0.5, 1], NAMES, r"whole numbers in 0\.\.1, not 0\.5 \(row 1\)"),
        (100 * GOOD, LABELS, NAMES, "sum to 100, as per cents do"),
        (GOOD, ["a", "b", "c"], NAMES, "whole numbers"),
        (GOOD, np.eye(3), NAMES, r"\(N,\) array"),
        (GOOD, LABELS, ["a"], "1 class names for 2 columns"),
        (GOOD, LABELS, ["a", "a"], "'a' is there more than once"),
        (GOOD[:, :1], LABELS, ["a"], "one column"),
        (GOOD[:, 0], LABELS, NAMES, "one column"),
        (GOOD[:0], LABELS[:0], NAMES, "empty"),
        (GOOD[:, :0], LABELS, [], "empty"),
        (GOOD[None], LABELS, NAMES, r"\(N, K\)"),
        (GOOD.astype(str), LABELS, NAMES, "array of numbers"),
    ],
)
def test_what_does_not_fit_is_one_line(rows, labels, names, words):
    with pytest.raises(UserError, match=words) as caught:
        check(rows, labels, names)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", [{"output": "scores"}, {"on_invalid": "skip"}])
def test_unknown_options(option):
    with pytest.raises(UserError, match="must be one of"):
        check(GOOD, LABELS, NAMES, **option)


def test_labels_may_be_whole_floats_or_a_column():
    assert check(GOOD, LABELS.astype(float), NAMES).labels.tolist() == [1, 0, 0]
    assert check(GOOD, LABELS[:, None], NAMES).labels.tolist() == [1, 0, 0]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 200), st.sampled_from([2, 3, 4, 5]))
def test_printed_probabilities_are_accepted(seed, classes, decimals):
    rng = np.random.default_rng(seed)
    exact = special.softmax(rng.normal(size=(20, classes)) * 4, axis=1)
    printed = np.round(exact, decimals)
    found = check(printed, np.zeros(20, dtype=int), [str(k) for k in range(classes)])
    np.testing.assert_allclose(found.rows.sum(axis=1), 1, atol=1e-3)
    if np.abs(printed.sum(axis=1) - 1).max() > 1e-3:
        assert f"rounded to {decimals} decimals: each was divided by the sum" in found.notes[0]
    assert found.output == "probs"


def test_low_precision_is_accepted_and_said():
    rng = np.random.default_rng(0)
    exact = special.softmax(rng.normal(size=(50, 10)), axis=1)
    names = [str(k) for k in range(10)]
    found = check((exact * 0.997).astype(np.float32), np.zeros(50, dtype=int), names)
    np.testing.assert_allclose(found.rows, exact, atol=1e-6)
    assert found.notes == (
        "the probabilities of a test case sum to 0.997 to 0.997, as their precision is low: "
        "each was divided by the sum",
    )
    levels = check(np.round(exact * 256) / 256, np.zeros(50, dtype=int), names)
    assert "rounded to 256 levels" in levels.notes[0]


@pytest.mark.parametrize("decimals", [2, 3, 8])
@pytest.mark.parametrize("classes", [3, 20, 200])
def test_sigmoids_are_refused_however_they_are_printed(classes, decimals):
    rng = np.random.default_rng(1)
    rows = np.round(special.expit(rng.normal(size=(100, classes)) * 3 - np.log(classes)), decimals)
    with pytest.raises(UserError, match=r"multi-label|not sum to 1"):
        check(rows, np.zeros(100, dtype=int), [str(k) for k in range(classes)])
