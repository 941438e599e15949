"""Likeness of tones, against NumPy's own correlation."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from app.integrity.likeness import SAME, likenesses, outline


def test_it_is_the_correlation_of_the_small_pictures(make_scene):
    greys = {seed: make_scene(seed).convert("L").resize((32, 32)) for seed in range(4)}
    pairs = [(a, b) for a in range(4) for b in range(4)]
    found = likenesses(pairs, greys.get)
    plain = [np.corrcoef(*(np.asarray(greys[s], float).ravel() for s in pair))[0, 1] for pair in pairs]
    np.testing.assert_allclose(found, plain, atol=1e-5)


def test_copies_are_alike_and_strangers_are_not(make_scene, encode):
    scene = make_scene(0, 160, 140).convert("L")
    again = Image.open(io.BytesIO(encode(scene, "JPEG", quality=60)))
    darker = scene.point(lambda level: int(level * 0.8))
    smaller = scene.resize((80, 70))
    images = {
        "a": scene,
        "again": again,
        "darker": darker,
        "smaller": smaller,
        "b": make_scene(1).convert("L"),
    }
    copies = likenesses([("a", each) for each in ("a", "again", "darker", "smaller")], images.get)
    assert (copies >= SAME).all()
    assert likenesses([("a", "b")], images.get)[0] < 0.8


def test_what_cannot_be_compared_is_nan():
    images = {"flat": Image.new("L", (9, 9), 7), "a": Image.linear_gradient("L")}
    found = likenesses([("flat", "a"), ("gone", "a"), ("a", "a")], images.get)
    assert np.isnan(found[:2]).all()
    assert found[2] == 1.0
    assert not outline(images["flat"]).any()
    assert likenesses([], images.get).shape == (0,)


def test_each_picture_is_asked_for_once(make_scene):
    asked = []

    def load(name):
        asked.append(name)
        return make_scene(name).convert("L")

    likenesses([(0, 1), (1, 2), (0, 2), (2, 1)], load)
    assert sorted(asked) == [0, 1, 2]
