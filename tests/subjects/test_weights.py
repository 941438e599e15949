"""Weights as training scripts save them: below prefixes, inside wrappers, beside others."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from app.errors import UserError
from app.subjects.checkpoint import read_weights
from app.subjects.weights import fit


def same(module: nn.Module, other: nn.Module) -> bool:
    mine, theirs = module.state_dict(), other.state_dict()
    return mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)


@pytest.fixture
def blank(make_net):
    """The same network with other weights."""
    net = make_net()
    for parameter in net.parameters():
        nn.init.constant_(parameter, 7.0)
    return net


@pytest.mark.parametrize("holder", [None, "state_dict", "model_state_dict", "model"])
def test_weights_are_found(net, blank, tmp_path, holder):
    content = (
        net.state_dict()
        if holder is None
        else {holder: net.state_dict(), "epoch": 3, "loss": torch.tensor(0.1)}
    )
    torch.save(content, tmp_path / "w.pt")
    notes = fit(blank, read_weights(tmp_path / "w.pt"), "w.pt")
    assert notes == (() if holder is None else (f"weights were read below '{holder}' in the file",))
    assert same(blank, net)


@pytest.mark.parametrize(
    "prefix", ["model.", "module.", "net.backbone._orig_mod.", "module._orig_mod.", "_forward_module.net."]
)
def test_one_common_prefix_is_stripped_and_noted(net, blank, prefix):
    weights = {prefix + name: value for name, value in net.state_dict().items()}
    assert fit(blank, weights, "w.pt") == (f"weights were read below '{prefix[:-1]}' in the file",)
    assert same(blank, net)


def test_a_lightning_checkpoint(net, blank, tmp_path):
    weights = {f"model.{name}": value for name, value in net.state_dict().items()}
    content = {
        "state_dict": weights | {"loss.weight": torch.ones(3)},
        "epoch": 1,
        "hyper_parameters": {"width": 4},
    }
    torch.save(content, tmp_path / "last.ckpt")
    notes = fit(blank, read_weights(tmp_path / "last.ckpt"), "last.ckpt")
    assert notes == (
        "weights were read below 'state_dict.model' in the file; left out state_dict.loss.weight",
    )
    assert same(blank, net)


def test_batch_norms_of_old_checkpoints_have_no_counter(net, blank):
    weights = {name: value for name, value in net.state_dict().items() if "num_batches" not in name}
    assert fit(blank, weights, "w.pt") == ()


def test_names_and_shapes_that_do_not_fit(net):
    weights = dict(net.state_dict())
    del weights["head.bias"]
    with pytest.raises(
        UserError, match=r"w.pt does not fit Sequential: it lacks head.bias; give the factory"
    ):
        fit(net, weights, "w.pt")
    weights |= {f"extra{i}": torch.zeros(1) for i in range(5)}
    with pytest.raises(
        UserError, match=r"lacks head.bias and it has extra0, extra1, extra2 and 2 more too many"
    ):
        fit(net, weights, "w.pt")
    weights = net.state_dict() | {"head.weight": torch.zeros(5, 4)}
    with pytest.raises(
        UserError, match=r"head.weight is \(5, 4\) in the file and \(3, 4\) in the module; set it$"
    ):
        fit(net, weights, "w.pt", "; set it")


def test_a_module_without_weights_takes_none():
    assert fit(nn.ReLU(), {}, "w.pt") == ()
    with pytest.raises(UserError, match="it has a too many"):
        fit(nn.ReLU(), {"a": torch.zeros(1)}, "w.pt")


def test_lazy_modules_take_their_shapes_from_the_file():
    lazy = nn.Sequential(nn.LazyLinear(2))
    assert fit(lazy, {"0.weight": torch.ones(2, 3), "0.bias": torch.ones(2)}, "w.pt") == ()
    assert lazy(torch.ones(1, 3)).tolist() == [[4.0, 4.0]]


@pytest.mark.parametrize("wrapped", ["_orig_mod", "module", "_fsdp_wrapped_module", "module._orig_mod"])
def test_a_wrapper_around_a_part_is_seen_through(wrapped):
    """`net.backbone = torch.compile(net.backbone)` puts a component into the middle of names."""
    net = nn.Sequential(nn.Sequential(nn.Linear(2, 3)), nn.Linear(3, 2))
    other = nn.Sequential(nn.Sequential(nn.Linear(2, 3)), nn.Linear(3, 2))
    stored = {
        f"0.{wrapped}.{name.removeprefix('0.')}" if name.startswith("0.") else name: value
        for name, value in net.state_dict().items()
    }
    assert fit(other, stored, "w.pt") == ()
    assert same(other, net)
    assert fit(other, {"model." + name: value for name, value in stored.items()}, "w.pt")


def test_a_module_that_is_itself_wrapped_takes_bare_names(net, make_net):
    wrapped = nn.Sequential()
    wrapped.add_module("module", make_net())
    assert fit(wrapped, net.state_dict(), "w.pt") == ()
    assert same(wrapped.module, net)


def moved(net: nn.Module, by: float = 1.0) -> dict[str, torch.Tensor]:
    return {
        name: value + by if value.is_floating_point() else value for name, value in net.state_dict().items()
    }


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (lambda a, b: {"state_dict": a, "state_dict_ema": b}, ("state_dict", "state_dict_ema")),
        (lambda a, b: {"model": a, "ema": {"module": b}}, ("model", "ema.module")),
        (lambda a, b: {"model": a, "model_ema": b, "epoch": 3}, ("model", "model_ema")),
        (
            lambda a, b: {"state_dict": prefixed("student.", a) | prefixed("teacher.", b)},
            ("state_dict.student", "state_dict.teacher"),
        ),
        (lambda a, b: prefixed("teacher.", a) | prefixed("student.", b), ("teacher", "student")),
        (lambda a, b: a | prefixed("ema.module.", b) | {"ema.n_averaged": torch.tensor(3)}, (".", "ema.module")),
        (
            lambda a, b: {"state_dict": prefixed("net.", a), "current_model_state": prefixed("net.", b)},
            ("state_dict.net", "current_model_state.net"),
        ),
        (lambda a, b: {"folds": {"0": a, "1": b}}, ("folds.0", "folds.1")),
        (lambda a, b: {"state_dict": prefixed("model.", a), "callbacks": {"EMA": {"weights": b}}},
         ("state_dict.model", "callbacks.EMA.weights")),
    ],
)  # fmt: skip
def test_several_weights_that_fit_and_differ_are_never_chosen_from(net, blank, content, names):
    first, second = net.state_dict(), moved(net)
    stored = content(first, second)
    with pytest.raises(UserError) as caught:
        fit(blank, stored, "w.pt")
    assert f"several weights that fit Sequential and differ: {', '.join(names)}; say which" in str(
        caught.value
    )
    assert f"model.weights_key={names[1]}," in str(caught.value)
    for name, expected in zip(names, (first, second), strict=True):
        notes = fit(blank, stored, "w.pt", key=name)
        assert all(torch.equal(value, expected[key]) for key, value in blank.state_dict().items())
        assert name == "." or f"below '{name}'" in notes[0]
    same_twice = content(first, first)
    fit(blank, same_twice, "w.pt")
    assert same(blank, net)


def prefixed(prefix: str, weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {prefix + name: value for name, value in weights.items()}


def test_the_end_of_a_place_names_it(net, blank):
    stored = {"state_dict": prefixed("student.", net.state_dict()) | prefixed("teacher.", moved(net))}
    assert fit(blank, stored, "w.pt", key="student") == (
        "weights were read below 'state_dict.student' in the file; left out state_dict.teacher.conv.weight, "
        "state_dict.teacher.conv.bias, state_dict.teacher.norm.weight and 5 more",
    )
    assert same(blank, net)
    with pytest.raises(UserError, match=r"model.weights_key=pupil is no place in w.pt .*state_dict.student"):
        fit(blank, stored, "w.pt", key="pupil")


@pytest.mark.parametrize("prefix", ["", "model.", "module."])
@pytest.mark.parametrize(
    "name", ["criterion.weight", "loss_fn.pos_weight", "train_acc.tp", "metrics.confmat", "class_weights"]
)
def test_what_a_script_keeps_beside_a_net_is_left_out_and_noted(net, blank, prefix, name):
    weights = prefixed(prefix, net.state_dict())
    for stored in (weights | {name: torch.ones(3)}, weights | {prefix + name: torch.ones(3)}):
        (note,) = fit(blank, stored, "w.pt")
        assert name in note.partition("left out ")[2]
        assert same(blank, net)


def test_optimizers_are_not_worth_a_word(net, blank):
    stored = {
        "state_dict": net.state_dict(),
        "optimizer": {"state": {0: {"exp_avg": torch.ones(3)}}, "named": {"step": torch.ones(1)}},
        "loss": torch.tensor(0.1),
    }
    assert fit(blank, stored, "w.pt") == ("weights were read below 'state_dict' in the file",)


def test_averaged_weights(net, blank):
    averaged = torch.optim.swa_utils.AveragedModel(net)
    assert fit(blank, averaged.state_dict(), "w.pt") == (
        "weights were read below 'module' in the file; left out n_averaged",
    )
    assert same(blank, net)


def test_a_deeper_network_does_not_pass_for_a_shallow_one():
    """All names of a shallow network are in a deep one of the same widths: what is left over is of the network."""
    deep = nn.Sequential(*(nn.Linear(3, 3) for _ in range(4)))
    for weights in (deep.state_dict(), prefixed("model.", deep.state_dict())):
        with pytest.raises(
            UserError, match=r"it has \S*2.weight, \S*2.bias, \S*3.weight and 1 more too many"
        ):
            fit(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), weights, "w.pt")


def test_parts_that_were_saved_apart(net, blank):
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for name, value in net.state_dict().items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = value
    assert fit(blank, parts | {"optimizer": {"step": torch.ones(1)}}, "w.pt") == ()
    assert same(blank, net)


def test_tied_weights_are_needed_once():
    tied = nn.ModuleDict({"a": nn.Linear(2, 2, bias=False), "b": nn.Linear(2, 2, bias=False)})
    tied["b"].weight = tied["a"].weight
    assert fit(tied, {"a.weight": torch.full((2, 2), 5.0)}, "w.safetensors") == ()
    assert tied["b"].weight.unique().tolist() == [5.0]


def test_a_module_that_knows_old_names_is_asked():
    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            state_dict[f"{prefix}weight"] = state_dict.pop(f"{prefix}kernel")
            super()._load_from_state_dict(state_dict, prefix, *rest)

    net = Renamed(2, 2, bias=False)
    assert fit(net, {"kernel": torch.full((2, 2), 3.0)}, "w.pt") == ()
    assert net.weight.unique().tolist() == [3.0]


def test_another_number_of_classes_is_said(net):
    weights = net.state_dict() | {"head.weight": torch.zeros(5, 4), "head.bias": torch.zeros(5)}
    with pytest.raises(
        UserError, match=r"the file is of a model with 5 outputs and the factory makes 3: give it"
    ):
        fit(net, {"state_dict": prefixed("model.", weights)}, "w.pt")


def test_names_of_another_network(net):
    with pytest.raises(UserError, match=r"no name fits: it has a.kernel, and the module takes conv.weight"):
        fit(net, {"a.kernel": torch.ones(3)}, "w.pt")
    weights = prefixed("model.", net.state_dict())
    del weights["model.head.bias"]
    with pytest.raises(UserError, match=r"it lacks head.bias \(below 'state_dict.model'\); give"):
        fit(net, {"state_dict": weights}, "w.pt")
