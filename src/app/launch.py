"""One composed job from check to end, and the seams where Hydra meets Lightning and MLflow."""

from __future__ import annotations

import atexit
import logging
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import hydra.utils
from hydra.core.hydra_config import HydraConfig
from hydra.errors import InstantiationException
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from app import config as configuration
from app.errors import UserError
from app.job import Job

RANK_VARIABLES = ("LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def execute(config: DictConfig) -> None:
    """Check a composed configuration, build its task and run it.

    Raises:
        UserError: whatever the user can put right.
    """
    logging.captureWarnings(capture=True)
    rank = int(os.environ.get("LOCAL_RANK", "0")) + int(os.environ.get("NODE_RANK", "0"))
    if rank == 0:
        configuration.check(config)
    _fetch_model(config)
    context = HydraConfig.get()
    output = Path(context.runtime.output_dir)
    overrides = [str(each) for each in context.overrides.task]
    job = Job(
        output=output,
        config=configuration.plain(config),
        yaml=OmegaConf.to_yaml(config, resolve=True),
        digest=configuration.digest(config),
        command=shlex.join(["python", "-m", "app", *overrides]),
        first=rank == 0,
    )
    with _ranks(output):
        _build(config.task).run(job)


def _build(node: DictConfig) -> Any:
    try:
        return hydra.utils.instantiate(node, _convert_="all")
    except InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, UserError):
            raise cause from None
        if isinstance(cause, ValueError | TypeError):
            where = _where(str(error))
            raise UserError(f"{where}{' '.join(str(cause).split())}") from cause
        raise


def _where(message: str) -> str:
    """The key of the configuration at fault, as the user wrote it."""
    key = message.rpartition("full_key: ")[2].strip() if "full_key: " in message else ""
    key = key.removeprefix("task.")
    return f"{key}: " if key else ""


def _fetch_model(config: DictConfig) -> None:
    """Put a local path in the place of a model's address in MLflow's registry."""
    path = config.model.get("path") if isinstance(config.model, DictConfig) else None
    if isinstance(path, str) and path.startswith(("models:/", "runs:/")):
        store = _build(config.tracking)
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
            signal.signal(signal.SIGINT, signal.default_int_handler)  # Lightning leaves it ignored


class SweepRun(Callback):
    """Files the runs of a multirun under one run of their own."""

    def __init__(self) -> None:
        self._run: Any = None

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Open the sweep's run and tell every job of it."""
        store = _build(config.tracking)
        jobs = shlex.join([str(each) for each in config.hydra.overrides.task])
        self._run = store.start("sweep", task="sweep", kind="sweep", tags={"command": jobs})
        atexit.register(self._run.finish, "FAILED")  # on_multirun_end is left out when a job failed
        with read_write(config), open_dict(config):
            config.hydra.overrides.hydra.append(f"tracking.parent={self._run.id}")

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:  # noqa: ARG002 - Hydra's signature
        """End the sweep's run."""
        if self._run is not None:
            self._run.finish()
