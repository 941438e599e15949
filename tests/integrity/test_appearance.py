"""Tone and sharpness of pictures whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageFilter

from app.integrity.appearance import appearance


def test_against_numpy_on_noise():
    levels = np.random.default_rng(0).integers(0, 256, (60, 50), dtype=np.uint8)
    look = appearance(Image.fromarray(levels))
    assert look.mean == pytest.approx(levels.mean())
    assert look.std == pytest.approx(levels.std())
    assert look.dark == np.percentile(levels, 5, method="inverted_cdf")
    assert look.bright == np.percentile(levels, 99, method="inverted_cdf")
    assert look.sharpness == pytest.approx(np.sqrt(20), rel=0.05)  # of independent pixels: 4² + 4 · 1²


def test_sharpness_against_a_laplacian_of_all_rows():
    levels = np.random.default_rng(1).integers(0, 256, (9, 8), dtype=np.uint8)
    full = levels.astype(float)
    laplacian = full[:-2, 1:-1] + full[2:, 1:-1] + full[1:-1, :-2] + full[1:-1, 2:] - 4 * full[1:-1, 1:-1]
    assert appearance(Image.fromarray(levels)).sharpness == pytest.approx(
        laplacian[::2].std() / full.std(), rel=1e-5
    )


def test_sharpness_falls_with_blur_and_not_with_contrast(make_scene):
    noisy = make_scene(0, 90, 90).convert("L").filter(ImageFilter.UnsharpMask(3, 300))
    values = [appearance(noisy.filter(ImageFilter.GaussianBlur(radius))).sharpness for radius in (0, 1, 2, 4)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 3 * values[2]
    flat = noisy.point(lambda level: 100 + level // 4)
    assert appearance(flat).sharpness == pytest.approx(values[0], rel=0.1)


@pytest.mark.parametrize("size", [(1, 1), (2, 9), (9, 2), (40, 40)])
def test_one_tone_has_no_sharpness(size):
    look = appearance(Image.new("L", size, 9))
    assert (look.mean, look.std, look.dark, look.bright) == (9, 0, 9, 9)
    assert np.isnan(look.sharpness)
