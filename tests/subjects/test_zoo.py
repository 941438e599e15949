"""Models of torchvision and timm by name."""

from __future__ import annotations

import sys
import types

import pytest
import torch
from torchvision import models

from app.errors import UserError
from app.subjects.model import digest_of
from app.subjects.preprocess import IMAGENET, Preprocess
from app.subjects.zoo import timm_model, torchvision_model


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("zoo") / "squeeze.pt"
    torch.save(models.squeezenet1_1(num_classes=3).state_dict(), path)
    return path


def test_a_file_of_weights(weights):
    model = torchvision_model("squeezenet1_1", weights, class_names=["a", "b", "c"])
    assert (model.name, model.class_names, model.output) == ("squeezenet1_1", ("a", "b", "c"), "logits")
    expected = models.squeezenet1_1(num_classes=3)
    expected.load_state_dict(torch.load(weights))
    assert model.digest == digest_of(expected)
    assert model.preprocess == IMAGENET
    assert not model.module.training


def test_a_wrong_number_of_classes_says_what_to_set(weights):
    with pytest.raises(
        UserError, match=r"\(3, 512, 1, 1\) in the file .*; model.num_classes is 1000, set it to what"
    ):
        torchvision_model("squeezenet1_1", weights)


def test_unknown_builders_get_suggestions(weights):
    with pytest.raises(UserError, match=r"'resnet19' is none of torchvision's .*close are resnet1"):
        torchvision_model("resnet19", weights)
    with pytest.raises(
        UserError, match=r"'fasterrcnn_resnet50_fpn' is none of torchvision's classification models"
    ):
        torchvision_model("fasterrcnn_resnet50_fpn", weights)


def test_published_weights_bring_preprocessing_and_names(monkeypatch):
    network = models.mobilenet_v3_small()
    asked = []
    monkeypatch.setattr(models, "get_model", lambda builder, weights: asked.append(str(weights)) or network)
    model = torchvision_model("mobilenet_v3_small", "DEFAULT")
    assert asked == ["MobileNet_V3_Small_Weights.IMAGENET1K_V1"]
    assert model.preprocess == IMAGENET
    assert (len(model.class_names), model.class_names[0]) == (1000, "tench")
    assert model.notes == ()


def test_published_weights_for_features_only():
    with pytest.raises(UserError, match="IMAGENET1K_FEATURES of vgg16 have no classes"):
        torchvision_model("vgg16", "IMAGENET1K_FEATURES")


def test_published_weights_need_the_network(monkeypatch):
    def offline(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr(models, "get_model", offline)
    with pytest.raises(
        UserError, match=r"IMAGENET1K_V1 of resnet18 cannot be downloaded \(no route\): give a file"
    ):
        torchvision_model("resnet18", "IMAGENET1K_V1")


def test_without_timm(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(UserError, match=r"model=timm needs the package timm: pip install 'assay\[timm\]'"):
        timm_model("convnext_tiny", "w.pt")


def test_timm_states_the_preprocessing(net, make_net, tmp_path, monkeypatch):
    torch.save(net.state_dict(), tmp_path / "w.pt")
    stated = {
        "input_size": (1, 24, 24),
        "crop_pct": 0.8,
        "mean": (0.5,),
        "std": (0.25,),
        "interpolation": "bicubic",
    }
    timm = types.ModuleType("timm")
    timm.is_model = lambda name: name == "tiny"
    timm.list_models = lambda: ["tiny"]
    timm.create_model = lambda name, pretrained, num_classes: make_net().train()
    timm.data = types.SimpleNamespace(resolve_model_data_config=lambda module: stated)
    monkeypatch.setitem(sys.modules, "timm", timm)
    model = timm_model("tiny", tmp_path / "w.pt", class_names=["a", "b", "c"])
    assert model.preprocess == Preprocess(30, (24, 24), "L", (0.5,), (0.25,), "bicubic")
    assert (model.digest, model.module.training) == (digest_of(net), False)
    with pytest.raises(UserError, match=r"'tony' is none of timm's models; close are tiny"):
        timm_model("tony", tmp_path / "w.pt")
