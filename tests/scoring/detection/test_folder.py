import math

import pytest

from app.detections import save
from app.errors import UserError
from app.scoring.detection import Strength
from app.scoring.detection.folder import DetectionFolder, FolderMutants, write_index


@pytest.fixture
def saved(tmp_path, scene, one_image):
    """An original and mutants of three names."""
    log = one_image(scene(([0, 0, 9, 9], 1)), 2)
    for name in ("original", "mc_dropblock_0.3_5", "mc_dropblock_0.3_1", "mc_dropout_0.1", "freezing"):
        save(log, tmp_path / f"{name}.npz")
    return tmp_path


def test_keys_are_read_as_operator_rate_and_block(saved):
    folder = DetectionFolder(saved)
    assert folder.keys == ("freezing", "mc_dropblock_0.3_1", "mc_dropblock_0.3_5", "mc_dropout_0.1")
    assert folder.strength("mc_dropblock_0.3_5") == Strength("mc_dropblock", 0.3, 5)
    assert folder.strength("mc_dropout_0.1") == Strength("mc_dropout", 0.1)
    assert math.isnan(folder.strength("freezing").rate)
    assert (folder.model, folder.dataset) == (saved.name, None)


def test_an_index_says_it_better(saved):
    strengths = {
        "freezing": Strength("layer_freezing", math.nan),
        "mc_dropout_0.1": Strength("other", 0.7, 2),
    }
    write_index(saved, "net", "street", strengths)
    folder = DetectionFolder(saved)
    assert folder.keys == ("freezing", "mc_dropout_0.1", "mc_dropblock_0.3_1", "mc_dropblock_0.3_5")
    assert folder.strength("mc_dropout_0.1") == Strength("other", 0.7, 2)
    assert folder.strength("freezing").operator == "layer_freezing"
    assert math.isnan(folder.strength("freezing").rate)
    assert (folder.model, folder.dataset) == ("net", "street")


def test_a_second_run_is_no_mutant(saved, scene, one_image):
    assert DetectionFolder(saved).unchanged is None
    save(one_image(scene(), 2), saved / "unchanged.npz")
    folder = DetectionFolder(saved)
    assert "unchanged" not in folder.keys
    assert len(folder.unchanged.labels) == 0
    assert {path.stem for path in folder.files()} == {"original", "unchanged", *folder.keys}


def test_mutants_are_read_when_asked_for(saved):
    mutants = FolderMutants(DetectionFolder(saved))
    (saved / "freezing.npz").write_bytes(b"no archive")
    assert len(mutants) == 4
    assert mutants["mc_dropout_0.1"].images == ("a",)
    with pytest.raises(UserError, match=r"freezing\.npz: not a readable file"):
        mutants["freezing"]


def test_what_is_missing_is_said(tmp_path, scene, one_image):
    with pytest.raises(UserError, match=r"holds no original\.npz"):
        DetectionFolder(tmp_path).keys  # noqa: B018
    save(one_image(scene()), tmp_path / "original.npz")
    with pytest.raises(UserError, match="holds an original but no mutant"):
        DetectionFolder(tmp_path).keys  # noqa: B018
    with pytest.raises(UserError, match="is no plain name"):
        DetectionFolder(tmp_path).read("../x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "malformed JSON"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[]", "not an index"),
        ('{"format": "assay.detections.index", "version": 9}', "version 9; up to 1"),
        (
            '{"format": "assay.detections.index", "version": 1, "mutants": {"x": {"rate": "0.1"}}}',
            "mutants must",
        ),
    ],
)
def test_a_bad_index_is_refused(saved, text, message):
    (saved / "index.json").write_text(text)
    with pytest.raises(UserError, match=message):
        DetectionFolder(saved).keys  # noqa: B018
