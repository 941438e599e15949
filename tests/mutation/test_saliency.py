"""Saliency: the gradients it reports, and the model it leaves alone."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch import nn
from torch.nn import functional

from app.mutation.saliency import LayerSaliency, Saliency, measure

LABELS = torch.tensor([0, 1, 2, 3, 4, 0])


def by_backward(model, images, labels):
    model.zero_grad()
    functional.cross_entropy(model(images), labels).backward()
    gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    return gradients


def test_it_equals_backward_whatever_the_batches(net, images):
    gradients = by_backward(net, images, LABELS)
    batches = [(images[:4], LABELS[:4]), (images[4:], LABELS[4:])]
    saliency = measure(net, batches)
    assert list(saliency.layers) == ["conv1", "conv2", "head"]
    for name, layer in saliency.layers.items():
        gradient = gradients[f"{name}.weight"]
        product = (net.get_submodule(name).weight * gradient).abs().detach()
        assert layer.gradient == pytest.approx(gradient.abs().mean().item(), rel=1e-4)
        assert layer.product == pytest.approx(product.mean().item(), rel=1e-4)
        assert layer.channels == pytest.approx(product.flatten(1).sum(1).numpy(), rel=1e-4, abs=1e-9)


def test_probabilities_give_the_same_as_logits(net, images):
    whole = nn.Sequential(net, nn.Softmax(1))
    from_logits = measure(net, [(images, LABELS)])
    from_probs = measure(whole, [(images, LABELS)], "probs")
    for name, layer in from_logits.layers.items():
        assert from_probs.layers[f"0.{name}"].product == pytest.approx(layer.product, rel=1e-3)


def test_scores_in_a_mapping_give_the_same(net, images):
    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return {"logits": self.net(x), "aux": None}

    expected = measure(net, [(images, LABELS)])
    found = measure(Wrapped(), [(images, LABELS)], scores_of=lambda given: given["logits"])
    for name, layer in expected.layers.items():
        assert found.layers[f"net.{name}"].product == pytest.approx(layer.product, rel=1e-6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_torchscript_and_exported_programs_give_the_same(net, exported, images):
    expected = measure(net, [(images, LABELS)])
    for model in (torch.jit.script(net), exported):
        for name, layer in measure(model, [(images, LABELS)]).layers.items():
            assert layer.channels == pytest.approx(expected.layers[name].channels, rel=1e-3, abs=1e-9)


def test_only_the_first_samples_count(net, images):
    few = measure(net, [(images, LABELS)], samples=2)
    expected = measure(net, [(images[:2], LABELS[:2])])
    assert few.layers["head"].product == pytest.approx(expected.layers["head"].product, rel=1e-5)

    def endless():
        while True:
            yield images, LABELS

    assert measure(net, endless(), samples=10).layers.keys() == few.layers.keys()


def test_the_model_is_left_as_it_was(net, images):
    flags = {}
    for index, (name, parameter) in enumerate(net.named_parameters()):
        parameter.requires_grad_(index % 2 == 0)
        flags[name] = parameter.requires_grad
    before = {name: (id(p), p.detach().clone()) for name, p in net.named_parameters()}

    def interrupted():
        yield images, LABELS
        raise KeyboardInterrupt

    with torch.no_grad():
        measure(net, [(images, LABELS)])
        with pytest.raises(KeyboardInterrupt):
            measure(net, interrupted())
    for name, parameter in net.named_parameters():
        assert parameter.grad is None
        assert parameter.requires_grad == flags[name]
        assert id(parameter) == before[name][0]
        assert torch.equal(parameter, before[name][1])


def test_a_layer_the_output_does_not_depend_on_has_none():
    model = nn.Linear(3, 2)
    model.add_module("idle", nn.Linear(3, 3))
    saliency = measure(model, [(torch.randn(4, 3), torch.tensor([0, 1, 0, 1]))])
    assert saliency.layers["idle"].product == 0
    assert saliency.layers[""].product > 0
    assert all(np.isfinite(list(saliency.log_weights(["", "idle"], by_product=True).values())))


def test_chances_are_the_softmax_of_log_saliency_over_temperature():
    layers = {
        "a": LayerSaliency(2.0, 0.5, np.array([1.0, 3.0])),
        "b": LayerSaliency(8.0, 0.0, np.array([1.0])),
    }
    for temperature in (0.5, 2.0):
        saliency = Saliency(layers, temperature)
        by_gradient = saliency.log_weights(["a", "b"], by_product=False)
        expected = softmax(np.log(np.array([2.0, 8.0]) + 1e-12) / temperature)
        assert np.exp(list(by_gradient.values())) == pytest.approx(expected)
        by_product = saliency.log_weights(["a", "b"], by_product=True)
        expected = softmax(np.log(np.array([0.5, 0.0]) + 1e-12) / temperature)
        assert np.exp(list(by_product.values())) == pytest.approx(expected)
        channels = softmax(np.log(np.array([1.0, 3.0]) + 1e-12) / temperature)
        assert np.exp(saliency.channel_log_weights("a")) == pytest.approx(channels)


def test_bad_arguments_are_refused(net, images):
    with pytest.raises(ValueError, match="at least one sample"):
        measure(net, [])
    with pytest.raises(ValueError, match="samples must be at least 1"):
        measure(net, [(images, LABELS)], samples=0)
    with pytest.raises(ValueError, match="temperature above 0"):
        measure(net, [(images, LABELS)], temperature=0.0)
