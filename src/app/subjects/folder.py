"""Folders of pictures, one subfolder a class."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from app.errors import Fault, UserError
from app.images import SUFFIXES, Unreadable, decode, read
from app.limits import ClassFolders, NotNegative, Positive
from app.subjects.dataset import Excluded, ImageDataset, check_class_names, stratified
from app.tables import read_class_names

Progress = Callable[[int, int], None]
"""Called with how many files are checked and how many there are."""


@dataclass(frozen=True, eq=False)
class FileSource:
    """Pictures in files."""

    files: tuple[Path, ...]
    """(N,): absolute paths."""

    def load(self, row: int) -> Image.Image:
        """The picture of a row.

        Raises:
            Fault: the file was fine when the data set was made and no longer is.
        """
        try:
            return decode(read(self.files[row]))
        except Unreadable as reason:
            raise Fault(f"{self.files[row]} {reason}: it has changed since the run began") from None


def image_folder(
    root: ClassFolders | Path,
    *,
    class_names: str | Sequence[str] | None = None,
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
    workers: Positive | None = None,
    progress: Progress | None = None,
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
    checked = list(_check([path for _, path in found], workers or min(8, os.cpu_count() or 1), progress))

    kept: list[tuple[int, Path, bytes]] = []
    for (label, path), result in zip(found, checked, strict=True):
        if isinstance(result, bytes):
            kept.append((label, path, result))
        else:
            excluded.append(Excluded(_shown(path, top), result))
    _refuse_empty(top, names, {label for label, _ in found}, {label for label, _, _ in kept}, excluded)
    return ImageDataset(
        name=name or top.resolve().name.replace("@", "_"),
        class_names=names,
        labels=np.array([label for label, _, _ in kept], dtype=np.int32),
        paths=tuple(_shown(path, top) for _, path, _ in kept),
        source=FileSource(tuple(path.absolute() for _, path, _ in kept)),
        rows=np.arange(len(kept)),
        case_digests=np.frombuffer(b"".join(digest for _, _, digest in kept), np.uint8).reshape(-1, 32),
        excluded=tuple(sorted(excluded, key=lambda each: each.path)),
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
            raise UserError(f"class folder {top / name} holds no picture: add some or remove the folder")
    return found, excluded


def _reason_to_skip(path: Path, inside: Path) -> str | None:
    if path.suffix.lower() not in SUFFIXES:
        return "has no ending of a picture"
    if path.is_symlink() and not path.resolve().is_relative_to(inside):
        return "is a link out of the data set's folder"
    return None


def _check(files: Sequence[Path], workers: int, progress: Progress | None) -> Iterator[bytes | str]:
    """The SHA-256 of each file that decodes, or why it does not."""
    with ThreadPoolExecutor(workers) as pool:
        for done, result in enumerate(pool.map(_digest_or_reason, files), start=1):
            if progress is not None:
                progress(done, len(files))
            yield result


def _digest_or_reason(path: Path) -> bytes | str:
    try:
        content = read(path)
        decode(content)
    except Unreadable as reason:
        return str(reason)
    return hashlib.sha256(content).digest()


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
