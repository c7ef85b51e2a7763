# SPDX-License-Identifier: Apache-2.0
"""Which lines run in this process; and a plugin of pytest that writes down those of a whole run.

`EMERY_REACHED` names a folder: each process of pytest leaves a file there. What tests start is not seen.
"""

import json
import os
import sys
import threading
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


class Reach:
    """The lines of some modules that ran between `start` and `stop`."""

    def __init__(self, modules: list[str]):
        self.lines: dict[str, set[int]] = {x: set() for x in modules}

    def _trace(self, frame, event, _argument):
        lines = self.lines.get(frame.f_code.co_filename)
        if lines is None:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return self._trace

    def start(self):
        """From now on, in this thread and in those that begin."""
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def stop(self):
        """No longer in this thread."""
        sys.settrace(None)
        threading.settrace(None)


_whole = Reach([])


def pytest_configure():
    """Begins."""
    if "EMERY_REACHED" in os.environ:
        _whole.lines |= {str(x): set() for x in PACKAGE.rglob("*.py")}
        _whole.start()


def pytest_unconfigure():
    """Writes down what was reached."""
    if folder := os.environ.get("EMERY_REACHED"):
        _whole.stop()
        found = {x: sorted(lines) for x, lines in _whole.lines.items() if lines}
        (Path(folder) / f"{os.getpid()}.json").write_text(json.dumps(found))
