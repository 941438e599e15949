"""Every option of the groups model and dataset composes, and names what it can build."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra.utils import get_object, instantiate
from omegaconf import OmegaConf

from app.subjects.subject import Subject

CONF = Path(__file__).resolve().parents[2] / "conf"
OPTIONS = sorted([*CONF.glob("model/*.yaml"), *CONF.glob("dataset/*.yaml")])


def load(group: str, option: str):
    config = OmegaConf.load(CONF / group / f"{option}.yaml")
    base = config.pop("defaults", None)
    config = OmegaConf.merge(load(group, base[0]), config) if base else config
    return OmegaConf.create({"seed": 3, "allow_unsafe_load": False, group: config})[group]


@pytest.mark.parametrize("path", OPTIONS, ids=lambda path: f"{path.parent.name}={path.stem}")
def test_keys_are_what_the_target_takes(path):
    config = load(path.parent.name, path.stem)
    parameters = inspect.signature(get_object(config._target_)).parameters
    assert set(config) - {"_target_"} <= set(parameters)
    required = {name for name, each in parameters.items() if each.default is each.empty}
    assert required <= set(config)
    for name, value in OmegaConf.to_container(config, resolve=True).items():
        if name in parameters and parameters[name].default is not inspect.Parameter.empty and name != "seed":
            made = instantiate(value) if isinstance(value, dict) and "_target_" in value else value
            assert made == parameters[name].default


def test_the_default_subject():
    subject = Subject(instantiate(load("model", "fashion_cnn")), instantiate(load("dataset", "fashion")))
    assert (subject.name, len(subject)) == ("fashion_cnn@fashion_test", 2000)


def test_a_model_of_the_users(tmp_path):
    torch.save(torch.nn.Linear(4, 2).state_dict(), tmp_path / "w.pt")
    config = load("model", "state_dict")
    config.weights = str(tmp_path / "w.pt")
    config.factory = {"_target_": "torch.nn.Linear", "in_features": 4, "out_features": 2}
    config.class_names = ["a", "b"]
    config.preprocess = {"resize": [4, 1], "crop": None, "mode": "L", "mean": [0], "std": [1]}
    whole = instantiate(config, _convert_="all")
    config.factory["_partial_"] = True
    partial = instantiate(config, _convert_="all")
    assert whole.digest == partial.digest
    assert (whole.class_names, whole.preprocess.resize) == (("a", "b"), (4, 1))


def test_data_of_the_users(animals, tmp_path):
    config = load("dataset", "image_folder")
    config.root = str(animals)
    assert len(instantiate(config, _convert_="all")) == 5
    np.savez(tmp_path / "d.npz", images=np.zeros((3, 2, 2), np.uint8), labels=np.arange(3))
    config = load("dataset", "arrays")
    config.images = str(tmp_path / "d.npz")
    assert len(instantiate(config, _convert_="all")) == 3
