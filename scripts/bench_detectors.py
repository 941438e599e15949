"""CPU seconds of MC dropout in the box head of a detector: one pass for all repetitions against full passes on copies.

The detector is fasterrcnn_mobilenet_v3_large_320_fpn with random weights (the time does not depend on them) and a low
score threshold, so that there are detections. The naive way copies the model and runs every repetition whole.

    python scripts/bench_detectors.py [--images 8] [--rates 2] [--repetitions 10] [--batch 4] [--site head]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn

from app.inference.batches import Batch
from app.inference.detection import campaign
from app.inference.detection.bank import DetectorBank, DetectorSetup
from app.inference.detection.blocks import DetectionBlock
from app.inference.detection.replay import DetectorReplay
from app.mutation.mc_dropout import McDropout
from app.mutation.mutant import Mutant
from app.mutation.targets import Targets


class Pictures:
    """Noise of a usual size."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def load(self, index: int) -> Image.Image:
        """The picture at an index."""
        pixels = np.random.default_rng(index).integers(0, 256, (240, 320, 3), dtype=np.uint8)
        return Image.fromarray(pixels)


def to_images(pictures: Sequence[Image.Image]) -> list[Tensor]:
    return [torch.from_numpy(np.array(each).transpose(2, 0, 1)).float() / 255 for each in pictures]


def detector() -> nn.Module:
    torch.manual_seed(0)
    model: nn.Module = fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=21, box_score_thresh=0.045
    )
    return model.eval()


def seconds(
    setup: DetectorSetup, mutants: list[Mutant], pictures: Pictures, size: int, replay: DetectorReplay | None
) -> tuple[float, list[DetectionBlock]]:
    """CPU seconds of one campaign, its survey included, and its blocks."""
    blocks: list[DetectionBlock] = []
    begin = time.process_time()
    groups = [mutants] if replay is not None else [[mutant] for mutant in mutants]
    with torch.no_grad():
        for members in groups:
            bank = DetectorBank(setup, members, save=blocks.append, replay=replay).eval()
            for number, first in enumerate(range(0, len(pictures), size)):
                cases = np.arange(first, min(first + size, len(pictures)))
                bank.predict_step(Batch(number, cases, [pictures.load(int(case)) for case in cases]), number)
    return time.process_time() - begin, blocks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--rates", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--site", default="head")
    options = parser.parse_args()
    torch.set_num_threads(1)
    module, pictures = detector(), Pictures(options.images)
    rates = [round(0.1 + 0.1 * index, 2) for index in range(options.rates)]
    mutants = McDropout(rates, options.repetitions, site=options.site).plan(Targets(module), 0)
    setup = campaign.examine(module, to_images, pictures).setup
    naive, _ = seconds(setup, mutants, pictures, options.batch, None)
    replay = DetectorReplay(module)
    with replay.installed():
        bank, blocks = seconds(setup, mutants, pictures, options.batch, replay)
    found = sum(int(block.counts.sum()) for block in blocks)
    print(f"{options.images} images, {len(mutants)} mutants, T = {options.repetitions}, {found} detections")
    print(f"{'way':8} {'CPU s':>8} {'s/mutant':>9} {'ratio':>6}")
    for name, spent in (("naive", naive), ("bank", bank)):
        print(f"{name:8} {spent:8.2f} {spent / len(mutants):9.2f} {naive / spent:6.1f}")


if __name__ == "__main__":
    main()
