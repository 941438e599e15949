from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.annotations.xml_tree import DEEPEST, parse
from app.errors import UserError

BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY a "aaaaaaaaaa">
 <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<annotation>&b;</annotation>"""
OUTSIDE = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><annotation>&e;</annotation>'


@pytest.mark.parametrize(
    "text", [BOMB, OUTSIDE, '<!DOCTYPE a SYSTEM "http://x/y.dtd"><a/>', "<!DOCTYPE a><a/>"]
)
def test_document_types_are_refused(text):
    with pytest.raises(UserError, match=r"f.xml line \d declares a document type or an entity"):
        parse(text, "f.xml")


def test_elements_know_their_lines():
    root = parse("<a>\n one <b>x</b>\n<b>&lt;&#65;</b> two\n<c/></a>", "f.xml")
    assert (root.tag, root.line, [each.line for each in root.children]) == ("a", 1, [2, 3, 4])
    assert [each.text for each in root.all("b")] == ["x", "<A"]
    assert root.first("c") is root.children[2]
    assert root.first("d") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.xml line 1: no valid XML"),
        ("<a>\n<b></a>", r"f.xml line 2: no valid XML \(mismatched tag\)"),
        ("<a>&b;</a>", r"f.xml line 1: no valid XML \(undefined entity\)"),
        ("<a/><b/>", "junk after document element"),
        ("<a>" * (DEEPEST + 2), f"past .* or {DEEPEST} levels"),
    ],
)
def test_malformed_texts(text, message):
    with pytest.raises(UserError, match=message):
        parse(text, "f.xml")


trees = st.recursive(
    st.tuples(st.sampled_from("abc"), st.text("xyz<&é ", max_size=5), st.just([])),
    lambda inner: st.tuples(
        st.sampled_from("abc"), st.text("xyz>\"'", max_size=5), st.lists(inner, max_size=3)
    ),
    max_leaves=10,
)


@given(trees)
def test_the_tree_is_the_standard_librarys(tree):
    def build(node):
        element = ElementTree.Element(node[0])
        element.text = node[1]
        element.extend(build(child) for child in node[2])
        return element

    def plain(element, children):
        return element.tag, element.text or "", [plain(each, children) for each in children(element)]

    expected = build(tree)
    found = parse(ElementTree.tostring(expected, encoding="unicode"), "f.xml")
    assert plain(found, lambda each: each.children) == plain(expected, list)
