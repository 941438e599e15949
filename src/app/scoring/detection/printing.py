"""One test case in words: the objects of one image under one mutant, as text tables."""

from __future__ import annotations

import numpy as np

from app.errors import UserError
from app.scoring.detection.objects import METRICS, SETS
from app.scoring.detection.results import DetectionScores


def object_tables(scores: DetectionScores, mutant: str, image: str) -> str:
    """The match, miss and ghost tables of one image under one mutant.

    Raises:
        UserError: When there is no such mutant or image.
    """
    if mutant not in scores.keys:
        raise UserError(f"no mutant {mutant!r} here; there are {', '.join(scores.keys)}")
    if image not in scores.images:
        raise UserError(f"no image {image!r} among the {len(scores.images)} scored")
    table = scores.objects
    here = (table.mutant == scores.keys.index(mutant)) & (table.image == scores.images.index(image))
    parts = [f"{image} under {mutant} ({scores.settings.profile})"]
    for kind, name in enumerate(SETS):
        rows = table.take(np.flatnonzero(here & (table.kind == kind)))
        parts.append(f"\n{name}: {len(rows)}")
        if not len(rows):
            continue
        extra = {"match": ("iou", rows.iou), "miss": ("conf", rows.conf)}.get(name)
        heads = ["object", "class", "seen", "rate", *([extra[0]] if extra else []), *METRICS]
        body = []
        for index in range(len(rows)):
            seen = "".join("#" if flag else "." for flag in rows.seen[index])
            numbers = [rows.rate[index], *([extra[1][index]] if extra else []), *rows.score[index]]
            body.append([str(rows.number[index]), str(rows.label[index]), seen, *map(_number, numbers)])
        parts.append(_aligned([heads, *body]))
    return "\n".join(parts) + "\n"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4f}"


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )
