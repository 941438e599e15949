"""A campaign on a detector, from the look at the original to the logs."""

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from PIL import Image
from torch import nn

from app.errors import UserError
from app.inference.campaign import Campaign
from app.inference.detection import campaign
from app.inference.detection.bank import DetectorBank
from app.inference.detection.blocks import DetectionStore
from app.mutation.mc_dropout import McDropout
from app.mutation.targets import Targets
from app.mutation.weight_noise import WeightNoise
from tests.inference.detection.conftest import CLASSES, Blobs, Pictures, to_images

PICTURES = Pictures(3)
NAMES = ("a", "b", "c")


def trainer():
    options = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    return pl.Trainer(
        accelerator="cpu",
        devices=1,
        inference_mode=False,
        enable_model_summary=False,
        barebones=False,
        **options,
    )


def test_the_look_tells_the_form_of_the_rows(roi):
    found = campaign.examine(roi, to_images, PICTURES, look=1)
    form = found.setup.form
    assert (form.classes, form.semantics, form.source) == (CLASSES, "softmax_background", "shim")
    assert found.seconds > 0
    assert found.notes == ()
    own = campaign.examine(Blobs(rows=True), to_images, PICTURES).setup.form
    assert (own.classes, own.semantics, own.source) == (4, "softmax_background", "own")
    said = campaign.examine(Blobs(rows=True), to_images, PICTURES, semantics="sigmoid").setup.form
    assert said.semantics == "sigmoid"
    none = campaign.examine(Blobs(), to_images, PICTURES, classes=4)
    assert (none.setup.form.source, none.setup.form.semantics) == ("one-hot", "sigmoid")
    assert "give whole rows as `probs`" in none.notes[0]


def test_rows_that_change_the_results_fail_loudly(roi, monkeypatch):
    real = campaign.find_class_rows

    def spoiled(module):
        rows = real(module)
        inner = rows._with_rows
        rows._with_rows = lambda found: inner([each | {"scores": each["scores"] * 0.5} for each in found])
        return rows

    monkeypatch.setattr(campaign, "find_class_rows", spoiled)
    with pytest.raises(UserError, match="scores on the first test image differ from its own"):
        campaign.examine(roi, to_images, PICTURES, look=1)


def test_a_model_that_drops_detections_of_its_torchvision_part_fails_loudly(roi):
    class Filtered(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = roi

        def forward(self, images):
            return [
                each | {name: each[name][:1] for name in ("boxes", "labels", "scores")}
                for each in self.inner(images)
            ]

    with pytest.raises(UserError, match="drops or adds detections after its torchvision model"):
        campaign.examine(Filtered(), to_images, PICTURES, look=1)


def broken(output):
    class Broken(nn.Module):
        def forward(self, images):
            return output(images)

    return Broken()


@pytest.mark.parametrize(
    ("model", "classes", "message"),
    [
        (Blobs(), None, "number of its classes is not known"),
        (Blobs(), 2, "label is outside its class row"),
        (broken(lambda _: torch.zeros(2)), 4, "must give a list with one dict"),
        (broken(lambda _: 1 / 0), 4, r"cannot be tested on images of shape \(3, 32, 40\): division by zero"),
    ],
)
def test_what_is_no_detector_is_a_users_error(model, classes, message):
    with pytest.raises(UserError, match=message):
        campaign.examine(model, to_images, PICTURES, classes=classes)


def test_an_original_with_nan_is_a_users_error(roi):
    bias = roi.roi_heads.box_predictor.cls_score.bias
    before = bias.detach().clone()
    with torch.no_grad():
        bias[0] = float("nan")
    try:
        with pytest.raises(UserError, match="the original detector cannot be scored"):
            campaign.examine(roi, to_images, PICTURES, look=1)
    finally:
        with torch.no_grad():
            bias.copy_(before)


def test_a_campaign_gives_logs_and_repeats_nothing_that_is_stored(roi, tmp_path, monkeypatch):
    setup = campaign.examine(roi, to_images, PICTURES, look=1).setup
    targets = Targets(roi)
    head = McDropout((0.2, 0.5), 3).plan(targets, 0)
    bad = WeightNoise(1e38, count=1, layers="roi_heads.box_predictor.cls_score").plan(targets, 0)
    plan = Campaign((*head, *bad), (2, 1), 2)
    store = DetectionStore(tmp_path)
    done = []

    def groups():
        return list(campaign.run(plan, setup, PICTURES, trainer(), store, names=NAMES, advance=done.append))

    first, second = groups()
    assert first.original.images == NAMES
    assert first.original.repetitions.tolist() == [1, 1, 1]
    assert [each.log.repetitions.tolist() for each in first.mutants] == [[3, 3, 3]] * 2
    assert second.mutants[0].log is None
    assert second.mutants[0].reason.startswith("NotFiniteError")
    assert np.array_equal(first.original.probs, second.original.probs)
    assert sum(done) >= 9
    # the log's first image is what the detector itself says of it
    with torch.no_grad():
        (stock,) = roi(to_images([PICTURES.load(0)]))
    assert np.array_equal(first.original.at(0, 0).boxes, stock["boxes"].numpy())
    assert np.array_equal(first.original.at(0, 0).scores, stock["scores"].numpy())
    # one block is lost: only its batch runs again, and gives the same
    store.path(0, 1).unlink()
    ran = []
    step = DetectorBank.predict_step

    def noted(bank, batch, index):
        ran.append((bank.group, batch.number))
        return step(bank, batch, index)

    monkeypatch.setattr(DetectorBank, "predict_step", noted)
    again, _ = groups()
    assert ran == [(0, 1)]
    for before, now in zip(first.mutants, again.mutants, strict=True):
        assert np.array_equal(before.log.boxes, now.log.boxes)


def test_names_must_be_as_many_and_different(tmp_path):
    setup = campaign.examine(Blobs(), to_images, PICTURES, classes=4).setup
    for names in (("a", "b"), ("a", "b", "a")):
        with pytest.raises(UserError, match="different names"):
            list(
                campaign.run(
                    Campaign((), (), 2), setup, PICTURES, None, DetectionStore(tmp_path), names=names
                )
            )


class Told(nn.Module):
    """Says of each image what it is told to by its place in the data: class rows of one detection, or none."""

    def __init__(self, rows):
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self.rows = rows

    def forward(self, images):
        return [self.one(self.rows[int(image[0, 0, 0])]) for image in images]

    def one(self, row):
        rows = torch.tensor([row] if row else []).reshape(-1, 2)
        count = len(rows)
        return {
            "boxes": torch.tensor([[0.0, 0.0, 9.0, 9.0]]).repeat(count, 1),
            "labels": torch.zeros(count, dtype=torch.long),
            "scores": torch.full((count,), 0.5),
            "probs": rows,
        }


class Places:
    """Images whose pixels are their place."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def load(self, index):
        return Image.new("L", (12, 12), index)


def to_places(pictures):
    return [torch.tensor(float(each.getpixel((0, 0)))).expand(1, 12, 12) for each in pictures]


def test_what_rows_are_is_seen_on_the_first_image_that_has_one():
    late = [None] * 6
    for row, semantics in (([0.4, 0.6], "softmax_background"), ([0.9, 0.6], "sigmoid")):
        found = campaign.examine(Told([*late, row]), to_places, Places(7))
        assert found.setup.form.semantics == semantics
    with pytest.raises(UserError, match=r"finds nothing on the first test images.*scoring\.semantics"):
        campaign.examine(Told(late), to_places, Places(6))
    assert (
        campaign.examine(Told(late), to_places, Places(6), semantics="sigmoid").setup.form.semantics
        == "sigmoid"
    )


@pytest.mark.parametrize(
    ("row", "semantics", "message"),
    [
        ([-0.5, 1.5], "auto", "negative somewhere or sums to 0"),
        ([2.0, 1.5], "auto", r"leaves \[0, 1\]"),
        ([0.0, 0.0], "softmax_background", "negative somewhere or sums to 0"),
    ],
)
def test_rows_that_are_no_probabilities_are_refused_at_once(row, semantics, message):
    with pytest.raises(UserError, match=message):
        campaign.examine(Told([row]), to_places, Places(1), semantics=semantics)


def test_a_mistake_in_the_pass_ends_the_campaign_behind_the_barrier_and_is_done_again(tmp_path):
    good = [0.4, 0.6]
    model = Told([good] * 5 + [[-0.1, 1.1]])
    setup = campaign.examine(model, to_places, Places(6)).setup
    store, waited = DetectionStore(tmp_path), []
    ours = trainer()
    ours.strategy.barrier = lambda name=None: waited.append(name)

    def groups():
        names = [str(i) for i in range(6)]
        return list(campaign.run(Campaign((), (0,), 2), setup, Places(6), ours, store, names=names))

    with pytest.raises(
        UserError, match="results on test images 5 cannot be scored: detection 0: its class row is neg"
    ):
        groups()
    assert waited
    assert store.missing(0, 3) == [2]
    model.rows[5] = good
    assert groups()[0].original.probs.shape == (6, 2)
