"""CPU time and memory of all mutants in one pass against the naive way: a copy and a full pass for each mutant.

Run it from the repository: `python scripts/bench_mutants.py`. The pass is the product's own step on each batch,
preprocessing and survey of the model included; the naive way gets its tensors ready made and shares nothing with it.
Each way of each row runs in a process of its own, so that its peak memory is its own; the memory shown is what it
takes beyond the model, the images and a first plain pass. Threads are one, so that CPU seconds do not count waiting.
"""

from __future__ import annotations

import argparse
import copy
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torchvision
from PIL import Image
from torch import Tensor, nn

from app.inference.bank import Classifier, MutantBank
from app.inference.batches import Batch
from app.inference.blocks import Block
from app.inference.outcomes import outcomes, scores_of
from app.inference.replay import Replay
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


def pictures(count: int, side: int) -> list[Image.Image]:
    """Noise."""
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (side, side, 3), dtype=np.uint8)) for _ in range(count)]


def to_batch(images: Sequence[Image.Image]) -> Tensor:
    """(B, 3, H, W) with mean near 0 and deviation near 1."""
    return torch.stack(
        [(torch.from_numpy(np.array(each).transpose(2, 0, 1)).float() - 127.5) / 74 for each in images]
    )


def naive(module: nn.Module, mutants: Sequence[Mutant], batches: Sequence[Batch]) -> None:
    """A copy and a full pass for each mutant and repetition."""
    tensors = [to_batch(batch.images) for batch in batches]
    originals = [scores_of(module(tensor)) for tensor in tensors]
    for mutant in mutants:
        copied = copy.deepcopy(module)
        weights = planned_weights(mutant, copied) if mutant.kind == "weight" else None
        for batch, tensor, original in zip(batches, tensors, originals, strict=True):
            for repetition in range(mutant.repetitions):
                rows = Rows(torch.as_tensor(batch.cases), torch.full((len(tensor),), repetition))
                with overlay(mutant, copied, rows, weights):
                    outcomes(scores_of(copied(tensor)), original, "logits")


def bank(module: nn.Module, mutants: Sequence[Mutant], batches: Sequence[Batch]) -> None:
    """The product: batch outer, mutants inner, each from where it first differs."""
    blocks: list[Block] = []
    replay = Replay(module)
    with replay.installed():
        step = MutantBank(
            Classifier(module, to_batch, "logits"), mutants, save=blocks.append, replay=replay
        ).eval()
        for batch in batches:
            step.predict_step(batch, batch.number)
    if replay.reason is not None or any(block.reasons for block in blocks):
        raise RuntimeError(f"mutants ran in full passes or failed: {replay.reason or blocks[-1].reasons}")


WAYS = {"naive": naive, "bank": bank}


def peak() -> float:
    """Peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(case: Case, way: str, size: int, count: int) -> dict[str, float]:
    """CPU seconds and MiB of one way, in this process."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    extra = {"init_weights": False} if case.model == "googlenet" else {}
    module = getattr(torchvision.models, case.model)(weights=None, **extra).eval()
    images = pictures(size * count, case.side)
    batches = [
        Batch(number, np.arange(first, first + size), images[first : first + size])
        for number, first in enumerate(range(0, size * count, size))
    ]
    mutants = case.mutants(module)
    with torch.no_grad():
        module(to_batch(batches[0].images))
        before = peak()
        begin = time.process_time()
        WAYS[way](module, mutants, batches)
        return {"seconds": time.process_time() - begin, "memory": peak() - before}


def in_child(model: str, row: int, way: str, options: argparse.Namespace) -> dict[str, float]:
    """The same in a process of its own."""
    sizes = [
        "--mutants",
        str(options.mutants),
        "--batch",
        str(options.batch),
        "--batches",
        str(options.batches),
    ]
    command = [sys.executable, __file__, "--models", model, "--row", str(row), "--way", way, *sizes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--row", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=sorted(WAYS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row is not None:
        case = cases(options.models, options.mutants)[options.row]
        print(json.dumps(measure(case, options.way, options.batch, options.batches)))
        return
    print(
        f"{'model':20} {'mutants':42} {'naive s':>8} {'bank s':>8} {'ratio':>6} {'goal':>5} "
        f"{'naive MiB':>10} {'bank MiB':>9}"
    )
    for model in options.models:
        for row, case in enumerate(cases([model], options.mutants)):
            theirs, ours = (in_child(model, row, way, options) for way in ("naive", "bank"))
            print(
                f"{model:20} {case.name:42} {theirs['seconds']:8.1f} {ours['seconds']:8.1f} "
                f"{theirs['seconds'] / ours['seconds']:6.2f} {case.target or 0:5.1f} "
                f"{theirs['memory']:10.0f} {ours['memory']:9.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
