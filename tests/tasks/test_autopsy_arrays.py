"""The autopsy of saved probabilities from the command line: the original's numbers, arrays, tables, missing classes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.errors import UserError
from app.tasks import autopsy as task
from app.tasks.prediction_tables import read_predictions

GOLDEN = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "autopsy-golden"
CASES = ("logits", "overlap")  # tests/diagnosis/test_golden.py has all six
golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden files of the original tool are not here")


@pytest.fixture(scope="module", autouse=True)
def _no_figures():
    """tests/tasks/test_autopsy.py looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task.canvases, "save_png", lambda figure, path: None)
        yield


@pytest.fixture(scope="module")
def arrays(assay):
    """A sound model of three classes in files: 300 rows of probabilities and labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300)
    guess = np.where(rng.random(300) < 0.9, labels, rng.integers(3, size=300))
    probs = np.full((300, 3), 0.05) + 0.85 * np.eye(3)[guess]
    folder = assay.folder / "arrays"
    folder.mkdir()
    np.save(folder / "probs.npy", probs)
    np.save(folder / "labels.npy", labels)
    return folder, probs, labels


@golden
@pytest.mark.parametrize("case", CASES)
def test_profile_original_gives_the_originals_numbers(assay, case):
    folder, expected = GOLDEN / case, json.loads((GOLDEN / case / "expected.json").read_text())
    report = assay(
        "task=autopsy",
        f"probs={folder}/probs.npy",
        f"labels={folder}/labels.npy",
        "profile=original",
        "task.resamples=20",
    ).report()
    overall, summary = expected["overall_metrics"], report["summary"]
    assert summary["accuracy"] == pytest.approx(overall["accuracy"], abs=1e-12)
    assert summary["macro_f1"] == pytest.approx(overall["macro_f1"], abs=1e-12)
    assert summary["ece"] == pytest.approx(expected["ece"], abs=1e-12)
    assert summary["autopsy_score"] == expected["autopsy_score"]["overall"]
    assert report["sub_scores"] == expected["autopsy_score"]["sub_scores"]
    assert report["confusion"] == expected["confusion_matrix"]
    found = [
        (each["cause_type"], round(each["confidence"], 2), each["affected"]) for each in report["findings"]
    ]
    assert found == [
        (each["cause_type"], each["confidence"], each["affected"] or []) for each in expected["causes"]
    ]
    for own, theirs in zip(report["per_class"], expected["class_stats"], strict=True):
        assert own["name"] == theirs["class_name"]
        assert own["support"] == theirs["sample_count"]
        assert own["recall"] == pytest.approx(theirs["recall"])


@golden
def test_a_weak_model_does_not_look_healthy(assay):
    folder = GOLDEN / "underfit"
    ended = assay(
        "task=autopsy", f"probs={folder}/probs.npy", f"labels={folder}/labels.npy", "task.resamples=20"
    )
    report = ended.report()
    assert report["summary"]["health"] == "unhealthy"
    assert report["summary"]["autopsy_score"] < 60  # the original says 92.8
    assert report["not_applicable"]["generalization"]


def test_tables_give_what_arrays_give(assay, arrays):
    import pandas as pd

    folder, probs, labels = arrays
    names = ["cat", "<i>dog</i>", "owl"]
    paths = tuple(f"{case}.png" for case in range(300))
    table = pd.DataFrame(probs, columns=names)
    table.insert(0, "path", paths)
    table.assign(label=[names[k] for k in labels]).to_csv(folder / "table.csv", index=False)
    table.to_parquet(folder / "probs.parquet")
    shuffled = np.random.default_rng(1).permutation(300)
    other = pd.DataFrame({"path": table["path"], "label": labels}).iloc[shuffled]
    other.to_csv(folder / "labels.csv", index=False)
    whole = read_predictions(f"{folder}/table.csv")
    apart = read_predictions(f"{folder}/probs.parquet", f"{folder}/labels.csv")
    plain = read_predictions(f"{folder}/probs.npy", f"{folder}/labels.npy", class_names=names)
    for read in (whole, apart, plain):
        np.testing.assert_array_equal(read.probs, probs)
        assert read.labels.tolist() == labels.tolist()
        assert read.class_names == tuple(names)
    assert whole.paths == apart.paths == paths
    ended = assay("task=autopsy", f"probs={folder}/table.csv", "task.resamples=20")
    report = ended.report()
    assert report["summary"]["accuracy"] == pytest.approx((probs.argmax(1) == labels).mean())
    assert {each["path"] for each in report["hard_examples"]} <= set(paths)
    assert report["dataset_quality"] is None
    assert "<i>dog" not in (ended.folder / "report.html").read_text()


def test_columns_are_put_in_the_order_of_the_names(arrays):
    import pandas as pd

    folder, probs, _ = arrays
    pd.DataFrame(probs[:, [2, 0, 1]], columns=["owl", "cat", "dog"]).to_csv(folder / "mixed.csv", index=False)
    read = read_predictions(f"{folder}/mixed.csv", f"{folder}/labels.npy", class_names=["cat", "dog", "owl"])
    np.testing.assert_array_equal(read.probs, probs)


def changed(probs, rows, value):
    out = probs.copy()
    out[rows] = value
    return out


def test_rows_that_are_not_finite_are_left_out_and_listed(assay, arrays):
    folder, probs, labels = arrays
    np.save(folder / "holes.npy", changed(probs, [3, 17], np.inf))
    ended = assay(
        "task=autopsy",
        f"probs={folder}/holes.npy",
        f"labels={folder}/labels.npy",
        "on_invalid=drop",
        "task.resamples=5",
    )
    report = ended.report()
    assert report["summary"]["n"] == report["subject"]["n"] == 298
    assert [each["path"] for each in report["subject"]["excluded"]] == ["case-00003", "case-00017"]
    kept = np.setdiff1d(np.arange(300), [3, 17])
    assert report["summary"]["accuracy"] == pytest.approx((probs.argmax(1) == labels)[kept].mean())
    assert "NaN" not in (ended.folder / "report.json").read_text().replace("NaN or infinity", "")


def test_a_class_without_cases_and_data_of_one_class(assay, arrays):
    folder, probs, labels = arrays
    for name, keep in (("two", labels < 2), ("one", labels == 1)):
        np.save(folder / f"p_{name}.npy", probs[keep])
        np.save(folder / f"l_{name}.npy", labels[keep])
        ended = assay(
            "task=autopsy",
            f"probs={folder}/p_{name}.npy",
            f"labels={folder}/l_{name}.npy",
            "task.resamples=5",
        )
        assert (ended.code, ended.err) == (0, "")
        report = ended.report()
        empty = [each for each in report["per_class"] if not each["support"]]
        assert empty
        assert all(each["recall"] is None for each in empty)


def test_every_form_of_probabilities_and_labels_is_the_same(arrays, tmp_path):
    import pandas as pd

    _, probs, labels = arrays
    names = ["cat", "dog", "owl"]
    ids = [f"july/{case}.png" for case in range(300)]
    frame = pd.DataFrame(probs, columns=names)
    frame.to_csv(tmp_path / "index.csv")  # with pandas' index
    frame.to_csv(tmp_path / "german.csv", sep=";", decimal=",", index=False)
    frame.to_csv(tmp_path / "excel.txt", sep="\t", encoding="utf-16")
    frame.set_index(pd.Index(ids)).to_csv(tmp_path / "named.csv")
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    words = pd.Series([names[k].upper() + " " for k in labels], name="LABEL")
    shuffled = np.random.default_rng(1).permutation(300)
    words.to_csv(tmp_path / "plain.csv", index=False)
    words.iloc[shuffled].to_csv(tmp_path / "rows.csv", sep=";")  # row numbers, shuffled
    windows = pd.Series([rf"C:\data\{each}".replace("/", "\\") for each in ids], name="Path")
    pd.concat([windows, words], axis=1).iloc[shuffled].to_csv(tmp_path / "paths.csv", sep="|", index=False)
    pd.Series(labels.astype(float), name="label").to_csv(tmp_path / "floats.csv", index=False)
    (tmp_path / "lines.txt").write_text("\n".join(names[k] for k in labels))
    for table in ("index.csv", "german.csv", "excel.txt", "named.csv", "bare.csv"):
        for given in (
            "plain.csv",
            "floats.csv",
            "lines.txt",
            "paths.csv" if table == "named.csv" else "rows.csv",
        ):
            read = read_predictions(str(tmp_path / table), str(tmp_path / given), class_names=names)
            np.testing.assert_array_equal(read.probs, probs)
            assert read.labels.tolist() == labels.tolist(), (table, given)
    assert (
        "counts the rows: it was left out"
        in read_predictions(str(tmp_path / "index.csv"), str(tmp_path / "plain.csv")).notes[0]
    )


def test_labels_with_names_are_not_paired_by_position(arrays, tmp_path):
    folder, _, labels = arrays
    lines = "".join(f"{case}.png,{label}\n" for case, label in enumerate(labels))
    (tmp_path / "named.csv").write_text(f"id,label\n{lines}")
    with pytest.raises(
        UserError, match=r"named.csv names its test cases .*'0.png'.* and .*probs.npy does not"
    ):
        read_predictions(f"{folder}/probs.npy", str(tmp_path / "named.csv"))


def test_a_table_with_semicolons_is_blamed_itself(tmp_path):
    (tmp_path / "p.csv").write_text("cat;dog\n0,9;0,1\n0,2;x\n")
    (tmp_path / "l.csv").write_text("label\ncat\ndog\n")
    with pytest.raises(UserError, match=r"probs=.*p.csv: column 'dog' holds 'x' in line 3"):
        read_predictions(str(tmp_path / "p.csv"), str(tmp_path / "l.csv"))


def test_a_table_is_put_in_the_order_of_the_data(arrays, tmp_path):
    import pandas as pd

    folder, probs, labels = arrays
    paths = [f"july/{case}.png" for case in range(300)]
    shuffled = np.random.default_rng(2).permutation(300)
    frame = pd.DataFrame(probs, columns=["a", "b", "c"]).assign(file=[f"/srv/{each}" for each in paths])
    frame.iloc[shuffled].to_csv(tmp_path / "p.csv", index=False)
    read = read_predictions(str(tmp_path / "p.csv"), given=labels, cases=paths)
    np.testing.assert_array_equal(read.probs, probs)
    assert read.paths == tuple(paths)
    lines = "".join(f"{paths[case]},{labels[case]}\n" for case in shuffled)
    (tmp_path / "l.csv").write_text(f"path,label\n{lines}")
    read = read_predictions(f"{folder}/probs.npy", str(tmp_path / "l.csv"), cases=paths)
    assert read.labels.tolist() == labels.tolist()
    with pytest.raises(
        UserError, match=r"p.csv names '/srv/july/.*' \(line 2\), which is no test case of the dataset"
    ):
        read_predictions(str(tmp_path / "p.csv"), given=labels, cases=[f"x{case}" for case in range(300)])
