"""MC dropout: one mutant a rate, whose outcome for a case and repetition depends on nothing else."""

import pytest
import torch
from torch import nn

from app.mutation.mc_dropblock import McDropBlock
from app.mutation.mc_dropout import McDropout
from app.mutation.overlay import Rows, overlay
from app.mutation.targets import Targets

OPERATORS = [
    McDropout(0.5),
    McDropout(0.5, site="conv*"),
    McDropBlock(0.5, 3),
    McDropBlock(0.3, [1], site="relu"),
]


def run(mutant, model, images, cases, repetitions):
    with torch.no_grad(), overlay(mutant, model, Rows(torch.tensor(cases), torch.tensor(repetitions))):
        return model(images[cases])


def test_one_mutant_a_rate_in_order_with_its_repetitions(net):
    plan = McDropout(repetitions=7).plan(Targets(net), 0)
    assert [mutant.params["rate"] for mutant in plan] == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]
    assert {(mutant.repetitions, mutant.target, mutant.sites) for mutant in plan} == {(7, "drop", ("drop",))}
    assert plan[0].key == f"mc_dropout-rate0.1-drop-s{plan[0].seed:08x}"


@pytest.mark.parametrize("operator", OPERATORS)
def test_batch_size_order_and_repetitions_together_change_no_mask(operator, net, images):
    mutant = operator.plan(Targets(net), 0)[0]
    pairs = [(case, repetition) for repetition in range(3) for case in range(6)]
    together = run(mutant, net, images, *map(list, zip(*pairs, strict=True)))
    shuffled = [pairs[i] for i in torch.randperm(18, generator=torch.Generator().manual_seed(0)).tolist()]
    mixed = run(mutant, net, images, *map(list, zip(*shuffled, strict=True)))
    for index, (case, repetition) in enumerate(pairs):
        alone = run(mutant, net, images, [case], [repetition])[0]
        assert torch.allclose(together[index], alone, atol=1e-6)
        assert torch.allclose(mixed[shuffled.index((case, repetition))], alone, atol=1e-6)
    outcomes = torch.unique(together.round(decimals=4), dim=0)
    assert len(outcomes) > 12  # repetitions and cases differ (4 dropout units leave 16 masks)


def test_dropout_at_the_input_of_the_last_linear_layer(net, images):
    net.get_submodule("drop").p = 0.0  # no dropout in training
    (mutant,) = McDropout(0.5).plan(Targets(net), 0)
    assert (mutant.target, mutant.params) == ("head", {"rate": 0.5, "position": "input"})
    head = net.get_submodule("head")
    seen = []
    with torch.no_grad():
        handle = head.register_forward_pre_hook(lambda _m, inputs: seen.append(inputs[0].clone()))
        out = run(mutant, net, images, list(range(6)), [0] * 6)
        handle.remove()
    dropped = mutant.operator.perturb(
        mutant, seen[0], site="head", call=0, cases=torch.arange(6), repetitions=torch.zeros(6).long()
    )
    assert torch.equal(out, head(dropped))
    assert (dropped == 0).any()


def test_the_mean_over_repetitions_approaches_the_model_where_it_is_linear(images):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 3))
    (mutant,) = McDropout(0.3, repetitions=2000).plan(Targets(model), 0)
    outputs = run(mutant, model, images, [0] * 2000, list(range(2000)))
    with torch.no_grad():
        expected = model(images[:1])[0]
    assert ((outputs.mean(0) - expected).abs() < 5 * outputs.std(0) / 2000**0.5).all()


@pytest.mark.parametrize("operator", [McDropout, McDropBlock])
def test_bad_parameters_are_refused(operator):
    for rates in ([], [1.0], [-0.1], [float("nan")]):
        with pytest.raises(ValueError, match=r"rates .*from 0 to below 1"):
            operator(rates)
    for repetitions in (0, 1.5, True):
        with pytest.raises(ValueError, match="repetitions must be a whole number from 1 to"):
            operator(repetitions=repetitions)
    with pytest.raises(ValueError, match="site must be"):
        operator(site=None).plan(Targets(nn.Linear(1, 1)), 0)
