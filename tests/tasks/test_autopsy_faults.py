"""Planted faults from the command line: each experiment's cause is named, with what to do, and in the page."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from app.tasks import autopsy as task

FEW = ["task.resamples=20", "task.overlays=0"]
PLANTED = {
    "label_noise": ("label_noise", None, ["+dataset.data.max_samples=600"]),
    "imbalance": ("class_imbalance", ["bag"], ["+dataset.data.max_samples=400"]),
    "missing_class": ("class_imbalance", ["bag"], ["+dataset.data.max_samples=200"]),
    "leak": (
        "leakage",
        None,
        ["+dataset.data.max_samples=200", "+dataset.training.max_samples=300", "task.train.max_samples=300"],
    ),
    "class_order": ("class_order_mismatch", None, ["dataset.max_samples=200"]),
    "untrained": ("underfitting", [], ["dataset.max_samples=200"]),
    "overfitting": ("overfitting", [], ["dataset.max_samples=200", "task.overlays=2"]),
    "corrupt_file": ("data_quality", None, ["+dataset.data.max_samples=200"]),
}


@pytest.fixture(scope="module")
def planted(assay):
    """What each experiment reports and how it ends; tests/tasks/test_autopsy.py looks at figures, so here are none."""
    kept = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task.canvases, "save_png", lambda figure, path: None)
        for name, (_, _, smaller) in PLANTED.items():
            kept[name] = assay(f"+experiment=planted_{name}", *FEW, *smaller)
    return kept


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_named(planted, name):
    cause, affected, _ = PLANTED[name]
    ended = planted[name]
    found = {each["cause_type"]: each for each in ended.report()["findings"]}
    assert cause in found, list(found)
    if affected is not None:
        assert found[cause]["affected"] == affected
    assert found[cause]["evidence"]
    assert found[cause]["recommendations"]
    assert "What to do" in (ended.folder / "report.html").read_text()


def test_a_fault_of_the_model_is_not_laid_on_the_data(planted):
    for name in ("untrained", "class_order", "overfitting"):
        causes = {each["cause_type"] for each in planted[name].report()["findings"]}
        assert not causes & {"label_noise", "data_quality", "leakage", "class_imbalance"}, name


def test_the_gravest_cause_is_told_first(planted):
    lines = [line for line in planted["untrained"].out.splitlines() if line.startswith("- ")]
    assert lines[0].startswith("- Underfitting (high")


def test_planted_labels_are_among_the_suspects(planted):
    from app.subjects.fashion import fashion
    from app.subjects.planted import relabelled

    report = planted["label_noise"].report()
    sound = fashion(max_samples=600)
    wrong = set(np.flatnonzero(relabelled(sound).labels != sound.labels).tolist())
    suspects = {each["case"] for each in report["label_noise"]["suspects"]}
    assert len(wrong) == 60
    assert len(wrong & suspects) > 0.85 * len(wrong)
    assert report["label_noise"]["share"] == pytest.approx(0.1, abs=0.03)


def test_damaged_pictures_are_left_out_and_listed(planted):
    report = planted["corrupt_file"].report()
    excluded = {each["path"] for each in report["subject"]["excluded"]}
    (finding,) = [each for each in report["findings"] if each["cause_type"] == "data_quality"]
    assert len(excluded) == 10 == finding["evidence"]["unreadable"]
    assert set(finding["affected"]) == excluded
    assert report["summary"]["n"] == 190
    assert report["training"] is None
    assert report["sub_scores"]["generalization"] is None


def test_a_model_without_places_says_why_there_are_no_maps(planted):
    gradcam = planted["overfitting"].report()["gradcam"]
    assert gradcam["shown"] == []
    assert "no layer of the model has places" in gradcam["note"]


@pytest.fixture(scope="module")
def photos(assay):
    """A folder of pictures of three classes, two of them broken, one with HTML in its name, one a link out."""
    from app.subjects.fashion import fashion

    data, root = fashion(max_samples=120), assay.folder / "photos"
    for case in np.flatnonzero(np.isin(data.labels, (1, 7, 8))).tolist():
        place = root / data.class_names[data.labels[case]]
        place.mkdir(parents=True, exist_ok=True)
        data.load(case).resize((64, 64)).save(place / f"{case:03d}.png")
    broken = sorted((root / "trouser").iterdir())[0]
    broken.write_bytes(broken.read_bytes()[:-40])
    (root / "bag" / "<b>&.png").write_bytes(b"")
    outside = assay.folder / "outside.png"
    Image.new("L", (64, 64), 128).save(outside)
    (root / "bag" / "link.png").symlink_to(outside)
    return root, f"trouser/{broken.name}"


def test_a_corrupt_file_is_named(assay, photos):
    root, broken = photos
    ended = assay(
        "task=autopsy",
        "model=state_dict",
        "model.factory._target_=users_code.Net",
        "+model.factory.outputs=3",
        "model.weights=null",
        "model.class_names=[bag,sneaker,trouser]",
        "model.preprocess={resize: 32, crop: 32, mode: L, mean: [0.5], std: [0.5]}",
        "dataset=image_folder",
        f"dataset.root={root}",
        "task.overlays=1",
        "task.resamples=5",
    )
    assert (ended.code, ended.err) == (0, "")
    report = ended.report()
    assert report["subject"]["classes"] == ["bag", "sneaker", "trouser"]
    excluded = {each["path"]: each["reason"] for each in report["subject"]["excluded"]}
    assert set(excluded) == {broken, "bag/<b>&.png", "bag/link.png"}
    assert "link out" in excluded["bag/link.png"]
    unreadable = {each["path"] for each in report["dataset_quality"]["unreadable"]}
    assert unreadable == {broken, "bag/<b>&.png"}
    found = {each["cause_type"]: each for each in report["findings"]}
    assert set(found["data_quality"]["affected"]) == unreadable
    assert sum(map(sum, report["confusion"])) == report["summary"]["n"]
    page = (ended.folder / "report.html").read_text()
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page
