"""The wheel has all it needs: installed elsewhere, it runs the demo."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FEW = [
    "dataset.max_samples=20",
    "operators.mc_dropout.repetitions=1",
    "operators.mc_dropblock.repetitions=1",
    *(f"operators.{name}.count=1" for name in ("weight_noise", "weight_zeroing", "neuron_ablation")),
    *(f"operators.{name}.count=1" for name in ("layer_freezing", "quantization", "activation_replacement")),
]


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the wheel, is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    [path] = folder.glob("assay-*.whl")
    return path


def test_the_configuration_and_the_embedded_subject_are_inside(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {f"app/conf/{path.relative_to(ROOT / 'conf')}" for path in (ROOT / "conf").rglob("*.yaml")}
    assert expected <= names
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "app").rglob("*.j2")}
    assert sources <= names
    assets = (ROOT / "src" / "app" / "subjects" / "assets").iterdir()
    assert {f"app/subjects/assets/{path.name}" for path in assets} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    [entries] = [name for name in names if name.endswith("entry_points.txt")]
    assert "assay = assay.__main__:main" in zipfile.ZipFile(wheel).read(entries).decode()


def test_the_demo_runs_from_elsewhere(wheel, tmp_path):
    site, place = tmp_path / "site", tmp_path / "place"
    place.mkdir()
    pip("install", "--no-deps", "--target", str(site), str(wheel))
    for name in ("app.py", "torch.py"):
        (place / name).write_text(
            "raise SystemExit('the file of this name in the current folder was imported')"
        )
    done = subprocess.run(
        [str(site / "bin" / "assay"), "+experiment=demo", "output=out", *FEW],
        check=False,
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "assay +experiment=demo" in (place / "out" / "report.json").read_text()
    report = json.loads((place / "out" / "report.json").read_text())
    assert len(report["by_operator"]) == 16
    assert report["subject"]["n"] == 20
    assert (place / "mlruns" / "mlflow.db").exists()
    composed = (place / "out" / ".hydra" / "hydra.yaml").read_text()
    assert str(site / "app" / "conf") in composed  # its own configuration, not the repository's
    assert str(ROOT / "conf") not in composed
