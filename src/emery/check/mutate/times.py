# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: stops each test after so many seconds, and writes down which passed, in what time, and which lines of the
modules that are asked about each reached (in this process: what a test starts is not seen).

`EMERY_TEST_TIMES` has the seconds, the file to write, and the modules.
"""

import json
import os
import signal
import time
from collections import Counter

import pytest

from emery.check.reach import Reach

_SECONDS, _FILE, *_MODULES = os.environ.get("EMERY_TEST_TIMES", "5 /dev/null").split()
_passed: dict[str, dict] = {}
_reach = Reach(_MODULES)
_begun = 0.0
_late: Counter[str] = Counter()  # how often a function took too long: with other values it will again


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A test with all its fixtures."""
    global _begun

    function = item.nodeid.partition("[")[0]
    if _late[function] > 1:
        item.add_marker(pytest.mark.skip("takes too long"))

    def late(_number, _frame):
        _late[function] += 1
        raise TimeoutError(f"{item.nodeid} takes too long to be asked about each fault")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(int(_SECONDS))
    for lines in _reach.lines.values():
        lines.clear()
    _begun = time.monotonic()
    if _MODULES:
        _reach.start()
    try:
        return (yield)
    finally:
        _reach.stop()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pytest_runtest_logreport(report):
    """Notes a test that passed."""
    if report.when == "call" and report.passed:
        lines = {module: sorted(x) for module, x in _reach.lines.items() if x}
        _passed[report.nodeid] = {"seconds": time.monotonic() - _begun, "lines": lines}


def pytest_sessionfinish():
    """Writes them down."""
    with open(_FILE, "w") as handle:
        json.dump(_passed, handle)
