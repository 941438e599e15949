"""Pictures that nobody has labelled: operational data, as it comes."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from app.errors import UserError
from app.images import NO_ENDING, USUAL, Decoding, no_image
from app.limits import ImageFolder, NotNegative, Positive
from app.subjects.dataset import Excluded, ImageDataset
from app.subjects.files import Checked, FileSource, check, notes


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
    decoding: Decoding = USUAL,
) -> UnlabelledImages:
    """All pictures below a folder, whatever its subfolders mean; what cannot be decoded is left out and listed.

    Args:
        root: the folder.
        max_samples: keep a random sample of so many.
        seed: of the sample.
        name: second half of the subject's name; None takes the folder's.
        decoding: what the formats of files leave open: which sample is white, what transparency is laid on.

    Raises:
        UserError: no such folder, or no picture in it.
    """
    top = Path(root).expanduser()
    if not top.is_dir():
        raise UserError(f"dataset.root {top} is no folder")
    if max_samples is not None and max_samples < 1:
        raise UserError(f"dataset.max_samples must be at least 1 or null, not {max_samples}")
    entries = sorted(
        (
            Path(folder) / each
            for folder, _, names in os.walk(top)
            for each in names
            if not each.startswith(".")
        ),
        key=lambda file: file.relative_to(top).as_posix(),
    )
    reasons = {path: no_image(path) for path in entries}
    files = [path for path, reason in reasons.items() if reason is None]
    excluded = [
        Excluded(_shown(path, top), reason)
        for path, reason in reasons.items()
        if reason is not None and reason != NO_ENDING
    ]
    if max_samples is not None and max_samples < len(files):
        drawn = np.random.default_rng(seed).choice(len(files), max_samples, replace=False)
        files = [files[i] for i in np.sort(drawn)]
    kept: list[tuple[str, Path, Checked]] = []
    for path, result in zip(files, check(files, decoding), strict=True):
        if isinstance(result, Checked):
            kept.append((_shown(path, top), path, result))
        else:
            excluded.append(Excluded(_shown(path, top), result))
    if not kept:
        first = f" ({excluded[0].path} {excluded[0].reason})" if excluded else ""
        raise UserError(f"dataset.root {top} holds no picture that can be read{first}")
    return UnlabelledImages(
        name=name or top.resolve().name.replace("@", "_"),
        class_names=("unlabelled",),
        labels=np.zeros(len(kept), dtype=np.int32),
        paths=tuple(shown for shown, _, _ in kept),
        source=FileSource(tuple(path.absolute() for _, path, _ in kept), decoding),
        rows=np.arange(len(kept)),
        case_digests=np.frombuffer(b"".join(each.digest for _, _, each in kept), np.uint8).reshape(-1, 32),
        excluded=tuple(sorted(excluded, key=lambda each: each.path)),
        named=False,
        notes=notes([(shown, each) for shown, _, each in kept]),
    )


def _shown(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix().encode(errors="surrogateescape").decode(errors="replace")
