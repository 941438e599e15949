"""What ran once: the images are the trials."""

import numpy as np
import pytest
from scipy.stats import binom

from app.detections import DetectionLog
from app.scoring.detection import ScoreSettings, score_logs
from app.scoring.detection.image_tests import (
    IMAGES_ARE_TRIALS,
    OverImages,
    OverRepetitions,
    resampled_img_ms,
)
from app.scoring.detection.significance import binomial_p, image_kills
from app.stats.bootstrap import multinomial_weights

P0 = np.array([0.01, 0.02, 0.03])


def drawn_tests(rng, mutants=5, images=12):
    events = rng.random((mutants, images, 3)) < np.linspace(0, 0.4, mutants)[:, None, None]
    return OverImages(events, rng.random((mutants, images)) < 0.9, P0)


def test_by_hand(scene):
    names = [f"i{index}" for index in range(10)]
    there, gone = scene(([0, 0, 9, 9], 1)), scene()
    original = DetectionLog.of(names, [[there]] * 10)
    # 3, 1 and 0 of 10 images lose their object: P(Bin(10, .01) >= 3) = .000114, P(>= 1) = 1 - .99^10 = .0956, 1
    mutants = {
        str(lost): DetectionLog.of(names, [[gone]] * lost + [[there]] * (10 - lost)) for lost in (3, 1, 0)
    }
    found = score_logs(original, mutants, settings=ScoreSettings(resamples=100), suites={"few": names[:3]})
    assert [mutant.img_p["miss"] for mutant in found.mutants] == pytest.approx(
        [1.1378e-4, 1 - 0.99**10, 1.0], rel=1e-3
    )
    assert [mutant.img_p_adjusted["miss"] for mutant in found.mutants] == pytest.approx(
        [3.4135e-4, 1.5 * (1 - 0.99**10), 1.0], rel=1e-3
    )
    assert [mutant.img_killed["miss"] for mutant in found.mutants] == [True, False, False]
    assert [mutant.img_killed["ghost"] for mutant in found.mutants] == [False] * 3
    assert found.kills[:, :, 0].sum(axis=1).tolist() == [3, 1, 0]
    assert [mutant.img_kills["mg"] for mutant in found.mutants] == [3, 1, 0]
    assert found.summary.img_ms["mg"] == pytest.approx(1 / 3)
    # three of three: 1e-6; one of three: 1 - .99^3 = .0297, by Benjamini-Hochberg .0446
    assert found.suites[0].killed["miss"] == ("3", "1")
    assert found.notes == (IMAGES_ARE_TRIALS,)


def test_a_resample_is_the_test_on_what_was_drawn():
    rng = np.random.default_rng(0)
    tests = drawn_tests(rng)
    weights = multinomial_weights(12, 20, rng)
    found = tests.resampled(weights, 0.05)
    for row, drawn in zip(found, weights.astype(int), strict=True):
        again = tests.take(np.repeat(np.arange(12), drawn))
        assert row.tolist() == again.kills(0.05).mutants.mean(axis=0).tolist()
    assert len(np.unique(found)) > 1
    assert np.isnan(
        OverImages(np.zeros((0, 3, 3), bool), np.zeros((0, 3), bool), P0).resampled(weights[:, :3], 0.05)
    ).all()


def test_images_that_cannot_be_scored_are_no_trials():
    tests = drawn_tests(np.random.default_rng(1))
    kills = tests.kills(0.05)
    for mutant in range(5):
        tested = tests.tested[mutant]
        counts = tests.events[mutant, tested].sum(axis=0)
        assert kills.p[mutant] == pytest.approx(binom.sf(counts - 1, tested.sum(), P0))
        assert not kills.images[mutant, ~tested].any()
    none = OverImages(np.ones((1, 2, 3), bool), np.zeros((1, 2), bool), P0).kills(0.05)
    assert np.isnan(none.p).all()
    assert none.adjusted.tolist() == [[1.0] * 3]


def test_a_mutant_of_pure_noise_is_rarely_killed():
    rng = np.random.default_rng(2)
    killed = [
        OverImages(rng.random((1, 40, 3)) < P0, np.ones((1, 40), bool), P0).kills(0.05).mutants[0]
        for _ in range(400)
    ]
    assert np.mean(killed, axis=0).max() <= 0.07


def test_several_repetitions_are_tested_image_by_image():
    counts = np.array([[[3, 0, 3], [0, 0, 0]]])
    found = OverRepetitions(binomial_p(counts, 10, 0.01)).kills(0.05)
    assert found.images[0].tolist() == [[True, False, True], [False] * 3]
    assert found.mutants.tolist() == [[True, False, True]]


@pytest.mark.parametrize("seed", range(4))
def test_the_short_way_to_img_ms_equals_the_long_one(seed):
    rng = np.random.default_rng(seed)
    p = rng.choice([1.0, 0.1, 0.02, 0.004, 1e-5], size=(5, 8, 3), p=[0.6, 0.1, 0.1, 0.1, 0.1])
    p[1, 3] = np.nan
    p[2] = np.nan
    weights = multinomial_weights(8, 30, rng)
    found = resampled_img_ms(p, weights, 0.05)
    for draw, row in zip(weights.astype(int), found, strict=True):
        drawn = np.repeat(np.arange(8), draw)
        expected = (image_kills(p[:, drawn]).over_mutants <= 0.05).mean(axis=0)
        assert row == pytest.approx(expected)


def test_img_ms_of_nothing_is_undefined():
    assert np.isnan(resampled_img_ms(np.zeros((0, 3, 3)), np.ones((4, 3)), 0.05)).all()
    assert np.isnan(resampled_img_ms(np.zeros((2, 0, 3)), np.ones((4, 0)), 0.05)).all()
