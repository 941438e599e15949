import numpy as np
import pytest

from app.scoring.detection.ratios import nan_mean


def test_nan_mean_by_hand():
    assert nan_mean(np.array([[1.0, np.nan, 3.0], [np.nan] * 3]), axis=1) == pytest.approx(
        [2.0, np.nan], nan_ok=True
    )
