"""Modules come from where they were installed, whatever lies in the current folder; what only lies there is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import import_path

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def unsettled(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    monkeypatch.setattr(sys, "path", sys.path[:])
    return tmp_path


@pytest.mark.parametrize("first", ["", ".", "{here}", "{here}/x/.."])
def test_the_current_folder_comes_last_once(first, unsettled):
    sys.path.insert(0, first.format(here=unsettled))
    before = sys.path[1:]
    for _ in range(2):
        import_path.settle()
        assert sys.path == [*before, str(unsettled)]
    assert os.environ["PYTHONSAFEPATH"] == "1"


def test_a_current_folder_that_is_gone_is_on_no_path(unsettled, monkeypatch):
    folder = unsettled / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    sys.path.insert(0, "")
    import_path.settle()
    assert "" not in sys.path


def test_a_module_that_an_installed_one_hides_is_named(unsettled):
    assert import_path.hidden_by("json.Net") == ""
    (unsettled / "json.py").write_text("")
    assert import_path.hidden_by(
        "json.Net"
    ) == f"; {sys.modules['json'].__file__} comes before {unsettled}/json: " + ("give yours another name")


PLANTED = (
    "mlflow",
    "torch",
    "hydra",
    "omegaconf",
    "yaml",
    "numpy",
    "signal",
    "threading",
    "logging",
    "app",
    "late",
)
"""Modules in the current folder that leave a trace when they are imported; `late` is written during the run."""
COMMAND = """
import sys
sys.argv = ["assay", *sys.argv[1:]]
sys.path.insert(0, "")  # as Python has it for `-m`
import runpy
runpy.run_path({door!r}, run_name="__main__")
"""


def test_what_is_planted_in_the_current_folder_is_never_imported(tmp_path):
    trace = f"open({str(tmp_path / 'trace')!r}, 'a').write(__name__ + ' ')\n"
    for name in PLANTED[:-1]:
        (tmp_path / f"{name}.py").write_text(trace)
    (
        tmp_path / "own.py"
    ).write_text(  # a user's data set, which writes a library's name into the folder as it is made
        "from pathlib import Path\n"
        "def pictures(root):\n"
        f"    for name in ('pandas', 'sklearn', 'mlflow'):\n        Path(name + '.py').write_text({trace!r})\n"
        "    from app.subjects.fashion import fashion\n"
        "    return fashion(max_samples=12)\n"
    )
    command = [
        "contaminate",
        "+task.splits.train._target_=own.pictures",
        "+task.splits.train.root=x",
        "output=out",
    ]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND.format(door=str(ROOT / "src" / "assay" / "__main__.py")), *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert (tmp_path / "pandas.py").exists()
    assert not (tmp_path / "trace").exists(), (tmp_path / "trace").read_text()
