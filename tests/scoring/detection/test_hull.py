import numpy as np
import pytest
from scipy.spatial import ConvexHull

from app.scoring.detection.hull import corner_hulls, hulls, prediction_surface


def test_square_triangle_line_and_point():
    square = [[0, 0], [2, 0], [2, 2], [0, 2], [1, 1]]
    triangle = [[0, 0], [3, 0], [0, 4], [0, 0], [0, 0]]
    line = [[0, 0], [1, 1], [2, 2], [3, 3], [3, 3]]
    point = [[7, 7]] * 5
    found = hulls(np.array([square, triangle, line, point], dtype=float))
    assert found.perimeter == pytest.approx([8, 12, 2 * np.sqrt(18), 0])
    assert found.area == pytest.approx([4, 6, 0, 0])


@pytest.mark.parametrize("size", [3, 4, 10, 33])
def test_hulls_equal_qhull(size):
    rng = np.random.default_rng(size)
    points = rng.normal(size=(40, size, 2)) * [100, 3] + [500, 200]
    found = hulls(points)
    for index, cloud in enumerate(points):
        hull = ConvexHull(cloud)
        assert found.perimeter[index] == pytest.approx(hull.area, rel=1e-12)
        assert found.area[index] == pytest.approx(hull.volume, rel=1e-11)


def test_hulls_on_a_grid_with_many_points_on_one_line_and_repeated():
    rng = np.random.default_rng(1)
    points = rng.integers(0, 4, size=(60, 12, 2)).astype(float)
    found = hulls(points)
    for index, cloud in enumerate(points):
        if len(np.unique(cloud, axis=0)) > 2 and np.linalg.matrix_rank(cloud - cloud[0]) == 2:
            assert found.area[index] == pytest.approx(ConvexHull(cloud).volume)


def test_nothing_gives_nothing():
    assert hulls(np.zeros((0, 5, 2))).area.shape == (0,)
    none = np.zeros(0, dtype=np.int64)
    assert prediction_surface(np.zeros((0, 4)), none, none).shape == (0,)


def test_surface_sums_the_perimeters_of_groups_of_any_size():
    rng = np.random.default_rng(2)
    counts = np.array([1, 2, 3, 10, 17])
    begins = np.cumsum(counts) - counts
    boxes = rng.uniform(0, 50, (counts.sum(), 4)) + np.array([0, 0, 100, 100])
    found = prediction_surface(boxes, begins, counts)
    assert found[:2].tolist() == [0, 0]
    for group in (2, 3, 4):
        rows = boxes[begins[group] : begins[group] + counts[group]]
        corners = [rows[:, [x, y]] for x, y in ((0, 1), (2, 1), (0, 3), (2, 3))]
        assert found[group] == pytest.approx(sum(ConvexHull(corner).area for corner in corners), rel=1e-12)


def test_a_side_that_never_moves_adds_nothing():
    # x2 stays at the border of the image: the two right corners move on a line and have no hull
    rng = np.random.default_rng(3)
    boxes = rng.uniform(0, 50, (10, 4)) + np.array([0, 0, 0, 100])
    boxes[:, 2] = 640.0
    left = sum(ConvexHull(boxes[:, [0, y]]).area for y in (1, 3))
    assert prediction_surface(boxes, np.array([0]), np.array([10]))[0] == pytest.approx(left, rel=1e-12)


def test_corners_on_a_slanted_line_add_nothing():
    steps = np.linspace(0, 10, 10)
    boxes = np.column_stack([steps, steps, 100 + steps, 100 + steps])
    assert prediction_surface(boxes, np.array([0]), np.array([10])).tolist() == [0.0]
    _, area = corner_hulls(boxes, np.array([0]), np.array([10]))
    assert area == pytest.approx(np.zeros((1, 4)), abs=1e-9)
