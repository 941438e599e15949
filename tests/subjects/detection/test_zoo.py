from __future__ import annotations

import inspect
from unittest.mock import patch

import pytest
import torch
from torchvision import models

from app.errors import UserError
from app.subjects.detection import zoo
from app.subjects.detection.zoo import detector_torchvision

BUILDERS = [
    "fasterrcnn_resnet50_fpn",
    "fasterrcnn_resnet50_fpn_v2",
    "fasterrcnn_mobilenet_v3_large_fpn",
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "maskrcnn_resnet50_fpn",
    "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2",
    "fcos_resnet50_fpn",
    "ssd300_vgg16",
    "ssdlite320_mobilenet_v3_large",
]
SMALL = "ssdlite320_mobilenet_v3_large"


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Random weights of the smallest builder for three classes with the background."""
    path = tmp_path_factory.mktemp("weights") / "w.pt"
    torch.manual_seed(0)
    torch.save(models.get_model(SMALL, weights=None, weights_backbone=None, num_classes=3).state_dict(), path)
    return path


def test_local_weights_run(weights, picture):
    made = detector_torchvision(SMALL, weights, class_names=["cat", "dog"], options={"score_thresh": 0.0})
    assert (made.name, made.class_labels, made.module.training) == (SMALL, (1, 2), False)
    assert made.module.score_thresh == 0.0
    stock = models.get_model(
        SMALL, weights=None, weights_backbone=None, num_classes=3, score_thresh=0.0
    ).eval()
    stock.load_state_dict(torch.load(weights, weights_only=True))
    with torch.inference_mode():
        images = made.to_images([picture(40, 30)])
        found, expected = made.module(images)[0], stock(images)[0]
    assert set(found) == {"boxes", "labels", "scores"}
    for key, value in expected.items():
        torch.testing.assert_close(found[key], value, rtol=0, atol=0)
    assert (made.to_classes(found["labels"].numpy()) >= 0).all()


@pytest.mark.parametrize("builder", BUILDERS)
def test_every_builder_takes_the_same_arguments(builder, tmp_path):
    (tmp_path / "w.pt").touch()
    asked = {}

    def get_model(name, **options):
        asked.update(options, name=name)
        inspect.signature(models.get_model_builder(name)).bind(**options)
        return torch.nn.Linear(1, 1)

    with (
        patch.object(models, "get_model", get_model),
        patch.object(zoo, "read_weights", lambda *_: torch.nn.Linear(1, 1).state_dict()),
    ):
        made = detector_torchvision(builder, tmp_path / "w.pt")
    assert asked == {"name": builder, "weights": None, "weights_backbone": None, "num_classes": 91}
    assert (made.name, made.class_names) == (builder, None)


@pytest.mark.parametrize(
    ("options", "outputs"),
    [
        ({}, 91),
        ({"num_classes": 7}, 7),
        ({"class_names": ["a", "b"]}, 3),
        ({"class_names": ["__background__", "a", "b"]}, 3),
        ({"class_names": ["a", "b"], "background": False}, 2),
    ],
)
def test_number_of_outputs(options, outputs, tmp_path):
    (tmp_path / "w.pt").touch()
    with (
        patch.object(models, "get_model") as get_model,
        patch.object(zoo, "read_weights", lambda *_: torch.nn.Linear(1, 1).state_dict()),
    ):
        get_model.return_value = torch.nn.Linear(1, 1)
        detector_torchvision(SMALL, tmp_path / "w.pt", **options)
    assert get_model.call_args.kwargs["num_classes"] == outputs


def test_published_weights_bring_their_names():
    with patch.object(models, "get_model") as get_model:
        get_model.return_value = torch.nn.Linear(1, 1)
        made = detector_torchvision("fasterrcnn_mobilenet_v3_large_320_fpn", "DEFAULT")
    assert get_model.call_args.kwargs["weights"].meta["categories"][0] == "__background__"
    assert len(made.class_names) == 80
    # COCO's own numbers, with ten gaps.
    assert dict(zip(made.class_names, made.class_labels, strict=True))["toothbrush"] == 90
    with (
        patch.object(models, "get_model", side_effect=OSError("no net")),
        pytest.raises(UserError, match=r"cannot be downloaded \(no net\): give a file"),
    ):
        detector_torchvision("fasterrcnn_mobilenet_v3_large_320_fpn", "COCO_V1")


def test_mistakes_are_named(weights, tmp_path):
    with pytest.raises(
        UserError, match=r"'fasterrcnn_resnet5_fpn' is none .* known are fasterrcnn_resnet50_fpn"
    ):
        detector_torchvision("fasterrcnn_resnet5_fpn", weights)
    with pytest.raises(UserError, match="none of torchvision's detectors"):
        detector_torchvision("resnet18", weights)
    with pytest.raises(UserError, match=r"model.num_classes is 91, set it to what the file holds"):
        detector_torchvision(SMALL, weights)
    with pytest.raises(
        UserError, match=r"options holds score_tresh, which ssdlite.* not take; close are score_thresh"
    ):
        detector_torchvision(SMALL, weights, num_classes=3, options={"score_tresh": 0.3})
    with pytest.raises(UserError, match=r"model.options do not fit ssdlite.* \("):
        detector_torchvision(SMALL, weights, num_classes=3, options={"anchor_generator": 1})
    with pytest.raises(UserError, match=r"model.options must not hold num_classes"):
        detector_torchvision(SMALL, weights, options={"num_classes": 3})
    with pytest.raises(UserError, match=r"goes up to label 4, but model.num_classes is 3, with a background"):
        detector_torchvision(SMALL, weights, num_classes=3, class_names=["a", "b", "c", "d"])
    with pytest.raises(UserError, match="does not exist"):
        detector_torchvision(SMALL, tmp_path / "no.pt")
