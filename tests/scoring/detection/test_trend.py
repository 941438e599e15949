import numpy as np
import pytest
from scipy.stats import spearmanr

from app.scoring.detection.objects import METRICS, SETS
from app.scoring.detection.results import Strength
from app.scoring.detection.significance import KILLS
from app.scoring.detection.trend import groups, spearman, trends


def scores(values):
    names = [f"obj_ms_{kind}" for kind in KILLS] + ["ms_iou"] + [f"ua_{s}_{m}" for s in SETS for m in METRICS]
    return {name: np.array(values, dtype=float) for name in names}


def test_rank_correlation_equals_scipys_with_ties():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 5, 30).astype(float), rng.normal(size=30)
    assert spearman(first, second) == pytest.approx(spearmanr(first, second).statistic)


def test_rank_correlation_of_too_little():
    assert np.isnan(spearman(np.array([1.0, 2.0]), np.array([1.0, 2.0])))
    assert np.isnan(spearman(np.array([1.0, 2.0, 3.0]), np.array([4.0, 4.0, 4.0])))
    assert spearman(np.array([1.0, 2.0, 3.0, 9.0]), np.array([4.0, 5.0, 6.0, np.nan])) == 1.0


def test_trends_are_by_operator():
    told = [Strength("drop", rate) for rate in (0.1, 0.2, 0.3)] + [
        Strength("block", rate, 3) for rate in (0.1, 0.2, 0.3)
    ]
    found = trends(told, {"obj_ms_miss": np.array([1.0, 2.0, 3.0, 3.0, 2.0, 1.0])})
    assert [(t.operator, t.mutants, t.obj_ms_miss_spearman) for t in found] == [
        ("drop", 3, 1.0),
        ("block", 3, -1.0),
    ]


def test_means_by_operator_rate_and_block():
    told = [Strength("block", rate, block) for rate in (0.1, 0.2) for block in (1, 3)] + [
        Strength("odd", float("nan"))
    ]
    killed = np.array([[0, 0, 0], [1, 0, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0]], dtype=bool)
    found = {(g.operator, g.rate, g.block): g for g in groups(told, scores([1, 2, 3, np.nan, 9]), killed)}
    assert set(found) == {
        ("block", None, None),
        ("block", 0.1, None),
        ("block", 0.2, None),
        ("block", None, 1),
        ("block", None, 3),
        ("odd", None, None),
    }
    whole = found["block", None, None]
    assert (whole.mutants, whole.ms_iou, whole.img_ms["miss"]) == (4, 2.0, 0.75)
    assert found["block", 0.1, None].obj_ms["miss"] == 1.5
    assert found["block", None, 1].ua["ghost"]["ps"] == 2.0
    assert found["block", None, 3].img_ms == {"miss": 1.0, "ghost": 0.5, "mg": 1.0}
