"""Boxes in Pascal VOC's XML: one file an image."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from app.diagnosis.detection.raw import RawBoxes
from app.errors import UserError

LARGEST = 16 * 2**20
"""Bytes of one XML file at most."""


def read_voc(folder: Path) -> RawBoxes:
    """Boxes of a folder of XML files, one an image; objects with a ``score`` are detections.

    VOC counts pixels from 1 and includes the last one; here boxes start at 0 and end after it. Objects that are
    marked ``difficult`` count like crowds: neither right nor wrong.

    Args:
        folder: the folder.

    Raises:
        UserError: if a file is too large, no XML, or lacks what is needed.
    """
    files = sorted(folder.glob("*.xml"))
    image: list[str] = []
    label: list[str] = []
    rows: list[list[float]] = []
    scores: list[float | None] = []
    difficult: list[bool] = []
    names = {}
    for path in files:
        root = _root(path)
        names[path.stem] = root.findtext("filename") or path.stem
        for number, each in enumerate(root.iter("object")):
            corners = [each.findtext(f"bndbox/{side}") for side in ("xmin", "ymin", "xmax", "ymax")]
            name, score = each.findtext("name"), each.findtext("score")
            try:
                rows.append([float(corner or "") for corner in corners])
                scores.append(None if score is None else float(score))
            except ValueError as error:
                raise UserError(
                    f"{path}: object {number} needs a bndbox of four numbers (xmin, ymin, xmax, ymax) and, if it "
                    "has a score, a number"
                ) from error
            if not name:
                raise UserError(f"{path}: object {number} has no name; the name of its class is needed")
            image.append(path.stem)
            label.append(name.strip())
            difficult.append((each.findtext("difficult") or "0").strip() == "1")
    known = [score for score in scores if score is not None]
    if known and len(known) < len(scores):
        raise UserError(f"{folder}: some objects have a score and some have none; all or none is allowed")
    boxes = np.array(rows).reshape(len(rows), 4) - [1.0, 1.0, 0.0, 0.0]
    return RawBoxes(
        source=folder,
        image=image,
        label=label,
        xyxy=boxes,
        score=known if known or not rows else None,
        crowd=difficult,
        images=[path.stem for path in files],
        image_aliases={name: stem for stem, name in names.items()},
        form="Pascal VOC XML",
    )


def _root(path: Path) -> ElementTree.Element:
    try:
        content = path.read_bytes()
        if len(content) > LARGEST:
            raise UserError(f"{path}: {len(content)} bytes; up to {LARGEST} are allowed")
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise UserError(f"{path}: a document type is not allowed in these files")
        return ElementTree.fromstring(content)  # noqa: S314 -- no document type, so no entity can expand
    except (OSError, ElementTree.ParseError) as error:
        raise UserError(f"{path}: not a readable XML file: {error}") from error
