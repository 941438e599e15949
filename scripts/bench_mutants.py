"""CPU time of all mutants in one pass against the naive way: a copy of the model and a full pass for each mutant.

Run it from the repository: `python scripts/bench_mutants.py`. Both ways run in one process on the same images, so
that the ratio means something on a shared machine; the absolute seconds do not.
"""

from __future__ import annotations

import argparse
import copy
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torchvision
from torch import Tensor, nn

from app.inference.outcomes import outcomes, scores_of
from app.inference.replay import FULL, Replay
from app.mutation.mc_dropout import McDropout
from app.mutation.mutant import Mutant
from app.mutation.overlay import Rows, overlay, planned_weights
from app.mutation.targets import Targets
from app.mutation.weight_noise import WeightNoise

MODELS = ("resnet18", "mobilenet_v3_small", "densenet121", "googlenet", "vit_b_16")


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    name: str
    model: str
    side: int
    mutants: Callable[[nn.Module], list[Mutant]]
    target: float | None = None


def spread(module: nn.Module, count: int, *, last: float = 1.0) -> list[Mutant]:
    """Weight mutants spread evenly over the last share of the weighted layers."""
    layers = [layer.name for layer in Targets(module).weighted()]
    layers = layers[round(len(layers) * (1 - last)) :]
    noise = WeightNoise()
    params = {"sigma": 0.01, "relative": False}
    return [
        Mutant(noise, params, site, (site,), seed)
        for seed, site in enumerate(layers[i * len(layers) // count] for i in range(count))
    ]


def dropout(module: nn.Module) -> list[Mutant]:
    """MC-dropout before the last layer, T = 10."""
    return McDropout(rates=[0.1, 0.3, 0.5], repetitions=10).plan(Targets(module), 0)


def cases(models: Sequence[str], count: int) -> list[Case]:
    table = []
    for model in models:
        side = 224 if model.startswith("vit") else 64
        bars = (1.9, 4.0, 8.0) if model == "resnet18" else (1.0, 1.0, 1.0)
        table += [
            Case(f"{count} weight mutants, all layers", model, side, lambda m: spread(m, count), bars[0]),
            Case(
                f"{count} weight mutants, last third",
                model,
                side,
                lambda m: spread(m, count, last=1 / 3),
                bars[1],
            ),
            Case("mc_dropout before the last layer, T = 10", model, side, dropout, bars[2]),
        ]
    return table


def naive(module: nn.Module, mutants: Sequence[Mutant], batches: Sequence[Tensor]) -> None:
    """A copy and a full pass for each mutant and repetition."""
    originals = [scores_of(module(batch)) for batch in batches]
    for mutant in mutants:
        copied = copy.deepcopy(module)
        weights = planned_weights(mutant, copied) if mutant.kind == "weight" else None
        for batch, original in zip(batches, originals, strict=True):
            for repetition in range(mutant.repetitions):
                rows = Rows(torch.arange(len(batch)), torch.full((len(batch),), repetition))
                with overlay(mutant, copied, rows, weights):
                    outcomes(scores_of(copied(batch)), original, "logits")


def bank(module: nn.Module, mutants: Sequence[Mutant], batches: Sequence[Tensor]) -> None:
    """Batch outer, mutants inner, each from where it first differs."""
    replay = Replay(module)
    weights = {m.key: planned_weights(m, module) if m.kind == "weight" else None for m in mutants}
    with replay.installed():
        replay.survey(batches[0][:2])
        starts = [replay.start(m.sites, output=m.kind == "stochastic") for m in mutants]
        if any(m.params.get("position") == "input" for m in mutants):
            starts = [replay.start(m.sites) for m in mutants]
        for batch in batches:
            original = scores_of(replay.record(batch, starts))
            for mutant, start in zip(mutants, starts, strict=True):
                tiles = mutant.repetitions
                rows = Rows(
                    torch.arange(len(batch)).repeat(tiles), torch.arange(tiles).repeat_interleave(len(batch))
                )
                with overlay(mutant, module, rows, weights[mutant.key]):
                    scores = scores_of(replay.run(start, tiles))
                outcomes(scores, original, "logits")
    assert replay.reason is None
    assert any(start != FULL for start in starts)


def seconds(work: Callable[[], None]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--batches", type=int, default=4)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    print(
        f"{'model':20} {'mutants':42} {'naive s':>8} {'bank s':>8} {'ratio':>6} {'goal':>5} {'peak MiB':>9}"
    )
    for case in cases(arguments.models, arguments.mutants):
        extra = {"init_weights": False} if case.model == "googlenet" else {}
        module = getattr(torchvision.models, case.model)(weights=None, **extra).eval()
        batches = [torch.randn(arguments.batch, 3, case.side, case.side) for _ in range(arguments.batches)]
        mutants = case.mutants(module)
        with torch.no_grad():
            module(batches[0])
            ours = seconds(lambda m=module, u=mutants, b=batches: bank(m, u, b))
            theirs = seconds(lambda m=module, u=mutants, b=batches: naive(m, u, b))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{case.model:20} {case.name:42} {theirs:8.1f} {ours:8.1f} {theirs / ours:6.2f} "
            f"{case.target or 0:5.1f} {peak:9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
