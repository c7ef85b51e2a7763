# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: stops each test after so many seconds, and writes down which passed, in what time, and which lines of the
modules that are asked about each reached (in this process: what a test starts is not seen).

`EMERY_TEST_TIMES` has the seconds, the file to write, and the modules.
"""

import json
import os
import signal
import sys
import threading
import time

import pytest

_SECONDS, _FILE, *_MODULES = os.environ.get("EMERY_TEST_TIMES", "5 /dev/null").split()
_passed: dict[str, dict] = {}
_reached: dict[str, set[int]] = {x: set() for x in _MODULES}
_begun = 0.0


def _trace(frame, event, _argument):
    lines = _reached.get(frame.f_code.co_filename)
    if lines is None:
        return None
    if event == "line":
        lines.add(frame.f_lineno)
    return _trace


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A test with all its fixtures."""
    global _begun

    def late(_number, _frame):
        raise TimeoutError(f"{item.nodeid} takes too long to be asked about each fault")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(int(_SECONDS))
    for lines in _reached.values():
        lines.clear()
    _begun = time.monotonic()
    if _MODULES:
        threading.settrace(_trace)
        sys.settrace(_trace)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pytest_runtest_logreport(report):
    """Notes a test that passed."""
    if report.when == "call" and report.passed:
        lines = {module: sorted(x) for module, x in _reached.items() if x}
        _passed[report.nodeid] = {"seconds": time.monotonic() - _begun, "lines": lines}


def pytest_sessionfinish():
    """Writes them down."""
    with open(_FILE, "w") as handle:
        json.dump(_passed, handle)
