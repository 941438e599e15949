"""One pass of Lightning's trainer over the data, and what may end it before its time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import pytorch_lightning as pl

from app import interrupts
from app.errors import Fault

LOOK_SECONDS = 0.2
"""How often the further processes are looked at."""
DEATH_SECONDS = 3.0
"""How long after an error of ours a process may take to be seen as ended: its end may be our error's cause."""

STUCK_SECONDS = 30.0
"""How long to wait for a dead process."""


class Companions:
    """The further processes that Lightning has started for a trainer.

    Lightning kills the first process, without a word, when it sees that one of the others has ended badly. They are
    taken out of its sight, and looked after here: what is finished is kept then, and the run is closed.

    Args:
        launcher: Lightning's, whose list `procs` is filled when the first pass begins.
    """

    def __init__(self, launcher: Any) -> None:
        self._launcher, self._own = launcher, list[subprocess.Popen[bytes]]()
        self._looking = threading.Thread(target=self._look, name="companions", daemon=True)
        self._looking.start()

    def _look(self) -> None:
        while not self._own or any(each.poll() is None for each in self._own):
            while self._launcher.procs:
                self._own.append(self._launcher.procs.pop(0))
            time.sleep(LOOK_SECONDS)
        if dead := self.dead():
            self._leave_if_stuck(dead)

    @staticmethod
    def _leave_if_stuck(dead: str) -> None:
        """Where devices talk by NCCL, whoever waits for a dead process waits for half an hour, deaf to all signals."""
        stuck = 0.0
        while stuck < STUCK_SECONDS:
            frame = sys._current_frames().get(threading.main_thread().ident or 0)
            if frame is None:
                return
            stuck = stuck + LOOK_SECONDS if frame.f_code.co_filename.endswith("distributed_c10d.py") else 0.0
            time.sleep(LOOK_SECONDS)
        run = os.environ.get("ASSAY_RUN_ID", "")
        print(f"error: {dead}; what was done is kept: go on with resume={run}", file=sys.stderr, flush=True)
        os._exit(1)

    def dead(self, wait: float = 0.0) -> str:
        """What became of the first that ended badly, if one does within some seconds; else empty."""
        end = time.monotonic() + wait
        while True:
            for rank, each in enumerate(self._own, start=1):
                code = each.poll()
                if code:
                    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
                    return f"process {rank + 1} of {len(self._own) + 1} {how}"
            if time.monotonic() >= end or not self._own:
                return ""
            time.sleep(LOOK_SECONDS)

    def kill(self) -> None:
        """Ends them: nobody waits for what they would still do."""
        for each in self._own:
            if each.poll() is None:
                each.kill()


class _Signals(pl.Callback):
    """Lightning's own answer to SIGTERM waits for other processes, which may be gone: it gets no chance."""

    def on_predict_start(self, *_: Any) -> None:
        """Now that Lightning listens, listen in its place."""
        interrupts.listen_again()


_companions: WeakKeyDictionary[Any, Companions] = WeakKeyDictionary()


def predict(trainer: Any, module: pl.LightningModule, loader: Iterable[Any]) -> None:
    """Goes through the data once, on every rank.

    Raises:
        Fault: another process of this job has ended badly.
        KeyboardInterrupt: it was interrupted.
    """
    launcher = trainer.strategy.launcher
    if hasattr(launcher, "procs") and trainer.is_global_zero and trainer not in _companions:
        _companions[trainer] = Companions(launcher)
    companions = _companions.get(trainer)
    if not any(isinstance(each, _Signals) for each in trainer.callbacks):
        trainer.callbacks.append(_Signals())
    try:
        trainer.predict(module, dataloaders=loader, return_predictions=False)
        trainer.strategy.barrier()
    except SystemExit as error:  # Lightning's way to end after an interrupt
        interrupts.listen_again()
        if companions is not None:
            companions.kill()
        raise KeyboardInterrupt from error
    except Exception as error:
        dead = "" if companions is None else companions.dead(DEATH_SECONDS)
        if companions is not None:
            companions.kill()
        if dead:
            raise Fault(dead) from error
        raise
