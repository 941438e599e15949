"""Blocks on disk, batches and outcomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from app.errors import UserError
from app.inference.batches import PROBE_SIZE, Batches
from app.inference.blocks import Block, BlockStore
from app.inference.outcomes import outcomes, resolve_output
from tests.inference.conftest import Pictures


def block(batch: int, cases: list[int], group: int = 0) -> Block:
    rng = np.random.default_rng(batch)
    shape = (3, len(cases))
    return Block(
        group,
        batch,
        np.array(cases),
        rng.integers(0, 5, shape).astype(np.int32),
        rng.random(shape).astype(np.float32),
        rng.random(shape).astype(np.float32),
        {"m": "raised"} if batch else {},
        ("u",),
        ("slow",),
    )


def test_blocks_come_back_in_the_order_of_the_cases(tmp_path: Path) -> None:
    store = BlockStore(tmp_path / "blocks")
    parts = [block(0, [0, 1]), block(1, [2, 3]), block(2, [4])]
    for part in reversed(parts):
        store.write(part)
    whole = store.gather(0, 3)
    np.testing.assert_array_equal(whole.cases, np.arange(5))
    np.testing.assert_array_equal(whole.top1, np.concatenate([p.top1 for p in parts], axis=1))
    assert (whole.reasons, whole.unchanged, whole.notes) == ({"m": "raised"}, ("u",), ("slow",))
    assert store.missing(0, 4) == [3]


def test_a_damaged_or_half_written_block_counts_as_missing(tmp_path: Path) -> None:
    store = BlockStore(tmp_path)
    store.write(block(0, [0, 1]))
    store.write(block(1, [2]))
    path = store.path(0, 0)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    store.path(0, 1).write_bytes(store.path(0, 1).read_bytes()[:40])
    assert store.missing(0, 2) == [0, 1]
    with pytest.raises(RuntimeError, match=r"lacks batches \[0, 1\]"):
        store.gather(0, 2)


def test_cases_twice_are_noticed(tmp_path: Path) -> None:
    store = BlockStore(tmp_path)
    store.write(block(0, [0, 1]))
    store.write(block(1, [1]))
    with pytest.raises(RuntimeError, match="each test case once"):
        store.gather(0, 2)


@pytest.mark.parametrize("size", [1, 3, 7, 50])
def test_batches_hold_each_case_once_and_the_noise_last(size: int, pictures: Pictures) -> None:
    batches = Batches(pictures, size)
    cases = np.concatenate([batches[i].cases for i in range(len(batches))])
    np.testing.assert_array_equal(cases, np.arange(len(pictures) + PROBE_SIZE))
    np.testing.assert_array_equal(np.asarray(batches[0].images[0]), pictures.pixels[0])
    noise = np.stack([np.asarray(image) for image in batches[len(batches) - 1].images])
    assert noise.shape == (PROBE_SIZE, *pictures.pixels.shape[1:])
    assert len(np.unique(noise[:, 0, 0, 0])) > 4
    assert len(Batches(pictures, size, [0], ranks=3)) == 3
    assert Batches(pictures, size, [0], ranks=3)[2].number == -1


def test_outcomes_by_hand() -> None:
    original = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    scores = torch.tensor([[2.0, 0.0], [1.0, 4.0], [0.0, 1.0], [float("nan"), 0.0]])
    got = outcomes(scores, original, "logits")
    assert got.top1.tolist() == [0, 1, 1, -1]
    assert got.shift.tolist() == [0.0, 0.25, 1.0, float("inf")]
    assert got.confidence[0].item() == pytest.approx(1 / (1 + np.exp(-2)))
    assert np.isnan(got.confidence[3].item())


def test_ties_of_float32_softmax_go_by_logits() -> None:
    scores = torch.tensor([[100.0, 100.00001]])
    assert outcomes(scores, scores, "logits").top1.item() == int(scores.argmax())


@pytest.mark.parametrize(
    ("rows", "said", "resolved"),
    [
        ([[0.2, 0.8]], "auto", "probs"),
        ([[2.0, -1.0]], "auto", "logits"),
        ([[0.2, 0.8]], "logits", "logits"),
        ([[0.2, 0.8]], "probs", "probs"),
    ],
)
def test_output_types(rows: list[list[float]], said: str, resolved: str) -> None:
    assert resolve_output(torch.tensor(rows), said) == resolved


def test_sigmoids_and_false_probabilities_are_refused() -> None:
    with pytest.raises(UserError, match="independent sigmoids"):
        resolve_output(torch.tensor([[0.9, 0.8], [0.1, 0.4]]), "auto")
    with pytest.raises(UserError, match="not probabilities"):
        resolve_output(torch.tensor([[3.0, 0.8]]), "probs")
