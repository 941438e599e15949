from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torchvision.transforms.v2.functional import pil_to_tensor

from app.errors import UserError
from app.subjects.detection.detector import detector, detector_state_dict


class Finder(nn.Module):
    """Finds the same box in every picture."""

    def __init__(self):
        super().__init__()
        self.box = nn.Parameter(torch.tensor([1.0, 2.0, 5.0, 6.0]))

    def forward(self, images):
        return [
            {"boxes": self.box[None], "labels": torch.tensor([1]), "scores": torch.tensor([0.9])}
            for _ in images
        ]


def test_a_detector_is_ready_to_run(picture):
    made = detector(Finder(), "finder", class_names=["cat", "dog"])
    assert not made.module.training
    with torch.no_grad():
        found = made.module(made.to_images([picture(), picture(30, 20)]))
    assert [each["boxes"].tolist() for each in found] == [[[1, 2, 5, 6]]] * 2
    assert made.to_classes(found[0]["labels"].numpy()).tolist() == [0]


def test_pictures_keep_their_size(picture):
    made = detector(Finder(), "finder")
    one, other = picture(12, 10), picture(7, 5, mode="L")
    images = made.to_images([one, other])
    assert [tuple(each.shape) for each in images] == [(3, 10, 12), (3, 5, 7)]
    assert images[0].dtype == torch.float32
    torch.testing.assert_close(images[0], pil_to_tensor(one) / 255, rtol=0, atol=0)
    torch.testing.assert_close(images[1], (pil_to_tensor(other) / 255).expand(3, -1, -1), rtol=0, atol=0)
    grey = detector(Finder(), "finder", mode="L").to_images([Image.new("RGB", (4, 3), (255, 255, 255))])
    assert grey[0].shape == (1, 3, 4)
    assert grey[0].unique().tolist() == [1.0]


@pytest.mark.parametrize(
    ("given", "background", "names", "labels"),
    [
        (["cat", "dog"], True, ("cat", "dog"), (1, 2)),
        (["cat", "dog"], False, ("cat", "dog"), (0, 1)),
        (["__background__", "cat", "dog"], True, ("cat", "dog"), (1, 2)),
        (["background", "cat", "N/A", "N/A", "dog"], True, ("cat", "dog"), (1, 4)),
        (["N/A", "cat"], False, ("cat",), (1,)),
        (None, True, None, None),
    ],
)
def test_what_labels_mean(given, background, names, labels):
    made = detector(Finder(), "finder", class_names=given, background=background)
    assert (made.class_names, made.class_labels) == (names, labels)
    expected = [-1] * 7
    for i, label in enumerate(labels or range(int(background), 7)):
        expected[label] = i
    assert made.to_classes(np.arange(7)).tolist() == expected
    assert made.to_classes(np.arange(0)).shape == (0,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a@b"}, "name must not be empty nor hold '@'"),
        ({"name": ""}, "name must not be empty"),
        ({"mode": "CMYK"}, "mode must be RGB or L, not 'CMYK'"),
        ({"class_names": []}, "names no class"),
        ({"class_names": ["__background__"]}, "names no class"),
        ({"class_names": ["a", "b", "a"]}, "must be different and not empty, but holds 'a'"),
        ({"class_names": ["a", ""]}, "entry 1 is empty"),
        ({"class_names": ["background", "a"], "background": False}, "but model.background is false"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UserError, match=message):
        detector(Finder(), **({"name": "finder"} | options))


def test_weights_of_the_users(tmp_path):
    trained = Finder()
    with torch.no_grad():
        trained.box += 1
    weights = {f"model.{name}": value for name, value in trained.state_dict().items()}
    torch.save({"state_dict": weights, "epoch": 3}, tmp_path / "best.ckpt")
    made = detector_state_dict(Finder, tmp_path / "best.ckpt", class_names=["cat"])
    assert made.name == "Finder"
    assert made.module.box.tolist() == [2, 3, 6, 7]
    assert made.digest == detector(trained, "other").digest != detector(Finder(), "other").digest
    assert made.notes == ("weights were read below 'state_dict.model' in the file",)
    own = detector_state_dict(trained, None, name="own")
    assert own.digest == made.digest
    assert "factory's own weights" in own.notes[0]


def test_weights_that_are_refused(tmp_path, saved_trap, trap):
    (tmp_path / "trap.pt").write_bytes(saved_trap)
    with pytest.raises(UserError, match="beyond tensors and plain containers"):
        detector_state_dict(Finder, tmp_path / "trap.pt")
    assert not trap.victim.exists()
    torch.save({"other": torch.zeros(4)}, tmp_path / "other.pt")
    with pytest.raises(
        UserError, match="does not fit Finder: no name fits: it has other, and the module takes box"
    ):
        detector_state_dict(Finder, tmp_path / "other.pt")
    with pytest.raises(UserError, match=r"must make a torch\.nn\.Module"):
        detector_state_dict(dict, None)
    with pytest.raises(UserError, match="does not exist"):
        detector_state_dict(Finder, tmp_path / "no.pt")
