"""Tasks on files and folders start without torch, which alone would cost them 4 seconds."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
from PIL import Image

from tests.reporting.history.bodies import autopsy, write

CODE = """
import json, pathlib, sys
from app.__main__ import main

def another():
    body = json.loads(pathlib.Path("out/light_contaminate/report.json").read_text())
    body["run"]["id"] = "0" * 32
    pathlib.Path("light/another.json").write_text(json.dumps(body))

for task in (
    ["task=contaminate", "+task.splits.train=light/train", "+task.splits.test=light/test"],
    ["task=detect_eval", "detections=light/boxes.json", "ground_truth=light/truth.json"],
    ["task=estimate", "population=light/table.csv", "task.budget=20", "repetitions=2"],
    ["task=autopsy", "probs=light/probs.npy", "labels=light/labels.npy", "task.resamples=5"],
    ["task=history", "task.folder=light/runs"],
    ["task=compare", "before=out/light_contaminate", "after=light/another.json"],
):
    if task[0] == "task=compare":
        another()
    sys.argv = ["app", *task, f"output=out/light_{task[0][5:]}"]
    code = main()
    print(code, *(name for name in ("torch", "torchvision", "pytorch_lightning", "sklearn") if name in sys.modules))
"""


def test_no_torch_is_started(assay):
    root = assay.folder / "light"
    for number, split in enumerate(("train", "test")):
        (root / split).mkdir(parents=True)
        noise = np.random.default_rng(number).integers(0, 256, (70, 80, 3), dtype=np.uint8)
        Image.fromarray(noise).save(root / split / "x.png")
    boxes = [{"image_id": "a", "class_name": "cat", "bbox": [0, 0, 9, 9], "score": 0.9}]
    (root / "boxes.json").write_text(json.dumps(boxes))
    (root / "truth.json").write_text(
        json.dumps([{"image_id": "a", "class_name": "cat", "bbox": [0, 0, 9, 9]}])
    )
    lines = (f"{i},{0.99 - i / 200},{'Fail' if i % 9 == 0 else 'Pass'}\n" for i in range(100))
    (root / "table.csv").write_text("id,confidence,outcome\n" + "".join(lines))
    np.save(root / "probs.npy", np.full((30, 3), 0.1) + 0.7 * np.eye(3)[np.arange(30) % 3])
    np.save(root / "labels.npy", np.arange(30) % 3)
    for day in (1, 2):
        write(root / "runs" / str(day) / "report.json", autopsy(day))
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=assay.folder, capture_output=True, text=True, check=True
    )
    codes = [line for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert codes == ["0"] * 6, done.stdout + done.stderr
