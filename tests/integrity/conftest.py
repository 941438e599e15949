"""Small pictures with something on them, and folders of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.integrity import Scan, scan_images


def scene(seed: int = 0, width: int = 80, height: int = 70) -> Image.Image:
    """A seeded colour picture of soft blobs with some detail: other seeds give quite other hashes."""
    rng = np.random.default_rng(seed)
    rough = Image.fromarray(rng.integers(0, 256, (7, 8, 3), dtype=np.uint8))
    smooth = np.asarray(rough.resize((width, height), Image.Resampling.BICUBIC), dtype=np.int16)
    grainy = smooth + rng.integers(-9, 10, smooth.shape)
    return Image.fromarray(np.clip(grainy, 0, 255).astype(np.uint8))


def encoded(image: Image.Image, kind: str = "PNG", **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.fixture
def make_scene() -> Callable[..., Image.Image]:
    return scene


@pytest.fixture
def encode() -> Callable[..., bytes]:
    return encoded


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes pictures and bytes below a new folder by their relative names."""

    def write(files: dict[str, Image.Image | bytes], name: str = "data") -> Path:
        for path, content in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else encoded(content))
        return tmp_path / name

    return write


@pytest.fixture
def scanned() -> Callable[..., Scan]:
    """The scan of images in memory."""

    def scan(name: str, images: list[Image.Image], labels=None, class_names=(), **options) -> Scan:
        classes = [-1] * len(images) if labels is None else labels
        return scan_images(images.__getitem__, classes, class_names, name=name, workers=1, **options)

    return scan
