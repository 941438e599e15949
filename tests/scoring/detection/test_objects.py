import numpy as np
import pytest

from app.scoring.detection import ScoreSettings, score_logs
from app.scoring.detection.objects import METRICS, ObjectTable, write_objects

SQUARE, FAR = [0, 0, 100, 100], [300, 300, 340, 340]


@pytest.fixture
def result(scene, one_image):
    original = one_image(scene((SQUARE, 1), ([120, 0, 200, 80], 2)), 4)
    mild = one_image(scene(([0, 0, 100, 90], 1)), scene((SQUARE, 1), (FAR, 0)), 3)
    wild = one_image(scene((FAR, 0), (FAR, 1)), scene(), scene((SQUARE, 1)), scene(([2, 0, 102, 100], 1)))
    return score_logs(original, {"mild": mild, "wild": wild}, settings=ScoreSettings(resamples=20))


def test_every_aggregate_follows_from_the_parquet_file(result, tmp_path):
    import pandas as pd

    result.write_objects(tmp_path / "objects.parquet")
    frame = pd.read_parquet(tmp_path / "objects.parquet")
    for mutant in result.mutants:
        rows = frame[frame.mutant == mutant.key]
        sums = rows.groupby("set")["count"].sum().reindex(["match", "miss", "ghost"], fill_value=0)
        assert mutant.obj_ms["miss"] == pytest.approx(sums["miss"] / (sums["miss"] + sums["match"]))
        assert mutant.obj_ms["mg"] == pytest.approx((sums["miss"] + sums["ghost"]) / sums.sum())
        matches = rows[rows.set == "match"]
        assert mutant.ms_iou == pytest.approx(
            ((1 - matches.iou) * matches["count"]).sum() / matches["count"].sum()
        )
        for name in ("match", "miss", "ghost"):
            chosen = rows[rows.set == name]
            assert mutant.rates[name] == pytest.approx(chosen.rate.mean())
            for metric in METRICS:
                mean = chosen[f"{metric}_score"].mean()
                assert mutant.ua[name][metric] == pytest.approx(mean, nan_ok=True)
        seen = np.array([[digit == "1" for digit in text] for text in rows[rows.set != "match"].repetitions])
        assert mutant.img_p["mg"] == pytest.approx(0.01 ** seen.any(axis=0).sum(), rel=0.01)


def test_the_file_is_the_same_twice_and_may_be_empty(result, tmp_path):
    import pandas as pd

    for name in ("one", "two"):
        result.write_objects(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    write_objects(ObjectTable.none(3), [], [], tmp_path / "none")
    empty, full = pd.read_parquet(tmp_path / "none"), pd.read_parquet(tmp_path / "one")
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == full.dtypes.to_dict()


def test_tables_of_different_repetitions_are_joined():
    def table(width, count):
        whole = np.arange(count)
        real, five = np.zeros(count), np.zeros((count, 5))
        seen = np.ones((count, width), dtype=bool)
        return ObjectTable(whole, whole, whole, whole, whole, whole, seen, real, real, real, five, five, five)

    both = ObjectTable.joined([table(2, 1), table(4, 2)])
    assert both.seen.tolist() == [[True, True, False, False], [True] * 4, [True] * 4]
    assert len(both.take(both.number == 0)) == 2
    assert len(ObjectTable.joined([])) == 0
