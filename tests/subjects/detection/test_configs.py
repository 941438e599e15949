"""Every option of detection builds what it says from a user's files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hydra.utils import instantiate
from omegaconf import OmegaConf

CONF = Path(__file__).resolve().parents[3] / "conf"


def load(group, option, **changes):
    config = OmegaConf.merge(OmegaConf.load(CONF / group / f"{option}.yaml"), changes)
    return instantiate(
        OmegaConf.create({"seed": 3, "allow_unsafe_load": False, group: config})[group], _convert_="all"
    )


def test_data_of_the_users(written):
    digests = {
        load("dataset", "coco", annotations=str(written.coco()), images=str(written.images)).digest,
        load("dataset", "voc", annotations=str(written.voc()), images=str(written.images)).digest,
        load(
            "dataset",
            "yolo",
            labels=str(written.yolo()),
            images=str(written.images),
            class_names=["cat", "dog", "emu"],
        ).digest,
    }
    assert len(digests) == 1


def test_the_embedded_data():
    data = load("dataset", "scenes", n=2)
    assert len(data) == 2
    assert data.source.seed == 3


def test_detectors_of_the_users(tmp_path):
    torch.save(torch.nn.Linear(4, 2).state_dict(), tmp_path / "w.pt")
    factory = {"_target_": "torch.nn.Linear", "in_features": 4, "out_features": 2}
    made = load(
        "model",
        "detector_state_dict",
        factory=factory,
        weights=str(tmp_path / "w.pt"),
        class_names=["a", "b"],
    )
    assert made.class_labels == (1, 2)
    with pytest.raises(Exception, match=r"w\.pt does not fit SSD"):
        load(
            "model",
            "detector_torchvision",
            builder="ssdlite320_mobilenet_v3_large",
            weights=str(tmp_path / "w.pt"),
            class_names=["a", "b"],
            options={"score_thresh": 0.3},
        )
