"""One clear line for a key that is not there, and for a folder that cannot be written to; nothing heavy is started."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.utils import configure_log

from app import complaints, sweep
from app import config as configuration
from app.errors import UserError

MODEL = ["model=fashion_cnn", "dataset=fashion"]
ALLOWED = "allowed: task, model, dataset, .*allow_unsafe_load"


@pytest.fixture
def composed():
    """What the command line `python -m app` composes in the end, with its folder given."""

    def made(*overrides):
        with initialize_config_dir(configuration.conf_dir(), version_base="1.3"):
            return compose("config", overrides=list(overrides), return_hydra_config=True)

    configuration.register()
    return made


def sentence_about(overrides, monkeypatch, composed):
    monkeypatch.setattr(sys, "argv", ["app", *overrides])
    with pytest.raises(Exception) as caught:  # noqa: PT011 - Hydra's; the sentence is compared
        composed(*overrides)
    return complaints.sentence(caught.value)


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["task=history", "of=mutate"], f"of is unknown: did you mean task.of=mutate\\? {ALLOWED}"),
        (["task=estimate", "budgte=9"], f"budgte is unknown: did you mean task.budget\\? {ALLOWED}"),
        (
            ["task=mutate", *MODEL, "max_samples=3"],
            f"max_samples is unknown: did you mean dataset.max_samples=3\\? {ALLOWED}",
        ),
        (
            ["task=mutate", *MODEL, "operators=[input_noise,weight_noise]", "sigmas=[1]"],
            r"sigmas is unknown: did you mean operators.input_noise.sigmas=\[1\] or "
            rf"operators.weight_noise.sigmas=\[1\]\? {ALLOWED}",
        ),
        (["task=mutate", *MODEL, "sede=3"], f"sede is unknown: did you mean seed\\? {ALLOWED}"),
        (["task=mutate", "root=photos", "dataset=image_folder"], "root is .*mean dataset.root=photos[?] .*"),
        (
            ["task=autopsy", *MODEL, "task.train=fashion"],
            "task.train is unknown: did you mean dataset@task.train=fashion\\? allowed: model, .*",
        ),
        (
            ["task=autopsy", "train=fashion"],
            "train is unknown: did you mean dataset@task.train=fashion[?] .*",
        ),
        (
            ["task=autopsy", *MODEL, "task.train.root=photos"],
            "task.train is unknown: did you mean dataset@task.train=NAME[?] .*",
        ),
        (["tsk=history"], f"tsk is unknown: did you mean task\\? {ALLOWED}"),
        (["sed=3"], f"sed is unknown: did you mean seed\\? {ALLOWED}"),
        (["+experimnt=demo"], f"experimnt is unknown: did you mean \\+experiment\\? {ALLOWED}"),
        (["zzz.zzz=3"], f"zzz.zzz is unknown: {ALLOWED}"),
        (["seed=3", "model=file"], "no task was chosen: give .*"),
        (
            ["task=mutate", *MODEL, "scoring.thresholds=[1]"],
            r"scoring.thresholds must be a mapping, not \[1\]",
        ),
        (["task=contaminate", "task.quality=[1]"], r"task.quality must be a mapping, not \[1\]"),
        (
            ["task=mutate", *MODEL, "operators=[weight_noise]", "operators.weight_noise.sigmas={a: 1}"],
            r"operators.weight_noise.sigmas must be a list, or a single value, not \{a: 1\}",
        ),
        (
            ["+experiment=estimate_shifted", "dataset.priors={shrit: 3}"],
            r"dataset.priors.shrit is not there yet: did you mean shirt\? a new key takes a plus, \+dataset.*",
        ),
        (["task=mutat"], r"unknown task 'mutat'\. Did you mean 'mutate'\? Allowed: autopsy, .*"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_an_unknown_key_is_named_with_what_may_be_meant(overrides, sentence, monkeypatch, composed):
    said = sentence_about(overrides, monkeypatch, composed)
    assert re.fullmatch(sentence, said), said


def test_a_group_of_the_users_is_no_unknown_key(monkeypatch, tmp_path):
    (tmp_path / "lens").mkdir()
    for option in (["--config-dir", str(tmp_path)], [f"--config-dir={tmp_path}"]):
        monkeypatch.setattr(sys, "argv", ["app", *option, "lens=wide"])
        assert complaints._reworded("You must specify 'task'").startswith("no task was chosen")


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("taken", "output=taken: taken is a file"),
        ("taken/below/it", "output=taken/below/it: taken is a file"),
        ("/proc/nope", r"output=/proc/nope cannot be written to \(No such file or directory\)"),
        ("/proc", r"output=/proc cannot be written to \(.+\)"),
        ("x" * 300, r"output=x+ cannot be written to \(File name too long\)"),
    ],
)
def test_a_folder_that_cannot_be_written_to(output, problem, composed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("")
    config = composed("task=history", f"output={output}")
    callback = sweep.SweepRun()
    for start in (callback.on_run_start, callback.on_multirun_start):
        with pytest.raises(SystemExit, match=f"^error: {problem}; give a folder, new or of yours, "):
            start(config)
    assert not sweep.is_open()
    assert {each.name for each in tmp_path.iterdir()} <= {"taken", "mlruns"}


def test_a_folder_is_made_with_all_above_it(composed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = composed("task=history", "output=new/one", "hydra.sweep.dir=other")
    assert configuration.make_folder(config, "hydra.run.dir") == tmp_path / "new" / "one"
    assert list((tmp_path / "new" / "one").iterdir()) == []
    (tmp_path / "other").write_text("")
    with pytest.raises(UserError, match=r"^hydra\.sweep\.dir=other: other is a file; "):
        configuration.make_folder(config, "hydra.sweep.dir")


def test_advertisements_stay_out_of_the_log_and_warnings_in_it(composed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = composed("task=history", "output=.", "hydra.runtime.output_dir=.")
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        configure_log(config.hydra.job_logging)
        for name in ("pytorch_lightning", "lightning_fabric"):
            logging.getLogger(name).setLevel(logging.INFO)  # as they do when they are imported
            rank_zero = logging.getLogger(f"{name}.utilities.rank_zero")
            rank_zero.info("Tip: buy something")
            rank_zero.warning("%s is in doubt", name)
    finally:
        for handler in set(root.handlers) - set(handlers):
            handler.close()
        root.handlers, root.level = handlers, level
    lines = (tmp_path / "run.log").read_text().splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        "pytorch_lightning is in doubt",
        "lightning_fabric is in doubt",
    ]
