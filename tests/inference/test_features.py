"""Features: what a model says about every case, equal to a plain pass, and each case once."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from app.errors import UserError
from app.inference.bank import Classifier
from app.inference.features import features
from app.inference.layers import find_layers
from app.inference.probe import file_of, gathered


class Pictures:
    def __init__(self, n: int = 11) -> None:
        self.pixels = np.random.default_rng(1).integers(0, 256, size=(n, 6, 6), dtype=np.uint8)

    def __len__(self) -> int:
        return len(self.pixels)

    def load(self, index: int) -> Image.Image:
        return Image.fromarray(self.pixels[index])


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(1, 3, 3)
        self.act = nn.ReLU()
        self.hidden = nn.Linear(3, 5)
        self.relu = nn.ReLU()
        self.head = nn.Linear(5, 4)

    def forward(self, x):
        x = self.act(self.conv(x)).mean((2, 3))
        return self.head(self.relu(self.hidden(x)))


class AllMaps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one = nn.Conv2d(1, 3, 3)
        self.two = nn.Conv2d(3, 4, 1)

    def forward(self, x):
        return self.two(self.one(x)).mean((2, 3))


def to_batch(images):
    return torch.stack(
        [torch.as_tensor(np.array(image), dtype=torch.float32)[None] / 255 for image in images]
    )


def classifier(module: nn.Module, output: str = "logits") -> Classifier:
    return Classifier(module.eval(), to_batch, output)


@pytest.fixture
def trainer():
    import pytorch_lightning as pl

    return pl.Trainer(
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        inference_mode=False,
    )


def test_features_equal_a_plain_pass(tmp_path, trainer):
    net, pictures = Net(), Pictures()
    model = classifier(net)
    layers = find_layers(model, pictures)
    assert (layers.names, layers.inputs, layers.words) == (("head",), True, "the input of head")
    steps = []
    found = features(model, pictures, trainer, tmp_path, layers=layers, batch_size=4, advance=steps.append)
    with torch.no_grad():
        x = to_batch([pictures.load(i) for i in range(11)])
        logits = net(x)
        hidden = net.relu(net.hidden(net.act(net.conv(x)).mean((2, 3))))
    probs = logits.double().softmax(1).numpy()
    ordered = np.sort(probs, axis=1)
    assert found.predicted.tolist() == logits.argmax(1).tolist()
    assert np.allclose(found.confidence, ordered[:, -1], atol=1e-6)
    assert np.allclose(found.margin, ordered[:, -1] - ordered[:, -2], atol=1e-6)
    assert np.allclose(found.entropy, -(probs * np.log(probs)).sum(1), atol=1e-6)
    assert np.allclose(found.traces, hidden.numpy(), atol=1e-6)
    assert steps == [4, 4, 3]


def test_layers_by_name_and_pattern(tmp_path, trainer):
    net, pictures = Net(), Pictures(5)
    model = classifier(net)
    assert find_layers(model, pictures, "conv").names == ("conv",)
    assert find_layers(model, pictures, "*relu*").names == ("relu",)
    both = find_layers(model, pictures, "[ch]*d*")  # hidden and head
    assert both.names == ("hidden", "head")
    layers = find_layers(model, pictures, "conv")
    maps = features(model, pictures, trainer, tmp_path / "a", layers=layers).traces
    with torch.no_grad():
        expected = net.conv(to_batch([pictures.load(i) for i in range(5)])).mean((2, 3)).numpy()
    assert np.allclose(maps, expected, atol=1e-6)
    assert features(model, pictures, trainer, tmp_path / "b", layers=both).traces.shape == (5, 9)
    with pytest.raises(UserError, match=r"task.layer=nothing is no module .* head"):
        find_layers(model, pictures, "nothing")


def test_a_model_without_linear_layers_and_one_that_shows_nothing(tmp_path, trainer):
    pictures = Pictures(3)
    layers = find_layers(classifier(AllMaps()), pictures)
    assert (layers.names, layers.inputs) == (("one",), False)
    script = classifier(torch.jit.trace(Net().eval(), torch.zeros(1, 1, 6, 6)))
    closed = find_layers(script, pictures)
    assert (closed.names, closed.words) == ((), "none")
    assert features(script, pictures, trainer, tmp_path, layers=closed).traces is None


def test_probabilities_are_not_made_softer(tmp_path, trainer):
    net, pictures = nn.Sequential(Net(), nn.Softmax(1)), Pictures(4)
    model = classifier(net, "probs")
    found = features(model, pictures, trainer, tmp_path, layers=find_layers(model, pictures))
    with torch.no_grad():
        assert np.allclose(
            found.confidence, net(to_batch([pictures.load(i) for i in range(4)])).max(1)[0], atol=1e-6
        )


def test_broken_outputs_and_missing_batches_are_named(tmp_path, trainer):
    class Broken(Net):
        def forward(self, x):
            return super().forward(x) * float("nan")

    model, pictures = classifier(Broken()), Pictures(3)
    with pytest.raises(UserError, match="NaN or infinity for case 0"):
        features(model, pictures, trainer, tmp_path / "x", layers=find_layers(model, pictures))
    model = classifier(Net())
    features(model, pictures, trainer, tmp_path / "y", layers=find_layers(model, pictures), batch_size=1)
    file_of(tmp_path / "y", 1).unlink()
    with pytest.raises(RuntimeError, match="each test case once"):
        gathered(tmp_path / "y", 3, 3)
