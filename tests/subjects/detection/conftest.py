"""The same four pictures and their objects in each of the formats that are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

NAMES = ("cat", "dog", "emu")
SIZE = (40, 20)
TRUTH = {
    "a.png": [("dog", (4, 2, 12, 10)), ("cat", (0, 0, 40, 20))],
    "b.png": [],
    "sub/c.png": [("emu", (10, 5, 11, 20))],
    "sub/d.png": [("cat", (20, 10, 30, 15)), ("cat", (1, 1, 9, 9)), ("dog", (30, 0, 40, 5))],
}


@dataclass
class Written:
    """Where the data lies."""

    root: Path

    @property
    def images(self) -> Path:
        return self.root / "images"

    def coco(self, **changes: object) -> Path:
        numbers = {name: 10 * (i + 1) for i, name in enumerate(NAMES)}
        content = {
            "images": [
                {"id": 100 + i, "file_name": path, "width": SIZE[0], "height": SIZE[1]}
                for i, path in enumerate(TRUTH)
            ],
            "annotations": [
                {
                    "id": 1000 * i + j,
                    "image_id": 100 + i,
                    "category_id": numbers[name],
                    "bbox": [x1, y1, x2 - x1, y2 - y1],
                }
                for i, objects in enumerate(TRUTH.values())
                for j, (name, (x1, y1, x2, y2)) in enumerate(objects)
            ],
            "categories": [{"id": number, "name": name} for name, number in reversed(numbers.items())],
        }
        path = self.root / "coco.json"
        path.write_text(json.dumps(content | changes))
        return path

    def yolo(self) -> Path:
        folder = self.root / "labels"
        for path, objects in TRUTH.items():
            if objects:
                lines = []
                for name, (x1, y1, x2, y2) in objects:
                    shares = [
                        (x1 + x2) / 2 / SIZE[0],
                        (y1 + y2) / 2 / SIZE[1],
                        (x2 - x1) / SIZE[0],
                        (y2 - y1) / SIZE[1],
                    ]
                    lines.append(" ".join(map(str, [NAMES.index(name), *shares])))
                file = (folder / path).with_suffix(".txt")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("\n".join(lines) + "\n\n")
        return folder

    def voc(self) -> Path:
        folder = self.root / "xml"
        folder.mkdir(exist_ok=True)
        for path, objects in TRUTH.items():
            parts = [f"<filename>{path}</filename>"]
            parts.append(f"<size><width>{SIZE[0]}</width><height>{SIZE[1]}</height><depth>3</depth></size>")
            for name, (x1, y1, x2, y2) in objects:
                bounds = f"<xmin>{x1 + 1}</xmin><ymin>{y1 + 1}</ymin><xmax>{x2}</xmax><ymax>{y2}</ymax>"
                parts.append(f"<object><name>{name}</name><bndbox>{bounds}</bndbox></object>")
            text = "<annotation>\n" + "\n".join(parts) + "\n</annotation>\n"
            (folder / f"{path.replace('/', '_')}.xml").write_text(text)
        return folder


@pytest.fixture
def written(tmp_path: Path, picture: Callable[..., Image.Image]) -> Written:
    """The pictures, on disk."""
    data = Written(tmp_path)
    for i, path in enumerate(TRUTH):
        file = data.images / path
        file.parent.mkdir(parents=True, exist_ok=True)
        picture(*SIZE, seed=i).save(file)
    return data
