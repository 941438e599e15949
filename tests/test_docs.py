"""The pages are true: generated ones are current, links lead somewhere, and every command shown composes."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
import sys
import types
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser

from app import config as configuration

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")])
PLACEHOLDER = re.compile(r"NAME|<[^>]+>")
CODE = ("mynet.Net", "mynet.Detector")
"""What commands suppose the user has."""

configuration.register()


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("generator", ["config_reference", "report_reference"])
def test_a_generated_page_is_current(generator):
    script = runpy.run_path(str(ROOT / "scripts" / f"{generator}.py"))
    current = script["page"]() == script["PAGE"].read_text(encoding="utf-8")
    assert current, f"run: python scripts/{generator}.py"


def test_the_examples_in_python_are_true():
    failed, tried = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert (failed, tried > 30) == (0, True)


def anchors(page: Path) -> set[str]:
    """The names that GitHub and others give to the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_leads_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{link} names no heading"


def test_every_page_is_reached():
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    }
    assert set(PAGES) - linked <= {ROOT / "README.md"}
    assert set(ROOT.glob("docs/pictures/*")) <= linked


def commands(page: Path) -> list[str]:
    """Every command line of Assay's in the code blocks of a page, and in its tables and sentences."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [
        line
        for block in blocks
        for line in re.findall(r"^\s*(?:\$ |- run: )?(.*python -m app .*|assay \w+ .*)$", block, re.MULTILINE)
    ]
    return [re.sub(r"^.*python -m app |^assay (?=\w+ )", "", line) for line in lines]


COMMANDS = {line: page for page in PAGES for line in commands(page) if not PLACEHOLDER.search(line)}


@pytest.fixture(scope="module")
def users_code(tmp_path_factory):
    """Modules that commands suppose to be in the current folder, and those that are in the examples."""
    for target in CODE:
        module, _, name = target.rpartition(".")
        parts = module.split(".")
        for depth in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:depth]), types.ModuleType(parts[depth - 1]))
        setattr(sys.modules[module], name, lambda **_: None)
    paths = [str(path) for path in ROOT.glob("examples/*") if path.is_dir()]
    sys.path[:0] = paths
    yield
    for path in paths:
        sys.path.remove(path)


def overrides_of(page: Path, line: str) -> list[str]:
    """What Hydra gets of a command: the first job of a sweep, `…` filled in, a folder of choices in its search path."""
    words, overrides = shlex.split(line, comments=True), []
    while words:
        word = words.pop(0)
        if word == "--config-dir":
            overrides.append(f"hydra.searchpath=[file://{page.parent / words.pop(0)}]")
        elif word in configuration.choices("task"):
            overrides.append(f"task={word}")
        elif not word.startswith("-"):
            default = {"model": "fashion_cnn", "dataset": "fashion"}.get(word.partition("=")[0], "x")
            overrides.append(re.sub(r"=…$", f"={default}", word))
    return [word for word in overrides if word != "…"]


def first_job(override: str) -> str:
    parsed = OverridesParser.create().parse_override(override)
    if not parsed.is_sweep_override():
        return override
    return f"{parsed.get_key_element()}={next(parsed.sweep_string_iterator())}"


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_composes(line, users_code):
    page = COMMANDS[line]
    overrides = [first_job(each) for each in overrides_of(page, line) if not each.startswith("hydra/")]
    with initialize_config_dir(configuration.conf_dir(), version_base="1.3"):
        config = compose("config", overrides=["output=out", *overrides])
    if config.model is None:
        config.trainer = None
    configuration.drop_unchosen(config)
    configuration.check(config, places=False)
