"""Words of a command line: a task by its name, options anywhere, help, version and completion."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from app import __version__, command_line
from app import config as configuration
from app.errors import UserError


@pytest.fixture
def said(monkeypatch):
    """What is printed in place of a job, or what Hydra gets."""

    def read(line: str, program: str = "app") -> str | list[str]:
        monkeypatch.setattr(sys, "argv", [program, *shlex.split(line)])
        shown = command_line.read()
        return sys.argv[1:] if shown is None else shown

    return read


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("mutate model=file", "task=mutate model=file"),
        ("model=file mutate seed=1", "model=file task=mutate seed=1"),
        ("task=mutate +experiment=demo ~operators.a", "task=mutate +experiment=demo ~operators.a"),
        ("mutate -m seed=1,2", "--multirun task=mutate seed=1,2"),
        ("seed=1 --multirun mutate,autopsy", "--multirun seed=1 task=mutate,autopsy"),
        ("mutate --config-dir conf seed=1", "--config-dir conf task=mutate seed=1"),
        ("mutate -cd=conf --cfg job", "--cfg job --config-dir conf task=mutate"),
        ("--config-path a --config-name config x=1", "--config-path a --config-name config x=1"),
        ("history -i", "--info all task=history"),
        ("", ""),
    ],
)
def test_a_task_is_a_word_and_options_stand_anywhere(line, given, said):
    assert said(line) == shlex.split(given)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("mutat model=file", r"unknown task 'mutat'\. Did you mean 'mutate'\? Tasks are autopsy, .*"),
        ("MUTATE", r"unknown task 'MUTATE'\. Did you mean 'mutate'\? .*"),
        ("mutate,scor -m", r"unknown task 'scor'\. Did you mean 'score'\? .*"),
        ("demo", r"unknown task 'demo'\. An experiment takes a plus: \+experiment=demo"),
        ("demoo", r"unknown task 'demoo'\. Did you mean \+experiment=demo\? .*"),
        ("zzz", r"unknown task 'zzz'\. Tasks are .*"),
        ("mutate seed", "seed lacks a value: give seed=VALUE"),
        ("mutate dataset.root", "dataset.root lacks a value: give dataset.root=VALUE"),
        ("mutate score", "several tasks were chosen: mutate, score; .*"),
        ("mutate task=score", "several tasks were chosen: mutate, task=score; .*"),
        ("mutate --multirn", r"unknown option --multirn\. Did you mean --multirun\? .*--help.*"),
        ("mutate --zzz", r"unknown option --zzz\. python -m app --help.*"),
        ("mutate --cfg bogus", ".*--cfg.*invalid choice: 'bogus'.*"),
        ("mutate --config-dir", ".*--config-dir.*expected one argument.*"),
        ("model=[1] mutate", r"model=\[1\] must be one name: give model=NAME, of .*file.*"),
        ("mutate operators=[1]", r"operators=\[1\] must hold names: operators=\[NAME,...\], of .*"),
        ("mutate --help score", "several tasks .*"),
        ("mutat --help", r"unknown task 'mutat'\. .*"),
        ("task=mutat --help", r"unknown task 'mutat'\. .*"),
    ],
)
def test_what_is_wrong_with_a_word_is_one_line(line, sentence, said):
    with pytest.raises(UserError) as caught:
        said(line)
    assert re.fullmatch(sentence, str(caught.value)), str(caught.value)


def test_several_lists_of_operators_are_a_sweep(said):
    line = "mutate -m operators=[weight_noise],[input_blur]"
    assert said(line)[-1] == "operators=[weight_noise],[input_blur]"


def test_the_version_is_said(said):
    assert said("--version") == said("mutate --version seed=1") == f"assay {__version__}"


@pytest.mark.parametrize("task", configuration.choices("task"))
def test_the_help_of_a_task_has_each_key_with_its_default_and_a_line(task, said):
    page = said(f"{task} --help")
    assert page == said(f"-h task={task}") == said(f"model=file {task} -h")
    assert page.startswith(f"assay {task}: ")
    text = Path(configuration.conf_dir(), "task", f"{task}.yaml").read_text(encoding="utf-8")
    own = set(re.findall(r"^(\w+): (?!\$\{)\S", text, re.MULTILINE)) - {"_target_"}
    assert all(re.search(rf"^  task\.{key}=.*\S  +\S", page, re.MULTILINE) for key in own)
    silent = [line for line in page.splitlines() if re.fullmatch(r"  task\.\S+ *", line)]
    assert not silent


def test_the_help_of_an_experiment_is_that_of_its_task(said):
    assert said("+experiment=demo --help") == said("mutate --help")
    assert said("--help") == configuration.usage()
    assert "assay TASK --help" in said("--help")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("/usr/bin/assay", ["assay"]),
        ("assay", ["assay"]),
        ("/site/assay/__main__.py", ["python", "-m", "assay"]),
        ("/site/app/__main__.py", ["python", "-m", "app"]),
    ],
)
def test_a_command_is_repeated_through_the_same_door(program, words, monkeypatch):
    monkeypatch.setattr(sys, "argv", [program])
    assert command_line.door() == words


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("assay mut", {"mutate"}),
        ("assay ", {"mutate", "history", "model=", "operators="}),
        ("assay mutate model=fash", {"model=fashion_cnn"}),
        ("assay mutate task.b", {"task.batch_size="}),
        ("assay +experiment=mut", {"+experiment=mutate_fashion"}),
        ("assay mutate dataset=fashion dataset.max", {"dataset.max_samples="}),
    ],
)
def test_a_shell_completes(line, offered, monkeypatch, capsys):
    import app.__main__ as door

    monkeypatch.setattr(sys, "argv", ["assay", "--shell-completion", "query=bash"])
    monkeypatch.setenv("COMP_LINE", line)
    assert door.main() == 0
    found = set(capsys.readouterr().out.split())
    assert offered <= found
    if not line.endswith(" "):
        begun = line.split()[-1]
        assert all(each.startswith(begun) for each in found)
