"""How values grow with the copies of a batch."""

from collections import OrderedDict

import pytest
import torch

from app.inference.copies import ITEMS, ROWS, SAME, blank, learn, spread, tile


def test_each_kind_of_growth_is_told_apart():
    image = torch.rand(2, 3)
    levels = [torch.rand(2, 4), torch.rand(2, 5)]
    anchors = torch.rand(6, 4)
    twice = [torch.cat([each, each]) for each in levels]
    assert learn(image, torch.cat([image, image])) == ROWS
    assert learn(levels, twice).parts == (ROWS, ROWS)
    assert learn([anchors, anchors], [anchors] * 4) == ITEMS
    assert learn(anchors, anchors) == SAME
    assert learn(OrderedDict(a=image, n=3), OrderedDict(a=torch.cat([image, image]), n=3)).parts == (
        ROWS,
        SAME,
    )


def test_rows_may_be_a_few_more_or_less_than_twice():
    assert learn(torch.zeros(20, 4), torch.zeros(39, 4)) == ROWS
    assert learn(torch.zeros(0, 4), torch.zeros(0, 4)) == ROWS


@pytest.mark.parametrize(
    ("once", "twice"),
    [
        (torch.zeros(2, 3), torch.zeros(2, 6)),
        (torch.zeros(2, 3), torch.zeros(9, 3)),
        ((torch.zeros(2),), (torch.zeros(2), torch.zeros(2))),
        (2, 4),
        (2, 2.0),
    ],
)
def test_other_growth_is_refused(once, twice):
    with pytest.raises(ValueError, match="became"):
        learn(once, twice)


def test_spreading_is_what_the_model_itself_makes_of_copies():
    def model(images):
        stacked = torch.stack(images)
        proposals = [image[: 1 + int(image.sum()) % 3] for image in images]
        return {
            "maps": [stacked, stacked[:, 0]],
            "proposals": proposals,
            "pooled": torch.cat(proposals),
            "n": 7,
        }

    images = [torch.arange(6.0).view(3, 2) + k for k in range(3)]
    growth = learn(model(images[:1]), model(images[:1] * 2))
    made, wanted = spread(model(images), growth, 4, tile), model(images * 4)
    assert made.keys() == wanted.keys()
    for key in ("maps", "proposals"):
        assert len(made[key]) == len(wanted[key])
        assert all(torch.equal(a, b) for a, b in zip(made[key], wanted[key], strict=True))
    assert torch.equal(made["pooled"], wanted["pooled"])
    assert made["n"] == 7


def test_copies_share_no_memory():
    proposals = [torch.zeros(2, 4)]
    made = spread(proposals, ITEMS, 2, tile)
    made[0].add_(1)
    assert made[1].sum() == proposals[0].sum() == 0


def test_blanks_have_shape_and_no_values():
    made = spread(torch.rand(2, 3), ROWS, 5, blank(float("nan")))
    assert made.shape == (10, 3)
    assert made.isnan().all()
    assert made.untyped_storage().nbytes() == 4
    assert spread(torch.arange(2), ROWS, 2, blank(0.0)).tolist() == [0, 1, 0, 1]


def test_other_parts_than_learned_are_refused():
    growth = learn([torch.zeros(1), torch.zeros(1)], [torch.zeros(2), torch.zeros(2)])
    with pytest.raises(ValueError, match="zip"):
        spread([torch.zeros(1)], growth, 2, tile)
