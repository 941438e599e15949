"""How much the loss depends on each layer and channel, so that mutants hit where it matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import logsumexp
from torch import Tensor, nn
from torch.nn import functional

from app.mutation.layer import Array, Layer
from app.mutation.targets import Targets

_FLOOR = 1e-12


@dataclass(frozen=True)
class LayerSaliency:
    """Saliency of one weight, from the gradient g of the mean loss."""

    gradient: float
    """Mean of |g|: for mutants that move weights."""
    product: float
    """Mean of |w · g|, the first-order change of the loss when a weight vanishes: for mutants that remove."""
    channels: NDArray[np.float64]
    """Sum of |w · g| over each output channel."""


@dataclass(frozen=True)
class Saliency:
    """Saliency of every weighted layer of a model, and the temperature of drawing by it."""

    layers: Mapping[str, LayerSaliency]
    """By dotted module name."""
    temperature: float = 2.0
    """T of softmax(log(s + 1e-12) / T): high is nearly even, low is nearly always the most salient."""

    def log_weights(self, names: Sequence[str], *, by_product: bool) -> dict[str, float]:
        """Logarithm of the chance of each of these layers; the chances sum to 1.

        Args:
            names: the layers to draw from.
            by_product: whether |w · g| counts, or |g|.
        """
        layers = [self.layers[name] for name in names]
        values = [layer.product if by_product else layer.gradient for layer in layers]
        return dict(zip(names, self._log_softmax(np.array(values)).tolist(), strict=True))

    def channel_log_weights(self, name: str) -> list[float]:
        """Logarithm of the chance of each channel of a layer; the chances sum to 1."""
        return [float(value) for value in self._log_softmax(self.layers[name].channels)]

    def _log_softmax(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        logits = np.log(values + _FLOOR) / self.temperature
        return np.asarray(logits - logsumexp(logits))


def measure(
    module: nn.Module,
    batches: Iterable[tuple[Tensor, Tensor]],
    output: Literal["logits", "probs"] = "logits",
    *,
    samples: int = 256,
    temperature: float = 2.0,
    scores_of: Callable[[Any], Tensor] = lambda given: given,
) -> Saliency:
    """Saliency of a classifier's weighted layers under cross-entropy.

    The model keeps its mode, its gradients and its `requires_grad` flags. It must be in evaluation mode.

    Args:
        module: the classifier, from (B, C, H, W) to (B, K).
        batches: inputs and (B,) labels, on the model's device.
        output: whether the model gives logits or probabilities.
        samples: stop after this many; the first ones count.
        temperature: of drawing by it, above 0.
        scores_of: (B, K) from what the model gives back, where that is a mapping or a tuple.

    Raises:
        ValueError: no sample, or a bad number of samples or temperature.
    """
    if samples < 1 or not temperature > 0:
        raise ValueError(
            f"samples must be at least 1 and temperature above 0, not {samples} and {temperature}"
        )
    targets = Targets(module)
    layers = targets.weighted()
    weights: list[Tensor] = [getattr(targets.modules[layer.name], layer.weight) for layer in layers]
    totals = [torch.zeros_like(weight, dtype=torch.float32) for weight in weights]
    seen = 0
    flags = [weight.requires_grad for weight in weights]
    try:
        for weight in weights:
            weight.requires_grad_(True)
        with torch.enable_grad():
            for inputs, labels in batches:
                taken = slice(0, samples - seen)
                loss = _loss(scores_of(module(inputs[taken])), labels[taken], output)
                gradients = torch.autograd.grad(loss, weights, allow_unused=True)
                for total, gradient in zip(totals, gradients, strict=True):
                    if gradient is not None:
                        total.add_(gradient)
                seen += len(labels[taken])
                if seen >= samples:
                    break
    finally:
        for weight, flag in zip(weights, flags, strict=True):
            weight.requires_grad_(flag)
    if seen == 0:
        raise ValueError("saliency needs at least one sample")
    return Saliency(
        {
            layer.name: _of(
                layer, weight.detach().cpu().double().numpy(), total.cpu().double().numpy() / seen
            )
            for layer, weight, total in zip(layers, weights, totals, strict=True)
        },
        temperature,
    )


def _loss(outputs: Tensor, labels: Tensor, output: Literal["logits", "probs"]) -> Tensor:
    log_probs = outputs.log_softmax(1) if output == "logits" else outputs.clamp(min=_FLOOR).log()
    return functional.nll_loss(log_probs, labels, reduction="sum")


def _of(layer: Layer, weight: Array, gradient: Array) -> LayerSaliency:
    product = np.abs(weight * gradient)
    channels = [float(layer.channel(product, channel).sum()) for channel in range(layer.channels)]
    return LayerSaliency(float(np.abs(gradient).mean()), float(product.mean()), np.array(channels))
