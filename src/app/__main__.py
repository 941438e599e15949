"""The door: Hydra composes, the chosen task runs, and a user's mistake ends in one line and exit code 2."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch: spinning threads crawl on a busy machine
TRACES = bool(os.environ.get("HYDRA_FULL_ERROR"))
os.environ["HYDRA_FULL_ERROR"] = "1"  # errors come out here, where they are worded

import hydra  # noqa: E402
from hydra.errors import HydraException  # noqa: E402
from omegaconf import DictConfig  # noqa: E402
from omegaconf.errors import OmegaConfBaseException  # noqa: E402

from app import config as configuration  # noqa: E402
from app.errors import UserError  # noqa: E402

configuration.register()
_ended: list[BaseException] = []


@hydra.main(version_base="1.3", config_path=configuration.conf_dir(), config_name="config")
def _job(config: DictConfig) -> None:
    from app import launch  # noqa: PLC0415 - help and completion do without

    try:
        launch.execute(config)
    except (UserError, KeyboardInterrupt, OmegaConfBaseException) as error:
        from hydra.core.hydra_config import HydraConfig  # noqa: PLC0415
        from hydra.types import RunMode  # noqa: PLC0415

        if HydraConfig.get().mode is not RunMode.RUN:
            raise  # the sweep says which job it was, and its other jobs go on
        _ended.append(error)


def main() -> int:
    """Run the command line; returns the exit code: 0, 1 for a crash, 2 for a mistake, 130 when interrupted."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(configuration.usage())
        return 0
    try:
        _job()
        if _ended:
            raise _ended[0]
    except (UserError, HydraException, OmegaConfBaseException) as error:
        if TRACES:
            raise
        print(f"error: {_sentence(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        print(str(error) or "interrupted", file=sys.stderr)
        return 130
    return 0


def _sentence(error: BaseException) -> str:
    """A message as one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    text = " ".join(line for line in lines if line and not line.startswith(("full_key:", "object_type=")))
    if text.startswith("You must specify 'task'"):
        names = ", ".join(configuration.choices("experiment"))
        text = f"no task was chosen: give +experiment=NAME, one of {names}; or task=NAME, one of "
        text += ", ".join(configuration.choices("task"))
    return text or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
