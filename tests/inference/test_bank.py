"""The bank against the naive way: a copy of the model and a full pass for each mutant."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torchvision.models.vision_transformer import VisionTransformer

from app.errors import UserError
from app.inference.bank import Classifier, MutantBank, sharing
from app.inference.batches import Batch, Batches
from app.inference.blocks import Block
from app.inference.campaign import _refuse_broken
from app.inference.replay import Replay
from app.mutation.activation_replacement import ActivationReplacement
from app.mutation.degradation import InputBlur, InputCompression, InputNoise, InputResize
from app.mutation.geometric import InputCrop, InputRotation
from app.mutation.layer_freezing import LayerFreezing
from app.mutation.mc_dropblock import McDropBlock
from app.mutation.mc_dropout import McDropout
from app.mutation.mutant import Mutant
from app.mutation.neuron_ablation import NeuronAblation
from app.mutation.operator import Operator, WeightOperator
from app.mutation.photometric import InputBrightness, InputContrast
from app.mutation.quantization import Quantization
from app.mutation.targets import Targets
from app.mutation.weight_noise import WeightNoise
from app.mutation.weight_zeroing import WeightZeroing
from tests.inference.conftest import LeNet, Pictures, build, to_batch

COUNT = 2
OPERATORS = {
    "weight_noise": lambda: WeightNoise(count=COUNT),
    "weight_zeroing": lambda: WeightZeroing(count=COUNT),
    "neuron_ablation": lambda: NeuronAblation(count=COUNT),
    "layer_freezing": lambda: LayerFreezing(count=COUNT),
    "quantization": lambda: Quantization(count=COUNT),
    "activation_replacement": lambda: ActivationReplacement(count=COUNT),
    "mc_dropout": lambda: McDropout(rates=[0.2, 0.5], repetitions=3),
    "mc_dropblock": lambda: McDropBlock(rates=[0.3], blocks=[1, 3], repetitions=3),
    "input_brightness": InputBrightness,
    "input_contrast": InputContrast,
    "input_blur": InputBlur,
    "input_noise": lambda: InputNoise(count=2),
    "input_crop": InputCrop,
    "input_rotation": lambda: InputRotation(count=2),
    "input_compression": InputCompression,
    "input_resize": InputResize,
}


def run(
    classifier: Classifier, mutants: list[Mutant], images: Pictures, *, naive: bool, size: int = 4
) -> list[Block]:
    """The blocks of all batches."""
    blocks: list[Block] = []
    batches = Batches(images, size)
    with torch.no_grad():
        if naive:
            for place, mutant in enumerate(mutants):
                bank = MutantBank(classifier, [mutant], save=blocks.append, group=place)
                for index in range(len(batches)):
                    bank.predict_step(batches[index], index)
            return blocks
        replay = Replay(classifier.module)
        bank = MutantBank(classifier, mutants, save=blocks.append, replay=replay)
        with replay.installed():
            for index in range(len(batches)):
                bank.predict_step(batches[index], index)
    return blocks


def stacked(blocks: list[Block], mutants: list[Mutant], *, naive: bool) -> tuple[np.ndarray, ...]:
    """Top-1, confidence and shift of every mutant's repetitions over all cases."""
    if not naive:
        return tuple(
            np.concatenate([getattr(block, name)[1:] for block in blocks], axis=1)
            for name in ("top1", "confidence", "shift")
        )
    per_mutant = [[block for block in blocks if block.group == place] for place in range(len(mutants))]
    return tuple(
        np.concatenate(
            [np.concatenate([getattr(b, name)[1:] for b in own], axis=1) for own in per_mutant], axis=0
        )
        for name in ("top1", "confidence", "shift")
    )


def plan(operator: Operator, module: nn.Module) -> list[Mutant]:
    return operator.plan(Targets(module), seed=11)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (model, name)
        for model in ("lenet", "vit", "resnet", "mobilenet_v3")
        for name in OPERATORS
        if model in {"lenet", "vit"} or not name.startswith("input_")  # pictures are changed before any model
    ],
)
def test_bank_equals_the_naive_way(model: str, name: str, pictures: Pictures) -> None:
    classifier = Classifier(build(model), to_batch, "logits")
    operator = OPERATORS[name]()
    if name == "mc_dropblock" and isinstance(classifier.module, VisionTransformer):
        operator = McDropBlock(rates=[0.3], blocks=[1], repetitions=3, site="conv_proj")
    mutants = plan(operator, classifier.module)
    assert mutants
    before = copy.deepcopy(classifier.module.state_dict())
    ours = run(classifier, mutants, pictures, naive=False)
    naive = run(classifier, mutants, pictures, naive=True)
    assert not any(block.reasons for block in ours + naive)
    got, expected = stacked(ours, mutants, naive=False), stacked(naive, mutants, naive=True)
    np.testing.assert_array_equal(got[0], expected[0])
    for mine, theirs in zip(got[1:], expected[1:], strict=True):
        if operator.kind == "stochastic":  # the naive way runs the first layers on T times as many rows
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(mine, theirs)
    after = classifier.module.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert not any("forward" in vars(module) for module in classifier.module.modules())


def test_mutants_differ_from_the_original(pictures: Pictures) -> None:
    classifier = Classifier(build("lenet"), to_batch, "logits")
    mutants = plan(LayerFreezing(count=5), classifier.module)
    (_, _, shift) = stacked(run(classifier, mutants, pictures, naive=False), mutants, naive=False)
    assert (shift.max(axis=1) > 0.01).all()


def test_most_mutants_start_in_the_middle(pictures: Pictures) -> None:
    classifier = Classifier(build("resnet"), to_batch, "logits")
    replay = Replay(classifier.module)
    x = to_batch([pictures.load(i) for i in range(2)])
    with torch.no_grad(), replay.installed():
        replay.survey(x)
        starts = [replay.start([layer.name]) for layer in Targets(classifier.module).weighted()]
    assert replay.reason is None
    assert [start.limit == 0 for start in starts] == [True] + [False] * (len(starts) - 1)


class Fails(WeightOperator):
    """Raises what it is told."""

    name = "fails"

    def __init__(self, error: BaseException) -> None:
        super().__init__(1)
        self.error = error

    def choices(self, targets: Targets) -> list:
        raise NotImplementedError

    def weights(self, mutant: Mutant, modules: dict) -> dict:
        raise self.error


def one(operator: Operator, site: str = "fc1") -> Mutant:
    return Mutant(operator, {}, site, (site,), 0)


def test_a_mutant_that_raises_is_invalid_and_the_others_go_on(pictures: Pictures) -> None:
    classifier = Classifier(build("lenet"), to_batch, "logits")
    good = plan(LayerFreezing(count=1), classifier.module)[0]
    blocks = run(classifier, [one(Fails(ValueError("no such weight"))), good], pictures, naive=False)
    assert blocks[-1].reasons == {one(Fails(ValueError())).key: "ValueError: no such weight"}
    assert (blocks[0].top1[1] == -1).all()
    assert (blocks[0].top1[2] >= 0).all()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_interrupts_pass_and_leave_the_model_as_it_was(error: BaseException, pictures: Pictures) -> None:
    classifier = Classifier(build("lenet"), to_batch, "logits")
    objects = {name: id(parameter) for name, parameter in classifier.module.named_parameters()}
    before = copy.deepcopy(classifier.module.state_dict())
    with pytest.raises(type(error)):
        run(classifier, [one(Fails(error))], pictures, naive=False)
    assert objects == {name: id(parameter) for name, parameter in classifier.module.named_parameters()}
    assert all(torch.equal(before[key], value) for key, value in classifier.module.state_dict().items())
    assert not any("forward" in vars(module) for module in classifier.module.modules())


class Infinite(WeightOperator):
    """Gives weights that overflow."""

    name = "infinite"

    def choices(self, targets: Targets) -> list:
        raise NotImplementedError

    def weights(self, mutant: Mutant, modules: dict) -> dict:
        return {("fc2", "weight"): torch.full_like(modules["fc2"].weight, float("inf"))}


class Unchanged(Infinite):
    """Gives the weights there are."""

    name = "unchanged"

    def weights(self, mutant: Mutant, modules: dict) -> dict:
        return {("fc2", "weight"): modules["fc2"].weight.detach().clone()}


def test_outputs_that_are_not_finite_and_weights_that_do_not_change_are_told(pictures: Pictures) -> None:
    classifier = Classifier(build("lenet"), to_batch, "logits")
    blocks = run(classifier, [one(Infinite(), "fc2"), one(Unchanged(), "fc2")], pictures, naive=False)
    assert (blocks[0].top1[1] == -1).all()
    assert np.isnan(blocks[0].confidence[1]).all()
    assert blocks[-1].unchanged == (one(Unchanged(), "fc2").key,)
    assert (blocks[0].shift[2] == 0).all()


def test_an_original_that_gives_nan_is_refused(pictures: Pictures) -> None:
    module = build("lenet")
    with torch.no_grad():
        module.fc2.weight[0, 0] = float("nan")
    blocks = run(Classifier(module, to_batch, "logits"), [], pictures, naive=False)
    assert all((block.top1[0] == -1).all() for block in blocks)
    with pytest.raises(UserError, match="NaN or infinity for 4 test cases, the first is 0"):
        _refuse_broken(blocks[0], len(pictures))


def test_masks_do_not_depend_on_batches(pictures: Pictures) -> None:
    classifier = Classifier(build("lenet"), to_batch, "logits")
    mutants = plan(McDropout(rates=[0.4], repetitions=5), classifier.module)
    small = stacked(run(classifier, mutants, pictures, naive=False, size=2), mutants, naive=False)
    large = stacked(run(classifier, mutants, pictures, naive=False, size=7), mutants, naive=False)
    np.testing.assert_array_equal(small[0], large[0])
    np.testing.assert_allclose(small[1], large[1], rtol=1e-5)


class Tied(nn.Module):
    """The same weight at both ends."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(12, 12, bias=False), nn.Linear(12, 12, bias=False)
        self.decode.weight = self.encode.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decode(torch.relu(self.encode(x.flatten(1)[:, :12])))


def test_tied_weights_change_at_both_ends(pictures: Pictures) -> None:
    module = Tied().eval()
    assert sharing(module, ["decode"]) == ["encode", "decode"]
    classifier = Classifier(module, to_batch, "logits")
    mutants = plan(WeightNoise(sigmas=[0.5], count=1), module)
    ours, naive = (
        stacked(run(classifier, mutants, pictures, naive=way), mutants, naive=way) for way in (False, True)
    )
    for mine, theirs in zip(ours, naive, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_filling_batch_is_passed_over(pictures: Pictures) -> None:
    saved: list[Block] = []
    bank = MutantBank(Classifier(build("lenet"), to_batch, "logits"), [], save=saved.append)
    assert bank.predict_step(Batch(-1, np.empty(0, dtype=np.int64), []), 0) == -1
    assert saved == []


class Functional(LeNet):
    """Calls its activation as a function, and never the module."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc2(self.relu3(self.fc1(torch.flatten(x, 1))))


def test_mutants_of_modules_that_are_never_called_say_so(pictures: Pictures) -> None:
    module = Functional().eval()
    classifier = Classifier(module, to_batch, "logits")
    mutants = plan(ActivationReplacement(count=9), module)
    idle = {mutant.key for mutant in mutants if mutant.target != "relu3"}
    assert 0 < len(idle) < len(mutants)
    for naive in (False, True):
        blocks = run(classifier, mutants, pictures, naive=naive)
        assert {key for block in blocks for key in block.unchanged} == idle
        notes = {note for block in blocks for note in block.notes}
        assert "the model never calls relu1: mutants of activation_replacement there change nothing" in notes
