"""Replay on models that make it hard: it must give the full pass's bits, or run whole and say why."""

from __future__ import annotations

import pytest
import torch
import torchvision
from torch import Tensor, nn

from app.inference.replay import FULL, Replay, ReplayError
from app.mutation.mutant import Mutant
from app.mutation.overlay import overlay
from app.mutation.weight_noise import WeightNoise
from tests.inference.conftest import build


class InPlace(nn.Module):
    """Everything that can go wrong with recorded tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.relu = nn.ReLU(inplace=True)
        self.same = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        identity = self.same(x)
        out = self.a(x)
        self.relu(out)  # its result is not used: the effect in place is
        out = self.b(out)
        out += identity
        view = out[:, :4]
        kept = self.c(out)
        view.mul_(2)
        return kept + out


class Branches(nn.Module):
    """Several calls of one module, a loop that depends on data, containers as outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.step, self.split, self.last = nn.Linear(8, 8), Splitter(), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(3):
            x = torch.tanh(self.step(x))
        parts = self.split(x)
        total = parts["sum"] if float(parts["sum"].sum()) > -1e9 else parts["many"][0]
        parts["sum"].zero_()
        return self.last(total + parts["many"][1])


class Splitter(nn.Module):
    def forward(self, x: Tensor) -> dict[str, Tensor | list[Tensor]]:
        return {"sum": x * 2, "many": [x + 1, x - 1]}


class Stateful(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.calls = nn.Linear(8, 8), 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.inner(x) + self.calls


class Random(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) + torch.rand(())


class RowsMixed(nn.Module):
    """Rows of a batch influence each other."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        x = self.a(x)
        return self.b(x - torch.cumsum(x, dim=0))


class Vgg(torchvision.models.VGG):
    """A narrow one: sequential, with an activation in place behind every convolution."""

    def __init__(self) -> None:
        layers = torchvision.models.vgg.make_layers([8, "M", 16, 16, "M", 16, "M", 16, "M"])
        super().__init__(layers, num_classes=5, init_weights=False)
        self.avgpool, self.classifier = nn.AdaptiveAvgPool2d(2), nn.Linear(64, 5)


HARD = {
    "inplace": (InPlace, 8),
    "branches": (Branches, 8),
    "rows mixed": (RowsMixed, 8),
    "squeezenet": (lambda: torchvision.models.squeezenet1_1(num_classes=5), (3, 40, 40)),
    "googlenet": (
        lambda: torchvision.models.googlenet(num_classes=5, aux_logits=False, init_weights=False),
        (3, 40, 40),
    ),
    "densenet": (lambda: torchvision.models.DenseNet(8, (2, 2), 8, num_classes=5), (3, 40, 40)),
    "vgg": (Vgg, (3, 32, 32)),
    "swin": (
        lambda: torchvision.models.SwinTransformer([4, 4], 16, [2, 2], [2, 2], [4, 4], num_classes=5),
        (3, 32, 32),
    ),
    "transformer": (
        lambda: nn.Sequential(
            nn.Unflatten(1, (2, 8)),
            nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
        ),
        16,
    ),
}


@pytest.mark.parametrize("name", HARD)
def test_every_start_gives_the_bits_of_the_full_pass(name: str) -> None:
    make, shape = HARD[name]
    torch.manual_seed(2)
    module = make().eval()
    size = (shape,) if isinstance(shape, int) else shape
    replay = Replay(module)
    batches = [torch.randn(3, *size) for _ in range(2)]
    with torch.no_grad():
        expected = [module(batch.clone()) for batch in batches]
        with replay.installed():
            replay.survey(torch.randn(2, *size))
            assert replay.reason is None
            names = [n for n, child in module.named_modules() if n and list(child.parameters(recurse=False))]
            names = names[:: max(1, len(names) // 12)]
            starts = [replay.start([n]) for n in names] + [replay.start([n], output=True) for n in names]
            assert any(start != FULL for start in starts)
            for batch, full in zip(batches, expected, strict=True):
                assert torch.equal(replay.record(batch, starts), full)
                for start in starts * 2:
                    assert torch.equal(replay.run(start), full)
    assert not any("forward" in vars(child) for child in module.modules())


class Settling(nn.Module):
    """Measures something in its first pass and keeps it, as torchvision's RoI pooling does."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.scale = nn.Linear(8, 3), None

    def forward(self, x: Tensor) -> Tensor:
        self.scale = self.scale or float(x.shape[1])
        return self.linear(x) / self.scale


def test_a_model_that_settles_in_its_first_pass_is_replayed():
    replay = Replay(Settling().eval())
    with replay.installed(), torch.no_grad():
        replay.survey(torch.rand(2, 8))
    assert replay.reason is None


@pytest.mark.parametrize(("make", "reason"), [(Stateful, "keeps state"), (Random, "same output twice")])
def test_models_that_cannot_be_replayed_say_why_and_run_whole(make: type[nn.Module], reason: str) -> None:
    replay = Replay(make().eval())
    with torch.no_grad(), replay.installed():
        replay.survey(torch.randn(2, 8))
        assert replay.reason is not None
        assert reason in replay.reason
        assert replay.start(["inner"]) == FULL
        replay.record(torch.randn(2, 8), [FULL])
        assert replay.run(FULL).shape == (2, 8)


def test_torchscript_runs_whole() -> None:
    module = torch.jit.trace(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 3)), torch.randn(2, 8)).eval()
    replay = Replay(module)
    with torch.no_grad(), replay.installed():
        replay.survey(torch.randn(2, 8))
        assert replay.reason == "TorchScript hides the calls of its modules"
        batch = torch.randn(4, 8)
        assert torch.equal(replay.record(batch, [FULL]), replay.run(FULL))


def test_copies_side_by_side_only_where_rows_do_not_mix() -> None:
    with torch.no_grad():
        for module, allowed in ((RowsMixed().eval(), False), (build("resnet"), True)):
            size = (8,) if isinstance(module, RowsMixed) else (3, 32, 32)
            replay = Replay(module)
            with replay.installed():
                replay.survey(torch.randn(2, *size))
                site = "a" if isinstance(module, RowsMixed) else "layer4.1.conv2"
                start = replay.start([site], output=True)
                assert replay.can_tile(start) is allowed


def test_copies_side_by_side_equal_the_rows_repeated() -> None:
    module = build("mobilenet_v3")
    replay = Replay(module)
    batch = torch.randn(3, 3, 32, 32)
    with torch.no_grad(), replay.installed():
        replay.survey(torch.randn(2, 3, 32, 32))
        start = replay.start(["features.9"], output=True)
        full = replay.record(batch, [start])
        tiled = replay.run(start, tiles=4)
    torch.testing.assert_close(tiled, full.repeat(4, 1), rtol=1e-5, atol=1e-6)


class DataDependent(nn.Module):
    """Takes another way for batches with a large mean."""

    def __init__(self) -> None:
        super().__init__()
        self.low, self.high, self.last = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.high(x) if float(x.mean()) > 5 else self.low(x)
        return self.last(torch.relu(x))


def test_a_batch_that_takes_another_way_runs_whole_and_right() -> None:
    module = DataDependent().eval()
    replay = Replay(module)
    noise = WeightNoise(sigmas=[1.0], count=1)
    mutant = Mutant(noise, {"sigma": 1.0, "relative": False}, "last", ("last",), 3)
    with torch.no_grad(), replay.installed():
        replay.survey(torch.randn(2, 8))
        start = replay.start(["last"])
        assert start != FULL
        for batch in (torch.randn(4, 8), torch.randn(4, 8) + 50):
            assert torch.equal(replay.record(batch, [start]), module(batch))
            with overlay(mutant, module):
                assert torch.equal(replay.run(start), module(batch))


def test_running_before_recording_is_refused() -> None:
    replay = Replay(build("lenet"))
    with pytest.raises(ReplayError, match="record a batch first"):
        replay.run(FULL)


def test_memory_is_let_go_after_the_batch() -> None:
    module = build("resnet")
    replay = Replay(module)
    with torch.no_grad(), replay.installed():
        replay.survey(torch.randn(2, 3, 32, 32))
        start = replay.start(["layer3.0.conv1"])
        replay.record(torch.randn(2, 3, 32, 32), [start])
        held = [
            value
            for value in replay._kept.values()
            if isinstance(value, Tensor) and value.untyped_storage().nbytes() > 4
        ]
        assert len(held) <= 2  # what layer3.0 reads; all else is shape only
        replay.release()
        assert replay._kept == {}
