"""Folders of pictures, one subfolder a class."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.errors import UserError
from app.images import USUAL, Decoding, no_image
from app.limits import ClassFolders, NotNegative, Positive
from app.subjects.dataset import Excluded, ImageDataset, check_class_names, stratified
from app.subjects.files import Checked, FileSource, Progress, check, notes
from app.tables import read_class_names


def image_folder(
    root: ClassFolders | Path,
    *,
    class_names: str | Sequence[str] | None = None,
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
    workers: Positive | None = None,
    progress: Progress | None = None,
    decoding: Decoding = USUAL,
) -> ImageDataset:
    """The data set in ``root/CLASS/**/picture``: each subfolder of the root is a class.

    Every picture that is kept was decoded once in full; what cannot be is left out and listed. That costs one
    pass of decoding (about 1 ms a core for a JPEG of 224 pixels), and no task can crash on a file later.

    Args:
        root: the folder.
        class_names: the classes in the order of their labels, a list or a file; None sorts the subfolders by name.
        max_samples: keep a stratified sample of so many files, drawn before they are decoded.
        seed: of the sample.
        name: None takes the folder's name.
        workers: threads that decode; None takes one a core, at most 8.
        progress: is told how many files are done.
        decoding: what the formats of files leave open: which sample is white, what transparency is laid on.

    Raises:
        UserError: no such folder, no classes, a class without pictures, or class names unlike the subfolders.
    """
    top = Path(root).expanduser()
    if not top.is_dir():
        raise UserError(
            f"dataset.root {top} is no folder" if top.exists() else f"dataset.root {top} does not exist"
        )
    names = _class_names(top, class_names)
    found, excluded = _list(top, names)
    labels = np.array([label for label, _ in found], dtype=np.int32)
    found = [found[i] for i in stratified(labels, max_samples, seed)]
    kept: list[tuple[int, Path, Checked]] = []
    results = check([path for _, path in found], decoding, workers, progress)
    for (label, path), result in zip(found, results, strict=True):
        if isinstance(result, Checked):
            kept.append((label, path, result))
        else:
            excluded.append(Excluded(_shown(path, top), result))
    _refuse_empty(top, names, {label for label, _ in found}, {label for label, _, _ in kept}, excluded)
    return ImageDataset(
        name=name or top.resolve().name.replace("@", "_"),
        class_names=names,
        labels=np.array([label for label, _, _ in kept], dtype=np.int32),
        paths=tuple(_shown(path, top) for _, path, _ in kept),
        source=FileSource(tuple(path.absolute() for _, path, _ in kept), decoding),
        rows=np.arange(len(kept)),
        case_digests=np.frombuffer(b"".join(each.digest for _, _, each in kept), np.uint8).reshape(-1, 32),
        excluded=tuple(sorted(excluded, key=lambda each: each.path)),
        notes=notes([(_shown(path, top), each) for _, path, each in kept]),
    )


def _class_names(top: Path, given: str | Sequence[str] | None) -> tuple[str, ...]:
    folders = sorted(
        entry.name for entry in top.iterdir() if entry.is_dir() and not entry.name.startswith(".")
    )
    if not folders:
        raise UserError(
            f"dataset.root {top} has no subfolders: put the pictures of each class in a folder named after it"
        )
    if given is None:
        return tuple(folders)
    names = read_class_names(given, "dataset.class_names")
    check_class_names(names)
    extra, missing = sorted(set(folders) - set(names)), [each for each in names if each not in folders]
    if extra:
        raise UserError(f"dataset.class_names lacks {', '.join(extra)}, of which there are folders in {top}")
    if missing:
        raise UserError(f"dataset.class_names has {', '.join(missing)}, of which there is no folder in {top}")
    return names


def _list(top: Path, names: Sequence[str]) -> tuple[list[tuple[int, Path]], list[Excluded]]:
    """(label, file) in the order of class and path, and what is no picture or leads out of the root."""
    inside = top.resolve()
    found: list[tuple[int, Path]] = []
    excluded: list[Excluded] = []
    for label, name in enumerate(names):
        if not (top / name).resolve().is_relative_to(inside):
            raise UserError(
                f"class folder {top / name} is a link out of {top}: only what lies inside is read"
            )
        files = []
        for folder, subfolders, entries in os.walk(top / name):
            links = [each for each in subfolders if (Path(folder) / each).is_symlink()]
            excluded += [
                Excluded(_shown(Path(folder) / each, top), "is a link to a folder") for each in links
            ]
            subfolders[:] = [each for each in subfolders if not each.startswith(".")]
            files += [Path(folder) / each for each in entries if not each.startswith(".")]
        pictures = 0
        for path in sorted(files, key=lambda file: file.relative_to(top).as_posix()):
            reason = _reason_to_skip(path, inside)
            if reason is None:
                found.append((label, path))
                pictures += 1
            else:
                excluded.append(Excluded(_shown(path, top), reason))
        if not pictures:
            why = next(
                (f" ({each.path} {each.reason})" for each in excluded if each.path.startswith(f"{name}/")), ""
            )
            raise UserError(f"class folder {top / name} holds no picture{why}: add some or remove the folder")
    return found, excluded


def _reason_to_skip(path: Path, inside: Path) -> str | None:
    if (foreign := no_image(path)) is not None:
        return foreign
    if path.is_symlink() and not path.resolve().is_relative_to(inside):
        return "is a link out of the data set's folder"
    return None


def _refuse_empty(
    top: Path, names: Sequence[str], before: set[int], after: set[int], excluded: Sequence[Excluded]
) -> None:
    for label in sorted(before - after):
        first = next(each for each in excluded if each.path.startswith(names[label] + "/"))
        raise UserError(
            f"class folder {top / names[label]} holds no readable picture ({first.path} {first.reason})"
        )


def _shown(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix().encode(errors="surrogateescape").decode(errors="replace")
