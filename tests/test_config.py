"""Every choice of the configuration composes, and every object in it takes the keys it is given."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.utils import get_object
from omegaconf import DictConfig, ListConfig, OmegaConf

from app import config as configuration
from app.errors import UserError

configuration.register()
CONF = Path(configuration.conf_dir())
ROOT = yaml.safe_load((CONF / "config.yaml").read_text())
DEFAULTS = [name for each in ROOT["defaults"] if isinstance(each, dict) for name in each]
OPTIONS = sorted((group, name) for group in DEFAULTS for name in configuration.choices(group))
EXPERIMENTS = configuration.choices("experiment")
BASE = ["task=mutate", "model=fashion_cnn", "dataset=fashion", "operators=[weight_noise]"]
CHECKUP = {"model", "dataset", "operators", "scoring", "trainer", "store", "splits"}
"""What a checkup gives its parts."""


def composed(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides=["output=out", *overrides])


def targets(node, path=""):
    """Every node with a `_target_`, by where it stands; references are not followed."""
    if isinstance(node, DictConfig):
        if "_target_" in node and not OmegaConf.is_missing(node, "_target_"):
            yield path, node
        for key in node:
            if not OmegaConf.is_interpolation(node, key) and not OmegaConf.is_missing(node, key):
                yield from targets(node[key], f"{path}.{key}")
    elif isinstance(node, ListConfig):
        for item in node:
            yield from targets(item, path)


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=lambda each: each)
def test_every_option_composes_and_its_keys_are_taken(group, option):
    listed = group in {"operators", "estimators"}
    value = f"[{option}]" if listed else option
    rest = [each for each in BASE if not each.startswith(f"{group}=")]
    config = composed(*rest, f"{group}={value}")
    found = list(targets(config[group]))
    assert found or group == "scoring"
    if listed:
        assert list(config[group]) == [option]  # a one-key mapping, named like its file
    for path, node in found:
        parameters = inspect.signature(get_object(node["_target_"])).parameters
        given = {str(key) for key in node} - {"_target_", "_partial_"}
        assert given <= set(parameters), f"{group}/{option}{path}"
        required = {
            name
            for name, each in parameters.items()
            if each.default is each.empty and each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}
        }
        later = {"name", *CHECKUP} if "_partial_" in node else set()  # what completes it gives these
        assert required <= given | later, f"{group}/{option}{path}"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_passes_the_check(name):
    lacking = ["predictions=saved"] if name == "score_folder" else []  # what there is no example of
    config = composed(f"+experiment={name}", *lacking)
    configuration.check(config, places=False)
    text = (CONF / "experiment" / f"{name}.yaml").read_text()
    assert text.startswith("# @package _global_\n# "), "an experiment says on its second line what it is for"


def test_options_say_what_they_are():
    page = configuration.usage()
    silent = [f"{group}/{name}" for group, name in OPTIONS if not re.search(rf"\n  {name}( |\n)", page)]
    assert not silent
    for key in ("seed", "output", "resume", "engine", "allow_unsafe_load"):
        assert f"\n  {key}=" in page


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["++dataset.max_sample=3"], "dataset.max_sample is unknown: did you mean max_samples"),
        (
            ["++operators.weight_noise.sigma=3"],
            "operators.weight_noise.sigma is unknown: did you mean sigmas",
        ),
        (["task.batch_size=abc"], "task.batch_size must be a whole number or null, not 'abc'"),
        (["task.batch_size=1.5"], "task.batch_size must be a whole number or null, not 1.5"),
        (["task.smart=1"], "task.smart must be true or false, not 1"),
        (["task.smart=null"], "task.smart must be true or false, not null"),
        (["engine=nope"], "engine must be one of bank, naive, not 'nope'"),
        (["scoring.thresholds.ece_rise=[1]"], r"scoring.thresholds.ece_rise must be a number, not \[1\]"),
        (["operators.weight_noise.sigmas=[a]"], r"operators.weight_noise.sigmas must be .*, not \['a'\]"),
        (["dataset.split=nope"], "dataset.split must be one of test, train, not 'nope'"),
        (["task.suites=3"], "task.suites must be a mapping or null, not 3"),
        (["seed=-1"], "seed must be 0 or more, not -1"),
        (["+nope=3"], "task=mutate does not read 'nope': leave it out; it reads .*operators"),
        (["operators=[]"], r"task=mutate needs operators: give operators=\[NAME,...\], of .*weight_noise"),
        (["dataset=image_folder"], "dataset.root must be given: dataset.root=VALUE"),
        (["++model._target_=nowhere.Net"], "model._target_=nowhere.Net cannot be imported: No module named"),
        (
            ["++model._target_=app.errors.Nope"],
            "model._target_=app.errors.Nope cannot be imported: No module",
        ),
        (["++model._target_=app.errors"], "model._target_=app.errors must be a class or function"),
        (["~model.name", "++model._target_=app.job.Job"], "model.output must be given: model.output=VALUE"),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_the_check_names_key_and_remedy(overrides, sentence):
    with pytest.raises(UserError, match=f"^{sentence}"):
        configuration.check(composed(*BASE, *overrides))


def test_plain_values_and_references_pass():
    config = composed(*BASE, "scoring.q=0.2", "task.group_size=3", "+task.suites.smoke=[1,2]", "seed=7")
    configuration.check(config)
    assert configuration.plain(config.task)["dataset"]["seed"] == 7


def test_the_digest_is_of_what_is_computed():
    first = configuration.digest(composed(*BASE, "output=a"))
    same = ["output=b", "trainer=ddp_cpu", "tracking.folder=elsewhere", "resume=abc"]
    assert configuration.digest(composed(*BASE, *same)) == first
    for other in ("seed=1", "operators.weight_noise.count=3", "scoring.q=0.1", "task.batch_size=7"):
        assert configuration.digest(composed(*BASE, "output=a", other)) != first
