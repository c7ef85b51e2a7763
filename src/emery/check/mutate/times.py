# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: stops each test after so many seconds, and writes down which passed.

`EMERY_TEST_TIMES` has the seconds and the file.
"""

import json
import os
import signal

import pytest

_SECONDS, _, _FILE = os.environ.get("EMERY_TEST_TIMES", "5 /dev/null").partition(" ")
_passed: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A test with all its fixtures."""

    def late(_number, _frame):
        raise TimeoutError(f"{item.nodeid} takes too long to be asked about each fault")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(int(_SECONDS))
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pytest_runtest_logreport(report):
    """Notes a test that passed."""
    if report.when == "call" and report.passed:
        _passed.append(report.nodeid)


def pytest_sessionfinish():
    """Writes them down."""
    with open(_FILE, "w") as handle:
        json.dump(_passed, handle)
