"""Class rows: with them torchvision's detectors give the same boxes, scores and labels, bit for bit."""

import pytest
import torch
from torch import nn
from torchvision.models.detection import FasterRCNN

from app.inference.detection.rows import NotFiniteError, find_class_rows
from tests.inference.detection.conftest import CLASSES, Pictures, built, to_images

BUILDERS = (
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
)


@pytest.mark.parametrize("builder", BUILDERS)
def test_rows_change_nothing_of_any_builder(builder):
    model = built(builder)
    count = 1 if builder == "ssd300_vgg16" else 2  # 300 pixels through VGG are slow
    images = to_images([Pictures(2).load(index) for index in range(count)])
    rows = find_class_rows(model)
    attributes = {name: set(vars(each)) for name, each in model.named_modules()}
    with torch.no_grad():
        stock = model(images)
        with rows.kept():
            ours = model(images)
    assert sum(len(each["boxes"]) for each in stock) > 5
    for before, now in zip(stock, ours, strict=True):
        for name in ("boxes", "scores", "labels"):
            assert torch.equal(before[name], now[name]), name
        assert now["probs"].shape == (len(now["labels"]), CLASSES)
        # the score is the row's entry at the label, to the bit
        assert torch.equal(now["probs"].gather(1, now["labels"][:, None])[:, 0], now["scores"])
        if rows.semantics == "softmax_background":
            assert torch.allclose(now["probs"].sum(dim=1), torch.ones(len(now["probs"])))
            assert bool((now["labels"] > 0).all())
    assert {name: set(vars(each)) for name, each in model.named_modules()} == attributes
    dense = builder.startswith(("retinanet", "fcos"))
    assert rows.semantics == ("sigmoid" if dense else "softmax_background")


def test_no_candidate_gives_empty_rows(roi):
    threshold, roi.roi_heads.score_thresh = roi.roi_heads.score_thresh, 1.0
    try:
        with torch.no_grad(), find_class_rows(roi).kept():
            (found,) = roi(to_images([Pictures(1).load(0)]))
    finally:
        roi.roi_heads.score_thresh = threshold
    assert found["boxes"].shape == (0, 4)
    assert found["probs"].shape == (0, CLASSES)


def test_the_detector_may_be_a_part_of_the_users_model(roi):
    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = roi

        def forward(self, images):
            return self.inner(images)

    wrapped = Wrapped()
    with torch.no_grad(), find_class_rows(wrapped).kept():
        assert "probs" in wrapped(to_images([Pictures(1).load(0)]))[0]


def test_other_postprocessing_has_no_rows(roi):
    assert find_class_rows(nn.Conv2d(1, 1, 1)) is None
    kind = type(roi.roi_heads)
    own = type("Own", (kind,), {"postprocess_detections": lambda *_: None})
    roi.roi_heads.__class__ = own
    try:
        assert find_class_rows(roi) is None
    finally:
        roi.roi_heads.__class__ = kind
    assert isinstance(roi, FasterRCNN)
    assert find_class_rows(roi) is not None


@pytest.mark.parametrize("layer", ["rpn.head.cls_logits", "roi_heads.box_predictor.cls_score"])
def test_what_is_not_finite_raises_where_a_threshold_would_hide_it(roi, layer):
    bias = roi.get_submodule(layer).bias
    before = bias.detach().clone()
    images = to_images([Pictures(1).load(0)])
    with torch.no_grad():
        bias[0] = float("nan")
        try:
            with find_class_rows(roi).kept(), pytest.raises(NotFiniteError, match="NaN or infinity"):
                roi(images)
        finally:
            bias.copy_(before)
        assert "probs" not in roi(images)[0]
