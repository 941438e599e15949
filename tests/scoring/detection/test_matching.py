from itertools import permutations

import numpy as np
import pytest

from app.scoring.detection.matching import match_blind, match_by_class
from app.scoring.detection.overlap import iou_matrix

SQUARE = [0, 0, 100, 100]


def sizes(sets):
    return len(sets.match_iou), len(sets.misses), len(sets.ghosts)


def test_a_wrong_class_does_not_steal_the_partner(scene, one_image):
    original = one_image(scene((SQUARE, 1)))
    mutant = one_image(scene((SQUARE, 2), ([0, 0, 100, 90], 1)))
    assert sizes(match_blind(original, mutant, 0.5)) == (0, 1, 2)
    sets = match_by_class(original, mutant, 0.5)
    assert sizes(sets) == (1, 0, 1)
    assert sets.match_iou.tolist() == [0.9]
    assert (sets.match_mutant.tolist(), sets.ghosts.tolist()) == ([1], [0])


def test_no_match_is_given_up_for_pairs_that_do_not_count(scene, one_image):
    # IoU .55 alone, or .45 and .45: the sum prefers the two that are no matches
    original = one_image(scene((SQUARE, 1), ([67, 0, 167, 100], 1)))
    mutant = one_image(scene(([29, 0, 129, 100], 1), ([-38, 0, 62, 100], 1)))
    assert sizes(match_blind(original, mutant, 0.5)) == (0, 2, 2)
    assert sizes(match_by_class(original, mutant, 0.5)) == (1, 1, 1)


def test_most_matches_come_before_the_best_match(scene, one_image):
    # the pair with the largest IoU would leave the two others alone
    original = one_image(scene(([0, 0, 100, 100], 1), ([30, 0, 130, 100], 1)))
    mutant = one_image(scene(([10, 0, 110, 100], 1), ([-30, 0, 70, 100], 1)))
    iou = iou_matrix(original.boxes, mutant.boxes)
    assert iou[0].argmax() == 0
    assert iou[1, 1] <= 0.5 < iou[0, 1]
    sets = match_by_class(original, mutant, 0.5)
    assert sizes(sets) == (2, 0, 0)
    assert sets.match_mutant[np.argsort(sets.match_original)].tolist() == [1, 0]


def test_exactly_half_is_no_match(scene, one_image):
    original = one_image(scene((SQUARE, 1)))
    assert sizes(match_by_class(original, one_image(scene(([0, 0, 100, 50], 1))), 0.5)) == (0, 1, 1)
    assert sizes(match_by_class(original, one_image(scene(([0, 0, 100, 50.01], 1))), 0.5)) == (1, 0, 0)


@pytest.mark.parametrize("seed", range(25))
def test_best_of_all_pairings(scene, one_image, seed):
    rng = np.random.default_rng(seed)

    def crowd():
        corners = rng.uniform(0, 12, (4, 2))
        return [([*corner, *(corner + 30)], int(rng.integers(0, 2))) for corner in corners]

    original, mutant = one_image(scene(*crowd())), one_image(scene(*crowd()))
    iou = iou_matrix(original.boxes, mutant.boxes)
    good = (iou > 0.5) & (original.labels[:, None] == mutant.labels)
    options = [
        (
            sum(good[i, j] for i, j in enumerate(order)),
            sum(iou[i, j] * good[i, j] for i, j in enumerate(order)),
        )
        for order in permutations(range(4))
    ]
    most, best = max(options)
    sets = match_by_class(original, mutant, 0.5)
    assert len(sets.match_iou) == most
    assert sets.match_iou.sum() == pytest.approx(best)


def test_every_detection_is_in_one_set(scene, one_image):
    original = one_image(scene((SQUARE, 1)), scene(), scene((SQUARE, 1), (SQUARE, 2)))
    mutant = one_image(scene(), scene((SQUARE, 0)), scene((SQUARE, 2)))
    for match in (match_blind, match_by_class):
        sets = match(original, mutant, 0.5)
        assert sorted([*sets.match_original, *sets.misses]) == [0, 1, 2]
        assert sorted([*sets.match_mutant, *sets.ghosts]) == [0, 1]


def test_nothing_on_either_side(scene, one_image):
    empty = one_image(scene())
    for match in (match_blind, match_by_class):
        assert sizes(match(empty, empty, 0.5)) == (0, 0, 0)
