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


KEYS = {
    "resume": "0" * 32,
    "engine": "naive",
    "profile": "paper",
    "predictions": "x",
    "probs": "x",
    "on_invalid": "drop",
    "repetitions": "3",
    "population": "x",
    "labels": "x",
    "detections": "x",
    "ground_truth": "x",
    "target_width": "0.1",
    "before": "latest",
    "after": "latest",
    "fail_on": "unknown",
    "allow_unsafe_load": "true",
    "seed": "3",
    "model": "fashion_cnn",
    "dataset": "fashion",
    "operators": "[weight_noise]",
    "estimators": "[srswor]",
    "scoring": "detection",
    "trainer": "ddp_cpu",
}
"""A value of each key of the root that is not its default."""
SUBJECT = ["model=fashion_cnn", "dataset=fashion"]
READ = {
    "mutate": ([*SUBJECT, "operators=[weight_noise]"], "resume engine profile seed scoring trainer"),
    "checkup": (
        SUBJECT,
        "resume engine on_invalid repetitions labels target_width seed operators estimators scoring trainer",
    ),
    "autopsy": (SUBJECT, "profile seed trainer"),
    "autopsy ": (["probs=x"], "profile on_invalid labels seed dataset"),
    "estimate": (SUBJECT, "population repetitions labels target_width seed estimators trainer"),
    "estimate ": (["population=x"], "repetitions labels target_width seed estimators"),
    "score": (["predictions=x"], "profile repetitions allow_unsafe_load seed scoring"),
    "detect_eval": (["detections=x", "ground_truth=y"], "seed"),
    "compare": ([], "before after fail_on seed"),
    "contaminate": (["+task.splits.train=x"], "seed"),
    "history": ([], ""),
}
"""Which of them a task reads beside what it is started with here."""


@pytest.mark.parametrize("start", READ)
def test_a_key_that_is_not_read_is_refused(start):
    given, read = READ[start]
    for key, value in KEYS.items():
        if any(each.startswith(f"{key}=") for each in given):
            continue
        try:
            configuration.check(composed(f"task={start.strip()}", *given, f"{key}={value}"), places=False)
            taken = True
        except UserError as error:
            taken = not re.search(
                r"does not read|stands in for|which is not given|without model|beside the", str(error)
            )
        assert taken == (key in read.split()), key


@pytest.mark.parametrize("key", ["repetitions=0", "allow_unsafe_load=true", "resume=''", "target_width=0"])
def test_a_value_that_is_nothing_is_still_a_key_that_is_given(key):
    with pytest.raises(UserError, match="task=history does not read"):
        configuration.check(composed("task=history", key))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["task=autopsy"], "task=autopsy needs a model and its data, .*probs=FILE labels=FILE"),
        (["task=autopsy", "model=fashion_cnn"], "task=autopsy needs a dataset beside the model"),
        (["task=autopsy", *SUBJECT, "labels=x"], "labels stands in for a model: leave out labels or model"),
        (["task=autopsy", *SUBJECT, "task.output=probs"], "task.output is for probs=…, which is not given"),
        (["task=autopsy", "probs=x", "task.layer=y"], "task.layer is for model=…, which is not given"),
        (["task=estimate"], "task=estimate needs a table .*population=PATH"),
        (
            ["task=estimate", *SUBJECT, "task.columns={a: b}"],
            "task.columns is for population=…, which is not given",
        ),
        (
            ["task=estimate", "population=x", "task.decoders=2"],
            "task.decoders is for model=…, which is not given",
        ),
        (["task=contaminate"], r"contamination needs splits: give \+task.splits.train=DIR"),
        (
            ["task=contaminate", "+task.splits.a=x", "task.near_distance=20"],
            "task.near_distance must be at most",
        ),
        (["task=score"], "predictions must be given: predictions=PATH"),
        (["task=history", "task.since=monday"], "task.since=monday must be a day or time"),
        (["task=compare", "task.resamples=9"], "task.resamples must be 100 or more, not 9"),
        (["task=autopsy", "probs=x", "task.weights=[]"], r"task.weights must be a mapping or null, not \[\]"),
        (["task=autopsy", "probs=x", "task.weights={ece: a}"], "task.weights.ece must be a number, not 'a'"),
        ([*BASE, "task.suites={a: 3}"], "task.suites.a must be the path of a file or a list of .*, not 3"),
        ([*BASE, "task.suites={a: ''}"], "task.suites.a must not be empty"),
        (
            [*BASE, "++operators.weight_noise=3"],
            "operators.weight_noise must have a _target_ that makes an Operator",
        ),
        ([*BASE, "trainer.precision=x"], "trainer.precision must be one of 32-true, .*, not 'x'"),
        ([*BASE, "trainer.accelerator=x"], "trainer.accelerator must be one of auto, .*, not 'x'"),
        ([*BASE, "trainer.accelerator=null"], "trainer.accelerator must be one of auto, .*, not null"),
        ([*BASE, "trainer.strategy=x"], "trainer.strategy must be one of auto, ddp, .*, not 'x'"),
        ([*BASE, "trainer.num_nodes=0"], "trainer.num_nodes must be .* at least 1, not 0"),
        *(
            ([*BASE, f"trainer.devices={value}"], "trainer.devices must be how many")
            for value in (
                "0",
                "-2",
                "x",
                "[]",
                "[0,0]",
                "[a]",
                "true",
                "1.5",
                "null",
                "'0'",
                "[-1,0]",
                "{a: 1}",
            )
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_goes_only_together_and_what_devices_are(given, sentence):
    with pytest.raises(UserError, match=f"^{sentence}"):
        configuration.check(composed(*given), places=False)


@pytest.mark.parametrize("value", ["1", "4", "-1", "auto", "'-1'", "'2'", "[0]", "[0,1]", "'0,1'", "'0,'"])
def test_devices_that_there_can_be(value):
    configuration.check(composed(*BASE, f"trainer.devices={value}"))


@pytest.mark.parametrize(
    "key", ["output", "dataset.name", "model.name", "tracking.uri", "tracking.experiment", "resume"]
)
@pytest.mark.parametrize("value", ["''", "' '"])
def test_no_text_is_empty(key, value):
    with pytest.raises(UserError, match=f"^{key} must not be empty"):
        configuration.check(composed(*BASE, f"{key}={value}"))


def test_no_key_of_any_option_takes_an_empty_text():
    """Every key that holds text or nothing, in every option of every group."""
    tried = 0
    for group, option in OPTIONS:
        if group not in {"model", "dataset", "tracking"}:
            continue
        rest = [each for each in BASE if not each.startswith(f"{group}=")]
        chosen = f"{group}={option}"
        lacking = [
            f"{key}=x"
            for key in OmegaConf.missing_keys(composed(*rest, chosen))
            if not key.startswith("hydra")
        ]
        for key, value in composed(*rest, chosen)[group].items_ex(resolve=False):
            if key == "_target_" or not (value is None or isinstance(value, str)) or "${" in str(value):
                continue
            config = composed(
                *rest,
                chosen,
                *(each for each in lacking if f"{group}.{key}=" not in each),
                f"{group}.{key}=''",
            )
            with pytest.raises(UserError, match=rf"^{group}\.{key} (must not be empty|must be )"):
                configuration.check(config, places=False)
            tried += 1
    assert tried > 50


def test_a_mapping_is_given_at_once_or_key_by_key():
    for given in ("task.weights={class_balance: 0}", "+task.weights.class_balance=0"):
        config = composed("task=autopsy", "probs=x", given)
        configuration.check(config, places=False)
        assert config.task.weights == {"class_balance": 0}


def test_the_word_true_is_no_truth_value():
    config = composed("task=estimate", *SUBJECT, "task.training_classes=true")
    configuration.check(config)
    assert config.task.training_classes == "true"
    with pytest.raises(UserError, match=r"training_classes must be one of predicted, true, not false"):
        configuration.check(composed("task=estimate", *SUBJECT, "task.training_classes=false"))


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
