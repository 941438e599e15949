"""Disturbs a small campaign in every way it can be disturbed, goes on with it, and compares its report.

Each round draws a fault and a moment by seed, ends the command that way, resumes it as its last line says (once in a
while disturbs it again before it is through), and compares the report with that of an undisturbed run::

    python scripts/soak.py --rounds 30 --seed 0

Prints a table, and ends with exit code 1 if a report differs, a run is left open or a line is missing.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PICTURES = 24
"""Test cases of the campaign."""
SECONDS = 240
"""How long a command may take before it is taken for hung."""
CAMPAIGN = (
    "task=mutate",
    "model=fashion_cnn",
    "dataset=image_folder",
    "dataset.root=photos",
    "operators=[layer_freezing,mc_dropout,input_blur]",
    "operators.layer_freezing.count=2",
    "operators.mc_dropout.rates=[0.3]",
    "operators.mc_dropout.repetitions=2",
    "operators.input_blur.count=1",
    "task.batch_size=6",
    "task.group_size=2",
    "tracking.patience=1",
)
RESUME = re.compile(r"resume=([0-9a-f]{32})")


LOCKER = """
import os, sqlite3, sys, time
with sqlite3.connect(sys.argv[1], timeout=60) as other:
    other.execute("BEGIN IMMEDIATE")
    print("locked", flush=True)
    while os.getppid() == int(sys.argv[2]):
        time.sleep(0.05)
"""
"""A program that locks a database for as long as its parent lives."""


@dataclass(frozen=True)
class Place:
    """Where the commands run."""

    folder: Path

    @property
    def output(self) -> Path:
        """Of the command that is disturbed."""
        return self.folder / "out"

    @property
    def database(self) -> Path:
        """The store."""
        return self.folder / "mlruns" / "mlflow.db"

    @property
    def picture(self) -> Path:
        """A test case."""
        return sorted((self.folder / "photos").rglob("*.png"))[PICTURES // 2]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    """Negative if by a signal."""
    err: str


@dataclass(frozen=True)
class Round:
    """One row of the table."""

    faults: str
    codes: str
    line: str
    trouble: str
    """What was wrong; empty if all was well."""


# -- faults: what the process does to itself, or has done to its surroundings, before it writes its n-th file ----------


def _signals(*kinds: signal.Signals) -> Callable[[Place], None]:
    def send(_: Place) -> None:
        me = os.getpid()
        if not os.fork():  # from outside, at their own pace
            for kind in kinds:
                os.kill(me, kind)
                time.sleep(0.02)
            os._exit(0)
        time.sleep(0.1)

    return send


def _no_space(_: Place) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")


def _quota(_: Place) -> None:
    raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), "somewhere")


def _no_memory(_: Place) -> None:
    raise MemoryError("8 GiB were asked for")


def _small_files(_: Place) -> None:
    """What comes of a full disk everywhere, in the store too."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))


def _locked(place: Place) -> None:
    """Another program holds the store for longer than anybody waits."""
    words = [sys.executable, "-c", LOCKER, str(place.database), str(os.getpid())]
    other = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert other.stdout is not None
    other.stdout.readline()


def _output_gone(place: Place) -> None:
    shutil.rmtree(place.output)


def _output_a_file(place: Place) -> None:
    shutil.rmtree(place.output)
    place.output.write_text("no folder")


def _report_a_folder(place: Place) -> None:
    (place.output / "report.html").mkdir(exist_ok=True)


def _picture_gone(place: Place) -> None:
    place.picture.rename(place.folder / "hidden")


def _picture_broken(place: Place) -> None:
    shutil.copy(place.picture, place.folder / "hidden")
    place.picture.write_bytes(b"no picture")


FAULTS: Mapping[str, Callable[[Place], None]] = {
    "SIGKILL": _signals(signal.SIGKILL),
    "SIGTERM three times": _signals(signal.SIGTERM, signal.SIGTERM, signal.SIGTERM),
    "Ctrl-C twice": _signals(signal.SIGINT, signal.SIGINT),
    "SIGHUP": _signals(signal.SIGHUP),
    "disk full": _no_space,
    "quota used up": _quota,
    "file size limit": _small_files,
    "not enough memory": _no_memory,
    "store locked": _locked,
    "output folder deleted": _output_gone,
    "output folder made a file": _output_a_file,
    "folder in a report's place": _report_a_folder,
    "picture gone": _picture_gone,
    "picture broken": _picture_broken,
}


def _repaired(place: Place, picture: Path) -> None:
    """What a user puts right before going on."""
    if (place.folder / "hidden").exists():
        (place.folder / "hidden").replace(picture)
    if place.output.is_file():
        place.output.unlink()
    if (place.output / "report.html").is_dir():
        (place.output / "report.html").rmdir()


# -- commands --------------------------------------------------------------------------------------------------


def command(
    place: Place, *given: str, fault: str = "", moment: int = 0, counted: Path | None = None
) -> Ended:
    """Runs a command in a process that is forked from this one: what it imports was imported once for all.

    Args:
        place: where.
        given: what the campaign is told beside its own settings.
        fault: which of `FAULTS`; none if empty.
        moment: before the file of which number.
        counted: where to leave how many files were written.
    """
    end, said = os.pipe()
    pid = os.fork()
    if not pid:
        code = 70
        try:
            os.chdir(place.folder)
            os.dup2(said, 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            code = _run(place, given, fault, moment, counted)
        finally:
            os._exit(code)
    os.close(said)
    watch = threading.Timer(SECONDS, lambda: os.kill(pid, signal.SIGKILL))
    watch.start()
    with os.fdopen(end) as file:
        err = file.read()
    status = os.waitpid(pid, 0)[1]
    hung = not watch.is_alive()
    watch.cancel()
    return Ended(-99 if hung else os.waitstatus_to_exitcode(status), err)


def _run(place: Place, given: tuple[str, ...], fault: str, moment: int, counted: Path | None) -> int:
    sys.argv = ["app", *CAMPAIGN, *given]
    from app import durable  # noqa: PLC0415 - as late as the door
    from app.__main__ import main  # noqa: PLC0415

    write, number = durable.write, 0

    def disturbed(content: Any, path: Path) -> Path:
        nonlocal number
        number += 1
        if fault and number == moment:
            FAULTS[fault](place)
        return write(content, path)

    durable.write = disturbed
    code = main()
    if counted is not None:
        counted.write_text(str(number))
    sys.stderr.flush()
    return code


def _import_once() -> None:
    """What every command needs: to import it is most of what one costs."""
    import mlflow.store.tracking.sqlalchemy_store  # noqa: PLC0415
    import pytorch_lightning  # noqa: PLC0415

    import app.reporting.html  # noqa: PLC0415
    import app.tasks.mutate  # noqa: F401, PLC0415

    del mlflow, pytorch_lightning


# -- rounds ----------------------------------------------------------------------------------------------------


def _numbers(folder: Path) -> dict[str, Any]:
    body = json.loads((folder / "report.json").read_text())
    return {key: value for key, value in body.items() if key != "run"}


def _parents(place: Place) -> dict[str, str]:
    """The campaigns of the store: id to status."""
    query = (
        "SELECT r.run_uuid, r.status FROM runs r JOIN tags t ON t.run_uuid = r.run_uuid "
        "WHERE t.key = 'assay.kind' AND t.value = 'parent' AND r.lifecycle_stage = 'active'"
    )
    with closing(sqlite3.connect(place.database, timeout=60)) as database:
        return dict(database.execute(query).fetchall())


def soak(place: Place, undisturbed: dict[str, Any], files: int, chosen: list[tuple[str, int]]) -> Round:
    """One campaign, disturbed as often as there are faults chosen, and then let go on to its end."""
    shutil.rmtree(place.output, ignore_errors=True)
    before, picture = _parents(place), place.picture
    go_on: tuple[str, ...] = ()
    codes, lines, trouble = [], [], []
    for fault, moment in chosen:
        ended = command(place, "output=out", *go_on, fault=fault, moment=moment)
        _repaired(place, picture)
        codes.append(str(ended.code))
        if ended.code == 0:  # it was through before its moment came, or wrote over what was done to it
            break
        said = [line for line in ended.err.splitlines() if not line.startswith("tracking.uri=")]
        lines += said
        expected = {"SIGKILL": -9, "SIGTERM three times": 130, "Ctrl-C twice": 130, "SIGHUP": 130}.get(
            fault, 1
        )
        if ended.code != expected:
            trouble.append(f"exit code {ended.code}, not {expected}")
        if len(said) != (fault != "SIGKILL"):
            trouble.append(f"{len(said)} lines")
        told = RESUME.search(ended.err)
        new = [run for run in _parents(place) if run not in before]
        if told is not None:
            go_on = (f"resume={told[1]}",)
        elif new:
            go_on = (f"resume={new[0]}",)
            if fault != "SIGKILL":
                trouble.append("no line says how to go on")
    else:
        ended = command(place, "output=out", *go_on)
        codes.append(str(ended.code))
        if ended.code or ended.err:
            trouble.append(f"to go on ended with {ended.code}: {ended.err.strip()[-200:]}")
    if not trouble and _numbers(place.output) != undisturbed:
        trouble.append("the report differs")
    left = {run: status for run, status in _parents(place).items() if run not in before}
    if set(left.values()) != {"FINISHED"} or len(left) != 1:
        trouble.append(f"runs are left {sorted(left.values())}")
    return Round(
        "; ".join(f"{fault} at file {moment} of {files}" for fault, moment in chosen),
        " ".join(codes),
        " | ".join(lines),
        "; ".join(trouble),
    )


def main(arguments: list[str] | None = None) -> int:
    """Prints the table; returns 1 if anything was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    given = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"
    _import_once()
    with tempfile.TemporaryDirectory(prefix="soak-") as temporary:
        place = Place((given.folder or Path(temporary)).resolve())
        place.folder.mkdir(parents=True, exist_ok=True)
        _photos(place.folder / "photos")
        counted = place.folder / "counted"
        ended = command(place, "output=undisturbed", counted=counted)
        if ended.code:
            print(f"undisturbed: {ended.code} {ended.err}")
            return 1
        undisturbed, files = _numbers(place.folder / "undisturbed"), int(counted.read_text())
        rng, names = np.random.default_rng(given.seed), list(FAULTS)
        order = [names[i] for _ in range(-(-given.rounds // len(names))) for i in rng.permutation(len(names))]
        wrong = 0
        print(
            "| round | what happened | exit codes | what was said | |\n| --- | --- | --- | --- | --- |",
            flush=True,
        )
        for number, first in enumerate(order[: given.rounds], start=1):
            chosen = [(first, int(rng.integers(1, files + 1)))]
            if rng.random() < 1 / 3:
                chosen.append((names[int(rng.integers(len(names)))], int(rng.integers(1, files // 2 + 1))))
            found = soak(place, undisturbed, files, chosen)
            wrong += bool(found.trouble)
            result = found.trouble or "equal"
            print(f"| {number} | {found.faults} | {found.codes} | {found.line} | {result} |", flush=True)
        print(
            f"\n{given.rounds - wrong} of {given.rounds} campaigns ended with the report of an undisturbed one."
        )
    return int(wrong > 0)


def _photos(folder: Path) -> None:
    """Test cases as files, so that one can be taken away."""
    from app.subjects.fashion import fashion  # noqa: PLC0415 - starts torch

    data = fashion(max_samples=PICTURES)
    for name in data.class_names:
        (folder / _safe(name)).mkdir(parents=True, exist_ok=True)
    for case, label in enumerate(data.labels.tolist()):
        data.load(case).save(folder / _safe(data.class_names[label]) / f"{case:03d}.png")


def _safe(name: str) -> str:
    return name.replace("/", "_")


if __name__ == "__main__":
    sys.exit(main())
