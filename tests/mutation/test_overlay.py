"""An overlay makes the model the mutant, and leaves no trace."""

from contextlib import nullcontext

import pytest
import torch
from torch import nn

from app.mutation.activation_replacement import ActivationReplacement
from app.mutation.layer_freezing import LayerFreezing
from app.mutation.mc_dropblock import McDropBlock
from app.mutation.mc_dropout import McDropout
from app.mutation.neuron_ablation import NeuronAblation
from app.mutation.operator import StochasticOperator
from app.mutation.overlay import Rows, changed, overlay, planned_weights
from app.mutation.photometric import InputBrightness
from app.mutation.quantization import Quantization
from app.mutation.targets import Targets
from app.mutation.weight_noise import WeightNoise
from app.mutation.weight_zeroing import WeightZeroing

OPERATORS = {
    "noise": WeightNoise(sigmas=0.5),
    "zeroing": WeightZeroing(ratios=0.5),
    "ablation": NeuronAblation(),
    "freezing": LayerFreezing(),
    "quantization": Quantization(modes="int2", scope="all"),
    "activation": ActivationReplacement("sigmoid"),
    "dropout": McDropout(0.5, site="conv1"),
    "dropblock": McDropBlock(0.5, 3),
}


def rows(count, repetition=0):
    return Rows(torch.arange(count), torch.full((count,), repetition))


def photograph(model):
    """Everything of a model that an overlay could leave changed."""
    return {
        name: (
            [
                (key, id(value), value.clone(), value.requires_grad)
                for key, value in module._parameters.items()
                if value is not None
            ],
            sorted(module.__dict__),
            list(module._parameters),
            dict(module._forward_hooks),
            dict(module._forward_pre_hooks),
            module.__dict__.get("forward"),
        )
        for name, module in model.named_modules(remove_duplicate=False)
    }


def assert_untouched(model, before):
    after = photograph(model)
    assert after.keys() == before.keys()
    for name, (parameters, *rest) in before.items():
        now, *rest_now = after[name]
        assert rest_now == rest
        assert [(key, identity, flag) for key, identity, _, flag in now] == [
            (key, identity, flag) for key, identity, _, flag in parameters
        ]
        assert all(torch.equal(a, b) for (_, _, a, _), (_, _, b, _) in zip(now, parameters, strict=True))


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())
def test_the_model_is_the_mutant_inside_and_itself_afterwards(operator, error, net, images):
    mutant = operator.plan(Targets(net), 0)[0]
    before = photograph(net)
    with torch.no_grad():
        original = net(images)
        with pytest.raises(error) if error else nullcontext(), overlay(mutant, net, rows(6)):
            assert not torch.equal(net(images), original)
            if error:
                raise error
        assert torch.equal(net(images), original)
    assert_untouched(net, before)


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())
def test_a_forward_that_raises_is_undone_too(operator, net):
    mutant = operator.plan(Targets(net), 0)[0]
    before = photograph(net)
    with pytest.raises(RuntimeError), overlay(mutant, net, rows(2)):
        net(torch.zeros(2, 99, 8, 8))
    assert_untouched(net, before)


def test_a_bad_site_undoes_what_was_already_put_on(net):
    mutant = Quantization(scope="all").plan(Targets(net), 0)[0]
    values = planned_weights(mutant, net)
    before = photograph(net)
    with (
        pytest.raises(KeyError),
        overlay(mutant, net, weights={**values, ("nowhere", "weight"): torch.zeros(1)}),
    ):
        pass
    assert_untouched(net, before)


def test_every_owner_of_a_tied_weight_sees_the_mutant(tied):
    mutant = WeightZeroing(1.0, "largest_magnitude", layers="decoder").plan(Targets(tied), 0)[0]
    before = photograph(tied)
    with overlay(mutant, tied):
        assert tied.encoder.weight is tied.decoder.weight
        assert not tied.encoder.weight.any()
        assert not tied.encoder.weight.requires_grad
    assert tied.encoder.weight is tied.decoder.weight
    assert_untouched(tied, before)


def test_a_module_under_two_names_is_one(tied):
    mutant = WeightZeroing(1.0, "largest_magnitude", layers="again").plan(Targets(tied), 0)[0]
    with overlay(mutant, tied):
        assert not tied.block.weight.any()
        assert tied.block is tied.again


def test_computed_weights_may_be_given(net, images):
    mutant = WeightNoise(0.5).plan(Targets(net), 0)[0]
    values = planned_weights(mutant, net)
    with torch.no_grad():
        with overlay(mutant, net):
            first = net(images)
        with overlay(mutant, net, None, values):
            assert torch.equal(net(images), first)
        with overlay(mutant, net, weights={key: torch.zeros_like(value) for key, value in values.items()}):
            assert not torch.equal(net(images), first)
    with pytest.raises(TypeError, match="has no weights"):
        planned_weights(ActivationReplacement().plan(Targets(net), 0)[0], net)


def test_overlays_nest_and_come_off_in_turn(net, images):
    outer = ActivationReplacement("tanh").plan(Targets(net), 0)[0]
    inner = McDropout(0.5, site="relu").plan(Targets(net), 0)[0]
    before = photograph(net)
    with torch.no_grad(), overlay(outer, net) as active:
        tanh = net(images)
        with overlay(inner, net, rows(6)):
            assert not torch.equal(net(images), tanh)
        assert torch.equal(net(images), tanh)
        assert active.calls == {"relu": 6}
    assert_untouched(net, before)


def test_a_forward_someone_else_set_is_kept(net, images):
    conv = net.get_submodule("conv1")
    stock = conv.forward

    def doubled(x):
        return 2 * stock(x)

    conv.forward = doubled
    before = photograph(net)
    mutant = McDropout(0.0, site="conv1").plan(Targets(net), 0)[0]
    with torch.no_grad():
        original = net(images)
        with overlay(mutant, net, rows(6)):
            assert torch.equal(net(images), original)  # rate 0 still goes through what was there
    assert conv.__dict__["forward"] is doubled
    assert_untouched(net, before)


def test_input_mutants_change_no_model(net, images):
    mutant = InputBrightness().plan(Targets(net), 0)[0]
    original = net(images)
    with overlay(mutant, net) as active:
        assert torch.equal(net(images), original)
    assert active.calls == {}


def test_no_hook_is_set_so_fast_paths_stay_on(attention, images):
    mutant = McDropout(0.5, site="attention").plan(Targets(attention), 0)[0]
    with torch.no_grad(), overlay(mutant, attention, rows(6)) as active:
        assert not any(module._forward_hooks for module in attention.modules())
        attention(images)
    assert active.calls == {"attention": 1}


def test_attention_weights_are_swapped(attention, images):
    mutant = WeightZeroing(1.0, "largest_magnitude", layers="attention").plan(Targets(attention), 0)[0]
    with torch.no_grad():
        original = attention(images)
        with overlay(mutant, attention):
            assert not torch.equal(attention(images), original)
        assert torch.equal(attention(images), original)


class Recorder(StochasticOperator):
    """Remembers what it is asked, and marks the tensors."""

    name = "recorder"

    def __init__(self, position="output"):
        super().__init__()
        self.where = position
        self.seen = []

    def choices(self, targets):
        raise NotImplementedError

    def position(self, mutant):
        return self.where

    def perturb(self, mutant, tensor, *, site, call, cases, repetitions):
        self.seen.append((site, call, tuple(tensor.shape)))
        return tensor + 1


class Parts(nn.Module):
    def forward(self, x, scale=None, *, more=None):
        first = x if scale is None else x * scale
        return {"a": (first, [first * 2]), "count": torch.tensor(3), "text": "kept", "more": more}


def recorded(operator, sites=("",)):
    from app.mutation.mutant import Mutant

    return Mutant(operator, {}, "x", sites, 0)


def test_every_floating_tensor_of_an_output_is_perturbed_in_its_structure():
    operator = Recorder()
    model = Parts()
    with overlay(recorded(operator), model, rows(2)):
        out = model(torch.zeros(2, 3))
    assert torch.equal(out["a"][0], torch.ones(2, 3))
    assert torch.equal(out["a"][1][0], torch.ones(2, 3))
    assert (out["count"].item(), out["text"], out["more"]) == (3, "kept", None)
    assert operator.seen == [("", 0, (2, 3)), ("", 1, (2, 3))]


def test_only_the_first_tensor_of_an_input_is_perturbed():
    model = Parts()
    for call in (
        lambda: model(torch.zeros(2, 3), torch.full((2, 3), 5.0)),
        lambda: model(x=torch.zeros(2, 3), scale=torch.full((2, 3), 5.0)),
    ):
        operator = Recorder("input")
        with overlay(recorded(operator), model, rows(2)):
            assert torch.equal(call()["a"][0], torch.full((2, 3), 5.0))
        assert operator.seen == [("", 0, (2, 3))]


def test_calls_count_by_site_and_start_anew(net, images):
    operator = Recorder()
    mutant = recorded(operator, ("relu", "conv1"))
    for _ in range(2):
        operator.seen.clear()
        with torch.no_grad(), overlay(mutant, net, rows(6)) as active:
            net(images)
        assert [(site, call) for site, call, _ in operator.seen] == [("conv1", 0), ("relu", 0), ("relu", 1)]
        assert active.calls == {"relu": 2, "conv1": 1}


def test_a_tensor_without_a_row_per_case_is_refused(net, images):
    mutant = McDropout(0.5, site="conv1").plan(Targets(net), 0)[0]
    sentence = r"conv1 gives a tensor of shape \(6, 4, 8, 8\) for a batch of 5 rows"
    with overlay(mutant, net, rows(5)), pytest.raises(RuntimeError, match=sentence):
        net(images)
    with pytest.raises(ValueError, match="needs the test case"), overlay(mutant, net):
        pass


def test_changed_says_whether_a_weight_mutant_changes_anything(net):
    targets = Targets(net)
    assert changed(net, WeightNoise(0.1).plan(targets, 0)[0])
    assert not changed(net, WeightNoise(0.0).plan(targets, 0)[0])
    mutant = WeightZeroing(0.5, "largest_magnitude", layers="head").plan(targets, 0)[0]
    assert changed(net, mutant, planned_weights(mutant, net))
    with torch.no_grad():
        net.get_submodule("head").weight.zero_()
    assert not changed(net, mutant)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("nested", [False, True])
def test_torchscript_is_mutated_and_restored(net, images, nested):
    scripted = torch.jit.script(net)
    model = nn.Sequential(scripted) if nested else scripted
    operator = Quantization(modes="int2", scope="all")
    mutant = operator.plan(Targets(model), 0)[0]
    with torch.no_grad():
        with overlay(operator.plan(Targets(net), 0)[0], net):
            expected = net(images)
        original = model(images)
        saved = {name: value.clone() for name, value in model.state_dict().items()}
        with overlay(mutant, model):
            mutated = model(images)
        with pytest.raises(KeyboardInterrupt), overlay(mutant, model):
            raise KeyboardInterrupt
        assert torch.allclose(mutated, expected, atol=1e-6)
        assert all(torch.equal(value, saved[name]) for name, value in model.state_dict().items())
        assert torch.equal(model(images), original)


def test_an_exported_program_is_mutated(exported, images):
    model = exported
    for operator in (WeightNoise(0.5), ActivationReplacement("sigmoid"), McDropout(0.5, site="conv1")):
        mutant = operator.plan(Targets(model), 0)[0]
        with torch.no_grad():
            original = model(images)
            with overlay(mutant, model, rows(6)):
                assert not torch.equal(model(images), original)
            assert torch.equal(model(images), original)
