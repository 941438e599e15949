import shutil

import pytest

from app.detections import save
from app.errors import UserError
from app.scoring.detection import DetectionTree, ScoreSettings, score_tree
from app.scoring.detection.sources import digest, find_sources

SETTINGS = ScoreSettings(resamples=20)


@pytest.fixture
def tree(tmp_path, scene, one_image):
    """Two models under mc_dropout, each with an original and a mutant that finds nothing; T = 3."""
    found, nothing = one_image(scene(([0, 0, 9, 9], 1)), 3), one_image(scene(), 3)
    for model in ("net", "other"):
        place = DetectionTree(tmp_path, "mc_dropout", model)
        place.write("0", found)
        place.write("0.5", nothing)
    return tmp_path


def test_every_model_and_operator_of_a_tree_is_found(tree):
    sources = find_sources(tree)
    assert [(source.model, source.dataset, source.folder) for source in sources] == [
        ("net", "orig", "net/mc_dropout"),
        ("other", "orig", "other/mc_dropout"),
    ]
    assert [source.model for source in find_sources(tree, models=["other"])] == ["other"]


def test_a_tree_is_scored_as_score_tree_does(tree):
    found = find_sources(tree)[0].score(SETTINGS, images=["a.png"], suites={"s": ["a"]}, seed=3)
    expected = score_tree(
        tree, "net", "mc_dropout", settings=SETTINGS, images=["a"], suites={"s": ["a"]}, seed=3
    )
    assert repr(found.scores.mutants) == repr(expected.mutants)  # NaN equals itself there
    assert found.scores.summary.obj_ms["miss"] == 1.0
    assert (found.names, found.repetitions, found.semantics) == (("0.5",), (3,), "softmax_background")
    assert find_sources(tree)[0].score(ScoreSettings(resamples=20, repetitions=2)).repetitions == (2,)


def test_a_second_tree_gives_the_noise_floor(tree, tmp_path):
    second = tmp_path / "second"
    shutil.copytree(tree / "experiment_results_mc_dropout", second / "experiment_results_mc_dropout")
    (source, _) = find_sources(tree, unchanged=second)
    assert source.score(SETTINGS).scores.p0.trials == 3
    assert len(source.files()[1]) == 6  # 3 repetitions of the mutant, 3 of the second run


def test_a_folder_of_files_is_one_source(tmp_path, scene, one_image):
    log = one_image(scene(([0, 0, 9, 9], 1)), 2)
    for name in ("original", "mc_dropout_0.5"):
        save(log, tmp_path / f"{name}.npz")
    (source,) = find_sources(tmp_path)
    assert (source.model, source.dataset) == (tmp_path.name, "detections")
    found = source.score(SETTINGS, images=["a.jpg"])
    assert (found.names, found.repetitions) == (("mc_dropout_0.5",), (2,))
    assert found.scores.mutants[0].rate == 0.5
    assert find_sources(tmp_path, dataset="street")[0].dataset == "street"


def test_what_is_not_there_is_said(tree, tmp_path):
    (tmp_path / "empty").mkdir()
    for root, given, message in (
        (tmp_path / "none", {}, "no such folder of predictions"),
        (tmp_path / "empty", {}, "holds neither folders"),
        (tree, {"models": ["x"]}, "model 'x' has no detections in .*; allowed: net, other"),
        (tree, {"operators": ["x"]}, "operator 'x' has no detections in .*; allowed: mc_dropout"),
        (tree, {"dataset": "x"}, "data set 'x' has no detections in .*; allowed: orig"),
    ):
        with pytest.raises(UserError, match=message):
            find_sources(root, **given)
    shutil.rmtree(DetectionTree(tree, "mc_dropout", "net").folder / "mc_dropout_0.5_a")
    with pytest.raises(UserError, match="holds an original but no mutant"):
        find_sources(tree)


def test_a_digest_follows_content_and_place_only(tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    for folder, text in ((first, "x"), (second, "x")):
        folder.mkdir()
        (folder / "file").write_text(text)
    assert digest([first / "file"], first) == digest([second / "file"], second)
    assert digest([first / "file"], tmp_path) != digest([second / "file"], tmp_path)
    (second / "file").write_text("y")
    assert digest([first / "file"], first) != digest([second / "file"], second)
    with pytest.raises(UserError, match="cannot be read"):
        digest([first / "none"], first)
