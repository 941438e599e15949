import csv

import numpy as np
import pytest

from app.detections import DetectionLog, Detections, load, save
from app.errors import UserError
from app.scoring.detection import (
    CaseStudy,
    DetectionTree,
    ScoreSettings,
    run_case,
    score_logs,
    score_tree,
    write_case,
)

BOX = [0, 0, 9, 9]
QUICK = ScoreSettings(resamples=10)


@pytest.fixture
def root(tmp_path, scene):
    there, gone = scene((BOX, 1)), scene()
    for model in ("net", "other"):
        for operator, original, tags in (
            ("mc_dropout", "0", ("0.1", "0.2")),
            ("mc_dropblock", "0_1", ("0.1_3",)),
        ):
            tree = DetectionTree(tmp_path, operator, model)
            tree.write(original, DetectionLog.of(["a", "b"], [[there] * 3] * 2))
            for tag in tags:
                tree.write(tag, DetectionLog.of(["a", "b"], [[there, gone, gone], [there] * 3]))
    return tmp_path


def test_a_tree_scores_like_its_logs(root):
    tree = DetectionTree(root, "mc_dropout", "net")
    found = score_tree(root, "net", "mc_dropout", settings=QUICK, suites={"one": ["a.jpg"]})
    logs = {tree.key(tag): tree.read(tag, ["a", "b"]) for tag in tree.tags}
    strengths = {tree.key(tag): tree.strength(tag) for tag in tree.tags}
    direct = score_logs(
        tree.read("0", ["a", "b"]), logs, settings=QUICK, strengths=strengths, suites={"one": ["a"]}
    )
    assert repr(found.mutants) == repr(direct.mutants)
    assert found.suites[0].n == 1
    assert [(m.key, m.rate, m.block) for m in found.mutants] == [
        ("mc_dropout_0.1", 0.1, None),
        ("mc_dropout_0.2", 0.2, None),
    ]
    assert found.mutants[0].obj_ms["miss"] == pytest.approx(2 / 6)


@pytest.mark.parametrize("profile", ["paper", "deepluq"])
def test_files_in_single_precision_score_like_their_json(tmp_path, profile):
    rng = np.random.default_rng(0)

    def cell():
        corner = rng.uniform(0, 40, (6, 2))
        rows = rng.dirichlet(np.ones(4), 6).astype(np.float32)
        boxes = np.hstack([corner, corner + 30 + rng.uniform(0, 5, (6, 2))]).astype(np.float32)
        return Detections(boxes, rng.integers(0, 2, 6), rows.max(axis=1), rows)

    tree = DetectionTree(tmp_path, "mc_dropout", "net")
    first = [cell() for _ in range(3)]
    logs = {"0": [[one] * 4 for one in first], "0.3": [[cell() for _ in range(4)] for _ in range(3)]}
    for tag, cells in logs.items():
        log = DetectionLog.of(["a", "b", "c"], cells)
        tree.write(tag, log)
        save(log, tmp_path / f"{tag}.npz")
    settings = ScoreSettings(profile=profile, resamples=10)
    slow = score_tree(tmp_path, "net", "mc_dropout", settings=settings)
    stored = load(tmp_path / "0.3.npz")
    assert stored.boxes.dtype == np.float32
    fast = score_logs(load(tmp_path / "0.npz"), {"mc_dropout_0.3": stored}, settings=settings)
    for name, column in vars(slow.objects).items():
        assert np.array_equal(column, getattr(fast.objects, name), equal_nan=column.dtype.kind == "f"), name


def test_images_and_tags_are_a_choice(root):
    found = score_tree(root, "net", "mc_dropout", settings=QUICK, images=["b.png"], tags=["0.2"])
    assert (found.images, found.keys) == (("b",), ("mc_dropout_0.2",))
    assert found.mutants[0].obj_ms["miss"] == 0.0
    with pytest.raises(UserError, match="no plain name"):
        score_tree(root, "net", "mc_dropout", images=["../a"])
    with pytest.raises(UserError, match="no images"):
        score_tree(root, "net", "mc_dropout", images=[])


def test_a_repetition_that_only_the_mutant_lacks_is_named(root):
    folder = DetectionTree(root, "mc_dropout", "net").folder
    (folder / "mc_dropout_0.2_b" / "prediction_2.json").unlink()
    with pytest.raises(
        UserError, match=r"mc_dropout_0.2_b/prediction_2.json: this repetition is missing; the original has 3"
    ):
        score_tree(root, "net", "mc_dropout", settings=QUICK)
    two = ScoreSettings(repetitions=2, resamples=10)
    assert score_tree(root, "net", "mc_dropout", settings=two).objects.seen.shape[1] == 2


def test_an_image_that_a_mutant_lacks_is_named(root):
    folder = DetectionTree(root, "mc_dropout", "net").folder
    for file in (folder / "mc_dropout_0.1_a").iterdir():
        file.unlink()
    (folder / "mc_dropout_0.1_a").rmdir()
    with pytest.raises(UserError, match=r"mc_dropout_0.1_a: no such folder"):
        score_tree(root, "net", "mc_dropout", settings=QUICK)


def test_a_case_runs_over_models_and_operators_and_writes_the_reference_layout(root, tmp_path):
    study = CaseStudy("stickers", root, images={"net": ["a"]})
    results = list(run_case(study, settings=ScoreSettings(profile="deepluq", resamples=10)))
    assert [(r.operator, r.model, r.scores.images) for r in results] == [
        ("mc_dropblock", "net", ("a",)),
        ("mc_dropblock", "other", ("a", "b")),
        ("mc_dropout", "net", ("a",)),
        ("mc_dropout", "other", ("a", "b")),
    ]
    output = tmp_path / "output"
    for result in results:
        write_case(result, output, case=study.name)
    write_case(results[-1], output)
    files = sorted(str(path.relative_to(output)) for path in output.rglob("*.csv"))
    assert files == [
        "other/mc_dropout/mutant_0.1.csv",
        "other/mc_dropout/mutant_0.2.csv",
        "stickers/net/mc_dropblock/mutant_0.1_3.csv",
        "stickers/net/mc_dropout/mutant_0.1.csv",
        "stickers/net/mc_dropout/mutant_0.2.csv",
        "stickers/other/mc_dropblock/mutant_0.1_3.csv",
        "stickers/other/mc_dropout/mutant_0.1.csv",
        "stickers/other/mc_dropout/mutant_0.2.csv",
    ]
    rows = list(csv.reader((output / files[0]).read_text().splitlines()))
    assert [len(row) for row in rows] == [38, 38, 38]
    assert [row[0] for row in rows[1:]] == ["a", "b"]
    assert (output / "stickers" / "net" / "mc_dropout" / "objects.parquet").is_file()


def test_the_golden_csvs_come_out_of_the_whole_chain(golden, tmp_path):
    study = CaseStudy("", golden / "c1_dropout" / "preds", models=("toydet",))
    settings = ScoreSettings(profile="deepluq", resamples=10)
    for result in run_case(study, settings=settings):
        write_case(result, tmp_path)
    expected_folder = golden / "c1_dropout" / "expected" / "toydet" / "mc_dropout"
    for expected in sorted(expected_folder.glob("*.csv")):
        mine = list(csv.reader((tmp_path / "toydet" / "mc_dropout" / expected.name).read_text().splitlines()))
        told = list(csv.reader(expected.read_text().splitlines()))
        assert [row[0] for row in mine] == [row[0] for row in told]
        for one, other in zip(mine[1:], told[1:], strict=True):
            assert [float(v or "nan") for v in one[1:]] == pytest.approx(
                [float(v or "nan") for v in other[1:]], abs=1e-12, rel=0, nan_ok=True
            )


def test_names_of_a_case_are_plain(root):
    with pytest.raises(UserError, match=r"case '../x' is no plain name"):
        CaseStudy("../x", root)
    with pytest.raises(UserError, match=r"model '..' is no plain name"):
        score_tree(root, "..", "mc_dropout")


def test_an_empty_root_is_told(tmp_path):
    with pytest.raises(UserError, match="holds no experiment_results_OPERATOR folder"):
        list(run_case(CaseStudy("", tmp_path)))
