"""Tiny networks and pictures that the tests of this room share."""

from __future__ import annotations

import io
import pathlib
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn


def tiny_net() -> nn.Sequential:
    """A classifier of 1-channel pictures of any size into 3 classes, with the same weights each time."""
    net = nn.Sequential()
    net.add_module("conv", nn.Conv2d(1, 4, 3, padding=1))
    net.add_module("norm", nn.BatchNorm2d(4))
    net.add_module("relu", nn.ReLU())
    net.add_module("pool", nn.AdaptiveAvgPool2d(1))
    net.add_module("flat", nn.Flatten())
    net.add_module("drop", nn.Dropout(0.5))
    net.add_module("head", nn.Linear(4, 3))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return net


@pytest.fixture
def net() -> nn.Sequential:
    return tiny_net()


@pytest.fixture
def make_net() -> Callable[[], nn.Sequential]:
    return tiny_net


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported program of the network, for tests that only read it."""
    path = tmp_path_factory.mktemp("exported") / "net.pt2"
    shapes = ({0: torch.export.Dim("batch")},)
    program = torch.export.export(tiny_net().eval(), (torch.ones(2, 1, 6, 6),), dynamic_shapes=shapes)
    torch.export.save(program, path)
    return path


@pytest.fixture
def picture() -> Callable[..., Image.Image]:
    """Makes a seeded noise picture of a size."""

    def make(width: int = 12, height: int = 10, mode: str = "RGB", seed: int = 0) -> Image.Image:
        channels = {"RGB": (3,), "L": ()}[mode]
        pixels = np.random.default_rng(seed).integers(0, 256, (height, width, *channels))
        return Image.fromarray(pixels.astype(np.uint8))

    return make


@pytest.fixture
def animals(tmp_path: Path, picture: Callable[..., Image.Image]) -> Path:
    """A folder with 3 cats and 2 dogs."""
    root = tmp_path / "animals"
    for folder, count in (("cat", 3), ("dog", 2)):
        (root / folder).mkdir(parents=True)
        for i in range(count):
            picture(seed=10 * count + i).save(root / folder / f"{i}.png")
    return root


class Trap:
    """Pickled, it makes a file when it is loaded."""

    def __init__(self, victim: Path) -> None:
        self.victim = victim

    def __reduce__(self) -> tuple[object, ...]:
        return pathlib.Path.touch, (self.victim,)


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    made = Trap(tmp_path / "the trap has sprung")
    # The trap works: what the tests below refuse to load would do harm.
    pickle.loads(pickle.dumps(made))
    assert made.victim.exists()
    made.victim.unlink()
    return made


@pytest.fixture
def repack(tmp_path: Path) -> Callable[..., Path]:
    """Copies a zip archive with some records replaced or added, all below the archive's top folder."""

    def change(source: Path, records: dict[str, bytes], append: bool = False) -> Path:
        target = tmp_path / f"repacked-{source.name}"
        with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
            top = old.namelist()[0].partition("/")[0]
            for info in old.infolist():
                inner = info.filename.partition("/")[2]
                new.writestr(info.filename, old.read(info) if append else records.get(inner, old.read(info)))
            known = {name.partition("/")[2] for name in old.namelist()}
            for inner, content in records.items():
                if append or inner not in known:
                    new.writestr(f"{top}/{inner}", content)
        return target

    return change


@pytest.fixture
def saved_trap(trap: Trap) -> bytes:
    """The trap as torch.save writes it."""
    buffer = io.BytesIO()
    torch.save((trap,), buffer)
    return buffer.getvalue()
