"""Keys: readable, safe as file names, and never shared."""

import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.mutation.mutant import INPUT, Mutant
from app.mutation.neuron_ablation import NeuronAblation
from app.mutation.photometric import InputBrightness
from app.mutation.weight_noise import WeightNoise
from app.mutation.weight_zeroing import WeightZeroing

SAFE = re.compile(r"[A-Za-z0-9._+-]{1,120}")


def mutant(target="features.3", seed=0x1F3A, operator=None, **params):
    return Mutant(operator or WeightNoise(), params or {"sigma": 0.01}, target, (target,), seed)


@pytest.mark.parametrize(
    ("made", "key"),
    [
        (mutant(), "weight_noise-sigma0.01-features.3-s00001f3a"),
        (mutant(sigma=1e-05), "weight_noise-sigma1e-05-features.3-s00001f3a"),
        (mutant(sigma=1.0, relative=True), "weight_noise-sigma1-relativeyes-features.3-s00001f3a"),
        (mutant(operator=NeuronAblation(), channel=7), "neuron_ablation-channel7-features.3"),
        (mutant(INPUT, operator=InputBrightness(), factor=0.4), "input_brightness-factor0.4-input"),
        (
            mutant(operator=WeightZeroing(), ratio=0.1, strategy="largest_magnitude"),
            "weight_zeroing-ratio0.1-strategylargest_magnitude-features.3",
        ),
        (
            mutant(operator=WeightZeroing(), ratio=0.1, strategy="random"),
            "weight_zeroing-ratio0.1-strategyrandom-features.3-s00001f3a",
        ),
    ],
)
def test_a_key_reads_like_the_mutant(made, key):
    assert made.key == key


targets = st.one_of(
    st.text(min_size=1, max_size=200),
    st.sampled_from(["a-b", "a.b", "a_b", "(all)", "all", "(model)", "model"]),
)
sigmas = st.one_of(st.integers(-9, 9), st.floats(allow_nan=False)).map(lambda value: value + 0.0)  # no -0.0
modes = st.one_of(st.text(max_size=8), st.sampled_from(["a-b", "a_b", "é"]))
seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(targets, sigmas, modes, seeds), min_size=2, max_size=6, unique=True))
def test_two_mutants_never_share_a_key_and_every_key_is_safe(drawn):
    keys = {mutant(target, seed, sigma=sigma, mode=mode).key for target, sigma, mode, seed in drawn}
    assert len(keys) == len(drawn)
    assert all(SAFE.fullmatch(key) for key in keys)


def test_a_long_name_is_cut_and_stays_unique():
    names = [f"{'block.' * 60}{i}" for i in range(50)]
    keys = {mutant(name).key for name in names}
    assert len(keys) == 50
    assert max(map(len, keys)) <= 120


def test_mutants_are_equal_by_operator_name_and_hash_and_pickle():
    first, second = mutant(operator=WeightNoise()), mutant(operator=WeightNoise(count=3))
    assert first == second
    assert hash(first) == hash(second)
    assert first != mutant(seed=1)
    again = pickle.loads(pickle.dumps(first))
    assert again == first
    assert again.key == first.key
