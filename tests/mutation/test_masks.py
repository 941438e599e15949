"""Masks: uniform, unrelated to one another, and the same however the rows are cut and ordered."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from app.mutation import masks

MASK32 = 2**32 - 1
MASK64 = 2**64 - 1


def keys(rows=4, seed=1, site="a", call=0, repetition=0):
    return masks.row_keys(seed, site, call, torch.arange(rows), torch.full((rows,), repetition))


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


def words_in_python(row, element):
    """The hash of one element, with Python's unbounded integers: the definition the tensors must follow."""

    def step(word, shift, factor):
        return ((word ^ (word >> shift)) * factor) & MASK32

    word = step(step(element, 16, 2146121005), 15, -2073254261 & MASK32)
    word ^= word >> 16
    first, second = (int(key) & MASK32 for key in row)
    word = (first + word * (-1640531535 & MASK32)) & MASK32
    word ^= word >> 16
    word = (second + word * 2146121005) & MASK32
    return step(word, 15, -2073254261 & MASK32)


def test_the_tensor_arithmetic_equals_unbounded_integers():
    rows = keys(3)
    values = masks.uniforms(rows, 50)
    hits = masks.bernoulli(rows, 50, 0.3)
    for row, element in itertools.product(range(3), range(50)):
        word = words_in_python(rows[row], element)
        assert values[row, element].item() == (word >> 8) / 2**24
        assert hits[row, element].item() == (signed(word, 32) < round(0.3 * 2**32) - 2**31)


def test_row_keys_equal_unbounded_integers():
    import hashlib

    def mix(word):
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK64
        return word ^ (word >> 31)

    base = int.from_bytes(hashlib.blake2b(b"5:2:head", digest_size=8).digest(), "little")
    golden = 0x9E3779B97F4A7C15
    got = masks.row_keys(5, "head", 2, torch.tensor([0, 7]), torch.tensor([3, 1]))
    for row, (case, repetition) in enumerate([(0, 3), (7, 1)]):
        word = mix((case * golden + base) & MASK64)
        word = mix(word ^ mix((repetition * golden + 1) & MASK64))
        assert got[row].tolist() == [signed(word & MASK32, 32), signed(word >> 32, 32)]


def test_uniforms_are_uniform():
    values = masks.uniforms(keys(50), 20_000).double().numpy()
    assert 0 <= values.min() < values.max() < 1
    assert abs(values.mean() - 0.5) < 5 * np.sqrt(1 / 12 / values.size)
    assert abs(values.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / values.size)
    assert stats.kstest(values.ravel(), "uniform").pvalue > 1e-4
    per_row = [stats.kstest(row, "uniform").pvalue for row in values]
    assert stats.kstest(per_row, "uniform").pvalue > 1e-4  # no row is too good or too bad
    per_element = values.mean(0)  # no element is special
    assert stats.kstest((per_element - 0.5) / np.sqrt(1 / 12 / 50), "norm").pvalue > 1e-4


@pytest.mark.parametrize("bit", [0, 1, 4, 8, 16, 23])
def test_every_bit_of_a_uniform_is_fair(bit):
    words = (masks.uniforms(keys(20), 20_000) * 2**24).long()
    ones = int(((words >> bit) & 1).sum())
    assert abs(ones - words.numel() / 2) < 5 * np.sqrt(words.numel() / 4)


def test_neighbouring_keys_and_elements_are_uncorrelated():
    count = 20_000
    rows = [
        keys(40),
        keys(40, repetition=1),
        keys(40, seed=2),
        keys(40, site="b"),
        keys(40, call=1),
    ]
    values = masks.uniforms(torch.cat(rows), count).double().numpy()
    correlation = np.corrcoef(values)[np.triu_indices(200, 1)] * np.sqrt(count)
    assert np.abs(correlation).max() < 5.5  # 19,900 pairs of normal deviates: 5.5 has odds of 1 in 1,300
    assert abs(correlation.std() - 1) < 0.03
    for lag in (1, 2, 7, 64, 256):
        lagged = (values[:, lag:] - 0.5) * (values[:, :-lag] - 0.5) * 12
        assert abs(lagged.mean()) < 5 / np.sqrt(lagged.size)


def test_no_two_keys_give_one_mask():
    named = [
        masks.row_keys(seed, site, call, torch.arange(30), torch.full((30,), repetition))
        for seed, site, call, repetition in itertools.product((0, 1), ("a", "b"), (0, 1), (0, 1, 2))
    ]
    rows = torch.cat(named)
    assert len(torch.unique(rows, dim=0)) == len(rows) == 720
    masks_ = masks.bernoulli(rows, 128, 0.5)
    assert len(torch.unique(masks_, dim=0)) == 720
    assert (
        len({tuple(row) for row in rows[:, 0:1].tolist()}) == 720
    )  # already the first word tells them apart


def test_case_and_repetition_are_not_interchangeable():
    grid = torch.cartesian_prod(torch.arange(20), torch.arange(20))
    rows = masks.row_keys(0, "a", 0, grid[:, 0], grid[:, 1])
    assert len(torch.unique(rows, dim=0)) == 400


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(7)), st.integers(1, 6), st.integers(1, 300))
def test_order_and_splitting_change_nothing(order, cut, count):
    rows = keys(7)
    whole = masks.bernoulli(rows, count, 0.4)
    assert torch.equal(masks.bernoulli(rows[list(order)], count, 0.4), whole[list(order)])
    parts = [masks.bernoulli(rows[:cut], count, 0.4), masks.bernoulli(rows[cut:], count, 0.4)]
    assert torch.equal(torch.cat(parts), whole)


def test_blocks_change_nothing(monkeypatch):
    rows, count = keys(5), 1000
    whole = masks.uniforms(rows, count), masks.bernoulli(rows, count, 0.2)
    for size in (1, 7, 999, 1000, 1001, 2500):
        if size == 1 and count > 100:
            continue
        monkeypatch.setitem(masks._BLOCK, "cpu", size)
        assert torch.equal(masks.uniforms(rows, count), whole[0])
        assert torch.equal(masks.bernoulli(rows, count, 0.2), whole[1])


@pytest.mark.parametrize("probability", [0.0, 0.001, 0.1, 0.5, 0.9, 1.0])
def test_bernoulli_hits_as_often_as_it_should(probability):
    hits = masks.bernoulli(keys(50), 10_000, probability)
    expected = stats.binom(hits.numel(), probability)
    assert abs(int(hits.sum()) - expected.mean()) <= 5 * expected.std()


def test_empty_batches_and_tensors_give_empty_masks():
    assert masks.bernoulli(keys(0), 10, 0.5).shape == (0, 10)
    assert masks.uniforms(keys(3), 0).shape == (3, 0)
    for shape in ((0, 4), (3, 0), (0, 2, 4, 4), (2, 0, 4, 4), (2, 3, 0, 4)):
        empty = torch.zeros(shape)
        assert masks.dropout(empty, keys(shape[0]), 0.5).shape == shape
        assert masks.drop_block(empty, keys(shape[0]), 0.5, 3).shape == shape


def test_dropout_zeroes_and_scales_and_leaves_its_argument():
    ones = torch.ones(20, 3, 16, 16)
    before = ones.clone()
    out = masks.dropout(ones, keys(20), 0.3)
    assert torch.equal(ones, before)
    assert set(out.unique().tolist()) == {0.0, torch.tensor(1 / 0.7).item()}
    assert abs(out.double().mean().item() - 1) < 5 * np.sqrt(0.3 / 0.7 / out.numel())
    assert torch.equal(masks.dropout(ones, keys(20), 0.0), ones)


def test_dropout_stops_infinities_where_it_drops():
    out = masks.dropout(torch.full((1, 200), torch.inf), keys(1), 0.5)
    assert set(out.unique().tolist()) == {0.0, torch.inf}


def test_memory_layout_does_not_matter():
    tensor = torch.randn(3, 4, 6, 5)
    spread = tensor.contiguous(memory_format=torch.channels_last)
    assert not spread.is_contiguous()
    for change in (lambda t: masks.dropout(t, keys(3), 0.4), lambda t: masks.drop_block(t, keys(3), 0.4, 3)):
        assert torch.equal(change(tensor), change(spread))
        assert change(spread).is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_types_keep_their_type_and_mask(dtype):
    tensor = torch.ones(3, 4, 6, 5)
    for change in (lambda t: masks.dropout(t, keys(3), 0.4), lambda t: masks.drop_block(t, keys(3), 0.4, 3)):
        out = change(tensor.to(dtype))
        assert out.dtype == dtype
        assert torch.equal(out == 0, change(tensor) == 0)


def naive_drop_block(tensor, rows, rate, block):
    """DropBlock by loops, for one block size that fits."""
    batch, channels, height, width = tensor.shape
    inner = height - block + 1, width - block + 1
    gamma = rate * height * width / block**2 / (inner[0] * inner[1])
    hits = masks.bernoulli(rows, channels * inner[0] * inner[1], gamma).view(batch, channels, *inner)
    keep = torch.ones_like(tensor)
    for b, c, y, x in hits.nonzero().tolist():
        keep[b, c, y : y + block, x : x + block] = 0
    out = torch.zeros_like(tensor)
    for b in range(batch):
        if keep[b].sum() > 0:
            out[b] = tensor[b] * torch.tensor(keep[b].numel() / keep[b].sum().item()) * keep[b]
    return out


@pytest.mark.parametrize("block", [1, 3, 5])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_drop_block_equals_loops(block, rate):
    tensor = torch.randn(4, 3, 7, 5)
    assert torch.equal(
        masks.drop_block(tensor, keys(4), rate, block), naive_drop_block(tensor, keys(4), rate, block)
    )


@pytest.mark.parametrize(
    ("shape", "block", "used"),
    [((7, 7), 9, 7), ((6, 8), 9, 5), ((1, 9), 5, 1), ((2, 2), 3, 1), ((8, 8), 3, 3)],
)
def test_a_block_shrinks_to_the_largest_odd_size_that_fits(shape, block, used):
    tensor = torch.randn(4, 3, *shape)
    out = masks.drop_block(tensor, keys(4), 0.3, block)
    assert torch.equal(out, masks.drop_block(tensor, keys(4), 0.3, used))
    assert torch.equal(out, naive_drop_block(tensor, keys(4), 0.3, used))


def test_drop_block_keeps_the_sum_of_each_row_and_drops_about_the_rate():
    ones = torch.ones(200, 4, 14, 14)
    out = masks.drop_block(ones, keys(200), 0.1, 3)
    assert torch.allclose(out.flatten(1).sum(1), torch.full((200,), 784.0))
    dropped = (out == 0).double().mean().item()
    assert 0.08 < dropped < 0.1  # overlapping blocks take a little less than the rate


def test_drop_block_of_everything_is_zero_and_finite():
    out = masks.drop_block(torch.ones(50, 1, 3, 3), keys(50), 0.9, 3)
    assert out.isfinite().all()
    assert {int(row.sum().round()) for row in out} == {0, 9}


@pytest.mark.parametrize("shape", [(5, 30), (5, 6, 8)])
def test_drop_block_without_a_map_is_dropout(shape):
    tensor = torch.randn(shape)
    assert torch.equal(masks.drop_block(tensor, keys(5), 0.4, 5), masks.dropout(tensor, keys(5), 0.4))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_masks_are_the_same_bits_on_cuda():
    rows = keys(6)
    there = masks.row_keys(1, "a", 0, torch.arange(6).cuda(), torch.zeros(6).long().cuda())
    assert torch.equal(there.cpu(), rows)
    assert torch.equal(masks.uniforms(there, 70_000).cpu(), masks.uniforms(rows, 70_000))
    tensor = torch.randn(6, 8, 20, 20)
    for block in (1, 3, 5):
        here = masks.drop_block(tensor, rows, 0.3, block)
        assert torch.equal(masks.drop_block(tensor.cuda(), there, 0.3, block).cpu(), here)
    assert torch.equal(masks.dropout(tensor.cuda(), there, 0.3).cpu(), masks.dropout(tensor, rows, 0.3))
