"""MLflow's pages of the runs so far, served on this machine until Ctrl-C: `python -m app.pages --port 5000`."""

from __future__ import annotations

import argparse
import os
import sys

from app.errors import UserError
from app.tracking import Store

ENVIRONMENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
"""What `command` wants in its environment: no request to the outside, two processes and not ten."""


def command(store: Store, port: int = 5000) -> list[str]:
    """The command that serves the pages of a local store.

    Raises:
        UserError: the store is a server, which has its own.
    """
    if store.is_server:
        raise UserError(f"tracking.uri={store.address} is a server: its pages are there")
    place = ["--backend-store-uri", store.uri, "--artifacts-destination", str(store.folder / "artifacts")]
    return [sys.executable, "-m", "mlflow", "server", *place, "--workers", "1", "--port", str(port)]


def main() -> None:
    """Serves the store in MLFLOW_TRACKING_URI or mlruns/, in place of this process."""
    parser = argparse.ArgumentParser("app.pages", description="Serve MLflow's pages of the runs so far.")
    parser.add_argument("--port", type=int, default=5000)
    port = parser.parse_args().port
    try:
        store = Store()
        arguments = command(store, port)
        print(f"The runs so far: {store.ui_link(port=port)}", flush=True)
    except UserError as error:
        parser.error(str(error))
    os.execve(arguments[0], arguments, {**os.environ, **ENVIRONMENT})  # noqa: S606  (no shell is meant)


if __name__ == "__main__":
    main()
