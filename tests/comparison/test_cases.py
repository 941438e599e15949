import numpy as np
import pytest

from app.comparison.cases import Cases, cases, rebuilt, shared

from .bodies import autopsy, changed, probabilities


def told(paths, labels, predicted):
    return Cases(tuple(paths), tuple(labels), tuple(predicted), np.full(len(paths), 0.5))


def test_cases_are_the_same_by_name_whatever_their_order():
    before = told(["a.png", "b.png", "c.png"], "xyx", "xyx")
    after = told(["c.png", "a.png", "b.png"], "xxy", "yxy")
    found, why = shared(before, after, same_data=False)
    assert why == ""
    assert found.before.paths == found.after.paths == ("a.png", "b.png", "c.png")
    assert found.after.right.tolist() == [True, True, False]


def test_numbers_say_nothing_about_other_data():
    before, after = told(["0", "1"], "xy", "xy"), told(["0", "1"], "xy", "yx")
    found, why = shared(before, after, same_data=False)
    assert found is None
    assert "no names" in why
    assert len(shared(before, after, same_data=True)[0]) == 2


def test_a_case_with_another_label_is_left_out():
    paths = [f"{i}.png" for i in range(20)]
    before, after = told(paths, "x" * 20, "x" * 20), told(paths, "y" + "x" * 19, "x" * 20)
    found, _ = shared(before, after, same_data=True)
    assert (len(found), found.relabelled) == (19, 1)


def test_too_few_common_cases_are_not_paired():
    before = told([f"{i}.png" for i in range(10)], "x" * 10, "x" * 10)
    after = told([f"{i}.png" for i in range(5, 15)], "x" * 10, "x" * 10)
    found, why = shared(before, after, same_data=False)
    assert found is None
    assert "only 5 of 10 and 10" in why


def test_equal_names_are_told_apart_by_their_order():
    before = told(["a.png", "a.png"], "xy", "xx")
    found, _ = shared(before, before, same_data=False)
    assert found.before.right.tolist() == [True, False]


def test_a_table_needs_its_columns_and_numbers():
    columns = {"path": ["a"], "label": ["x"], "predicted": ["x"], "confidence": ["0.5"]}
    assert cases(columns).right.tolist() == [True]
    assert cases({name: each for name, each in columns.items() if name != "label"}) is None
    assert cases({**columns, "confidence": ["nan"]}) is None
    assert cases({**columns, "confidence": ["high"]}) is None


def test_cases_rebuilt_from_a_report_have_its_numbers():
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 5
    side = autopsy(probabilities(rng, labels, 5, skill=1.5), labels)
    found = rebuilt(side.body)
    pairs = list(zip(found.labels, found.predicted, strict=True))
    matrix = [
        [pairs.count((a, b)) for b in side.body["subject"]["classes"]]
        for a in side.body["subject"]["classes"]
    ]
    assert matrix == side.body["confusion"]
    place = np.minimum((found.confidence * 10).astype(int), 9)
    gaps = [abs((found.confidence - found.right)[place == k].sum()) for k in range(10)]
    assert sum(gaps) / 300 == pytest.approx(side.body["summary"]["ece"])
    assert rebuilt({}) is None


@pytest.mark.parametrize(
    "places",
    [
        {"confusion": [[10**9, 0], [0, 10**9]]},
        {"confusion": [[10**9, 0], [0, 10**9]], "summary__n": 2 * 10**9},
        {"confusion": [[2, 1], [1, "x"]]},
        {"confusion": [[2, 1], [1, -2]]},
        {"confusion": [[2, 1], 5]},
        {"confusion": 5},
        {"summary__n": 5},
        {"summary__n": "x"},
        {"subject__classes": 5},
        {"subject__classes": ["a"]},
        {"calibration__bins": [{"n": "x", "accuracy": 0.5}]},
        {"calibration__bins": [{"n": 10**400, "accuracy": 0.5}]},
        {"calibration__bins": [{"n": 6, "accuracy": 0.5}]},
        {"calibration__bins": [{"n": 6, "accuracy": [1]}]},
        {"calibration__bins": 5},
    ],
)
def test_counts_that_disagree_or_are_none_make_no_cases(places):
    body = {
        "summary": {"n": 6},
        "subject": {"classes": ["a", "b"]},
        "confusion": [[2, 1], [1, 2]],
        "calibration": {"bins": [{"n": 6, "accuracy": 4 / 6, "confidence": 0.8}]},
    }
    assert rebuilt(body).right.tolist() == [True] * 4 + [False] * 2
    assert rebuilt(changed(body, **places)) is None
