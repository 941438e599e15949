from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import UserError
from app.report.schema import dumps, plain
from app.report.typed import from_plain, missing
from app.stats import Interval


@dataclass(frozen=True)
class Measured:
    known: Interval
    unknown: Interval


@dataclass(frozen=True)
class Leaf:
    name: str
    value: float | None
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True)
class Tree:
    count: int
    flag: bool
    word: Literal["yes", "no"]
    leaves: tuple[Leaf, ...]
    params: Mapping[str, float | int | str | bool | None]
    best: Leaf | None = None
    free: Any = None


FINITE = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
LEAF = st.builds(Leaf, TEXT, st.none() | FINITE, st.none() | st.tuples(FINITE, FINITE))
TREE = st.builds(
    Tree,
    st.integers(),
    st.booleans(),
    st.sampled_from(["yes", "no"]),
    st.lists(LEAF, max_size=3).map(tuple),
    st.dictionaries(TEXT, st.none() | st.booleans() | st.integers() | FINITE | TEXT, max_size=3),
    st.none() | LEAF,
)
BODY: dict[str, Any] = {
    "count": 1,
    "flag": True,
    "word": "yes",
    "leaves": [{"name": "a", "value": 1}],
    "params": {"sigma": 0.1},
}


@settings(deadline=None)
@given(TREE)
def test_json_and_back_gives_an_equal_report_of_the_same_types(tree: Tree) -> None:
    back = from_plain(Tree, json.loads(dumps(tree)), "x.json")
    assert back == tree
    assert repr(back) == repr(tree)  # 1, 1.0 and True are equal, but not the same


def test_null_is_nan_where_a_number_must_be() -> None:
    @dataclass(frozen=True)
    class Number:
        value: float

    assert math.isnan(from_plain(Number, {"value": None}, "x.json").value)


def test_unknown_keys_are_ignored_and_defaults_fill_gaps() -> None:
    tree = from_plain(Tree, {**BODY, "later": 1}, "x.json")
    assert tree.leaves == (Leaf("a", 1.0),)
    assert tree.best is None


def test_all_that_is_missing_is_named() -> None:
    body = {"count": 1, "word": "yes", "leaves": [{"name": "a"}], "params": {}, "best": {"value": 1.0}}
    assert missing(Tree, body) == ["flag", "leaves[0].value", "best.name"]
    with pytest.raises(UserError, match=r"x\.json lacks flag, leaves\[0\]\.value, best\.name"):
        from_plain(Tree, body, "x.json")


def test_mappings_of_objects_are_looked_into() -> None:
    @dataclass(frozen=True)
    class Forest:
        trees: Mapping[str, Leaf]

    body = {"trees": {"oak": {"name": "a", "value": 1}, "elm": {"name": "b", "value": None}}}
    assert from_plain(Forest, body, "x.json").trees == {"oak": Leaf("a", 1.0), "elm": Leaf("b", None)}
    assert from_plain(Forest, {"trees": {}}, "x.json").trees == {}
    assert missing(Forest, {"trees": {"oak": {"name": "a"}}}) == ["trees.oak.value"]


def test_what_only_a_later_entry_lacks_is_named_too() -> None:
    body = {**BODY, "leaves": [{"name": "a", "value": 1}, {"name": "b"}]}
    with pytest.raises(UserError, match=r"x\.json lacks leaves\[1\]\.value"):
        from_plain(Tree, body, "x.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"count": 1.5}, "count is a number"),
        ({"count": True}, "count is a boolean"),
        ({"flag": 1}, "flag is a number"),
        ({"word": "maybe"}, "word is 'maybe', not one of yes, no"),
        ({"word": 3}, "word is a number, not one of yes, no"),
        ({"leaves": {}}, "leaves is an object"),
        ({"leaves": [3]}, r"leaves\[0\] is a number"),
        ({"leaves": [{"name": "a", "value": 1, "bounds": [1]}]}, r"leaves\[0\]\.bounds is a list"),
        ({"leaves": [{"name": "a", "value": "high"}]}, r"leaves\[0\]\.value is a string"),
        ({"params": {"a": []}}, r"params\.a is a list"),
        ({"params": None}, "params is null"),
        ({"best": "a"}, "best is a string"),
    ],
)
def test_a_wrong_type_is_named_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        from_plain(Tree, {**BODY, **change}, "x.json")


@pytest.mark.parametrize("body", [None, [], "text", 3])
def test_something_else_than_an_object_is_refused(body: Any) -> None:
    with pytest.raises(UserError, match="where an object is needed"):
        from_plain(Tree, body, "x.json")


def test_an_interval_is_its_two_ends_and_null_where_nothing_was_measured() -> None:
    body = plain(Measured(Interval(0.25, 0.5), Interval.unknown()))
    assert body == {"known": [0.25, 0.5], "unknown": None}
    back = from_plain(Measured, body, "x")
    assert back.known == Interval(0.25, 0.5)
    assert not back.unknown.known
    with pytest.raises(UserError, match="known"):
        from_plain(Measured, {**body, "known": [0.25]}, "x")
