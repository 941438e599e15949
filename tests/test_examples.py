"""The example projects work as their pages say, from a copy of their folder."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from app.estimation import ArrayOracle, Population
from tests.conftest import Assay

EXAMPLES = Path(__file__).parents[1] / "examples"


class Example(Assay):
    """The command line in a copy of an example's folder; all examples have one store."""

    def arguments(self, *given: str) -> tuple[list[str], Path]:
        return super().arguments(*given, f"tracking.folder={self.folder.parent / 'mlruns'}")


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """Makes the copy."""
    place = tmp_path_factory.mktemp("examples")

    def copied(name: str) -> Example:
        shutil.copytree(EXAMPLES / name, place / name, dirs_exist_ok=True)
        return Example(place / name)

    return copied


def commands(name: str) -> list[list[str]]:
    """The arguments of every `python -m app` in the page of an example."""
    page = (EXAMPLES / name / "README.md").read_text().replace("\\\n", " ")
    lines = re.findall(r"^python -m app (.*)$", page, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def test_a_classifier_of_ones_own(example, monkeypatch, capsys):
    assay = example("classifier")
    monkeypatch.chdir(assay.folder)
    monkeypatch.syspath_prepend(str(assay.folder))
    runpy.run_path("train.py", run_name="__main__")
    assert float(re.search(r"right in (.*) % of 300", capsys.readouterr().out)[1]) > 80
    assert (assay.folder / "best.pt").stat().st_size < 100_000
    campaign, autopsy, _ = commands("classifier")
    few = [
        f"operators.{name}.count=2" for name in ("weight_noise", "neuron_ablation", "activation_replacement")
    ]
    ended = assay(*campaign, *few, "dataset.max_samples=60", "scoring.resamples=50")
    assert (ended.code, ended.err) == (0, "")
    report = ended.report()
    assert report["subject"]["name"] == "ShoeNet@test"
    assert report["subject"]["classes"] == ["ankle_boot", "sandal", "sneaker"]
    assert report["original"]["accuracy"] > 0.75
    layers = {each["target"] for each in report["mutants"] if each["kind"] == "weight"}
    assert layers == {"features.0", "features.3", "head"}
    ended = assay(*autopsy, "task.overlays=0", "task.embedded=0", "task.resamples=50")
    assert (ended.code, ended.err) == (0, "")
    assert ended.report()["subject"]["n"] == 300


def test_operators_of_ones_own(example):
    assay = example("operator")
    by_target, by_file = commands("operator")
    ended = assay(*by_target, "dataset.max_samples=40")
    assert (ended.code, ended.err) == (0, "")
    mutants = ended.report()["mutants"]
    assert {each["key"] for each in mutants} == {f"scratch-width{width}-input" for width in (1, 2, 4)}
    ended = assay(*by_file, "dataset.max_samples=40", "operators.weight_noise.count=1")
    assert (ended.code, ended.err) == (0, "")
    report = ended.report()
    counts = {each["operator"]: each["mutants"] for each in report["by_operator"]}
    assert counts == {"scratch": 3, "lost_sign": 5, "weight_noise": 1}
    assert report["summary"]["invalid"] == 0
    assert "--config-dir" in report["run"]["command"]


@pytest.mark.parametrize(
    ("lack", "sentence"),
    [
        ("class Nameless(Scratch):\n    name = None\n", "class Nameless has no name"),
        (
            "class Rootless(LostSign):\n    def __init__(self): ...\n",
            r"Rootless.__init__ must call super\(\)",
        ),
    ],
)
def test_an_operator_that_lacks_a_part_is_refused_in_one_line(lack, sentence, example):
    assay = example("operator")
    made = re.search(r"class (\w+)", lack)[1]
    module = f"lacking_{made.lower()}"
    (assay.folder / f"{module}.py").write_text(f"from faults import LostSign, Scratch\n\n\n{lack}")
    given = ["task=mutate", "model=fashion_cnn", "dataset=fashion", "dataset.max_samples=40"]
    ended = assay(*given, f"+operators.mine._target_={module}.{made}")
    assert ended.code == 2
    assert re.fullmatch(f"error: operators.mine: .*{sentence}.*\n", ended.err)


def test_an_estimator_of_ones_own(example):
    assay = example("estimator")
    evaluation, labelling = commands("estimator")
    small = [each for each in evaluation if not each.startswith("repetitions=")]
    ended = assay(*small, "dataset.max_samples=400", "repetitions=20", "task.budget=40", "task.workers=1")
    assert (ended.code, ended.err) == (0, "")
    results = {each["estimator"]: each for each in ended.report()["results"]}
    assert set(results) == {"srswor", "systematic"}
    ended = assay(*labelling, "task.budget=20")
    assert ended.code == 0, ended.err
    assert len((ended.folder / "to_label.csv").read_text().splitlines()) == 21
    assert f"--config-dir {assay.folder / 'conf'}" in ended.out


def test_the_estimator_is_unbiased(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / "estimator"))
    from systematic import Systematic

    rng = np.random.default_rng(0)
    confidence = rng.beta(6, 1, 1000)
    failures = rng.random(1000) > confidence
    population = Population("demo", np.arange(1000).astype(str), {"confidence": confidence})
    runs = [
        Systematic().run(population, ArrayOracle(failures), 60, np.random.default_rng(seed))
        for seed in range(400)
    ]
    values = np.array([each.value for each in runs])
    truth = 1 - failures.mean()
    assert abs(values.mean() - truth) < 4 * values.std() / 20
    assert {each.cost for each in runs} == {60}
    covered = np.mean([each.interval(0.95).covers(truth) for each in runs])
    assert covered > 0.93
    assert all(each.interval(0.95).width < 0.25 for each in runs)
