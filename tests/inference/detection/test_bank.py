"""The bank: it equals full passes on copies, and nothing else in a batch matters."""

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from app.inference.batches import Batch
from app.inference.detection import bank as banks
from app.inference.detection.bank import DetectorBank
from app.inference.detection.campaign import examine
from app.inference.detection.replay import DetectorReplay
from app.mutation.activation_replacement import ActivationReplacement
from app.mutation.degradation import InputBlur, InputCompression, InputNoise, InputResize
from app.mutation.geometric import InputCrop, InputRotation
from app.mutation.layer_freezing import LayerFreezing
from app.mutation.mc_dropblock import McDropBlock
from app.mutation.mc_dropout import McDropout
from app.mutation.neuron_ablation import NeuronAblation
from app.mutation.photometric import InputBrightness, InputContrast
from app.mutation.quantization import Quantization
from app.mutation.targets import Targets
from app.mutation.weight_noise import WeightNoise
from app.mutation.weight_zeroing import WeightZeroing
from tests.inference.detection.conftest import Blobs, Pictures, small, to_images

PICTURES = Pictures(4)
ARRAYS = ("boxes", "labels", "scores", "probs")


def planned(module, *operators):
    targets = Targets(module)
    return [mutant for operator in operators for mutant in operator.plan(targets, 0)]


class Counted(TorchFunctionMode):
    """Counts the convolutions that run, and notes the rows of the linear layers."""

    def __init__(self):
        super().__init__()
        self.convolutions, self.linear = 0, []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.convolutions += func is torch.conv2d
        if func is torch.nn.functional.linear:
            self.linear.append(len(args[0]))
        return func(*args, **(kwargs or {}))


def run(module, mutants, cases=(0, 1, 2), *, replay=True, together=None, classes=None, pictures=PICTURES):
    """The block of one batch."""
    blocks = []
    setup = examine(module, to_images, pictures, classes=classes, look=1).setup
    recorder = DetectorReplay(module) if replay else None
    bank = DetectorBank(setup, mutants, save=blocks.append, replay=recorder, together=together).eval()
    batch = Batch(0, np.array(cases), [pictures.load(case) for case in cases])
    with torch.no_grad():
        if recorder is None:
            bank.predict_step(batch, 0)
        else:
            with recorder.installed():
                bank.predict_step(batch, 0)
    return blocks[0]


def cell(block, row, column):
    """The detections of one pass on one image."""
    ends = np.concatenate([[0], np.cumsum(block.counts)])
    place = row * block.counts.shape[1] + column
    return [getattr(block, name)[ends[place] : ends[place + 1]] for name in ARRAYS]


def agreement(ours, theirs):
    """Share of detections that are on both sides; other batch sizes move last bits, and so the order of near ties."""
    boxes, labels, _, rows = ours
    other_boxes, other_labels, _, other_rows = theirs
    near = np.abs(boxes[:, None] - other_boxes).max(axis=2) < 1e-2
    near &= np.abs(rows[:, None] - other_rows).max(axis=2) < 1e-4
    near &= labels[:, None] == other_labels
    count = len(labels) + len(other_labels)
    return (near.any(axis=1).sum() + near.any(axis=0).sum()) / count if count else 1.0


def test_the_bank_equals_full_passes_on_copies_bit_for_bit(family):
    _, model = family
    mutants = planned(
        model,
        McDropout(0.4, 2),
        McDropBlock(0.3, 3, 1),
        WeightNoise(0.1, count=1),
        ActivationReplacement("tanh", count=1),
        InputCrop(0.7),
    )
    before = {name: value.clone() for name, value in model.state_dict().items()}
    attributes = {name: set(vars(each)) for name, each in model.named_modules()}
    ours = run(model, mutants, (0, 1), together=1)
    naive = run(model, mutants, (0, 1), replay=False)
    assert not ours.reasons
    assert not naive.reasons
    assert np.array_equal(ours.counts, naive.counts)
    for name in ARRAYS:
        assert np.array_equal(getattr(ours, name), getattr(naive, name)), name
    assert ours.counts[0].sum() > 5
    # what acts everywhere changes something; one layer deep inside may not
    for row in (1, 2, 3, 6):
        assert any(
            not np.array_equal(a, b)
            for i in (0, 1)
            for a, b in zip(cell(ours, row, i), cell(ours, 0, i), strict=True)
        )
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert {name: set(vars(each)) for name, each in model.named_modules()} == attributes


@pytest.mark.parametrize("name", ["roi", "retinanet"])
def test_batches_order_and_repetitions_together_change_nothing(name):
    model = small(name)
    mutants = planned(model, McDropout(0.4, 3), McDropBlock(0.3, 3, 3, site="fpn"))
    together = run(model, mutants, (0, 1, 2))
    shuffled = run(model, mutants, (2, 1), together=2)
    assert not together.notes
    assert (together.counts[0] > 0).all()
    assert (together.counts[1:] > 0).any(axis=1).all()
    for row in range(1, len(together.counts)):  # what is compared below is no repetition of the original
        assert min(agreement(cell(together, row, i), cell(together, 0, i)) for i in range(3)) < 0.9
    for row in range(len(together.counts)):
        for ours, theirs in ((2, 0), (1, 1)):
            assert agreement(cell(together, row, ours), cell(shuffled, row, theirs)) > 0.9


def test_the_box_heads_prefix_runs_once(roi):
    mutants = planned(roi, McDropout(0.4, 5))
    assert mutants[0].sites == ("roi_heads.box_head.fc6", "roi_heads.box_head.fc7")
    blocks = []
    setup = examine(roi, to_images, PICTURES, look=1).setup
    replay = DetectorReplay(roi)
    bank = DetectorBank(setup, mutants, save=blocks.append, replay=replay).eval()
    with replay.installed(), torch.no_grad():
        bank.predict_step(Batch(0, np.array([0]), [PICTURES.load(0)]), 0)  # the survey is in this one
        start = replay.start(mutants[0].sites, output=True)
        replay.record(to_images([PICTURES.load(0), PICTURES.load(2)]), [start])
        with Counted() as counted:
            replay.run(start, 5)
    assert replay.share(start) < 0.2
    assert counted.convolutions == 0
    assert (
        counted.linear == [5 * 2 * 12] * 3
    )  # fc7, cls_score, bbox_pred: all repetitions, images and proposals at once
    assert blocks[0].counts.shape == (6, 1)


def test_a_mutant_that_raises_or_is_not_finite_is_invalid_and_the_pass_goes_on(roi):
    nan = planned(roi, WeightNoise(1e38, count=1, layers="roi_heads.box_predictor.cls_score"))
    rows = planned(roi, McDropout(0.5, 2, site="rpn"))
    good = planned(roi, McDropout(0.5, 2))
    block = run(roi, [*nan, *rows, *good], (0, 1))
    assert set(block.reasons) == {nan[0].key, rows[0].key}
    assert block.reasons[nan[0].key] == "NotFiniteError: the detector's heads give NaN or infinity"
    assert "it keeps no row per test case" in block.reasons[rows[0].key]
    assert block.counts[0].sum() > 0
    assert block.counts[1:4].sum() == 0
    alone = run(roi, good, (0, 1))
    assert np.array_equal(block.counts[4:], alone.counts[1:])
    assert np.array_equal(block.counts[0], alone.counts[0])


def test_a_weight_mutant_that_changes_nothing_is_told(roi):
    mutants = planned(roi, WeightNoise(0.0, count=1))
    block = run(roi, mutants, (0,))
    assert block.unchanged == (mutants[0].key,)
    assert np.array_equal(block.counts[0], block.counts[1])


def test_a_users_own_detector_runs_too():
    own = Blobs()
    mutants = planned(own, McDropout(0.5, 3, site="conv"), WeightNoise(0.5, count=1), InputCrop(0.5))
    ours, naive = run(own, mutants, classes=4), run(own, mutants, classes=4, replay=False)
    assert not ours.reasons
    for name in ARRAYS:
        assert np.array_equal(getattr(ours, name), getattr(naive, name)), name
    assert ours.counts.tolist() == [[1, 1, 1]] * 6
    assert ours.probs.sum(axis=1) == pytest.approx(ours.scores)


def test_an_original_that_cannot_be_scored_ends_the_campaign():
    own = Blobs(rows=True)
    setup = examine(own, to_images, PICTURES).setup
    blocks = []
    bank = DetectorBank(setup, [], save=blocks.append).eval()
    with torch.no_grad():
        own.conv.bias.fill_(float("nan"))
        bank.predict_step(Batch(0, np.array([1]), [PICTURES.load(1)]), 0)
    (block,) = blocks  # the other processes must see it, so it is told and not raised
    assert block.error.startswith("the original detector's results on test images 1 cannot be scored: ")
    assert block.counts.tolist() == [[0]]


def test_memory_bounds_the_repetitions_side_by_side(roi, monkeypatch):
    mutants = planned(roi, McDropout(0.4, 4))
    free = run(roi, mutants, (0,))
    monkeypatch.setattr(banks, "SIDE_BY_SIDE", 1)
    tight = run(roi, mutants, (0,))
    assert np.array_equal(free.counts, tight.counts)
    np.testing.assert_allclose(free.probs, tight.probs, atol=1e-5)


EVERY = [
    ActivationReplacement(count=1, layers="relu"),
    InputBlur(2.0),
    InputBrightness(0.4),
    InputCompression(5),
    InputContrast(0.3),
    InputCrop(0.6),
    InputNoise(35.0),
    InputResize(0.2),
    InputRotation(20.0, count=1),
    LayerFreezing(count=1, layers="conv"),
    McDropBlock(0.5, 3, 2, site="conv"),
    McDropout(0.5, 2, site="conv"),
    NeuronAblation(count=1, layers="conv"),
    Quantization("int8", count=1, layers="conv"),
    WeightNoise(0.5, count=1, layers="conv"),
    WeightZeroing(0.1, count=1, layers="conv"),
]


@pytest.mark.parametrize("operator", EVERY, ids=lambda operator: operator.name)
def test_every_operator_runs_on_a_detector_as_on_a_copy(operator):
    own = Blobs(rows=True)
    mutants = planned(own, operator)
    ours, naive = run(own, mutants, (0, 1)), run(own, mutants, (0, 1), replay=False)
    assert mutants
    assert not ours.reasons
    for name in ("counts", *ARRAYS):
        assert np.array_equal(getattr(ours, name), getattr(naive, name)), name
    assert any(
        not np.array_equal(one, other)
        for row in range(1, len(ours.counts))
        for image in (0, 1)
        for one, other in zip(cell(ours, row, image), cell(ours, 0, image), strict=True)
    )
