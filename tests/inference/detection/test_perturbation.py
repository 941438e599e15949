"""Masks of detectors: which row is what, and that nothing else in the batch matters."""

import pytest
import torch
from torch import nn

from app.inference.detection.perturbation import PROPOSAL, of_proposals, perturbed
from app.mutation import masks
from app.mutation.mc_dropout import McDropout
from app.mutation.operator import Choice, StochasticOperator
from app.mutation.overlay import Rows
from app.mutation.targets import Targets
from tests.inference.detection.conftest import Pictures, to_images


class Spy(StochasticOperator):
    """Changes nothing and notes the mask's key of every row it sees."""

    name = "spy"

    def __init__(self, *sites):
        super().__init__()
        self.sites, self.seen = sites, {}

    def choices(self, targets):
        return [Choice({"rate": 0.5}, "spied", self.sites)]

    def perturb(self, mutant, tensor, *, site, call, cases, repetitions):
        keys = masks.row_keys(mutant.seed, site, call, cases, repetitions)
        bits = masks.bernoulli(keys, 16, 0.5)
        place = [int(case) // PROPOSAL for case in cases]
        for row, case in enumerate(cases):
            name = (site, call, int(case) % PROPOSAL, place[row], int(repetitions[row]))
            self.seen[name] = (keys[row].tolist(), bits[row].tolist())
        return tensor.clone()


def spied(model, spy, cases, repetitions):
    (mutant,) = spy.plan(Targets(model), 1)
    rows = Rows(torch.tensor(cases), torch.tensor(repetitions))
    images = to_images([Pictures(8, ((40, 32),)).load(case) for case in cases])
    spy.seen = {}
    with torch.no_grad(), perturbed(mutant, model, rows):
        model(images)
    return spy.seen


def test_each_proposal_counts_in_its_own_image():
    rows = of_proposals(Rows(torch.tensor([7, 4, 9]), torch.tensor([0, 1, 2])), [2, 0, 3])
    assert (rows.cases % PROPOSAL).tolist() == [7, 7, 9, 9, 9]
    assert (rows.cases // PROPOSAL).tolist() == [0, 1, 0, 1, 2]
    assert rows.repetitions.tolist() == [0, 0, 2, 2, 2]
    assert len(of_proposals(rows, [0] * 5).cases) == 0


def test_masks_depend_on_image_proposal_and_repetition_only(roi):
    spy = Spy("roi_heads.box_head.fc6", "backbone.fpn.layer_blocks.0", "rpn.head.conv")
    together = spied(roi, spy, [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1])
    backwards = spied(roi, spy, [2, 1, 0, 2], [1, 1, 0, 0])
    alone = spied(roi, spy, [1], [1])
    assert alone.items() <= together.items()
    assert backwards.items() <= together.items()
    assert len({str(value) for value in together.values()}) == len(together)  # no two rows share a mask
    calls = {call for site, call, *_ in together if site == "rpn.head.conv"}
    assert calls == {0, 1, 2}  # the head is called once a level, and each level has masks of its own
    places = {place for site, _, image, place, _ in together if site.endswith("fc6") and image == 1}
    assert places == set(range(12))
    assert all(place == 0 for site, _, _, place, _ in together if not site.endswith("fc6"))


def test_as_many_proposals_as_images_are_still_proposals(roi):
    heads = roi.rpn._post_nms_top_n
    before, heads["testing"] = heads["testing"], 1
    try:
        seen = spied(roi, Spy("roi_heads.box_head.fc7"), [5], [3])
        again = spied(roi, Spy("roi_heads.box_head.fc7"), [4, 5], [3, 3])
    finally:
        heads["testing"] = before
    assert list(seen) == [("roi_heads.box_head.fc7", 0, 5, 0, 3)]
    assert seen.items() <= again.items()


def test_the_model_is_as_before_even_after_an_error(roi):
    (mutant,) = McDropout(0.5, 2, site="rpn").plan(Targets(roi), 0)
    before = {name: set(vars(each)) for name, each in roi.named_modules()}
    rows = Rows(torch.tensor([0]), torch.tensor([0]))
    images = to_images([Pictures(1).load(0)])
    message = "rpn gives a tensor of shape"
    with torch.no_grad(), pytest.raises(RuntimeError, match=message), perturbed(mutant, roi, rows):
        roi(images)
    assert {name: set(vars(each)) for name, each in roi.named_modules()} == before


def test_only_stochastic_mutants_perturb(roi):
    from app.mutation.weight_noise import WeightNoise

    (mutant,) = WeightNoise(0.1, count=1).plan(Targets(nn.Linear(2, 2)), 0)
    rows = Rows(torch.tensor([0]), torch.tensor([0]))
    with pytest.raises(TypeError, match="perturbs nothing"), perturbed(mutant, nn.Linear(2, 2), rows):
        pass
