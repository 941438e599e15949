"""Servers for a test, on ports of this machine only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

HOST = "127.0.0.1"


def free_port() -> int:
    """A port that nobody listens to."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


@contextmanager
def served(
    command: Sequence[str],
    port: int,
    log: Path,
    *,
    environment: Mapping[str, str],
    stop: signal.Signals = signal.SIGKILL,
    seconds: float = 240,
) -> Iterator[None]:
    """Runs a server while the block runs, from when it answers on its port.

    Args:
        command: the server's.
        port: on which it answers.
        log: where it writes to; shown if it does not come up.
        environment: of the process.
        stop: ends it and its processes.
        seconds: how long it may take until it answers; a busy machine is slow.
    """
    with log.open("w") as said:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdout=said,
            stderr=said,
            cwd=log.parent,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + seconds
            while not _answers(port):
                assert process.poll() is None, f"{command[0]} has ended: {log.read_text()[-2000:]}"
                assert time.monotonic() < deadline, f"no answer on port {port}: {log.read_text()[-2000:]}"
                time.sleep(0.2)
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, stop)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex((HOST, port)) == 0
