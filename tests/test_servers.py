"""MLflow servers on SQLite and on PostgreSQL: processes log at once, runs are read back, and the pages show them.

The pages are looked at in a real browser. Servers and processes are started once for all tests: they are dear.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from app import pages
from app.detections import DetectionLog, Detections, save
from app.scoring.detection import Strength
from app.scoring.detection.folder import write_index
from app.tracking import Store
from tests.browser import PROGRAM, Browser
from tests.loopback import HOST, free_port, served

RATES = (0.1, 0.3, 0.5)
WRITERS = """
import json, os, sys
from app.tracking import Child, Store, _mlflow
_mlflow()  # once for all processes: it is most of what one costs

begun = []
for address in sys.argv[1:]:
    for number in range(2):
        begun.append(os.fork())
        if not begun[-1]:
            store = Store(address, experiment="crowd")
            with store.start(f"run {number}", task="mutate", tags={"subject": "a@b"}) as run:
                run.children(Child(f"mutant {i}", metrics={"accuracy": i / 8}) for i in range(5))
                run.log_series({"over_rate/mc_dropout": [(10, 0.25), (50, float(number))]})
                run.artifact_text(json.dumps({"number": number}), "report.json")
            os._exit(0)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in begun])
"""


@dataclass(frozen=True)
class Site:
    """The servers, with two runs in each from processes that began at once."""

    sqlite: Store
    postgresql: Store | None
    """None where that is not installed."""
    why: str
    """Why it is not."""


@dataclass(frozen=True)
class Filled:
    """Two runs of tasks on the server with SQLite."""

    store: Store
    score: str
    """Id of a run with three mutants of a detector, scored from saved detections."""
    estimate: str
    """Id of a run with two estimators at three budgets."""
    output: Path
    """Of the first."""

    def page(self, run_id: str, tab: str = "") -> str:
        return f"{self.store.ui_link(self.store.info(run_id))}/{tab}".rstrip("/")


def _detections(folder: Path) -> None:
    """Four images, and mutants that lose one of two objects in as many images as ten times their rate."""
    boxes = np.array([[0.0, 0, 10, 10], [20, 20, 40, 40]])
    probs = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]])
    both = Detections(boxes, np.array([0, 1]), probs.max(axis=1), probs)
    one = Detections(boxes[:1], np.array([0]), probs.max(axis=1)[:1], probs[:1])
    names = [f"image{i}" for i in range(6)]
    save(DetectionLog.of(names, [[both] * 3] * 6), folder / "original.npz")
    for rate in RATES:
        lost = round(10 * rate)
        save(
            DetectionLog.of(names, [[one] * 3] * lost + [[both] * 3] * (6 - lost)), folder / f"drop{rate}.npz"
        )
    write_index(folder, "tinydet", "street", {f"drop{rate}": Strength("mc_dropout", rate) for rate in RATES})


def _programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest version's."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return places[-1].parent if places else None


@contextmanager
def _database() -> Iterator[str]:
    """The address of an empty PostgreSQL database, made for this test.

    Raises:
        LookupError: what it needs is not installed.
    """
    programs = _programs()
    if programs is None:
        raise LookupError("PostgreSQL is not installed")
    if importlib.util.find_spec("psycopg2") is None:
        raise LookupError("psycopg2, which talks to PostgreSQL, is not installed")
    root = os.geteuid() == 0  # PostgreSQL refuses to run as root; Debian's package brings a user of its own
    switch = ["runuser", "-u", "postgres", "--"] if root else []
    folder = Path(tempfile.mkdtemp(prefix="database-"))  # a folder of pytest's is closed to other users
    try:
        if root:
            shutil.chown(folder, "postgres")
        new = [*switch, str(programs / "initdb"), "-A", "trust", "-U", "assay", "-N", str(folder / "data")]
        made = subprocess.run(new, check=False, capture_output=True, text=True, cwd="/")
        assert made.returncode == 0, made.stderr
        port = free_port()
        options = [f"listen_addresses={HOST}", f"unix_socket_directories={folder}", "fsync=off"]
        serve = [*switch, str(programs / "postgres"), "-D", str(folder / "data"), "-p", str(port)]
        serve += [word for each in options for word in ("-c", each)]
        with served(serve, port, folder / "log", environment=dict(os.environ), stop=signal.SIGINT):
            yield f"postgresql+psycopg2://assay@{HOST}:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")}
    clean |= {"OMP_NUM_THREADS": "1", **pages.ENVIRONMENT}
    port, other = free_port(), free_port()
    stores = [Store(f"http://{HOST}:{each}", experiment="crowd") for each in (port, other)]
    why = ""
    with ExitStack() as stack:
        command = pages.command(Store(f"sqlite:///{folder}/runs.db"), port)
        stack.enter_context(served(command, port, folder / "log", environment=clean))
        try:
            database = stack.enter_context(_database())
        except LookupError as missing:
            why = str(missing)
            stores.pop()
        else:
            place = ["--backend-store-uri", database, "--artifacts-destination", str(folder / "other")]
            command = [*command[:4], *place, "--workers", "1", "--port", str(other)]
            stack.enter_context(served(command, other, folder / "other.log", environment=clean))
        writers = [sys.executable, "-c", WRITERS, *(store.uri for store in stores)]
        done = subprocess.run(
            writers, check=False, capture_output=True, text=True, cwd=folder, env=clean, timeout=500
        )
        assert done.stdout == f"{[0, 0] * len(stores)}\n", done.stderr
        yield Site(stores[0], None if why else stores[1], why)


@pytest.fixture(scope="module")
def filled(site, assay, tmp_path_factory) -> Filled:
    folder = tmp_path_factory.mktemp("saved")
    _detections(folder)
    rows = [f"case{i},{(i % 10) / 10},{int(i % 7 < 2)}" for i in range(70)]
    (folder / "cases.csv").write_text("\n".join(["id,confidence,outcome", *rows]))
    server = [f"tracking.uri={site.sqlite.uri}", "tracking.experiment=shared"]
    scored = assay("task=score", "scoring=detection", f"predictions={folder}", *server)
    estimated = assay(
        "task=estimate",
        f"population={folder / 'cases.csv'}",
        "estimators=[srswor,srswr]",
        "task.budget=[10,20,40]",
        "repetitions=3",
        *server,
    )
    ids = []
    for ended in (scored, estimated):
        assert (ended.code, ended.err) == (0, "")
        last = ended.out.splitlines()[-1]
        found = re.fullmatch(rf"MLflow: {site.sqlite.uri}/#/experiments/\d+/runs/(\w+)", last)
        assert found, last
        ids.append(found[1])
    return Filled(Store(site.sqlite.uri, experiment="shared"), ids[0], ids[1], scored.folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("Chromium is not installed")
    with Browser() as opened:
        yield opened
        hosts = {urlsplit(each).hostname for each in opened.requests if each.startswith("http")}
        assert hosts == {HOST}  # nothing from the outside


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_processes_log_at_once_and_are_read_back(site, kind):
    store = getattr(site, kind)
    if store is None:
        pytest.skip(site.why)
    runs = store.parents("mutate", "a@b")
    assert sorted(run.name for run in runs) == ["run 0", "run 1"]
    for run in runs:
        number = int(run.name[-1])
        assert (run.status, run.folder) == ("FINISHED", None)  # its files are the server's
        assert json.loads(store.report(run.id).read_text()) == {"number": number}
        assert run.metrics == {"over_rate/mc_dropout": number}
        children = store.children_of(run.id)
        assert sorted((child.name, child.metrics["accuracy"], child.status) for child in children) == [
            (f"mutant {i}", i / 8, "FINISHED") for i in range(5)
        ]
    assert store.ui_link(runs[0]).startswith(f"{store.uri}/#/experiments/")


def test_a_task_files_everything_on_a_server(filled):
    read = filled.store.report(filled.score)
    assert read.read_bytes() == (filled.output / "report.json").read_bytes()
    info = filled.store.info(filled.score)
    assert (info.status, info.folder) == ("FINISHED", None)
    children = filled.store.children_of(filled.score)
    lost = {child.name: child.metrics["obj_ms_miss"] for child in children}
    assert [lost[f"drop{rate}"] for rate in RATES] == sorted(lost.values())
    assert lost["drop0.1"] < lost["drop0.5"]
    said = info.tags["mlflow.note.content"]
    assert f"Report: {filled.output / 'report.html'}" in said
    assert "MLflow" not in said


def test_the_table_of_runs_tells_verdicts_and_expands(filled, browser):
    browser.open(filled.store.ui_link())
    browser.shows("score tinydet@street", "estimate cases", "Description", "obj_ms_mg")
    words = filled.store.info(filled.score).tags["mlflow.note.content"]
    browser.shows(words[:24])
    assert "drop0.3" not in browser.text
    browser.press(
        "[...document.querySelectorAll('a')].find(e => e.textContent === 'score tinydet@street')"
        "?.closest('[role=gridcell]').querySelector('button')"
    )
    browser.shows("drop0.1", "drop0.3", "drop0.5")


def test_charts_over_rate_and_budget_appear(filled, browser):
    browser.open(filled.page(filled.score, "model-metrics"))
    browser.shows("obj_ms_miss_over_rate", "mc_dropout")
    assert ticks_of_the_first_chart(browser)[0] >= 10  # rates in per cent
    browser.open(filled.page(filled.estimate, "model-metrics"))
    browser.shows("rmse_ratio_srs", "srswor", "srswr")
    assert ticks_of_the_first_chart(browser)[-1] == 40  # budgets


def ticks_of_the_first_chart(browser: Browser) -> list[float]:
    """Numbers along the first line chart, once its line is drawn."""
    browser.wait("!!document.querySelector('.js-plotly-plot .scatterlayer .js-line')")
    texts = browser.wait(
        "[...document.querySelector('.js-plotly-plot').querySelectorAll('.xtick text')].map(e => e.textContent)"
    )
    return [float(text) for text in texts]


def test_artifacts_open(filled, browser):
    browser.open(filled.page(filled.score, "artifacts"))
    browser.click("report.html")
    page = browser.wait("document.querySelector('iframe')?.src")
    shown = browser.evaluate(f"fetch({json.dumps(page)}).then(answer => answer.text())")
    assert shown == (filled.output / "report.html").read_text()
    browser.click("score_over_rate.png")
    wide = "[...document.images].find(e => e.alt === 'score_over_rate.png')?.naturalWidth"
    assert browser.wait(wide) > 400
    browser.click("mutants.json")
    browser.shows("View as table", "drop0.5")
    assert not browser.errors
