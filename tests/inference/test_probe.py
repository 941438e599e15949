"""The pass: scores and embeddings equal a plain forward, each case once."""

from __future__ import annotations

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from PIL import Image
from torch import nn

from app.errors import UserError
from app.inference.layers import Layers
from app.inference.probe import examine, probe


class Pictures:
    def __init__(self, n):
        self.pixels = np.random.default_rng(0).integers(0, 256, (n, 8, 8), dtype=np.uint8)

    def __len__(self):
        return len(self.pixels)

    def load(self, index):
        return Image.fromarray(self.pixels[index])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.relu, self.fc = nn.Conv2d(1, 3, 3), nn.ReLU(inplace=True), nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(self.relu(self.conv(x)).mean((2, 3)))


def to_batch(images):
    return torch.stack([torch.from_numpy(np.asarray(each, dtype=np.float32) / 255)[None] for each in images])


@pytest.fixture
def trainer():
    return pl.Trainer(
        accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, inference_mode=False,
    )  # fmt: skip


def test_scores_and_embeddings_are_those_of_a_plain_pass(trainer, tmp_path):
    module, images = Net().eval(), Pictures(23)
    found = examine(module, to_batch, images, "auto")
    assert (found.outputs, found.classifier.output) == (4, "logits")
    embedded = np.arange(23) % 3 == 0
    told = []
    probed = probe(
        found.classifier, images, trainer, tmp_path / "a", layers=found.layers, embedded=embedded, batch_size=5,
        advance=told.append,
    )  # fmt: skip
    x = to_batch([images.load(i) for i in range(23)])
    with torch.no_grad():
        hidden = module.relu(module.conv(x)).mean((2, 3))
        scores = module.fc(hidden)
    np.testing.assert_allclose(probed.scores, scores, atol=1e-5)
    np.testing.assert_allclose(probed.embeddings, hidden[embedded], atol=1e-5)
    assert probed.cases.tolist() == np.flatnonzero(embedded).tolist()
    assert sum(told) == 23


def test_a_layer_is_embedded_before_what_writes_into_it(trainer, tmp_path):
    module, images = Net().eval(), Pictures(6)
    found = examine(module, to_batch, images, "logits", "conv")
    probed = probe(found.classifier, images, trainer, tmp_path / "b", layers=found.layers, batch_size=4)
    with torch.no_grad():
        plain = module.conv(to_batch([images.load(i) for i in range(6)])).mean((2, 3))
    assert plain.min() < 0
    np.testing.assert_allclose(probed.embeddings, plain, atol=1e-5)
    assert not any(child._forward_hooks or child._forward_pre_hooks for child in module.modules())


def test_without_a_layer_there_are_only_scores(trainer, tmp_path):
    found = examine(Net().eval(), to_batch, Pictures(3), "logits")
    probed = probe(found.classifier, Pictures(3), trainer, tmp_path / "c")
    assert probed.embeddings is None
    assert probed.scores.shape == (3, 4)


class Broken(Net):
    def forward(self, x):
        return super().forward(x) * torch.where(x.mean((1, 2, 3)) > 2, 1.0, float("nan"))[:, None]


def test_rows_that_are_not_finite_come_through(trainer, tmp_path):
    found = examine(Broken().eval(), to_batch, Pictures(4), "auto")
    assert np.isnan(probe(found.classifier, Pictures(4), trainer, tmp_path / "d").scores).all()


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (nn.Conv2d(3, 1, 3), "the model takes 3 channels, but images come with 1 .*set mode: RGB"),
        (nn.Conv2d(1, 1, 3), "must give class scores of shape"),
        (nn.Sequential(nn.Flatten(0), nn.Unflatten(0, (1, -1))), "gives 1 rows for 5 images"),
        (nn.Sequential(nn.Flatten(), nn.Linear(64, 3), nn.Sigmoid()), "independent sigmoids"),
    ],
)
def test_what_is_no_classifier_is_refused(module, sentence):
    with pytest.raises(UserError, match=sentence):
        examine(module.eval(), to_batch, Pictures(5), "auto")


def test_a_layer_without_a_row_a_case_is_refused(trainer, tmp_path):
    class Mixing(Net):
        def __init__(self):
            super().__init__()
            self.flat = nn.Flatten(0)

        def forward(self, x):
            self.flat(x)
            return super().forward(x)

    found = examine(Mixing().eval(), to_batch, Pictures(4), "logits")
    with pytest.raises(UserError, match=r"task\.layer: flat does not hold one row a test case"):
        probe(found.classifier, Pictures(4), trainer, tmp_path / "e", layers=Layers(("flat",), inputs=False))


@pytest.mark.parametrize("precision", ["half", "double"])
def test_weights_of_another_precision_are_named(precision):
    module = getattr(Net().eval(), precision)()
    kind = {"half": "float16", "double": "float64"}[precision]
    with pytest.raises(
        UserError, match=f"the model's weights are {kind}, but images come as float32: .*float"
    ):
        examine(module, to_batch, Pictures(3), "auto")
