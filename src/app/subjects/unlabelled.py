"""Pictures that nobody has labelled: operational data, as it comes."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from app.errors import UserError
from app.images import SUFFIXES, Unreadable, decode, read
from app.limits import ImageFolder, NotNegative, Positive
from app.subjects.dataset import Excluded, ImageDataset
from app.subjects.folder import FileSource


@dataclass(frozen=True, eq=False)
class UnlabelledImages(ImageDataset):
    """Pictures without true classes: `labels` are all 0 and mean nothing."""


def without_labels(dataset: ImageDataset) -> UnlabelledImages:
    """A data set with its labels taken away."""
    values = {each.name: getattr(dataset, each.name) for each in fields(ImageDataset) if each.init}
    values |= {"labels": np.zeros(len(dataset), np.int32), "class_names": ("unlabelled",), "named": False}
    return UnlabelledImages(**values)


def unlabelled_folder(
    root: ImageFolder | Path,
    *,
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
) -> UnlabelledImages:
    """All pictures below a folder, whatever its subfolders mean; what cannot be decoded is left out and listed.

    Args:
        root: the folder.
        max_samples: keep a random sample of so many.
        seed: of the sample.
        name: second half of the subject's name; None takes the folder's.

    Raises:
        UserError: no such folder, or no picture in it.
    """
    top = Path(root).expanduser()
    if not top.is_dir():
        raise UserError(f"dataset.root {top} is no folder")
    if max_samples is not None and max_samples < 1:
        raise UserError(f"dataset.max_samples must be at least 1 or null, not {max_samples}")
    files = sorted(
        (
            Path(folder) / each
            for folder, _, entries in os.walk(top)
            for each in entries
            if Path(each).suffix.lower() in SUFFIXES and not each.startswith(".")
        ),
        key=lambda file: file.relative_to(top).as_posix(),
    )
    if max_samples is not None and max_samples < len(files):
        drawn = np.random.default_rng(seed).choice(len(files), max_samples, replace=False)
        files = [files[i] for i in np.sort(drawn)]
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        checked = list(pool.map(_digest_or_reason, files))
    kept = [(path, result) for path, result in zip(files, checked, strict=True) if isinstance(result, bytes)]
    excluded = [
        Excluded(_shown(path, top), result)
        for path, result in zip(files, checked, strict=True)
        if isinstance(result, str)
    ]
    if not kept:
        raise UserError(f"dataset.root {top} holds no picture that can be read")
    return UnlabelledImages(
        name=name or top.resolve().name.replace("@", "_"),
        class_names=("unlabelled",),
        labels=np.zeros(len(kept), dtype=np.int32),
        paths=tuple(_shown(path, top) for path, _ in kept),
        source=FileSource(tuple(path.absolute() for path, _ in kept)),
        rows=np.arange(len(kept)),
        case_digests=np.frombuffer(b"".join(digest for _, digest in kept), np.uint8).reshape(-1, 32),
        excluded=tuple(excluded),
        named=False,
    )


def _digest_or_reason(path: Path) -> bytes | str:
    """The SHA-256 of a file that decodes, or why it does not."""
    try:
        content = read(path)
        decode(content)
    except Unreadable as reason:
        return str(reason)
    return hashlib.sha256(content).digest()


def _shown(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix().encode(errors="surrogateescape").decode(errors="replace")
