"""The folder that a command writes to: made before any work begins, or refused in one line."""

from __future__ import annotations

import tempfile
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from app.errors import UserError

ALLOWED = "give a folder, new or of yours, that files can be written to"


def make_folder(config: DictConfig, key: str) -> Path:
    """The folder of reports, absolute; it is made if it is not there.

    Args:
        config: what Hydra has composed.
        key: where it is configured: hydra.run.dir, or hydra.sweep.dir for a sweep.

    Raises:
        UserError: it is no folder, or cannot be made or written to.
    """
    name = str(OmegaConf.select(config, key))
    given = f"{'output' if name == config.get('output') else key}={name}"
    folder = Path(name)
    try:
        file = next((each for each in (folder, *folder.parents) if each.is_file()), None)
        if file is not None:
            raise UserError(f"{given}: {file} is a file; {ALLOWED}")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{given} cannot be written to ({problem}); {ALLOWED}") from None
    return folder.absolute()
