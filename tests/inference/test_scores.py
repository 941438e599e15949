"""Class scores in whatever a classifier gives back: one output of several, one number of a binary one."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from app.errors import UserError
from app.inference.scores import PLAIN, find_scores

X = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
NAMES = ["ant", "bee", "cat", "dog"]
TWO = ["cat", "dog"]
Pair = namedtuple("Pair", ["logits", "aux_logits"])


@dataclass
class Output:
    loss: Any
    logits: torch.Tensor
    hidden_states: Any = None


class Net(nn.Module):
    """A linear layer, and anything made of what it gives."""

    def __init__(self, wrap, width=4, *, bias=True):
        super().__init__()
        torch.manual_seed(1)
        self.fc, self.wrap = nn.Linear(3, width, bias=bias), wrap

    def forward(self, x):
        return self.wrap(self.fc(x))


def other(scores):
    return scores.flip(1) + 1


@pytest.mark.parametrize(
    ("wrap", "path"),
    [
        (lambda s: s, ()),
        (lambda s: s[:, :, None, None], ()),
        (lambda s: s[:, None], ()),
        (lambda s: s.half(), ()),
        (lambda s: (s, None), ("0",)),
        (lambda s: [s], ("0",)),
        (lambda s: {"out": s}, ("out",)),
        (lambda s: {"loss": s.mean(), "out": s}, ("out",)),
        (lambda s: {"loss": s.mean(), "logits": s, "x": 1}, ("logits",)),
        (lambda s: (s.repeat(1, 3), s), ("1",)),
        (lambda s: (s, s.argmax(1)), ("0",)),
        (lambda s: (s, s), ("0",)),
        (lambda s: Pair(s, other(s)), ("logits",)),
        (lambda s: {"aux": {"logits": s.repeat(1, 2)}, "head": {"scores": s}}, ("head", "scores")),
        (lambda s: Output(None, s), ("logits",)),
        (lambda s: Output(s.mean(), s, (s[:, None].repeat(1, 5, 1),)), ("logits",)),
        (lambda s: OrderedDict(logits=s, cls_logits=other(s)), ("logits",)),
    ],
)
def test_what_is_plain_is_found_and_said(wrap, path):
    net = Net(wrap).eval()
    found = find_scores(net, X, classes=NAMES)
    expected = net.fc(X).detach()
    torch.testing.assert_close(found.rows, expected, atol=2e-3, rtol=1e-2)
    torch.testing.assert_close(found.scores(net(X)).detach(), found.rows)
    assert found.scores.path == path
    assert not found.notes or f"output '{'.'.join(path)}'; not used" in found.notes[0]
    assert found.output == "logits"


@pytest.mark.parametrize(
    ("wrap", "choices", "key"),
    [
        (lambda s: (other(s), s), r"0 \(6, 4\), 1 \(6, 4\)", 1),
        (lambda s: (other(s), s), "0", -1),
        (lambda s: {"aux": other(s), "main": s}, "aux .*, main", "main"),
        (lambda s: {"aux": other(s), "main": s}, "aux .*, main", 1),
        (lambda s: {"a": [other(s), s], "b": other(s)}, "a.0 .*, a.1 .*, b", "a.1"),
        (
            lambda s: {"train": {"x": other(s)}, "test": {"y": s, "n": s.mean()}},
            "train.x .*, test.y",
            "test",
        ),
    ],
)
def test_what_is_not_plain_is_asked_for(wrap, choices, key):
    net = Net(wrap).eval()
    with pytest.raises(UserError, match=rf"several outputs .*{choices}.*model.output_key=") as caught:
        find_scores(net, X, classes=NAMES)
    assert "\n" not in str(caught.value)
    found = find_scores(net, X, key=key, classes=NAMES)
    assert torch.equal(found.rows, net.fc(X).detach())
    assert "class scores are the output" in found.notes[0]


def test_widths_without_class_names():
    """Of unlabelled data nobody knows how many classes there are."""
    assert find_scores(Net(lambda s: {"loss": s.mean(), "out": s}), X).scores.path == ("out",)
    with pytest.raises(UserError, match=r"several outputs of the model could be"):
        find_scores(Net(lambda s: (s.repeat(1, 3), s)), X)


def test_no_output_has_the_width_of_the_classes():
    with pytest.raises(UserError, match=r"have another width than the 3 classes: 0 \(6, 8\), 1 \(6, 4\)"):
        find_scores(Net(lambda s: (s.repeat(1, 2), s)), X, classes=["a", "b", "c"])


@pytest.mark.parametrize(
    "wrap",
    [lambda s: "text", lambda s: [], lambda s: {"boxes": []}, lambda s: s.argmax(1), lambda s: s.long(),
     lambda s: s[:, :, None].repeat(1, 1, 5), lambda s: {"x": s[:, :, None].repeat(1, 1, 5)}],
)  # fmt: skip
def test_what_holds_no_scores(wrap):
    with pytest.raises(UserError, match="class scores"):
        find_scores(Net(wrap), X, classes=NAMES)


def test_keys_that_are_not_there():
    net = Net(lambda s: {"aux": other(s), "main": s})
    for key in ("head", 2, -3):
        with pytest.raises(UserError, match=rf"output_key={key} is no output .*aux \(6, 4\), main"):
            find_scores(net, X, key=key)
    with pytest.raises(UserError, match="gives one tensor, so leave the key out"):
        find_scores(Net(lambda s: s), X, key="logits")


def test_rows_of_something_else():
    with pytest.raises(UserError, match="gives 3 rows for 6 images"):
        find_scores(Net(lambda s: s[:3]), X)


def test_a_net_that_squeezes_loses_an_axis_of_one_image():
    net = Net(torch.squeeze).eval()
    found = find_scores(net, X[:1], classes=NAMES)
    assert torch.equal(found.rows, net.fc(X[:1]))
    assert torch.equal(find_scores(net, X, classes=NAMES).scores(net(X[:1])), found.rows)


# -- one number an image --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(-1, 1), (-1,), (-1, 1, 1, 1)])
@pytest.mark.parametrize("output", ["auto", "binary", "logits"])
def test_one_logit_is_the_second_class(shape, output):
    net = Net(lambda s: 5 * s.reshape(shape), width=1).eval()
    found = find_scores(net, X, output, classes=TWO)
    logit = 5 * net.fc(X)[:, 0].detach()
    assert logit.min() < 0 < logit.max()
    assert found.output == "logits"
    torch.testing.assert_close(found.rows.softmax(1)[:, 1], logit.sigmoid())
    assert torch.equal(found.rows.argmax(1) == 1, logit > 0)
    assert found.notes == ("the model gives one logit an image: above 0 it means dog, the second class",)
    torch.testing.assert_close(found.scores(net(X[:1])), found.rows[:1])


@pytest.mark.parametrize(
    "end",
    [
        torch.sigmoid,
        lambda s: torch.sigmoid(s).squeeze(),
        lambda s: s.clone().sigmoid_().reshape(-1),
        lambda s: functional.softmax(torch.cat([-s, s], 1), 1)[:, 1],
        lambda s: torch.sigmoid(s).clamp(1e-7, 1 - 1e-7),
        lambda s: {"p": torch.sigmoid(s)},
    ],
)
def test_one_probability_is_told_by_how_the_model_ends(end):
    net = Net(end, width=1).eval()
    found = find_scores(net, X, classes=TWO)
    assert (found.output, found.scores.single) == ("probs", "probability")
    assert "one probability an image: above 0.5 it means dog" in found.notes[-1]
    assert torch.equal(found.rows.sum(1), torch.ones(6))
    given = end(net.fc(X))
    given = given["p"] if isinstance(given, dict) else given
    torch.testing.assert_close(found.rows[:, 1], given.detach().reshape(-1))


def small(scores):
    return scores.abs().clamp_max(1)


def test_small_logits_are_no_probabilities():
    """All numbers in [0, 1], straight out of a linear layer: logits, however small."""
    net = Net(lambda s: s, width=1).eval()
    with torch.no_grad():
        net.fc.weight.fill_(0.01)
        net.fc.bias.fill_(0.5)
    found = find_scores(net, X, classes=TWO)
    assert found.rows.abs().max() < 0.5
    assert (found.output, found.scores.single) == ("logits", "logit")


@pytest.mark.parametrize(
    "end", [small, lambda s: 1 - torch.sigmoid(s), lambda s: torch.sigmoid(s) * 0.9 + 0.05]
)
def test_what_cannot_be_told_is_asked_for(end):
    net = Net(end, width=1).eval()
    with pytest.raises(UserError, match=r"may be a probability or a logit: say model.output=probs or"):
        find_scores(net, X, classes=TWO)
    assert find_scores(net, X, "probs", classes=TWO).output == "probs"
    assert find_scores(net, X, "logits", classes=TWO).output == "logits"


def test_what_was_said_wrongly():
    with pytest.raises(
        UserError, match=r"output=probs, but the model's one number an image is not in \[0, 1\]"
    ):
        find_scores(Net(lambda s: 9 * s, width=1), X, "probs", classes=TWO)
    with pytest.raises(UserError, match=r"output=binary is for one number an image, and this model gives 4"):
        find_scores(Net(lambda s: s), X, "binary", classes=NAMES)
    with pytest.raises(
        UserError, match=r"tells two classes apart, but there are 4 classes: ant, bee, cat, dog"
    ):
        find_scores(Net(lambda s: s, width=1), X, classes=NAMES)
    notes = find_scores(Net(torch.sigmoid, width=1), X, "logits", classes=TWO).notes
    assert "ends with a sigmoid" in notes[1]


def test_a_mutant_that_leaves_zero_to_one_stays_a_probability():
    found = find_scores(Net(torch.sigmoid, width=1).eval(), X, classes=TWO)
    rows = found.scores(torch.tensor([[-3.0], [0.7], [9.0], [float("nan")]]))
    assert rows[:3].tolist() == [[1.0, 0.0], pytest.approx([0.3, 0.7]), [0.0, 1.0]]
    assert rows[3].isnan().all()


def test_a_tensor_as_it_comes():
    rows = torch.ones(2, 3)
    assert torch.equal(PLAIN(rows), rows)
    with pytest.raises(UserError, match="class scores"):
        PLAIN(rows.long())
