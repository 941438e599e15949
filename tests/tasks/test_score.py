"""`task=score` from the command line, against what the reference implementation wrote for the same files."""

import csv
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.detections import DetectionLog, Detections, save
from app.errors import UserError
from app.report.pages.uamt import load
from app.report.schema import dumps
from app.scoring.detection import DetectionTree, ScoreSettings, Strength
from app.scoring.detection.folder import write_index
from app.tasks.score import Score
from app.tracking import Store

TREE = Path("experiment_results_mc_dropout", "toydet", "dataset", "orig")
TOLERANCE = 1e-12
OBJECTS = ("vr", "ie", "mi", "var", "ps")


def rows(path: Path) -> dict[str, list[float]]:
    """A CSV of 38 columns by image, in the order of its head; an empty field is NaN."""
    with path.open(newline="") as file:
        head, *body = list(csv.reader(file))
    assert len(head) == 38
    assert head[0] == "test_suite"
    return {row[0]: [float(field) if field else math.nan for field in row[1:]] for row in body}


@pytest.fixture(scope="module")
def scored(assay, golden):
    """One run of a golden case by its experiment, each once."""
    known = {}

    def run(case: str, *given: str):
        if (case, given) not in known:
            predictions = f"predictions={golden / case / 'preds'}"
            known[case, given] = assay("+experiment=score_folder", predictions, *given)
            assert known[case, given].code == 0, known[case, given].err
        return known[case, given]

    return run


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Three images, T = 4: a mutant at rate 0.2 that misses one object of one image, one at 0.5 that is blind."""
    folder = tmp_path_factory.mktemp("saved")
    boxes = np.array([[0.0, 0, 10, 10], [20, 20, 40, 40]])
    probs = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]])
    both = Detections(boxes, np.array([0, 1]), probs.max(axis=1), probs)
    one = Detections(boxes[:1], np.array([0]), probs.max(axis=1)[:1], probs[:1])
    names = ["a.png", "b.png", "c.png"]
    save(DetectionLog.of(names, [[both] * 4] * 3), folder / "original.npz")
    save(DetectionLog.of(names, [[one] * 4, [both] * 4, [both] * 4]), folder / "dropped-0.2.npz")
    save(DetectionLog.of(names, [[Detections.none(3)] * 4] * 3), folder / "dropped-0.5.npz")
    strengths = {f"dropped-{rate}": Strength("mc_dropout", rate) for rate in (0.2, 0.5)}
    write_index(folder, "tinydet", "street", strengths)
    return folder


@pytest.mark.parametrize(("case", "missing"), [("c1_dropout", 0), ("c2_dropblock", 0), ("c3_edges", 2)])
def test_the_columns_equal_those_of_the_reference(scored, case, missing, golden):
    ended = scored(case, "profile=deepluq")
    expected = sorted((golden / case / "expected").glob("*/*/mutant_*.csv"))
    assert expected
    for path in expected:
        mine = rows(ended.folder / path.relative_to(golden / case / "expected"))
        theirs = rows(path)
        for image, values in theirs.items():
            assert mine.pop(image) == pytest.approx(values, abs=TOLERANCE, rel=0, nan_ok=True), image
        assert len(mine) == missing
        assert all(math.isnan(value) for values in mine.values() for value in values)
    assert len(list(ended.folder.glob("*/*/mutant_*.csv"))) == len(expected)
    assert ended.report()["counts"]["unscorable"] == missing


@pytest.mark.parametrize("case", ["c1_dropout", "c3_edges", "c4_T"])
def test_the_object_table_equals_that_of_the_reference(scored, case, golden):
    ended = scored(case, "profile=deepluq")
    table = pd.read_parquet(next(ended.folder.glob("toydet/*/objects.parquet")))
    compared = 0
    for key, expected in json.loads((golden / case / "expected" / "objects.json").read_text()).items():
        operator, tag, image, _ = key.split("/")
        mine = table[(table["mutant"] == f"{operator}_{tag}") & (table["image"] == image)]
        for name in ("match", "miss", "ghost"):
            own = mine[mine["set"] == name].sort_values("number")
            assert len(own) == len(expected[name]), key
            for (_, row), theirs in zip(own.iterrows(), expected[name], strict=True):
                assert row["rate"] == pytest.approx(theirs[f"{name}_rate"], abs=TOLERANCE, rel=0)
                for metric in OBJECTS:
                    value = theirs[f"{metric}_ms"]
                    told = pytest.approx(value, abs=TOLERANCE, rel=0, nan_ok=True)
                    assert (math.nan if pd.isna(row[f"{metric}_score"]) else row[f"{metric}_score"]) == told
                    compared += 1
    assert compared >= 20


def test_the_report_holds_what_readers_rely_on(scored):
    ended = scored("c1_dropout")
    report = ended.report()
    assert report["schema"]["artifact"] == "assay.uamt"
    assert report["settings"]["profile"] == "paper"
    for name in ("img_ms", "obj_ms"):
        assert set(report["summary"][name]) == {"miss", "ghost", "mg"}
    assert 0 <= report["summary"]["ms_iou"] <= 1
    assert [mutant["key"] for mutant in report["mutants"]] == [
        f"mc_dropout_{rate}" for rate in (0.1, 0.3, 0.5)
    ]
    for mutant in report["mutants"]:
        assert (mutant["operator"], mutant["block"]) == ("mc_dropout", None)
        for name in ("img_killed", "img_p_adjusted", "obj_ms", "obj_ms_macro"):
            assert set(mutant[name]) == {"miss", "ghost", "mg"}
        assert set(mutant["ua"]) == {"match", "miss", "ghost"}
        assert all(set(scores) == set(OBJECTS) for scores in mutant["ua"].values())
    assert report["trend"]["obj_ms_miss_spearman"] == 1.0  # 7, 15, 24 % missed at 0.1, 0.3, 0.5
    assert dumps(load(ended.folder / "report.json").plain()) == (ended.folder / "report.json").read_text()
    assert {"report.html", "mutants.csv", "score_over_rate.png"} <= {p.name for p in ended.folder.iterdir()}
    assert not list(ended.folder.rglob(".unfinished*"))
    assert "kills 3 of 3 mutants" in ended.out


def test_a_child_is_kept_for_every_mutant(assay, scored):
    ended = scored("c1_dropout")
    parent = ended.report()["run"]["id"]
    children = assay.children(parent)
    mutants = {mutant["key"]: mutant for mutant in ended.report()["mutants"]}
    assert {child.info.run_name for child in children} == set(mutants)
    assert {child.info.status for child in children} == {"FINISHED"}
    for child in children:
        mutant = mutants[child.info.run_name]
        assert child.data.metrics["obj_ms_miss"] == mutant["obj_ms"]["miss"]
        assert child.data.params["rate"] == str(mutant["rate"])
    kept = {file.path for file in assay.client.list_artifacts(parent)}
    assert {"report.json", "report.html", "toydet", "score_over_rate.png", "config.yaml"} <= kept
    assert assay.client.list_artifacts(parent, "toydet/mc_dropout")[0].path.endswith(".parquet")
    run = next(each for each in assay.runs() if each.info.run_id == parent)
    assert run.data.metrics["ms_iou"] == ended.report()["summary"]["ms_iou"]
    assert run.data.tags["assay.subject"] == "toydet@orig"


def test_the_same_command_gives_the_same_numbers(assay, scored, golden):
    first = scored("c1_dropout")
    again = assay("+experiment=score_folder", f"predictions={golden / 'c1_dropout' / 'preds'}")
    assert again.numbers() == first.numbers()
    assert (again.folder / "mutants.csv").read_bytes() == (first.folder / "mutants.csv").read_bytes()


def test_own_files_give_the_numbers_of_the_tree(assay, scored, tmp_path, golden):
    tree = DetectionTree(golden / "c1_dropout" / "preds", "mc_dropout", "toydet")
    for tag in tree.found:
        name = "original" if tag == tree.original_tag else tree.key(tag)
        save(tree.read(tag, tree.images()), tmp_path / f"{name}.npz")
    own = assay("task=score", f"predictions={tmp_path}").report()
    theirs = scored("c1_dropout").report()
    for name in ("summary", "trend", "counts", "top_images"):
        strip = [
            {**each, "model": ""} if name == "top_images" else each
            for each in (own[name] if isinstance(own[name], list) else [own[name]])
        ]
        told = [
            {**each, "model": ""} if name == "top_images" else each
            for each in (theirs[name] if isinstance(theirs[name], list) else [theirs[name]])
        ]
        if name == "trend":
            strip, told = ([{**each, "by_operator": []} for each in side] for side in (strip, told))
        assert strip == told, name
    assert [mutant["rate"] for mutant in own["mutants"]] == [0.1, 0.3, 0.5]


def test_scores_worked_by_hand(assay, tiny):
    ended = assay("task=score", f"predictions={tiny}", "+task.suites={first:[a],rest:[b,c.png]}")
    assert ended.code == 0, ended.err
    report = ended.report()
    assert report["subject"]["name"] == "tinydet@street"
    light, blind = report["mutants"]
    assert light["obj_ms"]["miss"] == pytest.approx(4 / 24)  # 1 of 2 objects of 1 of 3 images, 4 times each
    assert light["obj_ms_macro"]["miss"] == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert blind["obj_ms"] == {"miss": 1.0, "ghost": None, "mg": 1.0}
    assert (light["ms_iou"], blind["ms_iou"]) == (0.0, None)
    assert light["img_p"]["miss"] == pytest.approx(3 * 0.01**4)  # 4 of 4, Holm over 3 images
    assert (light["img_kills"]["miss"], blind["img_kills"]["miss"]) == (1, 3)
    assert report["summary"]["img_ms"] == {"miss": 1.0, "ghost": 0.0, "mg": 1.0}
    assert report["summary"]["obj_ms"]["miss"] == pytest.approx((4 / 24 + 1) / 2)
    assert [(suite["name"], suite["n"], suite["killed"]["miss"]) for suite in report["suites"]] == [
        ("first", 1, ["dropped-0.2", "dropped-0.5"]),
        ("rest", 2, ["dropped-0.5"]),
    ]
    gaps = {each["score"]: each["difference"] for each in report["suite_differences"]}
    assert gaps["img_ms_miss"] == pytest.approx(0.5)
    assert report["top_images"][0] == {
        "model": "tinydet",
        "image": "a.png",
        "kills": {"miss": 2, "ghost": 0, "mg": 2},
        "mutants": 2,
    }
    assert report["counts"]["undefined"]["ms_iou"] == 3
    assert (ended.folder / "tinydet" / "objects.parquet").exists()


def test_a_second_run_of_the_original_sets_p0(assay, tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "saved")
    shutil.copy(tiny / "original.npz", tmp_path / "saved" / "unchanged.npz")
    report = assay("task=score", f"predictions={tmp_path / 'saved'}").report()
    assert report["settings"]["p0_from"] == "unchanged run"
    bound = 1 - 0.05 ** (1 / 12)  # Clopper-Pearson's upper bound of 0 in 3 images x 4 repetitions
    assert report["parts"][0]["p0"]["miss"] == pytest.approx(bound)
    assert report["mutants"][1]["obj_p"]["miss"] == pytest.approx(1 / 8)  # 3 images, all signs up


def test_several_models_and_operators_make_one_report(assay, tmp_path, golden):
    root = tmp_path / "preds"
    shutil.copytree(golden / "c1_dropout" / "preds", root)
    shutil.copytree(golden / "c2_dropblock" / "preds", root, dirs_exist_ok=True)
    dropout = root / "experiment_results_mc_dropout"
    shutil.copytree(dropout / "toydet", dropout / "other")
    ended = assay(
        "task=score", f"predictions={root}", "profile=deepluq", "task.case=pilot", "task.images=[img_a]"
    )
    assert ended.code == 0, ended.err
    report = ended.report()
    places = {path.parent.relative_to(ended.folder).as_posix() for path in ended.folder.rglob("mutant_*.csv")}
    assert places == {"pilot/toydet/mc_dropout", "pilot/other/mc_dropout", "pilot/toydet/mc_dropblock"}
    assert [(part["model"], part["summary"]["mutants"]) for part in report["parts"]] == [
        ("toydet", 2),
        ("other", 3),
        ("toydet", 3),
    ]
    scores = [mutant["obj_ms"]["miss"] for mutant in report["mutants"]]
    assert report["summary"]["obj_ms"]["miss"] == pytest.approx(sum(scores) / 8)
    assert report["counts"]["images"] == 1
    names = {child.info.run_name for child in assay.children(report["run"]["id"])}
    assert len(names) == 8
    assert "other/mc_dropout_0.3" in names
    only = assay("task=score", f"predictions={root}", "task.models=[other]", "repetitions=4").report()
    assert {mutant["model"] for mutant in only["mutants"]} == {"other"}
    assert only["settings"]["repetitions"] == [4]


def change(**values):
    """Edits the first object of one prediction."""

    def edit(path: Path) -> None:
        body = json.loads(path.read_text())
        body[next(iter(body))].update(values)
        path.write_text(json.dumps(body))

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda path: path.write_text("{"), "prediction_3.json: malformed JSON"),
        (lambda path: path.unlink(), "prediction_3.json: this repetition is missing"),
        (change(label=99), "prediction_3.json: object 'label_0': its label is outside its class row"),
        (
            change(logit=[-0.5, 1, 0, 0, 0, 0], label=1),
            "object 'label_0': its class row is negative somewhere",
        ),
    ],
)
def test_bad_predictions_are_one_line_that_names_them(assay, tmp_path, edit, message, golden):
    shutil.copytree(golden / "c1_dropout" / "preds", tmp_path / "preds")
    edit(tmp_path / "preds" / TREE / "mc_dropout_0.3_img_a" / "prediction_3.json")
    assert_refused(assay, message, f"predictions={tmp_path / 'preds'}")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "predictions must be given: predictions=PATH"),
        (
            ("predictions=SAVED", "profile=other"),
            "profile must be one of paper, deepluq or null, not 'other'",
        ),
        (("predictions=SAVED", "scoring.alpha=2"), "scoring.alpha must lie between 0 and 1, not 2"),
        (("predictions=SAVED", "scoring=default"), "scoring must be one for detectors: scoring=detection"),
        (("predictions=SAVED", "engine=naive"), "task=score does not read 'engine'"),
        (("predictions=SAVED", "+task.suites={s:[z]}"), "suite 's': image 'z' has no saved detections"),
    ],
)
def test_mistakes_are_one_line(assay, tiny, given, message):
    assert_refused(assay, message, *(each.replace("SAVED", str(tiny)) for each in given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"predictions": "nope"}, "nope: no such folder of predictions"),
        ({"predictions": "."}, "holds neither folders experiment_results_OPERATOR nor original.npz"),
        ({"profile": "deepluq", "scoring": ScoreSettings(p0=0.1)}, "choose profile paper to change them"),
        ({"profile": "deepluq", "unchanged": "x"}, "task.unchanged is for profile=paper"),
        ({"repetitions": 0}, "repetitions must be at least 1, not 0"),
        ({"models": ["x"]}, "is a folder of .npz files"),
        ({"case": "../x"}, "case '../x' is no plain name"),
        ({"images": ["../a"]}, "image '../a' is no plain name"),
        ({"images": []}, "task.images lists no image"),
        ({"images": "none.txt"}, "none.txt does not exist"),
        ({"suites": {"s": ["a", "a.png"]}}, "task.suites.s lists image 'a' twice"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(tiny, tmp_path, given, message):
    fits = {"predictions": str(tiny), "scoring": ScoreSettings(), "store": Store(folder=tmp_path)}
    Score(**fits)
    with pytest.raises(UserError, match=re.escape(message)):
        Score(**(fits | given))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"models": ["nope"]}, "model 'nope' has no detections"),
        ({"operators": ["nope"]}, "operator 'nope' has no detections"),
        ({"dataset": "test"}, "allowed: orig"),
        ({"dataset": "../x"}, "dataset '../x' is no plain name"),
        ({"unchanged": "nope"}, "nope/experiment_results_mc_dropout/toydet/dataset/orig: no such folder"),
    ],
)
def test_what_a_tree_lacks_is_refused_at_once(tmp_path, given, message, golden):
    root = str(golden / "c1_dropout" / "preds")
    with pytest.raises(UserError, match=re.escape(message)):
        Score(root, scoring=ScoreSettings(), store=Store(folder=tmp_path), **given)


def assert_refused(assay, message: str, *given: str) -> None:
    """One line, exit code 2, nothing written and no run left."""
    before = {run.info.run_id for run in assay.runs()}
    ended = assay("task=score", *given)
    assert ended.code == 2
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert message in ended.err
    assert ended.out == ""
    assert {run.info.run_id for run in assay.runs()} == before
    left = {path.relative_to(ended.folder).parts[0] for path in ended.folder.rglob("*")}
    assert left <= {".hydra", "run.log"}


def test_torch_is_not_started():
    code = "import sys, app.tasks.score; sys.exit('torch' in sys.modules or 'mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
