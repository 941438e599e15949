"""Nets of the kinds that people write, through the tasks: what they mean is said, or asked for in one line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from app.reporting import figures

NETS = """
import torch
from torch import nn
from torch.nn import functional as F


class Functional(nn.Module):
    '''One channel; activations are called as functions.'''

    def __init__(self, outputs=2):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Conv2d(1, 4, 3), nn.Linear(4, outputs)

    def forward(self, x):
        return self.b(F.relu(self.a(x)).mean((2, 3)))


class Bright(nn.Module):
    '''One number an image: how much brighter it is than grey.'''

    def __init__(self, squeezed=False, sigmoid=False):
        super().__init__()
        self.squeezed, self.sigmoid = squeezed, sigmoid
        self.conv, self.fc = nn.Conv2d(3, 3, 1, bias=False), nn.Linear(3, 1)
        with torch.no_grad():
            self.conv.weight.copy_(torch.eye(3)[:, :, None, None])
            self.fc.weight.fill_(4.0)
            self.fc.bias.fill_(-6.0)

    def forward(self, x):
        z = self.fc(self.conv(x).mean((2, 3)))
        z = z.squeeze() if self.squeezed else z
        return torch.sigmoid(z) if self.sigmoid else z


class Two(Bright):
    '''Two outputs of equal width, the main one last.'''

    def forward(self, x):
        z = super().forward(x)
        return {"aux": torch.cat([z, -z], 1), "head": {"main": torch.cat([-z, z], 1)}}
"""


@pytest.fixture(scope="module", autouse=True)
def quick():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "png", lambda _: b"\x89PNG")
        yield


@pytest.fixture(scope="module")
def photos(assay):
    """Dark and light images; one of ten is in the wrong folder."""
    (assay.folder / "nets.py").write_text(NETS)
    rng = np.random.default_rng(0)
    for split, count in (("test", 21), ("july", 20)):
        for name, light in (("day", 190), ("night", 60)):
            folder = assay.folder / split / name
            folder.mkdir(parents=True)
            for i in range(count):
                level = 250 - light if i % 10 == 0 else light
                pixels = (level + rng.normal(0, 20, (12, 12, 3))).clip(0, 255).astype(np.uint8)
                Image.fromarray(pixels).save(folder / f"{i}.png")
    return ["dataset=image_folder", "dataset.root=test"]


def net(name, *more):
    return ["model=state_dict", f"model.factory._target_=nets.{name}", "model.weights=null", *more]


BRIGHT = net("Bright", "model.class_names=[night,day]", "model.preprocess={resize: 12}")
FEW = ["operators=[weight_zeroing,mc_dropout,input_blur]", "operators.weight_zeroing.count=2",
       "operators.mc_dropout.rates=[0.3]", "operators.mc_dropout.repetitions=2", "operators.input_blur.count=1",
       "task.batch_size=41"]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "one logit an image: above 0 it means day"),
        (("+model.factory.squeezed=true", "model.output=binary"), "one logit an image: above 0 it means day"),
        (("+model.factory.sigmoid=true",), "one probability an image: above 0.5 it means day"),
    ],
)
def test_a_binary_classifier_is_mutated_by_both_engines(assay, photos, options, said):
    """Three images of each 21 are wrong; the last batch is one image, which a net that squeezes makes a scalar."""
    ended = [
        assay("task=mutate", *BRIGHT, *options, *photos, *FEW, f"engine={each}") for each in ("bank", "naive")
    ]
    assert [each.code for each in ended] == [0, 0], ended[0].err
    assert said in ended[0].out
    bank, naive = (each.report() for each in ended)
    assert bank["original"]["accuracy"] == pytest.approx(36 / 42)
    kept = [[{**row, "effect": round(row["effect"], 9)} for row in each["mutants"]] for each in (bank, naive)]
    assert [row["verdict"] for row in kept[0]] == [row["verdict"] for row in kept[1]]
    assert [row["effect"] for row in kept[0]] == [row["effect"] for row in kept[1]]
    assert any(said in note for note in bank["subject"]["notes"])
    assert bank["subject"]["preprocess"].startswith("resize 12, bilinear, RGB, mean 0.0")


def test_a_binary_classifier_in_the_autopsy_and_the_estimate(assay, photos):
    autopsy = assay("task=autopsy", *BRIGHT, *photos, "task.resamples=20", "task.overlays=2")
    assert (autopsy.code, autopsy.err) == (0, "")
    report = autopsy.report()
    assert report["summary"]["accuracy"] == pytest.approx(36 / 42)
    assert report["gradcam"]["note"] == ""
    assert report["gradcam"]["shown"]
    estimate = assay("task=estimate", *BRIGHT, "dataset=image_folder", "dataset.root=july", "task.budget=20")
    assert (estimate.code, estimate.err) == (0, "")
    assert estimate.report()["populations"][0]["accuracy"] == pytest.approx(36 / 40)
    asked = assay("task=estimate", *BRIGHT, "dataset=unlabelled_folder", "dataset.root=july", "task.budget=5")
    assert asked.code == 0
    assert "one logit an image: above 0 it means day" in asked.out
    assert {row.split(",")[1] for row in (asked.folder / "to_label.csv").read_text().splitlines()[1:]} <= {
        "day",
        "night",
    }


def test_one_key_chooses_between_two_outputs(assay, photos):
    two = net("Two", "model.class_names=[night,day]", "model.preprocess={resize: 12}")
    refused = assay("task=mutate", *two, *photos, *FEW)
    assert refused.code == 2
    assert "aux (8, 2), head.main (8, 2); say which is right with model.output_key=aux" in refused.err
    ended = assay("task=mutate", *two, *photos, *FEW, "model.output_key=head")
    assert ended.code == 0
    assert "class scores are the output 'head.main'" in ended.out
    assert ended.report()["original"]["accuracy"] == pytest.approx(36 / 42)


FITTING = (
    *(
        "weight_noise",
        "weight_zeroing",
        "neuron_ablation",
        "quantization",
        "layer_freezing",
        "input_brightness",
    ),
    *("input_contrast", "input_blur", "input_noise", "input_compression"),
)
CHECKUP = ["task=checkup", "task.autopsy=null", "task.contaminate=null", "dataset.max_samples=20",
           *(f"operators.{each}.count=1" for each in FITTING)]  # fmt: skip


def test_a_checkup_goes_on_without_what_does_not_fit_and_compares_only_like_with_like(assay, photos):
    """The first has a wrong preprocessing, the second differs in nothing else."""
    functional = [*CHECKUP, *net("Functional"), *photos]
    first = assay(*functional, "model.preprocess={resize: 12, mode: L, mean: [0.9], std: [0.1]}")
    assert (first.code, first.err) == (0, "")
    assert "operator activation_replacement was left out, it does not fit the model" in first.out
    assert any("activation_replacement" in note for note in first.report()["subject"]["notes"])
    again = assay(*functional, "model.preprocess={resize: 12, mode: L, mean: [0.5], std: [0.5]}")
    assert "Is it getting better? Not comparable. Other preprocessing than at the checkup of" in again.out
    assert {each["verdict"] for each in again.report()["previous"]["changes"]} == {"not comparable"}
    paths = [each.folder / "report.json" for each in (first, again)]
    compared = assay("task=compare", f"before={paths[0]}", f"after={paths[1]}")
    assert json.loads((compared.folder / "report.json").read_text())["verdict"] == "unknown"
    assert "measured different things: other preprocessing (resize 12" in compared.out


def test_an_operator_that_was_named_must_fit(assay, photos):
    grey = "model.preprocess={resize: 12, mode: L}"
    ended = assay(
        "task=mutate", *net("Functional"), *photos, grey, "operators=[activation_replacement,input_blur]"
    )
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "operators.activation_replacement: the model has no activation module" in ended.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("null", "set mode: L in model.preprocess"),
        ("{resize: 12, mean: [0.5], std: [0.5]}", "for a model of grey images add mode: L"),
        ("{resize: 12, crop: 224, mode: L}", "crop 224 is larger than what resize 12 leaves"),
        ("{crop: 28, mode: L}", "cuts 28x28 pixels out of an image of 12x12"),
        ("{resize: 12, mode: L, mean: [0.5]}", "mean was given without std"),
    ],
)
def test_a_preprocessing_that_does_not_fit_is_said_in_one_line(assay, photos, given, said):
    ended = assay("task=autopsy", *net("Functional"), *photos, f"model.preprocess={given}")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert said in ended.err
