"""What nobody sees becomes an escape; what people read stays as it is."""

from __future__ import annotations

import pytest
from jinja2 import DictLoader

from app.job import Job
from app.reporting import html
from app.visible import visible, visible_name

UNSEEN = {
    "\0": "\\x00",
    "\x1b": "\\x1b",
    "\r": "\\r",
    "\x9b": "\\x9b",
    "\u200b": "\\u200b",
    "\u200f": "\\u200f",
    "\u202e": "\\u202e",
    "\u2028": "\\u2028",
    "\u2066": "\\u2066",
    "\ufeff": "\\ufeff",
    "\xad": "\\xad",
    "\udc80": "\\udc80",
    "\U000e0041": "\\U000e0041",
}


@pytest.mark.parametrize("character", UNSEEN)
def test_unseen_characters_become_escapes(character):
    assert visible(f"a{character}b.png") == visible_name(f"a{character}b.png") == f"a{UNSEEN[character]}b.png"


def test_what_people_read_stays():
    text = "Straße 猫 é e\u0301 עברית العربية Ελλάδα 😀 – “quoted” 80\u00a0%\n\tnext"
    assert visible(text) == text
    assert visible_name("a\tb\nc") == "a\\tb\\nc"


def test_pages_show_them_wherever_they_stand(monkeypatch):
    template = "<p title='{{ x }}'>{{ x | breakable }} {{ x | short }}</p>"
    pages = html.environment().overlay(loader=DictLoader({"page": template}))
    monkeypatch.setattr(html, "environment", lambda: pages)
    page = html.render("page", x="gpj.\u202exe\0\u200b")
    assert page.count("\\u202e") == 3
    assert not set(page) & set(UNSEEN)
    assert "&lt;" in html.breakable("<\u202e>")
    assert "\\u202e" in html.breakable("<\u202e>")
    assert "\\n" in html.breakable("a\nb")


def test_console_lines_show_them(capsys, tmp_path):
    Job(tmp_path, {}, "", "", "").say(["Report: a\u202eb\x1b[31m", "next\udc80"])
    assert capsys.readouterr().out == "Report: a\\u202eb\\x1b[31m\nnext\\udc80\n"
