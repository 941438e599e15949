"""Train the embedded classifier on Fashion-MNIST and pack the embedded images.

Reads the four IDX files (as distributed, gzip) from a folder, for example the one of Debian's package
`dataset-fashion-mnist`, trains on all 60,000 training images, prints the accuracy on all 10,000 test images
and writes weights and images into the package's assets. The seed fixes everything; the last bits of the
weights
also depend on the machine.

    python scripts/train_classifier.py /usr/share/datasets/fashion-mnist
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from app.subjects.fashion import ASSETS, IMAGES_FILE, PREPROCESS, WEIGHTS_FILE, FashionCNN

Bytes = NDArray[np.uint8]


def read_idx(path: Path) -> Bytes:
    """The array of unsigned bytes in a gzipped IDX file."""
    raw = gzip.decompress(path.read_bytes())
    zeros, kind, ndim = int.from_bytes(raw[:2], "big"), raw[2], raw[3]
    if zeros != 0 or kind != 8:
        raise SystemExit(f"{path} is not an IDX file of unsigned bytes")
    shape = np.frombuffer(raw, ">u4", count=ndim, offset=4).astype(np.int64)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * ndim).reshape(shape)


def stratified(labels: Bytes, per_class: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Indices of `per_class` cases of every class, in rising order."""
    chosen = [rng.choice(np.flatnonzero(labels == c), per_class, replace=False) for c in np.unique(labels)]
    return np.sort(np.concatenate(chosen)).astype(np.int32)


def to_input(images: Bytes) -> Tensor:
    """(N, 1, 28, 28): the images as the model's preprocessing makes them."""
    scaled = torch.from_numpy(images.copy())[:, None].float() / 255
    return (scaled - PREPROCESS.mean[0]) / PREPROCESS.std[0]


def train(images: Tensor, labels: Tensor, epochs: int, seed: int) -> FashionCNN:
    """The trained network: Adam, one-cycle learning rate, batches of 128, random mirror images."""
    torch.manual_seed(seed)
    model = FashionCNN().train()
    batch, n = 128, len(labels)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
    steps = epochs * (n // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=steps)
    loss_of = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total, start = 0.0, time.process_time()
        order = torch.randperm(n)
        for first in range(0, n - batch + 1, batch):
            rows = order[first : first + batch]
            x = images[rows]
            mirror = torch.rand(batch) < 0.5
            x[mirror] = x[mirror].flip(-1)
            loss = loss_of(model(x), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        seconds = time.process_time() - start
        print(f"epoch {epoch + 1}/{epochs}: loss {total / (n // batch):.4f}, {seconds:.0f} CPU-s", flush=True)
    return model.eval()


def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """The share of right predictions."""
    with torch.inference_mode():
        top1 = torch.cat([model(part).argmax(1) for part in torch.split(images, 1000)])
    return (top1 == labels).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="holds train- and t10k- images and labels, *-ubyte.gz")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ASSETS)
    options = parser.parse_args()

    read = {
        split: (
            read_idx(options.folder / f"{prefix}-images-idx3-ubyte.gz"),
            read_idx(options.folder / f"{prefix}-labels-idx1-ubyte.gz"),
        )
        for split, prefix in (("train", "train"), ("test", "t10k"))
    }
    rng = np.random.default_rng(options.seed)
    packed: dict[str, NDArray[np.generic]] = {}
    for split, per_class in (("train", 400), ("test", 200)):
        images, labels = read[split]
        indices = stratified(labels, per_class, rng)
        packed |= {
            f"{split}_images": images[indices],
            f"{split}_labels": labels[indices],
            f"{split}_indices": indices,
        }
    options.out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out / IMAGES_FILE, **packed)  # type: ignore[arg-type]  # stub's keyword clash

    inputs = {split: to_input(images) for split, (images, _) in read.items()}
    targets = {split: torch.from_numpy(labels.astype(np.int64)) for split, (_, labels) in read.items()}
    model = train(inputs["train"], targets["train"], options.epochs, options.seed)
    torch.save(model.state_dict(), options.out / WEIGHTS_FILE)
    for split in ("train", "test"):
        share = accuracy(model, inputs[split], targets[split])
        embedded = torch.from_numpy(packed[f"{split}_indices"].astype(np.int64))
        of_embedded = accuracy(model, inputs[split][embedded], targets[split][embedded])
        print(f"{split}: accuracy {share:.4f} on all, {of_embedded:.4f} on the embedded images")
    for name in (IMAGES_FILE, WEIGHTS_FILE):
        data = (options.out / name).read_bytes()
        print(f'{name}: {len(data):,} bytes, sha256 "{hashlib.sha256(data).hexdigest()}"')


if __name__ == "__main__":
    main()
