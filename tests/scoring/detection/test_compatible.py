"""Profile `deepluq` against what the reference implementation gave for the same files."""

import json

import numpy as np
import pytest

from app.scoring.detection import DetectionTree
from app.scoring.detection.compatible import compatible_objects, count_invalid
from app.scoring.detection.objects import METRICS, SETS

TOLERANCE = 1e-12
CASES = ("c1_dropout", "c2_dropblock", "c3_edges", "c4_T")


def told(table, index, kind):
    """One row of the table under the names of the golden file."""
    values = {"id": table.number[index], "label": table.label[index], f"{kind}_rate": table.rate[index]}
    if kind == "match":
        values |= {"avg_iou": table.rate[index] * table.iou[index]}
        values |= {"iou_ms": 1 - table.rate[index] * table.iou[index]}
    sides = {"match": (("orig", table.original), ("mut", table.changed)), "miss": (("miss", table.original),)}
    for column, metric in enumerate(METRICS):
        values[f"{metric}_ms"] = table.score[index, column]
        for suffix, grid in sides.get(kind, (("ghost", table.changed),)):
            values[f"{metric}_{suffix}"] = grid[index, column]
    return values


@pytest.mark.parametrize("case", CASES)
def test_every_object_equals_the_reference(golden, case):
    compared = 0
    for key, expected in json.loads((golden / case / "expected" / "objects.json").read_text()).items():
        operator, tag, image, repetitions = key.split("/")
        tree = DetectionTree(golden / case / "preds", operator, "toydet")
        total = int(repetitions.removeprefix("T"))
        original = tree.read(tree.original_tag, [image])
        assert original.repetitions.tolist() == [total]
        table = compatible_objects(original, tree.read(tag, [image], repetitions=total)).table
        for number, kind in enumerate(SETS):
            rows = table.take(table.kind == number)
            assert len(rows) == len(expected[kind]), key
            for index, row in enumerate(expected[kind]):
                mine = told(rows, index, kind)
                assert mine.keys() == row.keys()
                for name, value in row.items():
                    assert mine[name] == pytest.approx(value, abs=TOLERANCE, rel=0, nan_ok=True), (
                        key,
                        kind,
                        name,
                    )
                    compared += 1
    assert compared > 50


def test_the_sets_of_every_repetition_equal_the_reference(golden):
    for key, expected in json.loads((golden / "c3_edges" / "expected" / "objects.json").read_text()).items():
        operator, tag, image, _ = key.split("/")
        tree = DetectionTree(golden / "c3_edges" / "preds", operator, "toydet")
        original, mutant = tree.read("0", [image]), tree.read(tag, [image])
        sets = compatible_objects(original, mutant).sets
        counts = [
            np.bincount(log.cell_of[rows], minlength=10).tolist()
            for log, rows in ((original, sets.match_original), (original, sets.misses), (mutant, sets.ghosts))
        ]
        assert [list(row) for row in zip(*counts, strict=True)] == expected["sets"], key


def test_rows_that_are_no_probabilities_are_scored_and_counted(scene, one_image):
    box = [0, 0, 9, 9]
    good, bad = one_image(scene((box, 1))), one_image(scene((box, 1, [-2.0, 3.0, -1.5]), (box, 1, [0, 0, 0])))
    assert (count_invalid(good), count_invalid(bad)) == (0, 2)
    found = compatible_objects(bad, bad)
    assert found.invalid_rows == 4
    assert np.isnan(found.table.score[:, 1]).all()


def test_the_table_knows_its_mutant_and_repetitions(scene, one_image):
    box = [0, 0, 9, 9]
    table = compatible_objects(
        one_image(scene((box, 1)), 4),
        one_image(scene(), scene((box, 1)), scene(), scene((box, 1))),
        position=3,
    ).table
    assert table.mutant.tolist() == [3, 3]
    assert table.seen.tolist() == [[False, True, False, True], [True, False, True, False]]
