# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, spoken to through two pipes (DevTools protocol): no driver, no package.

`find()` says where it is on this machine (`apt install chromium-headless-shell`), or nothing.
"""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

HERE = ("file:", "data:", "about:", "http://127.0.0.1:")  # addresses that are no other machine's
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def find() -> str | None:
    """The browser, when this machine has one."""
    return next((x for x in map(shutil.which, NAMES) if x), None)


class Browser:
    """One browser with one page; what the page says on its console or throws is in `said`."""

    def __init__(self, seconds: float = 300):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.until = time.monotonic() + seconds
        to_read, self.to = os.pipe()
        self.of, from_write = os.pipe()

        def ends():  # Chromium reads 3 and writes 4
            kept = [os.dup(x) for x in (to_read, from_write)]
            for want, have in zip((3, 4), kept, strict=True):
                os.dup2(have, want)

        words = [find(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars"]
        words += [f"--user-data-dir={self.folder.name}", "--no-first-run", "--disable-background-networking", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        self.process = subprocess.Popen(words, preexec_fn=ends, close_fds=False, **quiet)
        os.close(to_read)
        os.close(from_write)
        self.number, self.rest, self.session, self.said, self.loaded = 0, b"", None, [], False
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for end in (self.to, self.of):
            with contextlib.suppress(OSError):
                os.close(end)
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def _message(self) -> dict:
        while b"\0" not in self.rest:
            if not select.select([self.of], [], [], max(0, self.until - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            more = os.read(self.of, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(line)
        self._hear(message.get("method"), message.get("params", {}))
        return message

    def _hear(self, method: str | None, params: dict):
        if method == "Runtime.exceptionThrown":
            self.said.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.said.append(f"{params['type']}: {[x.get('value') for x in params['args']]}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.said.append(str(params["entry"]["text"]))
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(HERE):
            self.said.append(f"asks for {params['request']['url']}")
        elif method == "Page.loadEventFired":
            self.loaded = True

    def ask(self, method: str, **params) -> dict:
        """One command and its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def screen(self, width: int, height: int = 900, scheme: str = "light"):
        """The window's size, and which colours its user likes."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, page: Path | str, scripts: bool = True):
        """Loads a file, or what a URL of this machine names."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.loaded = False
        self.ask("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        while not self.loaded:
            self._message()

    def value(self, expression: str):
        """What an expression of JavaScript gives in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def mouse(self, x: float, y: float, kind: str = "mouseMoved", **more):
        """Moves or presses the mouse."""
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self, path: Path, clip: tuple | None = None):
        """A PNG of the window, or of a rectangle (x, y, width, height) of the page."""
        more = {"captureBeyondViewport": True} if clip else {}
        if clip:
            more["clip"] = dict(zip(("x", "y", "width", "height"), clip, strict=True)) | {"scale": 1}
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", **more)["data"]))
