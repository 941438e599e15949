"""The operators that a model file may call without being trusted: they compute on their arguments and do nothing else.

A list of what is allowed, not of what is known to be bad: whatever torch or a library adds is refused until somebody
has looked at it. The list, and how it was made, is `assets/pure_operators.txt`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

SPACES = ("aten", "torchvision", "quantized", "quantized_decomposed", "higher_order", "prim")
"""Namespaces that have such operators."""


def is_pure(namespace: str, name: str, overload: str = "") -> bool:
    """Whether an operator only computes.

    Args:
        namespace: such as aten; `scalars` are those of aten on numbers, texts, lists and dictionaries.
        name: without the overload.
        overload: such as Tensor. Variants that write into a given output are not pure, nor those that trust old packed
            weights.
    """
    if overload in {"legacy", "out"} or overload.endswith("_out"):
        return False
    known = _listed()
    if namespace == "aten":
        plain = name if name.endswith("__") else name.removesuffix("_")
        return name in known["aten"] or plain in known["aten"] or name in known["aten, in place"]
    return name in known.get(namespace, frozenset())


@cache
def _listed() -> dict[str, frozenset[str]]:
    text = (
        resources.files("app.subjects").joinpath("assets", "pure_operators.txt").read_text(encoding="ascii")
    )
    body = re.sub(r"(?m)^#.*\n", "", text)
    parts = re.split(r"(?m)^\[(.+)\]\n", body)[1:]
    return {name: frozenset(words.split()) for name, words in zip(parts[::2], parts[1::2], strict=True)}
