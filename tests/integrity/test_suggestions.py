"""What to leave out: copies of the earlier split, worked through by hand."""

from __future__ import annotations

import numpy as np
import pytest

from app.integrity import contaminate, scan_images
from app.integrity.likeness import likenesses
from app.integrity.suggestions import suggestions


@pytest.fixture
def found(make_scene):
    """Train: scenes 0-3. Test: a copy of 1 under another class, 2 a bit lighter, 3 with a hash alike, 9."""
    scenes = {seed: make_scene(seed) for seed in (0, 1, 2, 3, 9)}
    lighter = scenes[2].point(lambda level: min(level + 4, 255))
    splits = {
        "train": ([scenes[0], scenes[1], scenes[2], scenes[3], scenes[0]], [0, 0, 1, 1, 0]),
        "test": ([scenes[1], lighter, scenes[9]], [1, 1, 0]),
    }
    scans = [
        scan_images(images.__getitem__, labels, ("cat", "dog"), name=name, workers=1)
        for name, (images, labels) in splits.items()
    ]
    result = contaminate(scans)
    place = {(s.name, path): splits[s.name][0][row] for s in scans for row, path in enumerate(s.paths)}
    names = [((p.first.split, p.first.path), (p.second.split, p.second.path)) for p in result.pairs]
    return scans, result, likenesses(names, lambda name: place[name].convert("L"))


def told(each):
    return each.split, each.path, each.action, each.reason, each.of_split, each.of_path, each.labels_differ


def test_copies_go_and_their_originals_stay(found):
    assert list(map(told, suggestions(*found))) == [
        ("train", "case-00004", "drop", "exact copy", "train", "case-00000", False),
        ("test", "case-00000", "drop", "exact copy", "train", "case-00001", True),
        ("test", "case-00001", "drop", "near copy", "train", "case-00002", False),
    ]


def test_what_is_not_confirmed_is_for_review(found):
    scans, result, likeness = found
    [*_, last] = suggestions(scans, result, np.full_like(likeness, 0.5))
    assert (last.path, last.action, last.reason, last.likeness) == ("case-00001", "review", "look-alike", 0.5)
    [*_, last] = suggestions(scans, result, np.full_like(likeness, np.nan))
    assert (last.path, last.action, last.likeness) == ("case-00001", "review", None)


def test_pictures_whose_pairs_are_not_listed_are_there_too(found):
    scans, _, _ = found
    [*_, last] = suggestions(scans, contaminate(scans, shown=0), np.empty(0))
    assert (last.path, last.action, last.of_path, last.distance) == ("case-00001", "review", "", None)


def test_clean_splits_need_nothing(make_scene):
    scans = [
        scan_images(lambda row, start=start: make_scene(start + row), [-1] * 2, name=name, workers=1)
        for name, start in (("train", 0), ("test", 5))
    ]
    result = contaminate(scans)
    assert suggestions(scans, result, np.full(len(result.pairs), np.nan)) == ()
