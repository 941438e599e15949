"""Estimates from the command line: evaluation on tables and a model, and labelling for real to its end."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from app.errors import UserError
from app.estimation import SRSWOR, Adaptive, ArrayOracle, PartialOracle
from app.estimation.evaluation import generator
from app.estimation.tables import read_population
from app.reporting.estimate.assembly import population_block
from app.tasks import labelling, populations
from app.tasks.estimate import Estimate

DEEPEST = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "deepest"
FEW = ["task=estimate", "model=fashion_cnn", "dataset=fashion", "dataset.max_samples=120", "task.budget=30"]
TRAIN = ["dataset@task.train=fashion", "task.train.split=train", "task.train.max_samples=200"]
EVERY = [
    "task=estimate",
    "population=tables",
    "estimators=[srswor,ces,deepest_cs,adaptive]",
    "task.budget=[20,60]",
    "repetitions=20",
]


def table(path: Path, n: int = 400, seed: int = 0, outcome: bool = True) -> Path:
    rng = np.random.default_rng(seed)
    confidence, predicted = rng.beta(6, 1, n), rng.integers(0, 4, n)
    failed = rng.random(n) > confidence
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "sut", "confidence", "dsa", *(["outcome"] if outcome else [])])
        for i in range(n):
            row = [
                f"case{i}",
                predicted[i],
                f"{confidence[i]:.6f}",
                f"{1 - confidence[i] + 0.1 * rng.random():.6f}",
            ]
            writer.writerow([*row, *(["Fail" if failed[i] else "Pass"] if outcome else [])])
    return path


@pytest.fixture(scope="module")
def tables(assay):
    folder = assay.folder / "tables"
    folder.mkdir()
    table(folder / "one.csv", seed=1)
    table(folder / "two.csv", seed=2)
    return folder


@pytest.fixture(scope="module")
def evaluated(assay, tables):
    ended = assay(*EVERY)
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_every_estimator_on_every_table_and_budget(evaluated):
    report = evaluated.report()
    cells = {(row["subject"], row["estimator"], row["budget"]) for row in report["results"]}
    names = {"srswor", "deepest_cs", "adaptive"}
    assert cells == {(subject, name, n) for subject in ("one", "two") for name in names for n in (20, 60)}
    assert [row["estimator"] for row in report["skipped"]] == ["ces", "ces"]
    assert "last hidden layer" in report["skipped"][0]["reason"]
    for row in report["results"]:
        known = {"mse", "rmse_ratio_srs", "bias", "failures_mean", "coverage"}
        assert known <= row.keys()
        truth = row["accuracy"]
        population = next(each for each in report["populations"] if each["name"] == row["subject"])
        assert truth == population["accuracy"]
        srs = np.sqrt(truth * (1 - truth) / row["budget"] * (400 - row["budget"]) / 399)
        assert row["rmse_ratio_srs"] == pytest.approx(np.sqrt(row["mse"]) / srs)
        assert row["mse"] >= row["bias"] ** 2
    assert report["schema"]["artifact"] == "assay.estimate"
    assert {row["a"] for row in report["wins"]} == names
    assert {each["name"] for each in report["populations"][0]["variables"]} == {"confidence", "dsa"}
    assert report["populations"][0]["variables"][0]["auc"] < 0.5  # sure cases fail less
    found = [each for each in report["failures"] if each["subject"] == "one"]
    example = next(
        e for e in report["estimates"] if (e["subject"], e["estimator"]) == ("one", report["example"])
    )
    assert report["example"] == "adaptive"
    assert len(found) == example["failures"]


def test_what_lies_beside_the_report_and_in_the_store(assay, evaluated):
    for name in (
        "report.html",
        "results.csv",
        "failures.csv",
        "pareto.png",
        "over_budget.png",
        "failure_curves.png",
    ):
        assert (evaluated.folder / name).stat().st_size > 0, name
    run_id = evaluated.report()["run"]["id"]
    run = assay.client.get_run(run_id)
    assert run.info.status == "FINISHED"
    history = assay.client.get_metric_history(run_id, "rmse_ratio_srs/adaptive")
    assert [each.step for each in history] == [20, 60]
    children = assay.children(run_id)
    assert {child.info.run_name for child in children} == {
        f"{name} n={n}" for name in ("srswor", "deepest_cs", "adaptive") for n in (20, 60)
    }
    rows = {(r["subject"], r["estimator"], r["budget"]): r for r in evaluated.report()["results"]}
    for child in children:
        name, budget = child.data.params["estimator"], int(child.data.params["budget"])
        assert child.data.metrics["mse/one"] == pytest.approx(rows["one", name, budget]["mse"])


def test_the_same_seed_gives_the_same_report(assay, evaluated):
    assert assay(*EVERY).numbers() == evaluated.numbers()


def test_labelling_a_table_to_its_end(assay, tables):
    failed = read_population(tables / "one.csv")
    table(assay.folder / "field.csv", seed=1, outcome=False)
    command = ["task=estimate", "population=field.csv", "task.budget=10", "output=out/field"]
    truth = dict(zip(failed.population.ids.tolist(), failed.failures.tolist(), strict=True))
    for wave in range(20):
        ended = assay(*command)
        assert (ended.code, ended.err) == (0, "")
        report = ended.report()
        if report["labelling"]["state"] != "labels needed":
            break
        assert report["estimates"] == []
        path = ended.folder / "to_label.csv"
        rows = list(csv.DictReader(path.open()))
        empty = [row for row in rows if not row["label"]]
        assert len(empty) == len(report["labelling"]["asked"])
        assert "labels=" in report["labelling"]["next_command"]
        assert report["labelling"]["next_command"] in ended.out
        for row in empty[: 1 if wave == 0 else None]:  # the first wave is left unfinished once
            row["label"] = "wrong" if truth[row["path"]] else "correct"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        if wave == 0:
            again = assay(*command).report()["labelling"]
            assert [each["id"] for each in again["asked"]] == [row["path"] for row in empty[1:]]
            assert (again["spent"], again["answered"]) == (0, 1)
    assert report["labelling"]["state"] == "budget spent"
    [estimate] = report["estimates"]
    population = read_population(assay.folder / "field.csv").population
    direct = Adaptive().run(
        population, ArrayOracle(failed.failures), 10, generator(0, "field", "adaptive", 10, 0)
    )
    assert estimate["value"] == direct.value
    assert [each["case"] for each in report["failures"]] == direct.failures.tolist()
    assert estimate["truth"] is None
    table(assay.folder / "field.csv", seed=2, outcome=False)
    refused = assay(*command)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "the table has changed since labels were asked for in" in refused.err
    assert "out/field/to_label.csv takes the labels along" in refused.err


def test_labelling_stops_when_the_interval_is_narrow(assay, tables):
    table(assay.folder / "narrow.csv", seed=1, outcome=False)
    truth = read_population(tables / "one.csv")
    labels = assay.folder / "all.csv"
    lines = [
        f"{name},{'wrong' if failed else 'correct'}"
        for name, failed in zip(truth.population.ids, truth.failures, strict=True)
    ]
    labels.write_text("id,label\n" + "\n".join(lines) + "\n")
    ended = assay(
        "task=estimate", "population=narrow.csv", "labels=all.csv", "target_width=0.3", "task.budget=300"
    )
    assert ended.code == 0, ended.err
    report = ended.report()
    assert report["labelling"]["state"] == "narrow enough"
    low, high = report["estimates"][0]["always_valid"]
    assert high - low <= 0.3
    spent = report["estimates"][0]["cost"]
    assert spent < 300
    assert f"{400 - spent} further labels are of cases that were not drawn" in ended.out


@pytest.fixture(scope="module")
def pictured(assay):
    ended = assay(
        *FEW, *TRAIN, "estimators=[adaptive,ces,deepest_dsa]", "repetitions=3", "output=out/pictured"
    )
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_a_model_and_its_failures_as_a_data_set(pictured):
    report = pictured.report()
    [block] = report["populations"]
    assert {each["name"] for each in block["variables"]} == {
        "confidence", "margin", "entropy", "dsa", "lsa", "combined"
    }  # fmt: skip
    assert block["neurons"] == 128
    assert report["settings"]["layers"] == "the input of fc2"
    assert {row["estimator"] for row in report["results"]} == {"adaptive", "ces", "deepest_dsa"}
    rows = list(csv.DictReader((pictured.folder / "failures.csv").open()))
    assert len(rows) == len(report["failures"]) > 0
    for row in rows:
        assert row["true_class"] != row["predicted_class"]
        picture = pictured.folder / row["picture"]
        assert picture.parent.name == row["true_class"]
        assert picture.read_bytes().startswith(b"\x89PNG")
    assert "data:image/png" in (pictured.folder / "report.html").read_text()


def test_variables_are_read_back_and_damaged_ones_computed_again(assay, pictured, monkeypatch):
    first = pictured.report()
    stored = assay.folder / "mlruns" / "artifacts" / first["run"]["id"] / "artifacts" / "population.npz"
    content = stored.read_bytes()
    assert read_population(stored).population.ids.tolist()[0].startswith("test/")

    def refuse(*_: object) -> None:
        raise AssertionError("the model was run again")

    command = [*FEW, *TRAIN, "estimators=[adaptive,ces,deepest_dsa]", "repetitions=3"]
    with monkeypatch.context() as patch:
        patch.setattr(populations, "_computed", refuse)
        again = assay(*command)
        assert again.numbers() == pictured.numbers()
    for path in stored.parents[2].glob("*/artifacts/population.npz"):
        path.write_bytes(content[:-9] + b"x" * 9)
    computed = assay(*FEW, *TRAIN, "estimators=[srswor]", "repetitions=1")
    assert computed.code == 0, computed.err
    assert any(
        "are damaged: they were computed again" in note for note in computed.report()["subject"]["notes"]
    )
    assert computed.report()["populations"][0]["digest"] == first["populations"][0]["digest"]


def test_labelling_pictures(assay):
    command = [*FEW, "task.use=labelling", "output=out/pictures"]
    ended = assay(*command)
    assert ended.code == 0, ended.err
    asked = ended.report()["labelling"]["asked"]
    sheet = (ended.folder / "to_label.html").read_text()
    assert sheet.count("<img ") == len(asked)
    assert "true_class" not in json.dumps(asked)
    assert ended.report()["populations"][0]["accuracy"] is None
    tasks = json.loads((ended.folder / "label_studio.json").read_text())
    assert [task["data"]["path"] for task in tasks] == [each["id"] for each in asked]
    for task in tasks:
        task["annotations"] = [{"result": [{"value": {"choices": ["shirt"]}}]}]
    export = assay.folder / "export.json"
    export.write_text(json.dumps(tasks))
    further = assay(*command, "labels=export.json").report()["labelling"]
    assert (further["labels_read"], further["spent"]) == (len(asked), len(asked))
    export.write_text(json.dumps([{"data": {"path": "test/none"}, "annotations": tasks[0]["annotations"]}]))
    refused = assay(*command, "labels=export.json")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "no case of fashion_cnn@fashion_test is test/none" in refused.err


def test_a_partial_oracle_is_never_estimated_from(tables):
    known = read_population(tables / "one.csv")
    outcomes = np.where(np.arange(400) < 200, known.failures, -1)
    with pytest.raises(Exception, match="need a label"):
        Adaptive().run(known.population, PartialOracle(outcomes), 40, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "task=estimate needs a table or a folder of tables, population=PATH, or a model"),
        (["population=tables/one.csv", "task.budget=400"], "budget 400 is not allowed"),
        (["population=tables/one.csv", "labels=tables/one.csv"], "labels are for data without known ones"),
        (["population=tables/one.csv", "estimators=[ces]"], "no estimator could be run: CES needs"),
        (
            ["population=tables/one.csv", "task.use=labelling", "labels=none.csv"],
            "labels=none.csv does not exist",
        ),
        (["population=tables/one.csv", "estimators=[zebra]"], "unknown estimator 'zebra'"),
        (["population=tables/one.csv", "task.columns={confidence: nothing}"], "has no column 'nothing'"),
        (["population=broken.csv"], "column 'confidence' must be finite; empty, NaN or infinite in line 3"),
        (["population=tables/one.csv", "predictions=x"], "does not read 'predictions'"),
    ],
)
def test_mistakes_are_one_line(assay, tables, given, said):
    (assay.folder / "broken.csv").write_text("id,confidence,outcome\na,0.5,Pass\nb,,Fail\nc,0.5,Pass\n")
    ended = assay("task=estimate", *given)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended.err
    assert said in ended.err
    assert ended.err.startswith("error: ")


@pytest.mark.parametrize(
    ("population", "given", "said"),
    [
        ("none.csv", {}, "population=.*none.csv does not exist"),
        ("users_code.py", {}, "a population is a .csv, .tsv, .tab, .txt, .parquet"),
        ("twice.csv", {}, "ids must be unique"),
        ("tables/one.csv", {"budget": 0}, "task.budget must be"),
        ("tables/one.csv", {"budget": []}, "task.budget must be"),
        ("tables/one.csv", {"target_width": 2}, "target_width must lie between 0 and 1"),
        ("tables/one.csv", {"repetitions": 0}, "repetitions must be 1 or more"),
        ("tables/one.csv", {"level": 95}, "task.level must lie between 0 and 1"),
        ("tables/one.csv", {"estimators": {"x": 3}}, "estimators must have a name and a run"),
        (None, {"model": "fashion_cnn"}, "model was given without dataset"),
    ],
)
def test_what_cannot_be_chosen_is_named(assay, tables, population, given, said):
    (assay.folder / "twice.csv").write_text("id,confidence,outcome\na,0.5,Pass\na,0.4,Fail\nc,0.5,Pass\n")
    place = None if population is None else str(assay.folder / population)
    with pytest.raises(UserError, match=said) as caught:
        Estimate(place, store=None, **given)
    assert "\n" not in str(caught.value)


def test_labelling_is_about_one_population_by_one_estimator_with_one_budget(assay, tables):
    one, two = SRSWOR(), Adaptive()
    for found, said in (
        (([one, two], [20], None), "labelling is done by one estimator, these are several: srswor, adaptive"),
        (([two], [20, 30], None), r"labelling has one budget: give task.budget=N, not \[20, 30\]"),
        (([one], [20], 0.1), r"srswor cannot stop at target_width=0\.1"),
    ):
        with pytest.raises(UserError, match=said):
            labelling.one_estimator(*found)
    assert labelling.one_estimator([two], [20], None) is two
    refused = assay("task=estimate", "population=tables", "task.use=labelling")
    assert (refused.code, "labelling is about one population, these are 2" in refused.err) == (2, True)


def test_constants_and_missing_weights_are_stated_fallbacks(assay):
    lines = "\n".join(f"{i},0.9,{'Fail' if i % 10 == 0 else 'Pass'}" for i in range(100))
    (assay.folder / "flat.csv").write_text(f"id,confidence,outcome\n{lines}\n")
    ended = assay(
        "task=estimate",
        "population=flat.csv",
        "estimators=[adaptive,deepest_cs]",
        "task.budget=20",
        "repetitions=3",
    )
    assert ended.code == 0, ended.err
    report = ended.report()
    assert "column 'confidence' is constant: it tells nothing" in report["subject"]["notes"]
    notes = {row["estimator"]: " ".join(row["notes"]) for row in report["results"]}
    assert "confidence is constant" in notes["adaptive"]
    assert "the draws were simple random ones" in notes["deepest_cs"]


def test_a_leak_is_flagged():
    if not DEEPEST.exists():
        pytest.skip("the published tables are not here")
    [cases] = populations.tables(str(DEEPEST / "CN12_CIFAR10.csv"), {})
    block = population_block(cases)
    assert {each.name for each in block.variables if each.leak} == {"lsa"}


def test_a_shifted_stream_is_less_accurate_and_the_estimate_sees_it(assay):
    shifted = assay(
        "task=estimate",
        "model=fashion_cnn",
        "dataset=fashion_shifted",
        "dataset.size=500",
        "task.budget=100",
        "repetitions=10",
        "estimators=[adaptive]",
    ).report()
    truth = shifted["populations"][0]["accuracy"]
    assert truth < 0.913 - 0.05  # 91.3 % on the whole of the unshifted test set
    [row] = shifted["results"]
    assert abs(row["bias"]) <= 4 * row["bias_se"]
    assert abs(row["mean"] - truth) < 0.04


def test_two_ranks_see_each_case_once(assay, pictured):
    given = ["estimators=[srswor]", "repetitions=1", "task.batch_size=32"]
    ended = assay.two(*FEW, *TRAIN, *given, "tracking.folder=mlruns_two")
    assert (ended.code, ended.err) == (0, "")
    one, two = (
        read_population(folder / "population.npz").population for folder in (pictured.folder, ended.folder)
    )
    assert one.ids.tolist() == two.ids.tolist()
    assert one.predicted.tolist() == two.predicted.tolist()
    for name, values in one.columns.items():
        assert np.allclose(values, two.columns[name], rtol=1e-4, atol=1e-5), name
