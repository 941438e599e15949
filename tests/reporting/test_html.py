from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from app.reporting import html

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def test_pictures_become_data_uris() -> None:
    uri = html.data_uri(PNG)
    assert uri.startswith("data:image/png;base64,")
    assert base64.b64decode(uri.split(",")[1]) == PNG
    assert html.data_uri(uri) == uri
    assert html.data_uri(b"\xff\xd8\xff\xe0").startswith("data:image/jpeg;")


@pytest.mark.parametrize("picture", [b"<svg onload=x>", b"", "javascript:alert(1)", "http://x/y.png"])
def test_other_things_are_no_pictures(picture: bytes | str) -> None:
    with pytest.raises(ValueError, match="thumbnail"):
        html.data_uri(picture)


def test_pictures_stop_at_their_share_of_the_page() -> None:
    large = PNG + bytes(500_000)
    found = html.data_uris({1: large, 2: large, 3: PNG, 4: PNG}, order=[2, 1, 3, 9])
    assert list(found) == [2, 3]


@settings(deadline=None)
@given(st.text("ab<>&\"'._/-", max_size=20))
def test_breakable_names_are_escaped(value: str) -> None:
    rest = html.breakable(value).replace("<wbr>", "")
    assert "<" not in rest
    assert '"' not in rest
    assert rest == html.escape(value)


def test_names_break_between_their_parts_only() -> None:
    shown = str(html.breakable("weight_noise-sigma0.05-features.3.conv"))
    assert shown == "weight_<wbr>noise-<wbr>sigma0.05-<wbr>features.3.<wbr>conv"


def test_small_filters() -> None:
    assert html.words("accuracy_drop") == "accuracy drop"
    assert html.words("ece_rise") == "ECE rise"
    assert html.nbsp("80 %, 95 % interval") == "80\u00a0%, 95\u00a0% interval"
    assert html.css(0.5) == "50.0%"
    assert html.css(None) == "0.0%"
    assert html.css(7.0) == "100.0%"


def test_a_name_a_template_does_not_get_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        html.environment().from_string("{{ nothing }}").render()


def test_everything_is_escaped() -> None:
    shown = html.environment().from_string("{{ x }} {{ x | short(9) }}").render(x="<b>'\"&")
    assert shown == "&lt;b&gt;&#39;&#34;&amp; &lt;b&gt;&#39;&#34;&amp;"


def test_a_page_with_a_name_that_is_no_text_is_written(tmp_path: Path) -> None:
    path = html.write_page("caf\udce9 é", tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == "caf\\udce9 é"
