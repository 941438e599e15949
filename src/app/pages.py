"""MLflow's pages of the runs so far, served on this machine until Ctrl-C: `python -m app.pages --port 5000`."""

from __future__ import annotations

from app import import_path

import_path.settle()  # before anything is imported that the current folder could have a file for

import argparse  # noqa: E402 - behind the path
import os  # noqa: E402 - behind the path
import socket  # noqa: E402 - behind the path
import sys  # noqa: E402 - behind the path
import time  # noqa: E402 - behind the path

from app.errors import UserError  # noqa: E402 - behind the path
from app.tracking import Store  # noqa: E402 - behind the path

ENVIRONMENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
"""What `command` wants in its environment: no request to the outside, two processes and not ten."""
HOST, SECONDS = "127.0.0.1", 120
"""Where it is served, and how long it may take to start."""


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
        link = store.ui_link(port=port)
    except UserError as error:
        parser.error(str(error))
    if answers(port):
        parser.error(f"--port {port} is taken: give another, --port {port + 1}")
    print("The pages take a few seconds to start.", flush=True)
    server = os.getpid()
    if not os.fork():  # it watches until the server is there
        try:
            _say_when_served(link, port, server)
        finally:
            os._exit(0)
    os.execve(arguments[0], arguments, {**os.environ, **ENVIRONMENT})  # noqa: S606  (no shell is meant)


def answers(port: int) -> bool:
    """Whether somebody on this machine listens on a port."""
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex((HOST, port)) == 0


def _say_when_served(link: str, port: int, server: int) -> None:
    """Prints the link once the server answers; nothing if it ends before, or takes too long."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and os.getppid() == server:
        if answers(port):
            print(f"The runs so far: {link}", flush=True)
            return
        time.sleep(0.2)


if __name__ == "__main__":
    main()
