import csv

import numpy as np
import pytest

from app.scoring.detection import DetectionTree
from app.scoring.detection.columns import COLUMNS, image_rows, write_csv
from app.scoring.detection.compatible import compatible_objects

FILES = (
    ("c1_dropout", "mc_dropout", ("0.1", "0.3", "0.5")),
    ("c2_dropblock", "mc_dropblock", ("0.1_3", "0.3_5")),
    ("c3_edges", "mc_dropout", ("0.2",)),
)
FAILING = ("no_objects_both", "no_orig_but_ghosts")


def rows_of(tree, tag, images):
    original, mutant = tree.read(tree.original_tag, images), tree.read(tag, images)
    return image_rows(original, mutant, compatible_objects(original, mutant))


@pytest.mark.parametrize(("case", "operator", "tags"), FILES)
def test_every_csv_equals_the_reference(golden, tmp_path, case, operator, tags):
    tree = DetectionTree(golden / case / "preds", operator, "toydet")
    assert tree.tags == tags
    for tag in tags:
        expected_file = golden / case / "expected" / "toydet" / operator / f"mutant_{tag}.csv"
        expected = list(csv.reader(expected_file.read_text().splitlines()))
        write_csv(rows_of(tree, tag, [row[0] for row in expected[1:]]), tmp_path / "mine.csv")
        mine = list(csv.reader((tmp_path / "mine.csv").read_text().splitlines()))
        assert mine[0] == expected[0] == ["test_suite", *COLUMNS]
        assert len(mine) == len(expected)
        for my_row, row in zip(mine[1:], expected[1:], strict=True):
            assert my_row[0] == row[0]
            for name, my_field, field in zip(COLUMNS, my_row[1:], row[1:], strict=True):
                assert (my_field == "") == (field == ""), (tag, row[0], name)
                if name.endswith("_count"):
                    assert my_field == field
                elif field:
                    assert float(my_field) == pytest.approx(float(field), abs=1e-12, rel=0), (
                        tag,
                        row[0],
                        name,
                    )


def test_where_the_reference_stops_the_row_is_nan_and_counted(golden, tmp_path):
    tree = DetectionTree(golden / "c3_edges" / "preds", "mc_dropout", "toydet")
    rows = rows_of(tree, "0.2", ["identical", *FAILING])
    assert rows.unscorable == 2
    assert np.isnan(rows.values[1:]).all()
    assert not np.isnan(rows.values[0]).any()
    write_csv(rows, tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text().splitlines()[2] == "no_objects_both" + "," * 37


def test_ten_trials_are_assumed_whatever_the_repetitions(golden):
    tree = DetectionTree(golden / "c4_T" / "preds", "mc_dropout", "toydet")
    rows = rows_of(tree, "0.2", ["t20_all_killed", "t5_all_killed"])
    assert rows.column("[img_level] iskill_miss_count").tolist() == [20, 5]
    assert rows.column("[img_level] iskill_miss_p_value") == pytest.approx(
        [0.0, 2.4167843198740007e-08], abs=1e-15
    )
    for name in ("cohens_h", "power"):
        assert np.isnan(rows.column(f"[img_level] iskill_miss_{name}")[0])
        assert not np.isnan(rows.column(f"[img_level] iskill_miss_{name}")[1])


def test_object_level_by_hand(scene, one_image):
    box, other = [0, 0, 9, 9], [50, 50, 60, 60]
    original = one_image(scene((box, 1)), 2)
    mutant = one_image(scene((box, 1), (other, 1)), scene())
    rows = image_rows(original, mutant, compatible_objects(original, mutant))
    # repetition 0: one match, one ghost; repetition 1: one miss
    assert rows.mean("[obj_level] kill_rate_miss_mean") == 0.5
    assert rows.mean("[obj_level] kill_rate_ghost_mean") == 0.25
    assert rows.mean("[obj_level] kill_rate_miss_ghost_mean") == 0.75
    assert rows.mean("[obj_level] kill_rate_miss_ghost_std") == 0.25
    assert rows.mean("[match] match_rate") == 0.5


def test_no_images_give_no_rows(tmp_path):
    from app.detections import DetectionLog

    empty = DetectionLog.of([], [])
    rows = image_rows(empty, empty, compatible_objects(empty, empty))
    assert (rows.values.shape, rows.unscorable) == ((0, 37), 0)
    assert np.isnan(rows.mean("[match] match_rate"))
    write_csv(rows, tmp_path / "deep" / "empty.csv")
    assert (tmp_path / "deep" / "empty.csv").read_text().count("\n") == 1
