"""Populations and tables: what is accepted, what is named, and the leak in the published data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from app.errors import UserError
from app.estimation import Population
from app.estimation.leakage import auc, leaks
from app.estimation.population import normal_scores
from app.estimation.tables import read_population

IDS = np.array(["a", "b", "c", "d"])
DATA = "CN5_MNIST", "LN5_MNIST", "VGG16_CIFAR10", "CN12_CIFAR10", "VGG16_CIFAR100"


def test_a_good_population_keeps_its_columns():
    population = Population("p", IDS, {"confidence": [0.1, 0.2, 0.3, 1.0]}, predicted=np.array([0, 1, 0, 1]))
    assert population.size == 4
    assert population.column("confidence").tolist() == [0.1, 0.2, 0.3, 1.0]
    assert population.notes == ()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"dsa": [1, np.nan, 2, np.inf]},
            r"column 'dsa' must be finite; empty, NaN or infinite in row 1 \(id b\), row 3 \(id d\)",
        ),
        ({"confidence": [0.5, 1.5, 0, 1]}, r"confidence must lie in \[0, 1\]; not so in row 1"),
        ({"dsa": [1, 2, 3]}, r"shape \(3,\), not \(4,\)"),
        ({"dsa": ["x", "y", "z", "w"]}, "'dsa' must hold numbers only"),
    ],
)
def test_bad_columns_are_named_with_their_rows(columns, message):
    with pytest.raises(UserError, match=message):
        Population("p", IDS, columns)


def test_duplicate_ids_and_no_cases_are_refused():
    with pytest.raises(UserError, match=r"ids must be unique, but row 0 \(id a\), row 2 \(id a\)"):
        Population("p", np.array(["a", "b", "a"]))
    with pytest.raises(UserError, match="'p' has no cases"):
        Population("p", np.array([]))


def test_a_constant_column_is_noted_and_an_unknown_one_lists_the_others():
    population = Population("p", IDS, {"dsa": [2, 2, 2, 2], "lsa": [1, 2, 3, 4]})
    assert population.notes == ("column 'dsa' is constant: it tells nothing",)
    with pytest.raises(UserError, match="no column 'margin'; it has: dsa, lsa"):
        population.column("margin")


def test_neurons_and_predictions_must_fit():
    with pytest.raises(UserError, match=r"neurons must be \(4, m\)"):
        Population("p", IDS, neurons=np.zeros((3, 2)))
    with pytest.raises(UserError, match=r"NaN or infinite in row 1 .id b."):
        Population("p", IDS, neurons=np.array([[0.0], [np.nan], [0.0], [1.0]]))
    with pytest.raises(UserError, match="predicted classes"):
        Population("p", IDS, predicted=np.zeros(3))


@pytest.mark.parametrize("budget", [0, -1, 4, 5])
def test_a_budget_is_at_least_one_and_below_the_population(budget):
    with pytest.raises(UserError, match="choose 1 to 3 labels"):
        Population("p", IDS).check_budget(budget)
    assert Population("p", IDS).check_budget(3) == 3


def test_normal_scores_are_quantiles_of_mid_ranks():
    assert normal_scores(np.array([5.0, 1.0, 5.0])) == pytest.approx(ndtri([4 / 6, 1 / 6, 4 / 6]))
    assert normal_scores(np.array([3.0, 3.0])).tolist() == [0.0, 0.0]


def published(shared_name: str):
    from pathlib import Path

    path = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "deepest" / f"{shared_name}.csv"
    if not path.exists():
        pytest.skip("the published tables are not here")
    return read_population(path)


@pytest.mark.parametrize(("name", "failures"), [*zip(DATA, (95, 132, 641, 1934, 2952), strict=True)])
def test_published_tables_load_as_they_are(name, failures):
    table = published(name)
    assert table.population.name == name
    assert table.population.size == 10_000
    assert table.failures.sum() == failures
    assert sorted(table.population.columns) == ["combined", "confidence", "dsa", "lsa"]
    leaked = {"CN12_CIFAR10": ["lsa"]}.get(name, [])
    assert [leak.column for leak in table.leaks] == leaked


def test_the_label_in_cn12_is_noticed_without_outcomes():
    (leak,) = leaks(published("CN12_CIFAR10").population)
    assert leak.column == "lsa"
    assert "looks like the true label" in leak.reason


def leaking(seed: int = 0, size: int = 2000):
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=size)
    wrong = rng.random(size) < 0.15
    predicted = np.where(wrong, (labels + 1) % 5, labels)
    columns = {
        "disguised": 7.25 + 3 * labels,
        "outcome_like": wrong + rng.random(size) * 0.1,
        "honest": wrong + rng.normal(size=size),
        "prediction": predicted * 2.0,
        "coarse": np.round(rng.random(size), 1),
    }
    return Population("p", np.arange(size).astype(str), columns, predicted), wrong


def test_leaks_are_found_and_honest_columns_are_not_accused():
    population, wrong = leaking()
    assert [leak.column for leak in leaks(population, wrong)] == ["disguised", "outcome_like"]
    assert [leak.column for leak in leaks(population)] == ["disguised"]


def test_pure_cells_by_chance_are_no_leak():
    rng = np.random.default_rng(1)
    columns = {"coarse": rng.integers(3, size=60).astype(float)}
    population = Population("p", np.arange(60).astype(str), columns, rng.integers(2, size=60))
    failures = np.zeros(60, dtype=bool)
    failures[0] = True  # a single failure: all cells but one are pure
    assert leaks(population, failures) == ()
    assert leaks(population, np.zeros(60, dtype=bool)) == ()


def test_auc_counts_pairs():
    values, failures = np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True])
    assert auc(values, failures) == pytest.approx((1 + 0.5 + 1 + 1) / 4)
    assert np.isnan(auc(values, np.ones(4, dtype=bool)))


CSV = "\ufeffID,Outcome,SUT,Confidence,extra,note\r\n0,Pass,3,0.9,1.5,x\r\n1,Fail,2,0.4,2.5,y"


def test_csv_columns_are_found_whatever_their_case(tmp_path):
    (tmp_path / "t.csv").write_text(CSV, encoding="utf-8", newline="")
    table = read_population(tmp_path / "t.csv")
    assert table.failures.tolist() == [False, True]
    assert table.population.predicted.tolist() == [3, 2]
    assert list(table.population.columns) == ["confidence", "extra"]
    assert table.population.ids.tolist() == ["0", "1"]


def test_a_mapping_names_columns_and_labels_give_outcomes(tmp_path):
    (tmp_path / "t.csv").write_text("file,p,y,softmax\nx.png,1,1,0.5\ny.png,0,1,0.75\n", encoding="utf-8")
    columns = {"id": "file", "predicted": "p", "label": "y", "confidence": "softmax"}
    table = read_population(tmp_path / "t.csv", columns, name="mine")
    assert table.population.name == "mine"
    assert table.population.ids.tolist() == ["x.png", "y.png"]
    assert table.failures.tolist() == [False, True]
    assert table.population.column("confidence").tolist() == [0.5, 0.75]


@pytest.mark.parametrize("suffix", ["npz", "parquet"])
def test_npz_and_parquet_with_neurons(tmp_path, suffix):
    data = {
        "confidence": np.array([0.5, 0.25]),
        "label": np.array([1, 2]),
        "predicted": np.array([1, 1]),
        "neurons": np.array([[1.0, 2.0], [3.0, 4.0]]),
    }
    path = tmp_path / f"t.{suffix}"
    if suffix == "npz":
        np.savez(path, **data)
    else:
        import pandas as pd

        pd.DataFrame({**data, "neurons": list(data["neurons"])}).to_parquet(path)
    table = read_population(path)
    assert table.population.neurons.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert table.population.column("confidence").tolist() == [0.5, 0.25]
    assert table.failures.tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("", None, "the file is empty"),
        ("a,b\n1\n", None, "line 2 has 1 fields, the header has 2"),
        ("a,a\n1,2\n", None, "two columns have the same name"),
        ("id,confidence\n", None, "has no cases"),
        ("id,confidence\nx,0.5\ny,\n", None, r"must be finite; empty, NaN or infinite in line 3 \(id y\)"),
        ("id,outcome\nx,maybe\n", None, "holds 'maybe' in line 2"),
        ("id,predicted\nx,1.5\n", None, "must hold class numbers, line 2"),
        ("id,predicted\nx,cat\ny,\n", None, "'predicted' must hold classes, line 3 is empty"),
        ("id,c\nx,1\n", {"confidence": "conf"}, r"no column 'conf' \(for confidence\); it has: id, c"),
        ("id,c\nx,hello\n", {"confidence": "c"}, "'c' must hold numbers only"),
    ],
)
def test_broken_tables_are_one_clear_line(tmp_path, text, columns, message):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message) as caught:
        read_population(tmp_path / "t.csv", columns)
    assert "\n" not in str(caught.value)


def test_classes_may_be_names(tmp_path):
    (tmp_path / "t.csv").write_text("id,predicted,label\na,dog,cat\nb,cat, cat\nc,dog,7\n", encoding="utf-8")
    table = read_population(tmp_path / "t.csv")
    names = table.class_names
    assert [names[i] for i in table.population.predicted] == ["dog", "cat", "dog"]
    assert [names[i] for i in table.true] == ["cat", "cat", "7"]
    assert table.failures.tolist() == [True, False, True]
    (tmp_path / "n.csv").write_text("id,predicted\na,1\nb,0\n", encoding="utf-8")
    numbers = read_population(tmp_path / "n.csv")
    assert (numbers.class_names, numbers.true) == ((), None)


def test_files_that_are_no_tables_are_named(tmp_path):
    (tmp_path / "z.npz").write_bytes(b"PK\x03\x04 not a zip after all")
    with pytest.raises(UserError, match=r"z\.npz is not an NPZ file of plain arrays"):
        read_population(tmp_path / "z.npz")
    with pytest.raises(UserError, match=r"none\.csv does not exist"):
        read_population(tmp_path / "none.csv")
    for name in ("t.npz", "t.parquet", "t.txt"):
        (tmp_path / name).write_text("hello", encoding="utf-8")
        with pytest.raises(UserError, match=name):
            read_population(tmp_path / name)


GERMAN = "path;confidence;predicted;note\r\na;0,9;cat;x\r\nb;0,25;dog;y\r\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_german_spreadsheet_is_read_as_meant(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes(GERMAN.encode(encoding))
    population = read_population(tmp_path / "t.csv").population
    assert population.ids.tolist() == ["a", "b"]
    assert population.column("confidence").tolist() == [0.9, 0.25]
    assert list(population.columns) == ["confidence"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a,0.9\nb,0.8\n",
            r"t.csv: line 1 is no header but a case \('a', '0.9'\): put a line with the names",
        ),
        ("id,dsa\na,1\nb,x\n", None),
        (
            "id,predicted,label\na,Cat,cat\n",
            "has the class 'Cat' and column 'label' 'cat': spell a class alike",
        ),
        ("id,dsa\na,1\na,2\n", "t.csv: ids must be unique, but line 2 and line 3 share 'a'"),
        (
            "id,confidence\na,99.5\nb,3\n",
            r"t.csv: .*confidence must lie in .* per cents are to be divided by 100",
        ),
    ],
)
def test_tables_that_could_mislead(tmp_path, text, said):
    (tmp_path / "t.csv").write_text(text)
    if said is None:
        notes = read_population(tmp_path / "t.csv").population.notes
        assert notes == ("column 'dsa' is not used: it holds 'x' in line 3, which is no number",)
        return
    with pytest.raises(UserError, match=said):
        read_population(tmp_path / "t.csv")


def test_rounding_takes_no_confidence_out_of_range():
    exact = Population("p", IDS, {"confidence": [1.0000001, 0.2, -1e-9, 1.0]})
    assert exact.column("confidence").tolist() == [1.0, 0.2, 0.0, 1.0]
    assert exact.notes == ()
    coarse = Population("p", IDS, {"confidence": [1.0005, 0.2, 0.0, 1.0]})
    assert "confidence lies up to 0.0005 outside [0, 1]" in coarse.notes[0]
    with pytest.raises(UserError, match="not so in row 0"):
        Population("p", IDS, {"confidence": [1.01, 0.2, 0.0, 1.0]})


@pytest.mark.parametrize("title", ["row ID", "Row_ID", "row-id", "FILE NAME", "image_path"])
def test_columns_of_ids(tmp_path, title):
    (tmp_path / "t.csv").write_text(f"{title},confidence\n007,0.5\n7,0.25\n")
    assert read_population(tmp_path / "t.csv").population.ids.tolist() == ["007", "7"]
