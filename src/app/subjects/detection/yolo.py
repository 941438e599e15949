"""YOLO: a folder of pictures and a text file of objects for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from app.annotations import AnnotationSet, read_yolo
from app.annotations.content import by_stem, listed
from app.errors import UserError
from app.images import SUFFIXES, USUAL, Decoding
from app.limits import Folder, NotNegative, Positive
from app.subjects.detection.annotations import PictureFile, collect, folder
from app.subjects.detection.dataset import DetectionDataset
from app.subjects.files import Progress
from app.tables import read_class_names


def yolo(
    images: Folder | Path,
    labels: Folder | Path,
    *,
    class_names: str | Sequence[str] | None = None,
    max_samples: Positive | None = None,
    seed: NotNegative = 0,
    name: str | None = None,
    workers: Positive | None = None,
    progress: Progress | None = None,
    decoding: Decoding = USUAL,
) -> DetectionDataset:
    """The data set in YOLO's text files: a line is ``class x y width height``, centre and size in shares.

    ``labels/a/b.txt`` belongs to ``images/a/b.jpg`` (or another ending of a picture); shares are of the
    picture's real size. A picture without a file, or with an empty one, shows no object. Pictures are in the
    order of their paths.

    Args:
        images: the folder of pictures.
        labels: the folder of text files; may be the same.
        class_names: what the numbers mean; None takes ``classes.txt`` or the ``names`` of ``data.yaml`` in
            `labels` or up to two levels above it, or leaves them numbers.
        max_samples: keep so many pictures.
        seed: of the draw.
        name: None takes the name of the folder of pictures.
        workers: threads that decode; None takes one a core, at most 8.
        progress: is told how many files are done.
        decoding: what the formats of files leave open: which sample is white, what transparency is laid on.

    Raises:
        UserError: a malformed line, a missing picture, a box without area or outside its picture, or an
            unknown class.
    """
    pictures_in, labels_in = folder(images, "images"), folder(labels, "labels")
    listing = listed(pictures_in, SUFFIXES)
    files = by_stem(listing.files, pictures_in)
    if not files:
        raise UserError(f"dataset.images {pictures_in} holds no picture")
    stated = read_yolo(
        labels_in,
        class_names=None
        if class_names is None
        else read_class_names(class_names, "dataset.class_names", unique=False),
        names_key="dataset.class_names",
    )
    texts = {image.name: i for i, image in enumerate(stated.images)}
    _refuse_orphans(stated, files, pictures_in, labels_in)
    pictures = [
        PictureFile(
            pictures_in / file,
            file,
            stated.images[texts[stem]].where if stem in texts else str(pictures_in / file),
            texts.get(stem),
        )
        for stem, file in files.items()
    ]
    names = stated.class_names
    if not stated.named:
        names = tuple(map(str, range(max(map(int, names), default=0) + 1)))
    bare = len(files) - len(texts)
    notes = listing.notes
    if bare:
        notes += (f"{bare} of {len(files)} pictures have no file of labels: they show no object",)
    return collect(
        pictures,
        stated,
        name or pictures_in.resolve().name.replace("@", "_"),
        names,
        max_samples=max_samples,
        seed=seed,
        workers=workers,
        progress=progress,
        decoding=decoding,
        notes=notes,
    )


def _refuse_orphans(
    stated: AnnotationSet, files: Mapping[str, str], pictures_in: Path, labels_in: Path
) -> None:
    orphans = [image for image in stated.images if image.name not in files]
    if orphans:
        more = f", and {len(orphans) - 1} more" if len(orphans) > 1 else ""
        raise UserError(f"{orphans[0].where}: its picture does not exist in {pictures_in}{more}")
    if not stated.images:
        raise UserError(f"dataset.labels {labels_in} holds no file of labels for a picture in {pictures_in}")
