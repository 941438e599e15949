"""MC DropBlock: one mutant for each rate and block, on the map it is said to act on."""

import pytest
import torch
from torch.nn import functional

from app.mutation.mc_dropblock import McDropBlock
from app.mutation.overlay import Rows, overlay
from app.mutation.targets import Targets


def test_one_mutant_for_each_rate_and_block(net):
    plan = McDropBlock().plan(Targets(net), 0)
    assert len(plan) == 45
    assert [(m.params["rate"], m.params["block"]) for m in plan[:6]] == [
        (0.1, 1), (0.1, 3), (0.1, 5), (0.1, 7), (0.1, 9), (0.15, 1)]  # fmt: skip
    assert {(mutant.target, mutant.repetitions) for mutant in plan} == {("conv2", 10)}


def test_whole_blocks_of_the_map_are_dropped(net, images):
    (mutant,) = McDropBlock(0.3, 3, site="conv1").plan(Targets(net), 0)
    seen = []
    net.get_submodule("bn").register_forward_pre_hook(lambda _m, inputs: seen.append(inputs[0].clone()))
    with torch.no_grad(), overlay(mutant, net, Rows(torch.arange(6), torch.zeros(6).long())):
        net(images)
    zero = seen[0] == 0
    assert zero.any()
    assert not zero.all()
    centres = functional.avg_pool2d(zero.float(), 3, stride=1) == 1
    grown = functional.max_pool2d(functional.pad(centres.float(), (2, 2, 2, 2)), 3, stride=1) > 0
    assert torch.equal(grown, zero)  # every dropped element lies in a whole dropped block


@pytest.mark.parametrize("blocks", [[], [0], [2], [-1], [3.0]])
def test_bad_blocks_are_refused(blocks):
    with pytest.raises(ValueError, match=r"blocks .*give odd sizes of at least 1"):
        McDropBlock(blocks=blocks)
