"""One composed job from check to end, and the seams where Hydra meets Lightning and MLflow."""

from __future__ import annotations

import logging
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import hydra.utils
from hydra.core.hydra_config import HydraConfig
from hydra.errors import InstantiationException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from app import command_line, import_path, interrupts
from app import config as configuration
from app.errors import UserError
from app.job import Job

RANK_VARIABLES = ("LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")

CHATTER = (
    "pytorch_lightning",
    "lightning_fabric",
    "lightning_fabric.utilities.distributed",  # the levels of those two Lightning sets itself when it is imported
    "pytorch_lightning.trainer.connectors.signal_connector",
)
"""Loggers that tell a user what Lightning does."""


def execute(config: DictConfig) -> None:
    """Check a composed configuration, build its task and run it.

    Raises:
        UserError: whatever the user can put right.
    """
    logging.captureWarnings(capture=True)
    rank = int(os.environ.get("LOCAL_RANK", "0")) + int(os.environ.get("NODE_RANK", "0"))
    context = HydraConfig.get()
    overrides = [str(each) for each in context.overrides.task]
    import_path.settle()  # in the process of a launcher too
    configuration.drop_unchosen(config)
    if rank == 0:
        _no_idle_plus(overrides)
        configuration.check(config)
        _refuse_nested(config)
    else:
        configuration.take_words(config)
        for name in CHATTER:  # further processes leave the talking to the first
            logging.getLogger(name).setLevel(logging.WARNING)
    if config.model is None:
        config.trainer = None  # nothing to run on a device: PyTorch need not even be imported
    output = Path(context.runtime.output_dir)
    configuration.claim(output, f"output={output}")
    job = Job(
        output=output,
        config=configuration.plain(config),
        yaml=masked(OmegaConf.to_yaml(config, resolve=True)),
        digest=configuration.digest(config),
        command=shlex.join(command()),
        first=rank == 0,
        named=_named_operators(config, overrides),
    )
    build(config, "tracking")  # it costs nothing, and models and data need not be read if it is refused
    _fetch_model(config)  # behind the digest: where a model was put is not what it is
    with _ranks(output):
        build(config, "task").run(job)


def command() -> list[str]:
    """The words of the command line that repeats this job, without what a sweep adds to those of its jobs."""
    overrides = [str(each) for each in HydraConfig.get().overrides.task]
    own = [each for each in overrides if not each.startswith("tracking.parent=")]
    return [masked(each) for each in (*command_line.door(), *_own_choices(), *own)]


def _named_operators(config: DictConfig, overrides: Sequence[str]) -> frozenset[str]:
    """Those that the command line names, or a file of the user's; a task or experiment of ours brings the others."""
    chosen = frozenset(str(each) for each in config.operators or ())
    experiment = HydraConfig.get().runtime.choices.get("experiment")
    if experiment is not None and experiment not in configuration.choices("experiment"):
        return chosen
    keys = [override.partition("=")[0].lstrip("+") for override in overrides]
    if "operators" in keys:
        return chosen
    return frozenset(key.split(".")[1] for key in keys if key.startswith("operators."))


def _own_choices() -> list[str]:
    """The option that named the user's folder of choices, if one was given: a command needs it to be repeated."""
    sources = HydraConfig.get().runtime.config_sources
    return [
        word for each in sources if each.provider == "command-line" for word in ("--config-dir", each.path)
    ]


def masked(text: str) -> str:
    """Text without the user and password of an address in it."""
    return re.sub(r"//[^/@\s]+@", "//***@", text)


def _refuse_nested(config: DictConfig) -> None:
    """Refuse several processes a job inside a launcher that has processes of its own."""
    context = HydraConfig.get()
    launcher = str(context.runtime.choices.get("hydra/launcher", "basic"))
    strategy = str(config.trainer.get("strategy", "")) if config.trainer is not None else ""
    if context.mode is RunMode.MULTIRUN and launcher in {"joblib", "ray"} and strategy.startswith("ddp"):
        raise UserError(
            f"hydra/launcher={launcher} cannot run jobs of several processes: leave it out, or trainer=cpu"
        )


def _no_idle_plus(overrides: Sequence[str]) -> None:
    """Refuse a plus before a group that has a choice already: Hydra would not say that it has no effect."""
    for override in overrides:
        key, _, value = override.partition("=")
        if key.startswith("+") and key != "+experiment" and configuration.choices(key.lstrip("+")):
            raise UserError(f"{override} has no effect: leave out the plus, {key.lstrip('+')}={value}")


def build(config: DictConfig, part: str) -> Any:
    """A part of a configuration made into what its `_target_` names.

    Raises:
        UserError: its constructor refuses what it was given.
    """
    try:
        return hydra.utils.instantiate(config[part], _convert_="all")
    except InstantiationException as error:
        cause = error.__cause__
        if cause is None:
            raise
        if isinstance(cause, UserError):
            raise cause from None
        raise UserError(_complaint(config, error, cause)) from cause


def _complaint(config: DictConfig, error: InstantiationException, cause: BaseException) -> str:
    """What a constructor had to say, beginning with the key of the configuration at fault as the user wrote it."""
    message = " ".join(str(cause).split())
    full = str(error).rpartition("full_key: ")[2].strip() if "full_key: " in str(error) else ""
    key = full.removeprefix("task.")
    if key == "trainer" and type(cause).__name__ == "MisconfigurationException":
        return configuration.refused(config.trainer, message)
    if not isinstance(cause, ValueError | TypeError):
        kind = type(cause).__name__
        return f"{key or 'task'}: {kind}{': ' if message else ''}{message} (HYDRA_FULL_ERROR=1 shows where)"
    if key and message.partition(" ")[0] in (OmegaConf.select(config, full) or ()):
        return f"{key}.{message}"
    return f"{key}: {message}" if key else message


def _fetch_model(config: DictConfig) -> None:
    """Put a local path in the place of a model's address in MLflow's registry."""
    path = config.model.get("path") if isinstance(config.model, DictConfig) else None
    if isinstance(path, str) and path.startswith(("models:/", "runs:/")):
        store = build(config, "tracking")
        with read_write(config), open_dict(config):
            config.model.path = str(store.model_path(path))
            if config.model.get("name") is None:
                config.model.name = path.split("/")[1].partition("@")[0]


@contextmanager
def _ranks(output: Path) -> Iterator[None]:
    """Lightning's processes run this very job again, in a sweep too; afterwards no trace of the group is left.

    Lightning starts its other processes with the command line of this one, which in a sweep would be the whole sweep:
    while the job runs, the command line names the composed configuration that Hydra has written.
    """
    arguments, variables = sys.argv[1:], {name: os.environ.get(name) for name in RANK_VARIABLES}
    first = "LOCAL_RANK" not in os.environ
    if first:
        context = cast("DictConfig", HydraConfig.get())
        with read_write(context), open_dict(context):
            context.run.dir = str(output)
        quiet = ["hydra/job_logging=none", "hydra/hydra_logging=none"]
        sys.argv[1:] = ["--config-path", str(output / ".hydra"), "--config-name", "config", *quiet]
    try:
        yield
    finally:
        sys.argv[1:] = arguments
        if first:
            distributed = sys.modules.get("torch.distributed")
            if distributed is not None and distributed.is_available() and distributed.is_initialized():
                with suppress(Exception):
                    distributed.destroy_process_group()
            for name, value in variables.items():
                if value is None:
                    os.environ.pop(name, None)
            interrupts.listen_again()  # Lightning leaves it ignored
