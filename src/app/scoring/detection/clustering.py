"""Clusters of detections over the repetitions of an image."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from app.scoring.detection.overlap import Floats, Indices, Reals, pair_blocks, paired_iou


def single_linkage(boxes: Floats, images: Indices, link: float) -> Indices:
    """(K,): cluster of each box (K, 4): the connected components of IoU >= `link` within an image.

    This equals DBSCAN on 1 - IoU with a minimum of one sample. `images` (K,) must not fall; clusters are
    numbered by their first box.
    """
    # 1 - IoU is what the reference compares: the same last bit at the border
    left, right, _ = _near(boxes, images, lambda iou: 1.0 - iou <= 1.0 - link)
    edges = (np.ones(len(left), dtype=np.bool_), (left, right))
    _, labels = connected_components(coo_array(edges, shape=(len(boxes), len(boxes))), directed=False)
    return by_first(labels.astype(np.int64))


def _near(
    boxes: Floats, blocks: Indices, close: Callable[[Reals], NDArray[np.bool_]]
) -> tuple[Indices, Indices, Reals]:
    """Pairs of rows left < right of one block whose IoU is close, and the IoU."""
    sizes = np.unique(blocks, return_counts=True)[1].astype(np.int64)
    found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
    for _, left, right in pair_blocks(sizes, sizes):
        ahead = left < right
        one, other = left[ahead].astype(np.int64), right[ahead].astype(np.int64)
        iou = paired_iou(boxes[one], boxes[other])
        near = close(iou)
        found.append((one[near], other[near], iou[near]))
    lefts, rights, ious = zip(*found, strict=True)
    return np.concatenate(lefts), np.concatenate(rights), np.concatenate(ious)


def by_first(labels: Indices) -> Indices:
    """The same clusters, numbered 0, 1, … by their first member."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse]


def one_each(boxes: Floats, blocks: Indices, repetitions: Indices, link: float) -> Indices:
    """(K,): cluster of each box (K, 4), where a cluster holds at most one box of a repetition.

    Boxes of different `blocks` (image and class, numbered so that they never fall) are never joined. Greedy
    complete linkage: pairs are taken from the largest IoU down, and two clusters become one when every
    IoU between them is at least `link` and they share no repetition. Clusters are numbered by their first box.
    """
    cluster = np.arange(len(boxes), dtype=np.int64)
    left, right, iou = _near(boxes, blocks, lambda iou: iou >= link)
    apart = repetitions[left] != repetitions[right]
    left, right, iou = left[apart], right[apart], iou[apart]
    order = np.lexsort((right, left, -iou))
    members = {int(row): [int(row)] for row in np.union1d(left, right)}
    linked: set[tuple[int, int]] = set(zip(left.tolist(), right.tolist(), strict=True))
    home = {row: row for row in members}
    for one, other in zip(left[order].tolist(), right[order].tolist(), strict=True):
        here, there = home[one], home[other]
        if here == there:
            continue
        ours, theirs = members[here], members[there]
        if all((a, b) in linked if a < b else (b, a) in linked for a in ours for b in theirs):
            ours.extend(theirs)
            for row in members.pop(there):
                home[row] = here
    for row, head in home.items():
        cluster[row] = head
    return by_first(cluster)


def mean_boxes(boxes: Floats, groups: Indices) -> Reals:
    """(G, 4): mean box of each group."""
    counts = np.bincount(groups)
    sums = np.column_stack([np.bincount(groups, weights=boxes[:, side]) for side in range(4)])
    mean: Reals = sums / counts[:, None]
    return mean
