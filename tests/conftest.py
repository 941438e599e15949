"""A command line that runs inside the test's process: what it is given, and what it leaves behind."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import json
import logging
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

gc.set_threshold(50_000, 10, 10)  # as in `app.__main__`
settings.register_profile("busy machine", deadline=None)  # a slow answer is no wrong one
settings.load_profile("busy machine")

DEAR = (
    "test_ranks",
    "test_interruption",
    "test_servers",
    "test_launchers",
    "test_wheel",
    "test_mutate_detector",
)
"""Files whose tests wait for other processes: begun first, so that the other workers have work meanwhile."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.path.stem.startswith(DEAR))


USERS_CODE = """
import torch
from torch import nn

from app.mutation.weight_zeroing import WeightZeroing


class Net(nn.Module):
    def __init__(self, outputs=10, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.relu = nn.ReLU()
        self.head = nn.Linear(4, outputs)

    def forward(self, images):
        return self.head(self.relu(self.conv(images)).mean((2, 3)))


class NeverFinite(Net):
    def forward(self, images):
        return super().forward(images) * float("inf")


class BlindToWhite(Net):
    def forward(self, images):
        white = images.mean((1, 2, 3)) > 0.99
        return torch.where(white[:, None], float("nan"), super().forward(images))


class OwnZeroing(WeightZeroing):
    name = "own_zeroing"
"""


@dataclass(frozen=True)
class Ended:
    """What a command left."""

    code: int
    out: str
    err: str
    folder: Path

    def report(self, *parts: str) -> dict:
        return json.loads((self.folder.joinpath(*parts) / "report.json").read_text())

    def numbers(self, *parts: str) -> dict:
        """The report without the block that says when and where."""
        return {key: value for key, value in self.report(*parts).items() if key != "run"}


class Assay:
    """`python -m app` in a folder of its own, with one store for all its commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def arguments(self, *given: str) -> tuple[list[str], Path]:
        self.count += 1
        output = next((Path(each[7:]) for each in given if each.startswith("output=")), None)
        if output is not None:
            return list(given), self.folder / output
        place = f"out/{self.count}"
        return [*given, f"output={place}"], self.folder / place

    def __call__(self, *given: str) -> Ended:
        """Runs in this process, as from the folder."""
        arguments, place = self.arguments(*given)
        return self.exactly(*arguments, place=place)

    def exactly(self, *arguments: str, place: Path | None = None) -> Ended:
        """The same with no argument but these, so that the output lies where it does by default."""
        import app.__main__ as door

        before, argv, root = Path.cwd(), sys.argv, logging.getLogger()
        handlers, level = root.handlers[:], root.level
        out, err = io.StringIO(), io.StringIO()
        os.chdir(self.folder)
        sys.argv = ["app", *arguments]
        sys.path.insert(0, str(self.folder))
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = door.main()
        finally:
            sys.path.remove(str(self.folder))
            sys.argv = argv
            os.chdir(before)
            for handler in set(root.handlers) - set(handlers):
                handler.close()
            root.handlers, root.level = handlers, level
            logging.captureWarnings(capture=False)
        return Ended(code, out.getvalue(), err.getvalue(), place or self.folder)

    def two(self, *given: str) -> Ended:
        """Runs in this process and in one that Lightning starts, as `python -m app` would."""
        import __main__

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(__main__, "__spec__", importlib.util.find_spec("app.__main__"), raising=False)
            patch.setenv("OMP_NUM_THREADS", "1")
            return self(*given, "trainer=ddp_cpu", "trainer.devices=2")

    def processes(self, place: str, *given: str) -> Ended:
        """Runs in processes of its own to the end, which ends well."""
        process = self.started(*given, f"output={place}")
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return Ended(process.returncode, out, err, self.folder / place)

    def started(self, *given: str, **options: object) -> subprocess.Popen[str]:
        """Runs in a process of its own, which tests of processes need; 15 CPU seconds go into imports."""
        return subprocess.Popen(
            [sys.executable, "-m", "app", *given],
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1", "HYDRA_FULL_ERROR": ""},
            **options,
        )

    @property
    def client(self):
        from mlflow import MlflowClient

        return MlflowClient(f"sqlite:///{self.folder}/mlruns/mlflow.db")

    def runs(self, query: str = "") -> list:
        """All runs of the store, straight from MLflow; none if there is no store yet."""
        if not (self.folder / "mlruns" / "mlflow.db").exists():
            return []
        experiments = [each.experiment_id for each in self.client.search_experiments()]
        return list(self.client.search_runs(experiments, query, max_results=5000))

    def statuses(self) -> Counter:
        return Counter(run.info.status for run in self.runs())

    def children(self, parent: str) -> list:
        return self.runs(f"tags.`mlflow.parentRunId` = '{parent}'")


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory) -> Path:
    """A store's database without a run: to make one takes a second, to copy it nothing."""
    from app.tracking import _mlflow

    path = tmp_path_factory.mktemp("empty") / "mlflow.db"
    _mlflow().MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture(scope="module")
def assay(tmp_path_factory, empty_store) -> Assay:
    """The command line, in a folder with a module of the user's; each file of tests has its own."""
    folder = tmp_path_factory.mktemp("assay")
    (folder / "users_code.py").write_text(USERS_CODE)
    (folder / "mlruns").mkdir()
    shutil.copy(empty_store, folder / "mlruns")
    return Assay(folder)


@pytest.fixture(scope="session")
def small() -> list[str]:
    """A campaign of 7 mutants on 40 test cases, in 2 batches."""
    return [
        "task=mutate",
        "model=fashion_cnn",
        "dataset=fashion",
        "dataset.max_samples=40",
        "operators=[layer_freezing,mc_dropout,input_blur]",
        "operators.layer_freezing.count=3",
        "operators.mc_dropout.rates=[0.2,0.5]",
        "operators.mc_dropout.repetitions=3",
        "operators.input_blur.count=2",
        "task.batch_size=20",
    ]
