"""A headless Chromium, driven through the DevTools protocol over two pipes: nothing to install beside it."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--hide-scrollbars",
    "--mute-audio",
]


class Browser:
    """One page of a browser; use it in a `with`."""

    def __init__(self, width: int = 1400, height: int = 900) -> None:
        assert PROGRAM is not None
        self._profile = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        hears, self._told = os.pipe()
        self._heard, says = os.pipe()
        options = [*QUIET, f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}"]
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                f'exec "$@" 3<&{hears} 4>&{says}',
                "bash",
                PROGRAM,
                *options,
                "--remote-debugging-pipe",
            ],
            pass_fds=(hears, says),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(hears)
        os.close(says)
        self._buffer, self._count, self._session = b"", 0, ""
        self.requests: list[str] = []
        """Addresses that the pages asked for."""
        self.errors: list[str] = []
        """Exceptions that the pages did not catch."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, AssertionError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._told)
        os.close(self._heard)
        self._profile.cleanup()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """What the browser answers to one command."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._told, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self._count:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._heard], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._heard, 1 << 20)
            assert read, "the browser has ended"
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(str(message["params"]["exceptionDetails"])[:500])
        return message

    def open(self, url: str) -> None:
        """Goes to a page; what it shows comes later."""
        self.call("Page.navigate", url=url)

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 90) -> Any:
        """The first true value of an expression in the page."""
        deadline = time.monotonic() + seconds
        while True:
            value = self.evaluate(script)
            if value:
                return value
            assert time.monotonic() < deadline, f"never true: {script}; the page says: {self.text[:2000]}"
            time.sleep(0.25)

    def shows(self, *texts: str) -> None:
        """Waits until the page shows all these texts."""
        for text in texts:
            self.wait(f"document.body && document.body.innerText.includes({json.dumps(text)})")

    def click(self, text: str) -> None:
        """Presses the innermost element that shows exactly this text, once it is there."""
        self.press(
            f"[...document.querySelectorAll('*')].filter(e => e.textContent.trim() === {json.dumps(text)}).at(-1)"
        )

    def press(self, script: str) -> None:
        """Presses the element that an expression gives, once there is one."""
        self.wait(
            f"(() => {{ const found = {script};"
            " if (found) { found.scrollIntoView({block: 'center'}); found.click(); } return !!found; })()"
        )

    @property
    def text(self) -> str:
        """All that the page shows."""
        return str(self.evaluate("document.body ? document.body.innerText : ''"))

    def picture(self, path: Path) -> None:
        """A screenshot."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
