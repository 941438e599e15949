"""Train the embedded detector on scenes composed of Fashion-MNIST items.

Reads the training images' IDX files (as distributed, gzip) from a folder, for example the one of Debian's
package `dataset-fashion-mnist`, composes a new scene for every step from all 60,000 items, prints the average
precision on scenes of the embedded test items and writes the weights into the package's assets. The seed fixes
everything; the last bits of the weights also depend on the machine.

    python scripts/train_detector.py /usr/share/datasets/fashion-mnist
"""

from __future__ import annotations

import argparse
import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN

from app.subjects.detection.composition import Items, Scene, compose
from app.subjects.detection.scene_detector import WEIGHTS_FILE, scene_network
from app.subjects.detection.scenes import embedded_items
from app.subjects.fashion import ASSETS, CLASS_NAMES
from train_classifier import read_idx

Floats = NDArray[np.float64]
IOUS = np.arange(0.5, 1.0, 0.05)
RECALLS = np.linspace(0, 1, 101)


def to_input(scene: Scene) -> Tensor:
    """(3, 128, 128) in [0, 1]: the scene as the network takes it."""
    return torch.from_numpy(scene.pixels).permute(2, 0, 1).float() / 255


def to_target(scene: Scene) -> dict[str, Tensor]:
    """Boxes and labels as torchvision trains on them: 0 is the background."""
    return {"boxes": torch.from_numpy(scene.boxes).float(), "labels": torch.from_numpy(scene.labels) + 1}


@dataclass(frozen=True)
class Cycle:
    """A part of the training: one rise and fall of the learning rate."""

    first: int
    """How many steps came before."""
    steps: int
    """How many it has."""
    rate: float
    """Highest learning rate."""


CYCLES = (Cycle(0, 2400, 2e-3), Cycle(2400, 1200, 1e-3))


def train(items: Items, batch: int, seed: int) -> FasterRCNN:
    """The trained network."""
    torch.manual_seed(seed)
    network = scene_network()
    for cycle in CYCLES:
        train_cycle(network, cycle, items, batch, seed)
    return network


def train_cycle(network: FasterRCNN, cycle: Cycle, items: Items, batch: int, seed: int) -> None:
    """Trains by AdamW with a one-cycle learning rate, on new crowded scenes of 4 to 8 items at every step."""
    if cycle.first:
        torch.manual_seed(seed + cycle.first)
    network.train()
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=cycle.rate, total_steps=cycle.steps, pct_start=0.15
    )
    losses: list[float] = []
    for step in range(cycle.first, cycle.first + cycle.steps):
        rngs = [np.random.default_rng([seed, step, i]) for i in range(batch)]
        scenes = [compose(items, rng, fewest=4, most=8) for rng in rngs]
        parts = network([to_input(scene) for scene in scenes], [to_target(scene) for scene in scenes])
        loss = torch.stack(list(parts.values())).sum()
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % 50 == 0:
            seconds = time.process_time()
            print(f"step {step + 1}: loss {np.mean(losses[-50:]):.4f}, {seconds:.0f} CPU-s", flush=True)
    network.eval()


def average_precision(network: nn.Module, scenes: list[Scene]) -> Floats:
    """(10, classes): average precision at IoU 0.5 to 0.95, as COCO defines it (101 recalls)."""
    with torch.inference_mode():
        found = [network([to_input(scene)])[0] for scene in scenes]
    return np.array([[_precision_of(scenes, found, c, iou) for c in range(len(CLASS_NAMES))] for iou in IOUS])


def _precision_of(scenes: list[Scene], found: list[dict[str, Tensor]], label: int, iou: float) -> float:
    """Average precision of a class: detections by falling score, each taking the best box that is left."""
    scores: list[float] = []
    right: list[bool] = []
    for scene, each in zip(scenes, found, strict=True):
        mine = each["labels"] == label + 1
        boxes, truth = each["boxes"][mine].double().numpy(), scene.boxes[scene.labels == label]
        free = np.ones(len(truth), dtype=bool)
        for score, overlaps in zip(each["scores"][mine].tolist(), _ious(boxes, truth), strict=True):
            open_to = np.where(free & (overlaps >= iou), overlaps, -1.0)
            hit = bool(free.any()) and bool(open_to.max() >= 0)
            if hit:
                free[open_to.argmax()] = False
            scores.append(score)
            right.append(hit)
    order = np.argsort(-np.array(scores), kind="stable")
    hits = np.cumsum(np.array(right, dtype=bool)[order])
    support = sum(int((scene.labels == label).sum()) for scene in scenes)
    precision = np.maximum.accumulate((hits / np.arange(1, len(hits) + 1))[::-1])[::-1]
    place = np.searchsorted(hits / support, RECALLS)
    return float(np.mean([precision[i] if i < len(precision) else 0.0 for i in place]))


def _ious(one: Floats, other: Floats) -> Floats:
    """(M, N): intersection over union of all pairs of boxes."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(axis=-1)
    area = [(boxes[:, 2:] - boxes[:, :2]).prod(axis=-1) for boxes in (one, other)]
    return np.asarray(both / (area[0][:, None] + area[1][None] - both))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="holds train-images and train-labels, *-ubyte.gz")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ASSETS)
    options = parser.parse_args()

    images = read_idx(options.folder / "train-images-idx3-ubyte.gz")
    labels = read_idx(options.folder / "train-labels-idx1-ubyte.gz")
    network = train(Items(images, labels.astype(np.int64)), options.batch, options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(network.state_dict(), options.out / WEIGHTS_FILE)
    seconds = time.process_time()
    test = embedded_items()
    # The first 200 scenes of the data set `scenes` with its default seed.
    precision = average_precision(network, [compose(test, np.random.default_rng([0, i])) for i in range(200)])
    print(f"trained in {seconds:.0f} CPU-seconds")
    for name, value in zip(CLASS_NAMES, precision[0], strict=True):
        print(f"AP50 {name}: {value:.3f}")
    print(f"200 test scenes: mAP {precision.mean():.4f}, mAP50 {precision[0].mean():.4f}")
    data = (options.out / WEIGHTS_FILE).read_bytes()
    print(f'{WEIGHTS_FILE}: {len(data):,} bytes, sha256 "{hashlib.sha256(data).hexdigest()}"')


if __name__ == "__main__":
    main()
