"""Every option of the operators group builds its operator, with the constructor's own defaults."""

import inspect
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import get_class, instantiate
from omegaconf import OmegaConf

from app.mutation.operator import Operator

CONF = Path(__file__).resolve().parents[2] / "conf" / "operators"
OPTIONS = sorted(CONF.glob("*.yaml"))


def test_there_are_options():
    assert len(OPTIONS) >= 16


@pytest.mark.parametrize("path", OPTIONS, ids=lambda path: path.stem)
def test_an_option_is_its_operator_with_all_its_defaults(path):
    option = OmegaConf.to_container(OmegaConf.load(path))
    assert list(option) == [path.stem]
    given = dict(option[path.stem])
    kind = get_class(given.pop("_target_"))
    defaults = {
        name: p.default for name, p in inspect.signature(kind.__init__).parameters.items() if name != "self"
    }
    assert set(given) == set(defaults)
    for name, value in given.items():
        assert (tuple(value) if isinstance(value, list) else value) == defaults[name], name
    operator = instantiate(option[path.stem], _convert_="all")
    assert isinstance(operator, Operator)
    assert operator.name == path.stem


def test_several_options_compose_and_are_overridden():
    with initialize_config_dir(str(CONF.parent), version_base="1.3"):
        names = "[weight_noise,mc_dropblock]"
        composed = compose(overrides=[f"+operators={names}", "operators.mc_dropblock.blocks=[9]"])
    operators = instantiate(composed.operators, _convert_="all")
    assert list(operators) == ["weight_noise", "mc_dropblock"]
    assert operators["mc_dropblock"].blocks == (9,)
