"""Places: where a stochastic operator acts by itself, and by name."""

import pytest
import torch
from torch import nn
from torchvision.models import detection

from app.errors import UserError
from app.mutation.sites import block_place, dropout_place
from app.mutation.targets import Targets


def seq(**parts):
    model = nn.Sequential()
    for name, module in parts.items():
        model.add_module(name, module)
    return Targets(model)


def test_the_models_own_dropout_layers_come_first():
    place = dropout_place(
        seq(a=nn.Dropout(0.1), b=nn.Linear(2, 2), c=nn.Dropout2d(0.2), d=nn.Linear(2, 2)), "auto"
    )
    assert (place.sites, place.position, place.label) == (("a", "c"), "output", "dropout")
    one = dropout_place(seq(a=nn.Dropout(0.1), b=nn.Linear(2, 2)), "auto")
    assert (one.sites, one.label) == (("a",), "a")


def test_dropout_that_never_dropped_does_not_count():
    place = dropout_place(seq(a=nn.Dropout(0.0), b=nn.Linear(2, 2), c=nn.Linear(2, 2), d=nn.ReLU()), "auto")
    assert (place.sites, place.position, place.label) == (("c",), "input", "c")


def test_parts_that_never_run_as_modules_do_not_count(attention):
    assert dropout_place(Targets(attention), "auto").sites == ("head",)
    fused = seq(a=nn.Linear(4, 4), b=nn.TransformerEncoderLayer(4, 1), c=nn.MultiheadAttention(4, 1))
    assert dropout_place(fused, "auto").sites == ("a",)
    aux = seq(
        conv=nn.Conv2d(1, 1, 1), fc=nn.Linear(1, 1), aux1=nn.Sequential(nn.Conv2d(1, 1, 1), nn.Linear(1, 1))
    )
    assert dropout_place(aux, "auto").sites == ("fc",)
    assert block_place(aux, "auto").sites == ("conv",)


def test_drop_block_takes_the_last_convolution(net):
    place = block_place(Targets(net), "auto")
    assert (place.sites, place.position, place.label) == (("conv2",), "output", "conv2")


def test_named_places_take_the_outermost_matches():
    model = seq(
        neck=nn.Sequential(nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU()), nn.Conv2d(1, 1, 1)),
        head=nn.Linear(1, 1),
    )
    place = block_place(model, "neck.*")
    assert (place.sites, place.label) == (("neck.0", "neck.1"), "neck.*")
    assert dropout_place(model, "head") == dropout_place(model, ["head"])
    both = dropout_place(model, ["head", "neck"])
    assert (both.sites, both.label) == (("neck", "head"), "head+neck")


def test_nowhere_to_act_is_a_users_error():
    with pytest.raises(UserError, match="no dropout and no linear layer; name a module in site"):
        dropout_place(seq(a=nn.Conv2d(1, 1, 1)), "auto")
    with pytest.raises(UserError, match="no convolution; name a module in site"):
        block_place(seq(a=nn.Linear(1, 1)), "auto")
    with pytest.raises(UserError, match=r"no module matches 'neck\.\*'; the model has "):
        block_place(seq(a=nn.Linear(1, 1)), "neck.*")


FPN4 = [f"backbone.fpn.{part}_blocks.{level}" for part in ("inner", "layer") for level in range(4)]
FPN3 = [name for name in FPN4 if not name.endswith("3")]
FPN2 = [name for name in FPN3 if not name.endswith("2")]
FCS, POOLED = ["roi_heads.box_head.fc6", "roi_heads.box_head.fc7"], ["roi_heads.box_roi_pool"]
TOWERS = [f"head.{part}_head.conv.{{}}" for part in ("classification", "regression")]
RETINA = [tower.format(step) for tower in TOWERS for step in range(4)]
LITE = [
    f"head.{part}_head.module_list.{level}.0"
    for part in ("classification", "regression")
    for level in range(6)
]
PLACES = {  # by builder: modules of head for dropout and for DropBlock, and of fpn
    "fasterrcnn_resnet50_fpn": (FCS, POOLED, FPN4),
    "fasterrcnn_resnet50_fpn_v2": (
        ["roi_heads.box_head.5"],
        [f"roi_heads.box_head.{block}" for block in range(4)],
        FPN4,
    ),
    "fasterrcnn_mobilenet_v3_large_fpn": (FCS, POOLED, FPN2),
    "fasterrcnn_mobilenet_v3_large_320_fpn": (FCS, POOLED, FPN2),
    "maskrcnn_resnet50_fpn": (FCS, POOLED, FPN4),
    "retinanet_resnet50_fpn": (RETINA, RETINA, FPN3),
    "retinanet_resnet50_fpn_v2": (RETINA, RETINA, FPN3),
    "fcos_resnet50_fpn": (*[[tower.format(step) for tower in TOWERS for step in (2, 5, 8, 11)]] * 2, FPN3),
    "ssd300_vgg16": (*[["backbone.extra.0.7.2", "backbone.extra.0.7.4"]] * 2, None),
    "ssdlite320_mobilenet_v3_large": (LITE, LITE, None),
}


def builder(name):
    with torch.device("cpu" if "ssd" in name else "meta"):  # the SSDs try themselves while they are built
        return getattr(detection, name)(weights=None, weights_backbone=None, num_classes=3)


@pytest.mark.parametrize("name", PLACES)
def test_detectors_have_a_head_and_a_pyramid(name):
    targets = Targets(builder(name))
    dropout, blocks, pyramid = PLACES[name]
    for site in ("head", "auto"):
        place = dropout_place(targets, site)
        assert (list(place.sites), place.position, place.label) == (dropout, "output", "head")
        assert list(block_place(targets, site).sites) == blocks
    if pyramid is None:
        with pytest.raises(UserError, match="site=fpn is not known of this SSD: it has no module backbone"):
            dropout_place(targets, "fpn")
    else:
        assert list(dropout_place(targets, "fpn").sites) == pyramid
        assert block_place(targets, "fpn").label == "fpn"


def test_a_detector_inside_a_model_is_found_and_its_own_dropout_comes_first():
    model = nn.Module()
    model.net = builder("fasterrcnn_mobilenet_v3_large_320_fpn")
    targets = Targets(model)
    assert list(dropout_place(targets, "auto").sites) == [f"net.{name}" for name in FCS]
    assert dropout_place(targets, "net.rpn.head").sites == ("net.rpn.head",)
    model.net.roi_heads.box_head.drop = nn.Dropout(0.2)
    assert dropout_place(Targets(model), "auto").sites == ("net.roi_heads.box_head.drop",)


def test_a_head_of_ones_own_must_be_named():
    model = builder("fasterrcnn_mobilenet_v3_large_320_fpn")
    model.roi_heads.box_head = nn.Identity()
    model.roi_heads.box_roi_pool = None
    with pytest.raises(
        UserError, match="site=head is not known of this GeneralizedRCNN: it has another head"
    ):
        dropout_place(Targets(model), "head")
    with pytest.raises(UserError, match="another head"):
        block_place(Targets(model), "auto")
