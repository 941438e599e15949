"""Grad-CAM equals captum's on convolutional nets, a hand-made one on tokens, and leaves no trace."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from app.inference.gradcam import NoMaps, gradcam


class Block(nn.Module):
    """Attention without tricks: tokens mix, then a residual."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)

    def forward(self, x):
        normed = self.norm(x)
        return x + self.attention(normed, normed, normed, need_weights=False)[0]


class TinyViT(nn.Module):
    def __init__(self, width=8, classes=3):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        patches = self.patch(x).flatten(2).transpose(1, 2)
        return self.head(self.blocks(torch.cat([self.token.expand(len(x), -1, -1), patches], 1))[:, 0])


@pytest.fixture
def conv():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 6, 3, padding=1),
        nn.BatchNorm2d(6),
        nn.ReLU(inplace=True),
        nn.Conv2d(6, 5, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(5, 4),
    ).eval()


def oracle(module, layer, x, classes):
    captum = pytest.importorskip("captum.attr")
    maps = captum.LayerGradCam(module, layer).attribute(x, torch.tensor(classes), relu_attributions=True)[
        :, 0
    ]
    maps = maps.detach().numpy()
    peak = maps.max(axis=(1, 2), keepdims=True)
    return np.divide(maps, peak, out=np.zeros_like(maps), where=peak > 0)


@pytest.mark.parametrize("layer", ["0", "1", "3", "4"])
def test_maps_equal_captums_also_before_in_place_activations(conv, layer):
    x, classes = torch.randn(3, 3, 12, 10), [0, 3, 1]
    own = gradcam(conv, x, classes, layer=layer)
    # captum sees what an in-place activation makes of the output, so its oracle runs out of place.
    torch.manual_seed(0)
    apart = nn.Sequential(*[nn.ReLU() if isinstance(each, nn.ReLU) else each for each in conv])
    np.testing.assert_allclose(own.maps, oracle(apart, apart[int(layer)], x, classes), atol=1e-5)
    assert own.maps.shape == (3, 12, 10)
    assert own.layer == layer


@pytest.mark.parametrize("builder", ["resnet18", "vgg11_bn", "densenet121", "mobilenet_v3_small"])
def test_a_layer_is_found_in_torchvisions_networks(builder):
    import torchvision

    torch.manual_seed(1)
    module = getattr(torchvision.models, builder)(weights=None, num_classes=4).eval()
    found = gradcam(module, torch.randn(2, 3, 96, 96), [0, 1])
    assert np.isfinite(found.maps).all()
    assert min(found.maps.shape[1:]) >= 2
    assert found.maps.max() <= 1


def test_tokens_are_laid_out_as_they_came():
    torch.manual_seed(2)
    module = TinyViT().eval()
    x, classes = torch.randn(2, 3, 16, 24), [1, 2]
    found = gradcam(module, x, classes)
    assert found.layer == "blocks.1.norm"  # of the last block's output only the class token is read
    assert found.maps.shape == (2, 4, 6)

    kept = {}
    handle = module.blocks[1].norm.register_forward_hook(lambda _, __, out: kept.update(out=out))
    scores = module(x)
    handle.remove()
    slope = torch.autograd.grad(scores[[0, 1], classes].sum(), kept["out"])[0][:, 1:]
    expected = torch.einsum("bd,btd->bt", slope.mean(1), kept["out"][:, 1:]).clamp_min(0)
    expected = (expected / expected.amax(1, keepdim=True)).reshape(2, 4, 6)
    np.testing.assert_allclose(found.maps, expected.detach().numpy(), atol=1e-5)


def test_the_network_stays_as_it_was(conv):
    x = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        before = conv(x)
        gradcam(conv, x, [0, 1])
        assert torch.equal(conv(x), before)
    assert all(parameter.grad is None for parameter in conv.parameters())
    assert not any(child._forward_hooks for child in conv.modules())


def test_saturated_probabilities_have_maps(conv):
    x = torch.randn(2, 3, 8, 8)
    sure = nn.Sequential(conv, nn.Softmax(1)).eval()
    with torch.no_grad():
        conv[7].weight.mul_(200)
        top = conv(x).argmax(1).tolist()
    found = gradcam(sure, x, top, layer="0.0", probabilities=True)
    assert np.isfinite(found.maps).all()


def test_what_has_no_places_says_so():
    flat = nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 3)).eval()
    x = torch.randn(2, 3, 2, 2)
    with pytest.raises(NoMaps, match="no layer of the model has places that the class scores depend on"):
        gradcam(flat, x, [0, 1])
    with pytest.raises(NoMaps, match="layer 1 has no places"):
        gradcam(flat, x, [0, 1], layer="1")
    with pytest.raises(NoMaps, match="no layer nope"):
        gradcam(flat, x, [0, 1], layer="nope")


def test_a_network_that_cuts_its_gradients_says_so():
    class Picky(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)

        def forward(self, x):
            with torch.no_grad():
                return self.conv(x).mean((2, 3))

    with pytest.raises(NoMaps, match="class scores depend on"):
        gradcam(Picky().eval(), torch.randn(2, 3, 8, 8), [0, 1])
