"""What is read from the source is what Python says of the imported thing."""

from __future__ import annotations

import collections.abc
import inspect
import re
import types
import typing
from pathlib import Path

import pytest
from hydra.utils import get_object

from app import config as configuration
from app.config import signatures
from app.config.signatures import Unread, of_object, of_source

CONF = Path(configuration.conf_dir())
TARGETS = sorted(
    {
        target
        for path in CONF.rglob("*.yaml")
        for target in re.findall(r"_target_: (app\.[\w.]+)", path.read_text(encoding="utf-8"))
    }
    - {"app.sweep.SweepRun"}  # Hydra's
)
PLAIN = (int, float, str, bool, Path, type(None), typing.Any)


def plain(hint):
    """An annotation with stand-ins and imported classes made alike."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    result = "class"
    if origin is typing.Literal:
        result = inner
    elif collections.abc.Callable in {origin, hint}:
        result = "callable"
    elif origin in {typing.Union, types.UnionType}:
        result = frozenset(map(plain, inner))
    elif origin is typing.Annotated:
        result = plain(inner[0])
    elif origin is not None and origin.__module__ == "collections.abc":
        result = (origin, *map(plain, inner))
    elif hint in PLAIN or hint is None:
        result = type(None) if hint is None else hint
    return result


@pytest.mark.parametrize("target", TARGETS)
def test_the_source_says_what_python_says(target):
    source, real = of_source(target), of_object(get_object(target))
    assert list(source.parameters) == list(real.parameters)
    assert source.open_ended == real.open_ended
    for name, parameter in source.parameters.items():
        assert parameter.required == real.parameters[name].required, name
        assert plain(parameter.hint) == plain(real.parameters[name].hint), name
    given = inspect.signature(get_object(target)).parameters
    for name, parameter in source.parameters.items():
        if isinstance(parameter.default, str | int | float):
            assert parameter.default == given[name].default


@pytest.mark.parametrize(
    "target", ["app.errors", "app.errors.Nope", "app.nope.Nope", "json.JSONDecoder", "app.__version__"]
)
def test_what_is_not_read_is_left_to_python(target):
    with pytest.raises(Unread):
        of_source(target)


def test_the_words_of_arguments():
    words = of_source("app.subjects.folder.image_folder").words
    assert words["seed"] == "Of the sample."
    assert words["workers"].startswith("Threads that decode; null takes one a core")
    assert of_source("app.scoring.options.Scoring").words["level"] == "Confidence level of every interval."


def test_limits_are_read():
    hint = of_source("app.subjects.folder.image_folder").parameters["root"].hint
    assert signatures.limits.ClassFolders in typing.get_args(hint)
