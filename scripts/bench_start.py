"""CPU seconds of what ends before any work: the help, the version, and one mistake of each kind in each task.

Each command runs in a process of its own, in an empty folder; the least of a few runs counts::

    python scripts/bench_start.py --runs 2
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET = 1.0
"""CPU seconds that each may take at most."""
SUBJECT = ["model=fashion_cnn", "dataset=fashion"]
MUTATE = ["mutate", *SUBJECT, "operators=[weight_noise]"]
ASKED = {"help": ["--help"], "help of a task": ["mutate", "--help"], "version": ["--version"]}
MISTAKES = {
    "unknown task": ["mutat"],
    "unknown key": [*MUTATE, "task.batch_sise=3"],
    "unknown key with a plus": [*MUTATE, "+dataset.max_sample=3"],
    "impossible value": [*MUTATE, "task.batch_size=0"],
    "devices": [*MUTATE, "trainer.devices=0"],
    "key that is not read": ["history", "before=latest"],
    "malformed id": [*MUTATE, "resume=mine"],
    "mutate: no weights": [
        "mutate",
        "model=file",
        "model.path=gone.pt2",
        "dataset=fashion",
        "operators=[input_blur]",
    ],
    "mutate: no images": [
        "mutate",
        SUBJECT[0],
        "dataset=image_folder",
        "dataset.root=gone",
        "operators=[input_blur]",
    ],
    "mutate: empty folder": [
        "mutate",
        SUBJECT[0],
        "dataset=image_folder",
        "dataset.root=bare",
        "operators=[input_blur]",
    ],
    "mutate: no annotations": [
        *(
            "mutate",
            "model=scene_detector",
            "dataset=coco",
            "dataset.annotations=gone.json",
            "dataset.images=bare",
        ),
        *("operators=[mc_dropout]", "scoring=detection"),
    ],
    "checkup: no images": ["checkup", SUBJECT[0], "dataset=image_folder", "dataset.root=gone"],
    "autopsy: no table": ["autopsy", "probs=gone.npy", "labels=gone.npy"],
    "estimate: no table": ["estimate", "population=gone.csv"],
    "score: no predictions": ["score", "predictions=gone"],
    "detect_eval: no boxes": ["detect_eval", "detections=gone.json", "ground_truth=gone.json"],
    "contaminate: no folder": ["contaminate", "+task.splits.train=gone", "+task.splits.test=bare"],
    "compare: no report": ["compare", "before=gone.json", "after=latest"],
    "history: no folder": ["history", "task.folder=gone"],
}


def seconds(arguments: list[str], folder: Path, code: int) -> float:
    """CPU seconds of a command that must end with this exit code and at most one line on standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "assay", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != code or done.stderr.count("\n") > 1:
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Prints a table; the exit code says whether each keeps to its target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2)
    runs = parser.parse_args().runs
    worst = 0.0
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "bare").mkdir()
        for name, arguments in {**ASKED, **MISTAKES}.items():
            code = 0 if name in ASKED else 2
            took = min(seconds(arguments, folder, code) for _ in range(runs))
            worst = max(worst, took)
            print(f"{took:5.2f} s  {name}", flush=True)
    print(f"{worst:5.2f} s  the worst; the target is {TARGET:.2f} s")
    return int(worst > TARGET)


if __name__ == "__main__":
    sys.exit(main())
