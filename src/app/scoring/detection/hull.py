"""Convex hulls of many small point sets at once: their perimeter and their area.

Andrew's monotone chain (Information Processing Letters 9, 1979), one step for all sets together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from app.scoring.detection.overlap import Floats, Indices, Reals

FLAT = 1e-9
"""Area over squared perimeter below which a hull is looked at again point by point."""


@dataclass(frozen=True)
class Hulls:
    """Measures of G convex hulls."""

    perimeter: Reals
    """(G,): in pixels; a set on one line gives twice its length."""
    area: Reals
    """(G,): in square pixels."""


def hulls(points: Reals) -> Hulls:
    """The hulls of G sets of K points each, given as (G, K, 2); repeated points are allowed."""
    if points.shape[0] == 0 or points.shape[1] == 0:
        return Hulls(np.zeros(points.shape[0]), np.zeros(points.shape[0]))
    order = np.lexsort((points[..., 1], points[..., 0]), axis=-1)
    ordered = np.take_along_axis(points, order[..., None], axis=1)
    centre = ordered.mean(axis=1, keepdims=True)
    lower, upper = _half(ordered, centre), _half(ordered[:, ::-1], centre)
    return Hulls(lower.perimeter + upper.perimeter, np.abs(lower.area + upper.area))


def _half(points: Reals, centre: Reals) -> Hulls:
    """Length of one chain of each sorted set, and the signed area between it and `centre`."""
    sets, size, _ = points.shape
    stack = np.zeros((sets, size, 2))
    height = np.zeros(sets, dtype=np.int64)
    everyone = np.arange(sets)
    for step in range(size):
        active = everyone if step > 1 else everyone[:0]
        while len(active):
            active = active[height[active] >= 2]
            top, below = stack[active, height[active] - 1], stack[active, height[active] - 2]
            edge, reach = top - below, points[active, step] - below
            turn = edge[:, 0] * reach[:, 1] - edge[:, 1] * reach[:, 0]
            active = active[turn <= 0]
            height[active] -= 1
        stack[everyone, height] = points[:, step]
        height += 1
    inside = np.arange(size - 1) < (height - 1)[:, None]
    steps = np.diff(stack, axis=1)
    lengths = np.hypot(steps[..., 0], steps[..., 1])
    centred = stack - centre
    here, there = centred[:, :-1], centred[:, 1:]
    cross = (here[..., 0] * there[..., 1] - here[..., 1] * there[..., 0]) / 2
    return Hulls(np.where(inside, lengths, 0.0).sum(axis=1), np.where(inside, cross, 0.0).sum(axis=1))


def corner_sets(boxes: Reals) -> Reals:
    """(…, 4, K, 2): the corners (x1, y1), (x2, y1), (x1, y2), (x2, y2) of boxes (…, K, 4)."""
    return np.stack([boxes[..., [x, y]] for x, y in ((0, 1), (2, 1), (0, 3), (2, 3))], axis=-3)


def corner_hulls(boxes: Floats, begins: Indices, counts: Indices) -> tuple[Reals, Reals]:
    """(G, 4), (G, 4): perimeter and area of the hulls of each group's four corners.

    Group g is the rows begins[g] to begins[g] + counts[g] of `boxes` (D, 4). Groups are padded with their
    first row to the next of a few sizes, so that one call does many of them.
    """
    perimeter, area = np.zeros((len(counts), 4)), np.zeros((len(counts), 4))
    sizes = np.where(counts <= 10, counts, 2 ** np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64))
    for size in np.unique(sizes[counts > 0]):
        groups = np.flatnonzero(sizes == size)
        steps = np.arange(size)
        rows = begins[groups][:, None] + np.where(steps < counts[groups][:, None], steps, 0)
        found = hulls(corner_sets(boxes[rows].astype(np.float64)).reshape(-1, size, 2))
        perimeter[groups] = found.perimeter.reshape(-1, 4)
        area[groups] = found.area.reshape(-1, 4)
    return perimeter, area


def qhull_perimeter(points: Reals) -> float:
    """Perimeter of the hull of points (K, 2) as Qhull has it: 0 when flat, NaN when Qhull fails.

    Only nearly flat sets need it: whether they count as flat is a matter of the last bits.
    """
    unique = np.unique(points, axis=0)
    if len(unique) < 3 or np.linalg.matrix_rank(unique - unique[0]) < 2:
        return 0.0
    try:
        return float(ConvexHull(unique).area)
    except QhullError:
        return float("nan")


def prediction_surface(boxes: Reals, begins: Indices, counts: Indices) -> Reals:
    """(G,): sum of the hull perimeters of the four corners, in pixels, as profile `deepluq` has it.

    Groups of at most two boxes give 0, a flat corner set adds 0, and a hull failure gives 0 for the group.
    """
    perimeter, area = corner_hulls(boxes, begins, counts)
    for group, corner in np.argwhere((area <= FLAT * perimeter**2) & (perimeter > 0)):
        rows = boxes[begins[group] : begins[group] + counts[group]].astype(np.float64)
        points = corner_sets(rows)[corner]
        same = np.ptp(points, axis=0) == 0
        perimeter[group, corner] = 0.0 if same.any() else qhull_perimeter(points)
    total = perimeter.sum(axis=1)
    return np.where(np.isnan(total) | (counts <= 2), 0.0, total)
